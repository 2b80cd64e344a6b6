"""What all loops of the core take: the arrays of an MDP and of a policy, and room for what they write."""

from __future__ import annotations

import cython
import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Short = NDArray[np.int16]
Bytes = NDArray[np.uint8]  # also truth values: 0 and 1

INF = float("inf")
RUN = 16  # how many are sorted by insertion
ROOM = 1024  # for how many pieces there is room at first
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


class PolicyRoom:
    """Room for the pieces of a policy, step by step from the last: how many each place has [step, state], and which."""

    def __init__(self, size: Whole, first: Whole, choice: Bytes) -> None:
        self.size, self.first, self.choice, self.count = size, first, choice, 0


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


def choose(policy: PolicyArrays, n_states: int, step: int, state: int, account: int) -> int:
    """Return what a policy does, 255 if nothing."""
    if policy.table.shape[0] > 0:
        return policy.table[step, state]
    return find_choice(policy, step * n_states + state, account)


def choose_row(row_start: Whole, policy: PolicyArrays, step: int, state: int, account: int) -> int:
    """Return the row that a policy takes; -1 if there is none."""
    choice = choose(policy, row_start.shape[0] - 1, step, state, account)
    return -1 if choice == NONE else row_start[state] + choice


def choose_all(policy: PolicyArrays, n_states: int, step: int, states: Whole, accounts: Whole) -> Bytes:
    """Return what a policy does at a step in each of some states, with so much on its account."""
    chosen = make_bytes(states.shape[0])
    places = max(policy.table.shape[0] * n_states, policy.piece_start.shape[0] - 1)
    for i in range(states.shape[0]):
        if i >= accounts.shape[0] or not (0 <= states[i] < n_states and 0 <= step * n_states < places):
            raise IndexError(f"there is no state {states[i]} at step {step}, or no account for it")
        chosen[i] = choose(policy, n_states, step, states[i], accounts[i])
    return np.asarray(chosen)


def find_fault(arrays: Arrays, policy: PolicyArrays) -> int:
    """Return the first place at which a policy names no row of the state or its pieces do not rise; -1 if none."""
    row_start, n_states = arrays.row_start, arrays.row_start.shape[0] - 1
    for place in range(policy.table.shape[0] * n_states):
        state = place % n_states
        if is_no_row(row_start, state, policy.table[place // n_states, state]):
            return place
    for place in range(policy.piece_start.shape[0] - 1):
        begin, end = policy.piece_start[place], policy.piece_start[place + 1]
        if not 0 <= begin <= end <= policy.first.shape[0]:
            return place
        for piece in range(begin, end):
            if is_no_row(row_start, place % n_states, policy.choice[piece]):
                return place
        if not is_rising(policy.first, begin, end):
            return place
    return -1


def is_no_row(row_start: Whole, state: int, choice: int) -> bool:
    """Return whether a choice is that of something to do, but of no row that the state has."""
    return choice != NONE and choice >= row_start[state + 1] - row_start[state]


def make_policy(piece_start: Whole, first: Whole, choice: Bytes) -> PolicyArrays:
    """Return the policy that does so by account."""
    policy = PolicyArrays.__new__(PolicyArrays)
    policy.table, policy.piece_start = np.empty((0, 0), np.uint8), piece_start
    policy.first, policy.choice = first, choice
    return policy


def make_policy_room(horizon: int, n_states: int) -> PolicyRoom:
    """Return room for pieces, of which there are none yet."""
    return PolicyRoom(np.zeros((horizon, n_states), np.int64), np.empty(ROOM, np.int64), np.empty(ROOM, np.uint8))


def widen_policy(room: PolicyRoom, more: int) -> None:
    """Make room for so many more pieces, and for as many as there are."""
    wider = max(2 * room.first.shape[0], room.count + more)
    room.first, room.choice = widen_wholes(room.first, wider), widen_bytes(room.choice, wider)


def finish_policy(room: PolicyRoom) -> PolicyArrays:
    """Return the policy whose pieces have been written."""
    horizon, n_states, place, written = room.size.shape[0], room.size.shape[1], 0, room.count
    begin, first, choice = make_wholes(horizon * n_states + 1), make_wholes(room.count), make_bytes(room.count)
    with cython.nogil:
        begin[0] = 0
        for step in range(horizon):
            here = begin[place]
            for state in range(n_states):
                begin[place + 1] = begin[place] + room.size[step, state]
                place += 1
            written -= begin[place] - here
            for i in range(begin[place] - here):
                first[here + i], choice[here + i] = room.first[written + i], room.choice[written + i]
    return make_policy(begin, first, choice)


def join_policies(parts: list[tuple[PolicyArrays, int, Whole]], horizon: int, n_states: int) -> PolicyArrays:
    """Return one policy of several, each with by how much it is moved up the account, and which states it is for.

    At each place, its accounts must lie above those of the part before it.
    """
    n_places = horizon * n_states
    begin, end = fill_wholes(n_places + 1, 0), make_wholes(n_places)
    for part, _, known in parts:
        with cython.nogil:
            for place in range(part.piece_start.shape[0] - 1):
                whole = place // known.shape[0] * n_states + known[place % known.shape[0]]
                begin[whole + 1] += part.piece_start[place + 1] - part.piece_start[place]
    with cython.nogil:
        for place in range(n_places):
            begin[place + 1] += begin[place]
            end[place] = begin[place]
    first, choice = make_wholes(begin[n_places]), make_bytes(begin[n_places])
    for part, by, known in parts:
        with cython.nogil:
            for place in range(part.piece_start.shape[0] - 1):
                whole = place // known.shape[0] * n_states + known[place % known.shape[0]]
                for piece in range(part.piece_start[place], part.piece_start[place + 1]):
                    first[end[whole]], choice[end[whole]] = part.first[piece] + by, part.choice[piece]
                    end[whole] += 1
    return make_policy(begin, first, choice)


def join_spans(parts: list[tuple[PolicyArrays, int]], horizon: int, n_states: int) -> PolicyArrays:
    """Return one policy of several for all states, the first of which is not moved; a single one is not copied."""
    if len(parts) == 1:
        return parts[0][0]
    every = np.arange(n_states, dtype=np.int64)
    return join_policies([(*part, every) for part in parts], horizon, n_states)


def is_rising(first: Whole, begin: int, end: int) -> bool:
    """Return whether some pieces begin one after the other."""
    piece = begin + 1
    while piece < end and first[piece - 1] <= first[piece]:
        piece += 1
    return piece >= end


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
