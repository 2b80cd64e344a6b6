"""The compiled loops that find what one person can reach of shared ground, on their own terms.

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from safear.mdp.goals import NO, UNKNOWN, YES
from safear.mdp.ground import Ground, Said
from safear.mdp.personal import Personal

Whole = NDArray[np.int64]


@njit(cache=True, nogil=True)
def is_possible(ground: Ground, own: Personal, action: int, edge: int) -> bool:
    """Whether an outcome can happen at all."""
    if np.isnan(own.chance[action, 0]):
        return bool(ground.edge_high[edge] > 0)
    return bool(own.chance[action, ground.edge_outcome[edge]] > 0)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def search(
    ground: Ground, own: Personal, said: Said, start: int, horizon: int, most: int
) -> tuple[Whole, NDArray[np.int16], Whole]:
    """The states within `horizon` steps, nearest first, how many steps each takes, and those nobody has decided on.

    Goals are not left, and neither is what is not known. With `most`, goals are left, too, and the search ends after
    the step that has found more than so many.
    """
    n_states = len(ground.row_start) - 1
    found = np.empty(n_states, np.int64)
    depth = np.full(n_states, -1, np.int16)
    unknown = np.empty(n_states, np.int64)
    found[0], depth[start] = start, 0
    count, doubts, here = 1, 0, 0
    while here < count:
        state = found[here]
        here += 1
        answer = said.answers[said.number[state] + said.shift]
        if answer == UNKNOWN:
            unknown[doubts] = state
            doubts += 1
        if depth[state] == horizon or (most and count > most and depth[state] == depth[found[count - 1]]):
            continue
        if answer != NO and not most:
            continue
        for row in range(ground.row_start[state], ground.row_start[state + 1]):
            if not is_offered(ground, own, row):
                continue
            for edge in range(ground.edge_start[row], ground.edge_start[row + 1]):
                target = ground.edge_next[edge]
                if is_possible(ground, own, ground.row_action[row], edge) and depth[target] < 0:
                    depth[target] = depth[state] + 1
                    found[count] = target
                    count += 1
    return found[:count].copy(), depth, unknown[:doubts].copy()


class Gathered(NamedTuple):
    """The arrays of an MDP with some states of a ground, which are `place`; and whether any chance is an interval."""

    place: Whole
    goal: NDArray[np.bool_]
    depth: NDArray[np.int16]
    row_start: Whole
    row_action: NDArray[np.uint8]
    edge_start: Whole
    edge_next: Whole
    edge_chance: NDArray[np.float64]
    edge_low: NDArray[np.float64]
    edge_high: NDArray[np.float64]
    edge_cost: Whole
    edge_outcome: NDArray[np.uint8]
    has_intervals: bool


@njit(cache=True, nogil=True)
def gather(
    ground: Ground, own: Personal, said: Said, found: Whole, depths: NDArray[np.int16], horizon: int
) -> Gathered:
    """The states that `search` found, rising, with what the person is offered there; goals and the last do nothing."""
    place = np.sort(found)
    count = len(place)
    slot = np.empty(len(depths), np.int64)
    goal, depth = np.empty(count, np.bool_), depths[place]
    row_start = np.zeros(count + 1, np.int64)
    rows, n_edges = np.empty(len(ground.row_action), np.int64), 0
    n_rows = 0
    for here in range(count):
        state = place[here]
        slot[state] = here
        goal[here] = said.answers[said.number[state] + said.shift] == YES
        if not goal[here] and depth[here] < horizon:
            for row in range(ground.row_start[state], ground.row_start[state + 1]):
                if is_offered(ground, own, row):
                    rows[n_rows] = row
                    n_rows += 1
                    n_edges += ground.edge_start[row + 1] - ground.edge_start[row]
        row_start[here + 1] = n_rows
    row_action, edge_start = np.empty(n_rows, np.uint8), np.zeros(n_rows + 1, np.int64)
    nexts, costs, outcomes = np.empty(n_edges, np.int64), np.empty(n_edges, np.int64), np.empty(n_edges, np.uint8)
    chances, low, high = np.empty(n_edges), np.empty(n_edges), np.empty(n_edges)
    last, has_intervals = 0, False
    for number in range(n_rows):
        row = rows[number]
        action = ground.row_action[row]
        row_action[number] = own.number[action]
        is_own = not np.isnan(own.chance[action, 0])
        for edge in range(ground.edge_start[row], ground.edge_start[row + 1]):
            if not is_possible(ground, own, action, edge):
                continue
            outcome = ground.edge_outcome[edge]
            nexts[last], outcomes[last] = slot[ground.edge_next[edge]], outcome
            if is_own:
                chances[last] = low[last] = high[last] = own.chance[action, outcome]
            else:
                chances[last], low[last], high[last] = (
                    ground.edge_chance[edge],
                    ground.edge_low[edge],
                    ground.edge_high[edge],
                )
            has_intervals |= low[last] < high[last]
            if own.cost[action] >= 0 and not ground.edge_priced[edge]:
                costs[last] = own.cost[action]
            else:
                costs[last] = ground.edge_cost[edge] // own.down * own.up
            last += 1
        edge_start[number + 1] = last
    return Gathered(
        place,
        goal,
        depth,
        row_start,
        row_action,
        edge_start,
        nexts[:last].copy(),
        chances[:last].copy(),
        low[:last].copy(),
        high[:last].copy(),
        costs[:last].copy(),
        outcomes[:last].copy(),
        has_intervals,
    )
