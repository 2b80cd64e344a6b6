"""What can be reached of a ground, on somebody's own terms, and the arrays of an MDP of it (see `mdp.ground`)."""

from __future__ import annotations

import cython
import numpy as np
from numpy.typing import NDArray

if cython.compiled:
    from cython.cimports.libc.math import isnan
else:
    from math import isnan

    from safear.core.arrays import Bytes, Real, Short, Whole, make_bytes, make_reals, make_wholes

    Signs = NDArray[np.int8]

UNKNOWN, NO, YES = 0, 1, 2  # whether a state is a goal, as `mdp.goals` numbers answers
DIGITS = 256  # of a place, where places are sorted


class Ground:
    """Rows and edges as those of an MDP, but of all actions that can be tried and all their outcomes (`mdp.ground`).

    A state's rows are those from `row_start` to `row_end`, -1 if they are not known yet. `index` is its place among all
    states of a space, in whose order MDPs have them.
    """

    def __init__(
        self,
        index: Whole,
        row_start: Whole,
        row_end: Whole,
        row_action: Bytes,
        edge_start: Whole,
        edge_next: Whole,
        edge_chance: Real,
        edge_low: Real,
        edge_high: Real,
        edge_cost: Whole,
        edge_outcome: Bytes,
        edge_shows: Bytes,
        edge_fine: Bytes,
        edge_priced: Bytes,
    ) -> None:
        self.index, self.row_start, self.row_end = index, row_start, row_end
        self.row_action, self.edge_start = row_action, edge_start
        self.edge_next, self.edge_cost, self.edge_outcome = edge_next, edge_cost, edge_outcome
        self.edge_chance, self.edge_low, self.edge_high = edge_chance, edge_low, edge_high
        self.edge_shows, self.edge_fine, self.edge_priced = edge_shows, edge_fine, edge_priced


class Said:
    """What is known of which states are goals: of a state, answers[number[state] + shift]."""

    def __init__(self, answers: Signs, number: Whole, shift: int) -> None:
        self.answers, self.number, self.shift = answers, number, shift


class Personal:
    """What holds for one person [action]: the number that an action has for them, -1 if it is out of the question.

    `cost` is what it costs in their quanta, -1 if it is what the edges say; `down` quanta of those are `up` of theirs.
    `chance` [action, outcome] are the chances of its two outcomes, NaN if they are those of the edges.
    """

    def __init__(self, number: Whole, cost: Whole, chance: Real, up: int, down: int) -> None:
        self.number, self.cost, self.chance, self.up, self.down = number, cost, chance, up, down


class Scratch:
    """Room for a search: the `depth` of each state, -1 everywhere before it and after `clear`, and its `number`.

    States are `found` in the order of their numbers, and the rows of each end at `row_end` of `rows`. On those that are
    `unknown` nobody has decided; of those that are `bare` the ground has no rows yet.
    """

    def __init__(self, ground: Ground) -> None:
        n_states, n_rows = ground.index.shape[0], ground.row_action.shape[0]
        self.depth = np.full(n_states, -1, np.int16)
        self.number, self.found, self.unknown = make_wholes(n_states), make_wholes(n_states), make_wholes(n_states)
        self.bare, self.row_end, self.rows = make_wholes(n_states), make_wholes(n_states), make_wholes(n_rows)
        self.places = make_wholes(DIGITS)


class Gathered:
    """The arrays of an MDP whose states are those at `place` of a ground, and whether any chance is an interval.

    While it is written to, there may be room for more.
    """

    def __init__(self) -> None:
        wholes, reals, bytes_ = make_wholes(0), make_reals(0), make_bytes(0)
        self.place, self.goal, self.depth, self.row_start = wholes, bytes_, make_shorts(0), wholes
        self.rows, self.row_action, self.edge_start = wholes, bytes_, wholes
        self.edge_next, self.edge_cost, self.edge_outcome = wholes, wholes, bytes_
        self.edge_chance, self.edge_low, self.edge_high = reals, reals, reals
        self.has_intervals = False


# ------------------------------------------------------------------------------------------------------------ searching


def is_possible(ground: Ground, own: Personal, action: int, edge: int) -> bool:
    """Return whether an outcome can happen at all."""
    if isnan(own.chance[action, 0]):
        return bool(ground.edge_high[edge] > 0)
    return bool(own.chance[action, ground.edge_outcome[edge]] > 0)


