"""The compiled loops of a batch: what one person can reach, their plan, and what it may cost, for person after person.

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from safear.solvers.sweep_kernels import sweep_lanes

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
FAVOURABLE, PLANNED, NO_RECOURSE, TOO_FINE = 0, 1, 2, 3
MAX_PAIRS = 2_000_000  # of a state and what was spent, in one step of one person


@njit(cache=True, nogil=True)
def solve_people(
    row_start: Whole,
    row_action: Bytes,
    edge_start: Whole,
    edge_next: Whole,
    edge_chance: Real,
    edge_cost: Whole,
    edge_outcome: Bytes,
    goal: Flags,
    own_cost: Flags,
    start: Whole,
    lane: Whole,
    offered: Flags,
    cost: Whole,
    chance: Real,
    scale: Whole,
    horizon: int,
    failure_cost: int,
    risk_aversion: float,
    upper_only: bool,  # noqa: FBT001  # compiled functions take positions
    tie: float,
    level: float,
    tolerance: float,
    status: Bytes,
    first_action: NDArray[np.int16],
    figures: Real,
) -> None:
    """For each person: the states that they can reach, the greedy sweep over these, and the exact figures of the plan.

    Rows and edges are shared by all, goals are those of the person's lane. A person has offered[action], cost[action]
    (-1: that of the edge) and chance[action] of the first outcome (NaN: that of the edge); an outcome with a cost of
    its own, own_cost[action, outcome], keeps it. Costs of edges and of failing are `scale` times the person's unit.
    Written are `status`, the first action (-1: none) and the figures: success; mean, deviation, VaR and CVaR given
    success; mean and CVaR over all runs; the highest success that any plan has; NaN where undefined.
    """
    n_states, n_rows, n_edges = len(row_start) - 1, len(row_action), len(edge_next)
    slot = np.full(n_states, -1, np.int64)
    states, depth, is_goal = (
        np.empty(n_states, np.int64),
        np.empty(n_states, np.int64),
        np.empty((n_states, 1), np.bool_),
    )
    rows, actions, edges = np.empty(n_states + 1, np.int64), np.empty(n_rows, np.int64), np.empty(n_rows + 1, np.int64)
    nexts, chances, costs = np.empty(n_edges, np.int64), np.empty(n_edges), np.empty(n_edges, np.int64)
    rise, fall, flat, free = np.empty(n_rows), np.empty(n_rows), np.zeros(n_rows), np.zeros(n_edges, np.int64)
    for person in range(len(start)):
        figures[person], first_action[person] = np.nan, -1
        if goal[start[person], lane[person]]:
            status[person] = FAVOURABLE
            continue
        # The states that can be reached within the horizon, numbered as they are found, with the person's own edges.
        states[0], depth[0], slot[start[person]] = start[person], 0, 0
        count, last_row, last_edge, has_goal = 1, 0, 0, False
        here = 0
        while here < count:
            state = states[here]
            rows[here] = last_row
            is_goal[here, 0] = goal[state, lane[person]]
            has_goal |= is_goal[here, 0]
            if not is_goal[here, 0] and depth[here] < horizon:
                for row in range(row_start[state], row_start[state + 1]):
                    action = row_action[row]
                    if not offered[person, action]:
                        continue
                    actions[last_row], edges[last_row] = action, last_edge
                    for edge in range(edge_start[row], edge_start[row + 1]):
                        target = edge_next[edge]
                        if slot[target] < 0:
                            slot[target] = count
                            states[count], depth[count] = target, depth[here] + 1
                            count += 1
                        is_own = cost[person, action] < 0 or own_cost[action, edge_outcome[edge]]
                        costs[last_edge] = edge_cost[edge] * scale[person] if is_own else cost[person, action]
                        p = chance[person, action]
                        works = p if edge_outcome[edge] == 0 else 1 - p
                        chances[last_edge] = edge_chance[edge] if np.isnan(p) else works
                        nexts[last_edge] = slot[target]
                        last_edge += 1
                    # As `greedy._weigh_two_outcomes` has it.
                    p0, p1 = chances[edges[last_row]], chances[last_edge - 1]
                    rise[last_row] = risk_aversion * np.sqrt(p0 * p1) * (np.sqrt(p1) if upper_only else 1.0)
                    fall[last_row] = -risk_aversion * np.sqrt(p0 * p1) * (np.sqrt(p0) if upper_only else 1.0)
                    last_row += 1
            here += 1
        rows[count], edges[last_row] = last_row, last_edge
        for i in range(count):
            slot[states[i]] = -1
        if not has_goal:
            status[person], figures[person, 0], figures[person, 7] = NO_RECOURSE, 0.0, 0.0
            continue
        status[person] = PLANNED
        choices, failing = np.empty((horizon, count, 1), np.uint8), float(failure_cost * scale[person])
        # With no costs but one of failing, the least mean is the least chance to fail.
        own_rows, own_edges, own_goal = rows[: count + 1], edges[: last_row + 1], is_goal[:count]
        arrays = own_rows, own_edges, nexts, chances
        least = sweep_lanes(*arrays, free, flat, flat, 0.0, upper_only, own_goal, 1.0, tie, choices)
        figures[person, 7] = 1 - least[0, 0]
        sweep_lanes(*arrays, costs, rise, fall, risk_aversion, upper_only, own_goal, failing, tie, choices)
        first_action[person] = actions[choices[0, 0, 0]]
        total, mass, failed = follow(rows, edges, nexts, chances, costs, is_goal, choices)
        if not len(total):
            status[person] = TOO_FINE
            continue
        good = ~failed
        figures[person, 0] = mass[good].sum() / mass.sum()
        if figures[person, 0] > 0:
            figures[person, 1:5] = describe(total[good], mass[good], level, tolerance)
        mean, _, _, tail = describe(total + failure_cost * scale[person] * failed, mass, level, tolerance)
        figures[person, 5], figures[person, 6] = mean, tail


@njit(cache=True, nogil=True)
def follow(
    rows: Whole, edges: Whole, nexts: Whole, chances: Real, costs: Whole, is_goal: Flags, choices: Bytes
) -> tuple[Whole, Real, Flags]:
    """P_{h+1}(s', x + c) = sum of P_h(s, x) * p, from state 0, only where it is not zero.

    Returns the total, the mass and whether it failed, of all ends; the same total may come several times. Nothing, if
    there are more than MAX_PAIRS at a time.
    """
    horizon = len(choices)
    state, spent, mass = np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1)
    count = 1
    end_total, end_mass, end_failed = np.empty(64, np.int64), np.empty(64), np.empty(64, np.bool_)
    ends = 0
    for step in range(horizon + 1):
        ahead = 0
        next_state, next_spent, next_mass = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64)
        table = np.full(256, -1, np.int64)  # where a pair (state, spent) stands, by its hash; at most half full
        for i in range(count):
            choice = 255 if step == horizon else choices[step, state[i], 0]
            if is_goal[state[i], 0] or choice == 255:
                if ends == len(end_total):
                    end_total = np.concatenate((end_total, np.empty(ends, np.int64)))
                    end_mass = np.concatenate((end_mass, np.empty(ends)))
                    end_failed = np.concatenate((end_failed, np.empty(ends, np.bool_)))
                end_total[ends], end_mass[ends], end_failed[ends] = spent[i], mass[i], not is_goal[state[i], 0]
                ends += 1
                continue
            row = rows[state[i]] + choice
            for edge in range(edges[row], edges[row + 1]):
                target, total = nexts[edge], spent[i] + costs[edge]
                place = find_place(table, next_state, next_spent, target, total)
                if table[place] < 0:
                    if ahead == len(next_state):
                        next_state = np.concatenate((next_state, np.empty(ahead, np.int64)))
                        next_spent = np.concatenate((next_spent, np.empty(ahead, np.int64)))
                        next_mass = np.concatenate((next_mass, np.empty(ahead)))
                    next_state[ahead], next_spent[ahead], next_mass[ahead] = target, total, 0.0
                    table[place] = ahead
                    ahead += 1
                    if 2 * ahead > len(table):
                        table = np.full(4 * len(table), -1, np.int64)
                        for known in range(ahead):
                            table[find_place(table, next_state, next_spent, next_state[known], next_spent[known])] = (
                                known
                            )
                        place = find_place(table, next_state, next_spent, target, total)
                next_mass[table[place]] += mass[i] * chances[edge]
        state, spent, mass, count = next_state, next_spent, next_mass, ahead
        if count > MAX_PAIRS:
            return end_total[:0], end_mass[:0], end_failed[:0]
        if not count:
            break
    return end_total[:ends], end_mass[:ends], end_failed[:ends]


@njit(cache=True, nogil=True)
def find_place(table: Whole, states: Whole, totals: Whole, state: int, total: int) -> int:
    """Where a pair stands in the table, or the free place where it belongs; the table's size is a power of two."""
    mixed = (total * 0x9E3779B1 + state) * 0x85EBCA6B
    place = (mixed ^ (mixed >> 17)) & (len(table) - 1)
    while table[place] >= 0 and (states[table[place]] != state or totals[table[place]] != total):
        place = (place + 1) & (len(table) - 1)
    return place


@njit(cache=True, nogil=True)
def describe(total: Whole, mass: Real, level: float, tolerance: float) -> tuple[float, float, float, float]:
    """Mean, standard deviation, VaR and CVaR of totals with some mass; see `risk.distribution`."""
    order = np.argsort(total)
    whole = mass.sum()
    mean = (mass * total).sum() / whole
    deviation = np.sqrt((mass * (total - mean) ** 2).sum() / whole)
    threshold, cumulated = total[order[-1]], 0.0
    if level <= 1 - tolerance:
        for i in order:
            cumulated += mass[i]
            if cumulated >= max(level - tolerance, tolerance) * whole:
                threshold = total[i]
                break
    beyond = total > threshold
    share = max(whole * (1 - level), mass[beyond].sum())  # see Costs.cvar
    excess = (mass[beyond] * (total[beyond] - threshold)).sum()
    tail = threshold + excess / share if level <= 1 - tolerance else float(threshold)
    return mean, deviation, float(threshold), tail
