"""The compiled loops of a batch: what one person can reach, their plan, and what it may cost, for person after person.

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from safear.evaluation.evaluation_kernels import Account, describe, follow_from
from safear.mdp.arrays import Arrays
from safear.population.family_kernels import find_highest_success
from safear.solvers.sweep_kernels import Deviation, count_steps, sweep_single

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
FAVOURABLE, PLANNED, NO_RECOURSE, TOO_FINE = 0, 1, 2, 3
MAX_PAIRS = 2_000_000  # of a state and what was spent, in one step of one person


class People(NamedTuple):
    """Of each person: where they start, in which lane, and what holds for them [person, action].

    A person has offered[action], cost[action] (-1: that of the edge) and chance[action] of the first outcome (NaN: that
    of the edge). Costs of edges and of failing are `scale` times the person's unit.
    """

    start: Whole
    lane: Whole
    offered: Flags
    cost: Whole
    chance: Real
    scale: Whole


class Rules(NamedTuple):
    """What holds for everybody.

    An outcome with a cost of its own, own_cost[action, outcome], keeps it whatever a person's action costs.
    """

    own_cost: Flags
    horizon: int
    failure_cost: int
    risk_aversion: float
    upper_only: bool
    tie: float
    level: float
    tolerance: float
    stops: bool


class Answers(NamedTuple):
    """What is written for each person: how it went, the first action (-1: none), and the figures.

    These are success; mean, deviation, VaR and CVaR given success; mean and CVaR over all runs; the value of the
    objective; the highest success that any plan has; NaN where undefined.
    """

    status: Bytes
    first_action: NDArray[np.int16]
    figures: Real


@njit(cache=True, nogil=True)
def solve_one_by_one(arrays: Arrays, goal: Flags, people: People, rules: Rules, answers: Answers) -> None:
    """For each person: the states that they can reach, the greedy sweep over these, and the exact figures of the plan.

    Rows and edges are shared by all, goals [state, lane] are those of the person's lane.
    """
    row_start, row_action, edge_start, edge_next, edge_chance, edge_cost, edge_outcome = arrays
    start, lane, offered, cost, chance, scale = people
    own_cost, horizon, failure_cost, risk_aversion, upper_only, tie, level, tolerance, stops = rules
    status, first_action, figures = answers
    n_states, n_rows, n_edges = len(row_start) - 1, len(row_action), len(edge_next)
    slot = np.full(n_states, -1, np.int64)
    states, depth, is_goal = (
        np.empty(n_states, np.int64),
        np.empty(n_states, np.int64),
        np.empty((n_states, 1), np.bool_),
    )
    rows, actions, edges = np.empty(n_states + 1, np.int64), np.empty(n_rows, np.uint8), np.empty(n_rows + 1, np.int64)
    nexts, chances, costs = np.empty(n_edges, np.int64), np.empty(n_edges), np.empty(n_edges, np.int64)
    rise, fall = np.empty(n_rows), np.empty(n_rows)
    table = np.full(256, -1, np.int32)
    for person in range(len(start)):
        figures[person], first_action[person] = np.nan, -1
        if goal[start[person], lane[person]]:
            status[person] = FAVOURABLE
            continue
        # The states that can be reached within the horizon, numbered as they are found, with the person's own edges.
        states[0], depth[0], slot[start[person]] = start[person], 0, 0
        count, last_row, last_edge = 1, 0, 0
        here = 0
        while here < count:
            state = states[here]
            rows[here] = last_row
            is_goal[here, 0] = goal[state, lane[person]]
            if not is_goal[here, 0] and depth[here] < horizon:
                for row in range(row_start[state], row_start[state + 1]):
                    action = row_action[row]
                    if not offered[person, action]:
                        continue
                    actions[last_row], edges[last_row] = action, last_edge
                    for edge in range(edge_start[row], edge_start[row + 1]):
                        p, target = chance[person, action], edge_next[edge]
                        works = p if edge_outcome[edge] == 0 else 1 - p
                        chances[last_edge] = edge_chance[edge] if np.isnan(p) else works
                        if slot[target] < 0:
                            slot[target] = count
                            states[count], depth[count] = target, depth[here] + 1
                            count += 1
                        is_own = cost[person, action] < 0 or own_cost[action, edge_outcome[edge]]
                        costs[last_edge] = edge_cost[edge] * scale[person] if is_own else cost[person, action]
                        nexts[last_edge] = slot[target]
                        last_edge += 1
                    # As `sweep._weigh_two_outcomes` has it.
                    p0, p1 = chances[edges[last_row]], chances[last_edge - 1]
                    rise[last_row] = risk_aversion * np.sqrt(p0 * p1) * (np.sqrt(p1) if upper_only else 1.0)
                    fall[last_row] = -risk_aversion * np.sqrt(p0 * p1) * (np.sqrt(p0) if upper_only else 1.0)
                    last_row += 1
            here += 1
        rows[count], edges[last_row] = last_row, last_edge
        for i in range(count):
            slot[states[i]] = -1
        own_goal = is_goal[:count]
        own = Arrays(rows[: count + 1], actions, edges[: last_row + 1], nexts, chances, costs, edge_outcome)
        figures[person, 8] = find_highest_success(own, own_goal, horizon)[0, 0]
        if figures[person, 8] == 0.0:  # also where a goal is possible, but not at these chances
            status[person], figures[person, 0] = NO_RECOURSE, 0.0
            continue
        status[person] = PLANNED
        choices, failing = np.empty((horizon, count), np.uint8), float(failure_cost * scale[person])
        needed = count_steps(own, own_goal, horizon) if stops else np.zeros((count, 1), np.int16)
        deviation = Deviation(risk_aversion, upper_only, rise, fall)
        sweep_single(own, deviation, own_goal.reshape(-1), needed.reshape(-1), failing, tie, choices)
        first_action[person] = actions[choices[0, 0]]
        pieces = np.arange(horizon * count + 1)
        plan = Account(pieces, pieces, choices.reshape(-1))  # one piece everywhere
        ends, total, mass = follow_from(own, own_goal[:, 0], horizon, plan, 0, 0, table, 0, MAX_PAIRS)
        if not len(total):
            status[person] = TOO_FINE
            continue
        order = np.argsort(total)
        ends, total, mass = ends[order], total[order], mass[order]
        good = own_goal[ends, 0]
        reached, mean, variance, at_risk, tail, _ = describe(total[good], mass[good], level, tolerance)
        figures[person, 0] = reached / mass.sum()
        if reached > 0:
            figures[person, 1:5] = mean, np.sqrt(variance), at_risk, tail
        total = total + failure_cost * scale[person] * ~good
        order = np.argsort(total)
        total, mass = total[order], mass[order]
        whole, mean, variance, _, figures[person, 6], _ = describe(total, mass, level, tolerance)
        if upper_only:
            variance = (mass * np.maximum(total - mean, 0.0) ** 2).sum() / whole
        figures[person, 5], figures[person, 7] = mean, mean + risk_aversion * np.sqrt(variance)