def is_offered(ground: Ground, own: Personal, row: int) -> bool:
    """Return whether an action is offered: a possible outcome changes something, and none breaks a rule (`expand`)."""
    action, shows = ground.row_action[row], False
    if own.number[action] < 0:
        return False
    for edge in range(ground.edge_start[row], ground.edge_start[row + 1]):
        if is_possible(ground, own, action, edge):
            if not ground.edge_fine[edge]:
                return False
            shows = shows or ground.edge_shows[edge] > 0
    return shows


def seek(
    ground: Ground, own: Personal, said: Said, count: int, horizon: int, most: int, scratch: Scratch
) -> tuple[int, int, int]:
    """Do what `search` says, without Python, from the first `count` states that are found."""
    depth, number, found, rows = scratch.depth, scratch.number, scratch.found, scratch.rows
    doubts, missing, here, last = 0, 0, 0, 0
    while here < count:
        state = found[here]
        answer = said.answers[said.number[state] + said.shift]
        if answer == UNKNOWN:
            scratch.unknown[doubts] = state
            doubts += 1
        is_left = depth[state] < horizon and (answer == NO or most > 0)
        if is_left and not (most > 0 and count > most and depth[state] == depth[found[count - 1]]):
            if ground.row_end[state] < 0:
                scratch.bare[missing] = state
                missing += 1
            for row in range(ground.row_start[state], ground.row_end[state]):
                if not is_offered(ground, own, row):
                    continue
                rows[last] = row
                last += 1
                for edge in range(ground.edge_start[row], ground.edge_start[row + 1]):
                    target = ground.edge_next[edge]  # -1 if that breaks a rule; then it is not possible
                    if is_possible(ground, own, ground.row_action[row], edge) and depth[target] < 0:
                        depth[target], number[target] = depth[state] + 1, count
                        found[count] = target
                        count += 1
        scratch.row_end[here] = last
        here += 1
    return count, doubts, missing


def begin(scratch: Scratch, start: int, count: int) -> int:
    """Begin a search in a state, too, after so many others; return in how many it now does."""
    if scratch.depth[start] == 0:
        return count
    scratch.depth[start], scratch.number[start], scratch.found[count] = 0, count, start
    return count + 1


def search(
    ground: Ground, own: Personal, said: Said, starts: Whole, horizon: int, most: int, scratch: Scratch
) -> tuple[int, int, int]:
    """Return how many states are within `horizon` steps, on how many nobody has decided, and how many are bare.

    They are written to `scratch`, nearest first. Goals are not left, and neither is what is not known; with `most` both
    are, and the search ends after the step that has found more than so many.
    """
    count = 0
    with cython.nogil:
        for i in range(starts.shape[0]):
            count = begin(scratch, starts[i], count)
        return seek(ground, own, said, count, horizon, most, scratch)


def clear(scratch: Scratch, count: int) -> None:
    """Make room for another search after one that found so many states."""
    for i in range(count):
        scratch.depth[scratch.found[i]] = -1


# ------------------------------------------------------------------------------------------------------------ gathering


def gather(ground: Ground, own: Personal, said: Said, count: int, scratch: Scratch) -> Gathered:
    """Return the states that a search found, rising, with what is offered there; goals and the last do nothing."""
    part = Gathered()
    with cython.nogil:
        n_edges = collect(ground, own, said, count, scratch, part)
    part.edge_next, part.edge_cost, part.edge_outcome = (
        part.edge_next[:n_edges],
        part.edge_cost[:n_edges],
        part.edge_outcome[:n_edges],
    )
    part.edge_chance, part.edge_low, part.edge_high = (
        part.edge_chance[:n_edges],
        part.edge_low[:n_edges],
        part.edge_high[:n_edges],
    )
    return part


def collect(ground: Ground, own: Personal, said: Said, count: int, scratch: Scratch, part: Gathered) -> int:
    """Write what `gather` returns over what `part` had, and return how many edges there are. Uses up `unknown`."""
    n_rows = scratch.row_end[count - 1] if count else 0
    reserve_states(part, count)
    reserve_rows(part, n_rows)
    for here in range(count):
        part.place[here] = scratch.found[here]
    sort_places(part.place, count, ground.index, scratch.unknown, scratch.places)
    for here in range(count):
        place = part.place[here]
        part.goal[here] = said.answers[said.number[place] + said.shift] == YES
        part.depth[here] = scratch.depth[place]
    reserve_edges(part, list_rows(ground.edge_start, count, scratch, part))
    return copy_rows(ground, own, scratch.number, n_rows, part)


