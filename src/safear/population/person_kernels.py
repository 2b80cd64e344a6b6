"""The compiled loops of a batch: what one person can reach, their plan, and what it may cost, for person after person.

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.compiling import njit
from safear.evaluation.evaluation_kernels import Account, describe, follow_from
from safear.mdp.arrays import Arrays
from safear.mdp.goals import YES
from safear.mdp.ground import Ground, Said
from safear.mdp.personal import Personal
from safear.mdp.reach_kernels import Scratch, clear, gather, search
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
    """What holds for everybody."""

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
def solve_one_by_one(
    ground: Ground, said: NDArray[np.int8], people: People, rules: Rules, scratch: Scratch, answers: Answers
) -> None:
    """For each person: the states that they can reach, the greedy sweep over these, and the exact figures of the plan.

    The ground is shared by all; which states are goals is said [state, lane] of the person's lane.
    """
    start, lane, offered, cost, chance, scale = people
    horizon, failure_cost, risk_aversion, upper_only, tie, level, tolerance, stops = rules
    status, first_action, figures = answers
    everywhere, number = said.reshape(-1), said.shape[1] * np.arange(said.shape[0])
    table = np.full(256, -1, np.int32)
    every = np.arange(offered.shape[1])
    for person in range(len(start)):
        figures[person], first_action[person] = np.nan, -1
        if said[start[person], lane[person]] == YES:
            status[person] = FAVOURABLE
            continue
        works = chance[person].copy().reshape(-1, 1)
        terms = Personal(
            np.where(offered[person], every, -1), cost[person], np.hstack((works, 1 - works)), scale[person], 1
        )
        known = Said(everywhere, number, lane[person])
        count, _ = search(ground, terms, known, start[person], horizon, 0, scratch)
        part = gather(ground, terms, known, count, scratch)
        first = scratch.number[start[person]]
        clear(scratch, count)
        actions, start_of, nexts, chances, _, _, costs, outcomes = part.edges
        own_goal = part.goal.reshape(-1, 1)
        own = Arrays(part.row_start, actions, start_of, nexts, chances, costs, outcomes)
        # As `sweep._weigh_two_outcomes` has it.
        rise, fall = np.empty(len(actions)), np.empty(len(actions))
        for row in range(len(actions)):
            p0, p1 = chances[start_of[row]], chances[start_of[row + 1] - 1]
            rise[row] = risk_aversion * np.sqrt(p0 * p1) * (np.sqrt(p1) if upper_only else 1.0)
            fall[row] = -risk_aversion * np.sqrt(p0 * p1) * (np.sqrt(p0) if upper_only else 1.0)
        figures[person, 8] = find_highest_success(own, own_goal, horizon)[first, 0]
        if figures[person, 8] == 0.0:  # also where a goal is possible, but not at these chances
            status[person], figures[person, 0] = NO_RECOURSE, 0.0
            continue
        status[person] = PLANNED
        choices, failing = np.empty((horizon, count), np.uint8), float(failure_cost * scale[person])
        needed = count_steps(own, own_goal, horizon) if stops else np.zeros((count, 1), np.int16)
        deviation = Deviation(risk_aversion, upper_only, rise, fall)
        sweep_single(own, deviation, own_goal.reshape(-1), needed.reshape(-1), failing, tie, choices)
        first_action[person] = actions[own.row_start[first] + choices[0, first]]
        pieces = np.arange(horizon * count + 1)
        plan = Account(pieces, pieces, choices.reshape(-1))  # one piece everywhere
        ends, total, mass = follow_from(own, own_goal[:, 0], horizon, plan, first, 0, table, 0, MAX_PAIRS)
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
