"""The plan of one person that weighs mean and tail, in one compiled call: sweeps, best target, and what it may cost.

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.compiling import njit
from safear.evaluation.evaluation_kernels import Account, describe
from safear.evaluation.policy import PolicyArrays
from safear.evaluation.run_kernels import Going, follow_policy
from safear.solvers.plain_targets import Aim, Bands, Course, SweepRules
from safear.solvers.target_kernels import Changes, make_tables, sweep_columns

Real = NDArray[np.float64]
Whole = NDArray[np.int64]


class Question(NamedTuple):
    """Whose plan, and at which level the tail begins.

    `spans` [span] are the sweeps that hold the best target, each with its lowest target, how many targets it has, the
    first of them that may be the best, and what its accounts are moved by (see `optimal.find_spans`). Values that are
    relatively closer than `near` are equal; `tolerance` is that of quantiles. Runs are followed as `going` says.
    """

    start: int
    level: float
    spans: Whole
    near: float
    tolerance: float
    going: Going


class TailPlan(NamedTuple):
    """The plan: its value, what its account opens with, its pieces (see `SpentPolicy`), all ways it may end, figures.

    The figures are the success, and mean, variance and tail of the total cost over all runs, in quanta.
    """

    value: float
    opening: int
    plan: Account
    state: Whole
    spent: Whole
    chance: Real
    success: float
    mean: float
    variance: float
    tail: float


@njit(cache=True, nogil=True)
def weigh_tail(course: Course, bands: Bands, rules: SweepRules, question: Question, weight: float) -> TailPlan:
    """The plan with the least (1 - weight) * E[C] + weight * CVaR(C), for one person.

    That is the least over targets w of (1 - weight) * E[C] + weight * (w + E[max(C - w, 0)] / (1 - level)); of targets
    that are equally good, the one whose plan has the least mean. With a weight of 0 it is the plan of the least mean.
    """
    start, level, spans, near, tolerance, going = question
    factor, goal = weight / (1 - level), course.goal
    values, means = np.empty(int(spans[:, 1].sum())), np.empty(int(spans[:, 1].sum()))
    openings, count = np.empty(len(values), np.int64), 0
    places, firsts, choices = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint8)
    least_mean = 0.0
    for span in range(len(spans)):
        low, columns, first, moved = spans[span]
        aim = Aim(float(low), 0.0, 1.0, factor if weight > 0.0 else 1.0, 1 - weight)
        ends = np.empty((2, columns + 1))
        for column in range(columns + 1):
            ends[0, column] = max(course.failure_cost - low - column + 1.0, 0.0)
            ends[1, column] = max(-low - column + 1.0, 0.0)
        tables = make_tables(course, ends, aim, rules)
        changes = sweep_columns(course, bands, rules, aim, (0, course.horizon), tables)
        places = np.concatenate((places, changes.place))
        firsts = np.concatenate((firsts, changes.first + moved))
        choices = np.concatenate((choices, changes.choice))
        least_mean = tables.least[0, start]
        for j in range(first, columns):
            place = tables.pad + j + 1
            values[count] = weight * (low + j) + tables.score[0, start, place]
            means[count], openings[count] = tables.mean[0, start, place], moved + j
            count += 1
    value, opening = least_mean, -1
    if count:
        value, least = values[:count].min(), np.inf
        for i in range(count):
            if values[i] <= value * (1 + near) and means[i] < least:
                least, opening = means[i], openings[i]
    plan = index_changes(Changes(places, firsts, choices), course.horizon * len(goal))
    policy = PolicyArrays(np.empty((0, 0), np.uint8), plan.piece_start, plan.first, plan.choice)
    cells, _ = follow_policy(course.arrays, policy, going, start, opening)  # in the order of `propagate`
    over = cells.row < 0
    state, spent, chance = cells.state[over], cells.spent[over], cells.chance[over]
    total, success = spent.copy(), 0.0
    for i in range(len(state)):
        success += chance[i] if goal[state[i]] else 0.0
        total[i] += 0 if goal[state[i]] else course.failure_cost
    order = np.argsort(total)
    whole, mean, variance, _, tail, _ = describe(total[order], chance[order], level, tolerance)
    return TailPlan(value, opening, plan, state, spent, chance, success / whole, mean, variance, tail)


@njit(cache=True, nogil=True)
def index_changes(changes: Changes, n_places: int) -> Account:
    """The changes place by place; those of one place stay in their order."""
    free = np.zeros(n_places + 2, np.int64)
    for place in changes.place:
        free[place + 2] += 1
    for place in range(n_places):
        free[place + 2] += free[place + 1]  # where the pieces of the next place begin
    first, choice = np.empty(len(changes.place), np.int64), np.empty(len(changes.place), np.uint8)
    for i in range(len(changes.place)):
        number = free[changes.place[i] + 1]
        first[number], choice[number] = changes.first[i], changes.choice[i]
        free[changes.place[i] + 1] += 1
    return Account(free[: n_places + 1].copy(), first, choice)
