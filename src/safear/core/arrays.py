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


class Pieces:
    """What a policy does by account, in any order: at `place` (step * n_states + state) `choice`, from `first` on.

    Only the first `count` are there; the rest is room for more.
    """

    def __init__(self, place: Whole, first: Whole, choice: Bytes) -> None:
        self.place, self.first, self.choice, self.count = place, first, choice, len(place)


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


def make_pieces() -> Pieces:
    """Return room for pieces, of which there are none yet."""
    pieces = Pieces(np.empty(ROOM, np.int64), np.empty(ROOM, np.int64), np.empty(ROOM, np.uint8))
    pieces.count = 0
    return pieces


def widen_pieces(pieces: Pieces, more: int) -> None:
    """Make room for so many more pieces, and for as many as there are."""
    room = max(2 * pieces.place.shape[0], pieces.count + more)
    pieces.place, pieces.first = widen_wholes(pieces.place, room), widen_wholes(pieces.first, room)
    pieces.choice = widen_bytes(pieces.choice, room)


def move_pieces(pieces: Pieces, by: int) -> Pieces:
    """Return the same pieces by so much further up the account, without room for more."""
    place, first = np.array(pieces.place[: pieces.count]), np.asarray(pieces.first[: pieces.count]) + by
    return Pieces(place, first, np.array(pieces.choice[: pieces.count]))


def join_pieces(parts: list[Pieces], n_places: int) -> PolicyArrays:
    """Return the policy of pieces: place by place and by rising account; those that are equal stay in their order."""
    begin, count = fill_wholes(n_places + 2, 0), 0
    for part in parts:
        count_pieces(part, n_places, begin)
        count += part.count
    with cython.nogil:
        for place in range(n_places):
            begin[place + 2] += begin[place + 1]  # where there is room for the pieces of the next place
    first, choice = make_wholes(count), make_bytes(count)
    for part in parts:
        put_pieces(part, begin, first, choice)
    room, choices = make_grid(3, 0), make_bytes(0)
    with cython.nogil:
        for place in range(n_places):
            low, size = begin[place], begin[place + 1] - begin[place]
            if is_rising(first, low, low + size):  # as those of one sweep are
                continue
            if size > room.shape[1]:
                room, choices = make_grid(3, size), make_bytes(size)
            for i in range(size):
                room[0, i], room[1, i], choices[i] = first[low + i], i, choice[low + i]
            sort_keys(room[0], room[1, :size], room[2])
            for i in range(size):
                first[low + i], choice[low + i] = room[0, room[1, i]], choices[room[1, i]]
    policy = PolicyArrays.__new__(PolicyArrays)
    policy.table, policy.piece_start = np.empty((0, 0), np.uint8), begin[: n_places + 1]
    policy.first, policy.choice = first, choice
    return policy


def count_pieces(pieces: Pieces, n_places: int, begin: Whole) -> None:
    """Count the pieces of each place, two numbers further on."""
    for i in range(pieces.count):
        place = pieces.place[i]
        if not 0 <= place < n_places:
            raise IndexError(f"there is no place {place}")
        begin[place + 2] += 1


def put_pieces(pieces: Pieces, begin: Whole, first: Whole, choice: Bytes) -> None:
    """Put pieces where there is room for their place, which begins at begin[place + 1]."""
    with cython.nogil:
        for i in range(pieces.count):
            number = begin[pieces.place[i] + 1]
            first[number], choice[number] = pieces.first[i], pieces.choice[i]
            begin[pieces.place[i] + 1] = number + 1


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
