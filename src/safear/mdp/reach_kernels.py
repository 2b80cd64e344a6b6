"""The compiled loops that find what one person can reach of shared ground, on their own terms.

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.compiling import njit
from safear.mdp.goals import NO, UNKNOWN, YES
from safear.mdp.ground import Ground, Said
from safear.mdp.personal import Personal

Whole = NDArray[np.int64]
Real = NDArray[np.float64]


@njit(cache=True, nogil=True, inline="always")
def is_possible(ground: Ground, own: Personal, action: int, edge: int) -> bool:
    """Whether an outcome can happen at all."""
    if np.isnan(own.chance[action, 0]):
        return bool(ground.edge_high[edge] > 0)
    return bool(own.chance[action, ground.edge_outcome[edge]] > 0)


@njit(cache=True, nogil=True, inline="always")
def is_offered(ground: Ground, own: Personal, row: int) -> bool:
    """Whether an action is offered: a possible outcome changes something, and none breaks a rule (see `expand`)."""
    action, shows = ground.row_action[row], False
    if own.number[action] < 0:
        return False
    for edge in range(ground.edge_start[row], ground.edge_start[row + 1]):
        if is_possible(ground, own, action, edge):
            if not ground.edge_fine[edge]:
                return False
            shows |= ground.edge_shows[edge]
    return shows


class Scratch(NamedTuple):
    """Room for a search: the `depth` of each state, -1 everywhere before it and after `clear`, and its `number`.

    States are `found` in the order of their numbers, and the rows of each end at `row_end` of `rows`. On those that are
    `unknown` nobody has decided.
    """

    depth: NDArray[np.int16]
    number: Whole
    found: Whole
    unknown: Whole
    row_end: Whole
    rows: Whole

    @classmethod
    def of(cls, ground: Ground) -> Scratch:
        """Room for a search of all of it."""
        n_states = len(ground.row_start) - 1
        number, found, unknown, row_end = (np.empty(n_states, np.int64) for _ in range(4))
        rows = np.empty(len(ground.row_action), np.int64)
        return cls(np.full(n_states, -1, np.int16), number, found, unknown, row_end, rows)


@njit(cache=True, nogil=True)
def search(
    ground: Ground, own: Personal, said: Said, start: int, horizon: int, most: int, scratch: Scratch
) -> tuple[int, int]:
    """How many states are within `horizon` steps, and on how many of them nobody has decided.

    They are written to `scratch`, nearest first. Goals are not left, and neither is what is not known; with `most` both
    are, and the search ends after the step that has found more than so many.
    """
    depth, number, found, unknown, row_end, rows = scratch
    found[0], depth[start], number[start] = start, 0, 0
    count, doubts, here, last = 1, 0, 0, 0
    while here < count:
        state = found[here]
        answer = said.answers[said.number[state] + said.shift]
        if answer == UNKNOWN:
            unknown[doubts] = state
            doubts += 1
        is_left = depth[state] < horizon and (answer == NO or most > 0)
        if is_left and not (most and count > most and depth[state] == depth[found[count - 1]]):
            for row in range(ground.row_start[state], ground.row_start[state + 1]):
                if not is_offered(ground, own, row):
                    continue
                rows[last] = row
                last += 1
                for edge in range(ground.edge_start[row], ground.edge_start[row + 1]):
                    target = ground.edge_next[edge]
                    if is_possible(ground, own, ground.row_action[row], edge) and depth[target] < 0:
                        depth[target], number[target] = depth[state] + 1, count
                        found[count] = target
                        count += 1
        row_end[here] = last
        here += 1
    return count, doubts


@njit(cache=True, nogil=True)
def clear(scratch: Scratch, count: int) -> None:
    """Make room for another search after one that found so many states."""
    for i in range(count):
        scratch.depth[scratch.found[i]] = -1


class Edged(NamedTuple):
    """Rows with their edges, as an MDP has them."""

    row_action: NDArray[np.uint8]
    start: Whole
    next: Whole
    chance: Real
    low: Real
    high: Real
    cost: Whole
    outcome: NDArray[np.uint8]


class Gathered(NamedTuple):
    """The arrays of an MDP whose states are those at `place` of a ground, and whether any chance is an interval."""

    place: Whole
    goal: NDArray[np.bool_]
    depth: NDArray[np.int16]
    row_start: Whole
    edges: Edged
    has_intervals: bool


@njit(cache=True, nogil=True)
def gather(ground: Ground, own: Personal, said: Said, count: int, scratch: Scratch) -> Gathered:
    """The states that a search found, rising, with what the person is offered there; goals and the last do nothing."""
    place = np.sort(scratch.found[:count])
    goal, row_start = np.empty(count, np.bool_), np.zeros(count + 1, np.int64)
    rows = np.empty(scratch.row_end[count - 1], np.int64)
    for here in range(count):
        goal[here] = said.answers[said.number[place[here]] + said.shift] == YES
    most = _list_rows(ground.edge_start, place, scratch, row_start, rows)
    edges = Edged(
        np.empty(len(rows), np.uint8),
        np.zeros(len(rows) + 1, np.int64),
        np.empty(most, np.int64),
        np.empty(most),
        np.empty(most),
        np.empty(most),
        np.empty(most, np.int64),
        np.empty(most, np.uint8),
    )
    n = _copy_rows(ground, own, rows, scratch.number, edges)
    action, start, nexts, chance, low, high, cost, outcome = edges
    has_intervals = bool((low[:n] < high[:n]).any())
    edges = Edged(action, start, nexts[:n], chance[:n], low[:n], high[:n], cost[:n], outcome[:n])
    return Gathered(place, goal, scratch.depth[place], row_start, edges, has_intervals)


@njit(cache=True, nogil=True)
def _list_rows(edge_start: Whole, place: Whole, scratch: Scratch, row_start: Whole, rows: Whole) -> int:
    """List the rows that were found by state, and number states anew; how many edges the rows have."""
    _, number, _, _, row_end, found = scratch
    last, n_edges = 0, 0
    for here in range(len(place)):
        old = number[place[here]]
        number[place[here]] = here
        for i in range(row_end[old - 1] if old else 0, row_end[old]):
            rows[last] = found[i]
            last += 1
            n_edges += edge_start[found[i] + 1] - edge_start[found[i]]
        row_start[here + 1] = last
    return n_edges


@njit(cache=True, nogil=True)
def _copy_rows(ground: Ground, own: Personal, rows: Whole, place: Whole, edges: Edged) -> int:
    """Write the possible outcomes of rows with the person's own costs and chances; how many there are."""
    # Taken out of the tuples beforehand: Numba counts references to what is taken inside a loop.
    row_action, edge_start, edge_next, edge_outcome = (
        ground.row_action,
        ground.edge_start,
        ground.edge_next,
        ground.edge_outcome,
    )
    edge_chance, edge_low, edge_high = ground.edge_chance, ground.edge_low, ground.edge_high
    edge_cost, edge_priced = ground.edge_cost, ground.edge_priced
    number, own_cost, own_chance, up, down = own
    action_of, start, nexts, chance, low, high, cost, outcome_of = edges
    last = 0
    for i in range(len(rows)):
        action = row_action[rows[i]]
        action_of[i] = number[action]
        is_as_ever = np.isnan(own_chance[action, 0])
        for edge in range(edge_start[rows[i]], edge_start[rows[i] + 1]):
            outcome = edge_outcome[edge]
            if is_as_ever:
                chance[last], low[last], high[last] = edge_chance[edge], edge_low[edge], edge_high[edge]
            else:
                chance[last] = low[last] = high[last] = own_chance[action, outcome]
            if high[last] > 0:
                if own_cost[action] >= 0 and not edge_priced[edge]:
                    cost[last] = own_cost[action]
                else:  # dividing takes long
                    cost[last] = edge_cost[edge] * up if down == 1 else edge_cost[edge] // down * up
                nexts[last], outcome_of[last] = place[edge_next[edge]], outcome
                last += 1
        start[i + 1] = last
    return last
