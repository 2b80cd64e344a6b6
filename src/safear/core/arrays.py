"""What all loops of the core take: the arrays of an MDP, and room for what they write."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Short = NDArray[np.int16]
Bytes = NDArray[np.uint8]  # also truth values: 0 and 1

INF = float("inf")
RUN = 16  # how many are sorted by insertion
NONE = 255  # in place of a choice: there is none


class Arrays:
    """The rows and edges of an MDP (see `mdp.arrays`)."""

    def __init__(
        self,
        row_start: Whole,
        row_action: Bytes,
        edge_start: Whole,
        edge_next: Whole,
        edge_chance: Real,
        edge_cost: Whole,
        edge_outcome: Bytes,
    ) -> None:
        self.row_start, self.row_action, self.edge_start = row_start, row_action, edge_start
        self.edge_next, self.edge_chance, self.edge_cost = edge_next, edge_chance, edge_cost
        self.edge_outcome = edge_outcome


class PolicyArrays:
    """What a policy does (see `evaluation.policy`).

    With a `table`, the choice at table[step, state]. Without, the account decides: at place = step * n_states + state,
    choice[i] holds for accounts from first[i] on, with i from piece_start[place] to piece_start[place + 1].
    """

    def __init__(self, table: Bytes, piece_start: Whole, first: Whole, choice: Bytes) -> None:
        self.table, self.piece_start, self.first, self.choice = table, piece_start, first, choice


def find_choice(policy: PolicyArrays, place: int, account: int) -> int:
    """Return the choice of the last piece of a place that begins at or below the account, 255 if there is none."""
    low, high = policy.piece_start[place], policy.piece_start[place + 1]
    if low == high:
        return NONE
    while low + 1 < high:
        middle = (low + high) // 2
        if policy.first[middle] <= account:
            low = middle
        else:
            high = middle
    return policy.choice[low]


def choose_row(row_start: Whole, policy: PolicyArrays, step: int, state: int, account: int) -> int:
    """Return the row that a policy takes; -1 if there is none."""
    if policy.table.shape[0] > 0:
        choice = policy.table[step, state]
    else:
        choice = find_choice(policy, step * (row_start.shape[0] - 1) + state, account)
    return -1 if choice == NONE else row_start[state] + choice


def make_reals(count: int) -> Real:
    """Return room for so many real numbers."""
    return np.empty(count)


def make_table(rows: int, columns: int) -> Real:
    """Return room for a table of real numbers."""
    return np.empty((rows, columns))


def make_wholes(count: int) -> Whole:
    """Return room for so many whole numbers."""
    return np.empty(count, np.int64)


def make_grid(rows: int, columns: int) -> Whole:
    """Return room for a table of whole numbers."""
    return np.empty((rows, columns), np.int64)


def make_bytes(count: int) -> Bytes:
    """Return room for so many small numbers or truth values."""
    return np.empty(count, np.uint8)


def fill_wholes(count: int, value: int) -> Whole:
    """Return so many times the same whole number."""
    return np.full(count, value, np.int64)


def widen_reals(known: Real, room: int) -> Real:
    """Return the same numbers with room for more."""
    wider = np.empty(room)
    wider[: known.shape[0]] = known
    return wider


def widen_wholes(known: Whole, room: int) -> Whole:
    """Return the same numbers with room for more."""
    wider = np.empty(room, np.int64)
    wider[: known.shape[0]] = known
    return wider


def widen_bytes(known: Bytes, room: int) -> Bytes:
    """Return the same numbers with room for more."""
    wider = np.empty(room, np.uint8)
    wider[: known.shape[0]] = known
    return wider


def sort_keys(keys: Whole, order: Whole, spare: Whole) -> None:
    """Put `order` into rising order of its keys, equal ones as they come; `spare` is room for as many."""
    count, width = order.shape[0], 1
    for place in range(1, count):  # short stretches by insertion
        if place % RUN == 0:
            continue
        moved, before = order[place], place
        while before % RUN != 0 and keys[order[before - 1]] > keys[moved]:
            order[before] = order[before - 1]
            before -= 1
        order[before] = moved
    width = RUN
    while width < count:
        begin = 0
        while begin + width < count:
            middle, end = begin + width, min(begin + 2 * width, count)
            if keys[order[middle - 1]] > keys[order[middle]]:
                for place in range(begin, middle):
                    spare[place] = order[place]
                left, right, place = begin, middle, begin
                while left < middle:
                    if right < end and keys[order[right]] < keys[spare[left]]:
                        order[place] = order[right]
                        right += 1
                    else:
                        order[place] = spare[left]
                        left += 1
                    place += 1
            begin += 2 * width
        width *= 2