def reserve_states(part: Gathered, count: int) -> int:
    """Make room for so many states."""
    if count >= part.row_start.shape[0]:
        room = max(count, 2 * part.place.shape[0])
        part.place, part.row_start = make_wholes(room), make_wholes(room + 1)
        part.goal, part.depth = make_bytes(room), make_shorts(room)
    return 0


def reserve_rows(part: Gathered, count: int) -> int:
    """Make room for so many rows, and for where their edges end."""
    if count >= part.edge_start.shape[0]:
        room = max(count, 2 * part.rows.shape[0])
        part.rows, part.edge_start, part.row_action = make_wholes(room), make_wholes(room + 1), make_bytes(room)
    return 0


def reserve_edges(part: Gathered, count: int) -> int:
    """Make room for so many edges."""
    if count > part.edge_next.shape[0]:
        room = max(count, 2 * part.edge_next.shape[0])
        part.edge_next, part.edge_cost, part.edge_outcome = make_wholes(room), make_wholes(room), make_bytes(room)
        part.edge_chance, part.edge_low, part.edge_high = make_reals(room), make_reals(room), make_reals(room)
    return 0


def make_shorts(count: int) -> Short:
    """Return room for so many short numbers."""
    return np.empty(count, np.int16)


def sort_places(place: Whole, count: int, index: Whole, spare: Whole, ends: Whole) -> None:
    """Put the first `count` places into the order of their index, digit by digit, with room for them and all digits."""
    largest, shift = 0, 0
    for i in range(count):
        largest = max(largest, index[place[i]])
    while shift < 63 and largest >> shift:  # a number of 63 bits shifted by 64 is anything in C
        for digit in range(DIGITS):
            ends[digit] = 0
        for i in range(count):
            ends[(index[place[i]] >> shift) & (DIGITS - 1)] += 1
        before = 0
        for digit in range(DIGITS):  # where the next one with this digit belongs
            many = ends[digit]
            ends[digit] = before
            before += many
        for i in range(count):
            digit = (index[place[i]] >> shift) & (DIGITS - 1)
            spare[ends[digit]] = place[i]
            ends[digit] += 1
        for i in range(count):
            place[i] = spare[i]
        shift += 8


def list_rows(edge_start: Whole, count: int, scratch: Scratch, part: Gathered) -> int:
    """List the rows that were found by state, and number states in their order; return how many edges the rows have."""
    last, n_edges = 0, 0
    part.row_start[0] = 0
    for here in range(count):
        old = scratch.number[part.place[here]]
        scratch.number[part.place[here]] = here
        for i in range(scratch.row_end[old - 1] if old else 0, scratch.row_end[old]):
            row = scratch.rows[i]
            part.rows[last] = row
            last += 1
            n_edges += edge_start[row + 1] - edge_start[row]
        part.row_start[here + 1] = last
    return n_edges


def copy_rows(ground: Ground, own: Personal, place: Whole, count: int, part: Gathered) -> int:
    """Write the possible outcomes of rows with the person's own costs and chances; return how many there are."""
    chance, low, high = part.edge_chance, part.edge_low, part.edge_high
    cost, nexts, outcome_of = part.edge_cost, part.edge_next, part.edge_outcome
    last = 0
    part.edge_start[0], part.has_intervals = 0, False
    for i in range(count):
        row = part.rows[i]
        action = ground.row_action[row]
        part.row_action[i] = own.number[action]
        own_cost, is_as_ever = own.cost[action], isnan(own.chance[action, 0])
        for edge in range(ground.edge_start[row], ground.edge_start[row + 1]):
            outcome = ground.edge_outcome[edge]
            if is_as_ever:
                chance[last] = ground.edge_chance[edge]
                low[last], high[last] = ground.edge_low[edge], ground.edge_high[edge]
            else:
                chance[last] = low[last] = high[last] = own.chance[action, outcome]
            if high[last] > 0:
                if own_cost >= 0 and not ground.edge_priced[edge]:
                    cost[last] = own_cost
                elif own.down == 1:  # dividing takes long
                    cost[last] = ground.edge_cost[edge] * own.up
                else:
                    cost[last] = ground.edge_cost[edge] // own.down * own.up
                nexts[last], outcome_of[last] = place[ground.edge_next[edge]], outcome
                part.has_intervals = part.has_intervals or low[last] < high[last]
                last += 1
        part.edge_start[i + 1] = last
    return last
