"""The target sweep in NumPy, for problems that are solved before compiled code is loaded.

What `target_kernels.sweep_columns` does, bit for bit: the same formulas, added up in the same order, but all rows and
all columns at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.mdp.arrays import Arrays, stretches

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]


class Aim(NamedTuple):
    """The lowest target, the loss below it, below + below_slope * (E[C] - w), and the weights of loss and mean."""

    low: float
    below: float
    below_slope: float
    loss_weight: float
    mean_weight: float


class Course(NamedTuple):
    """An MDP for sweeps: its arrays, goals, when each state can first be met, and when it is too late to act.

    Something is done in a state at the steps from `depth` up to, but not including, `late`.
    """

    arrays: Arrays
    goal: Flags
    depth: Whole
    late: Whole
    horizon: int
    failure_cost: int


class Bands(NamedTuple):
    """The least and the most that a run from each state [step, state] can cost, in quanta, the failure included."""

    floor: Whole
    ceiling: Whole


class SweepRules(NamedTuple):
    """What a sweep may do: `allowed` [step, row], `chances` [step, edge]; one step, if they are the same at all.

    Columns before firsts[step] are not asked for. The variance is only computed if the loss `is_square`; then all
    columns are swept.
    """

    allowed: Flags
    chances: Real
    firsts: Whole
    tie: float
    is_square: bool


class Tables(NamedTuple):
    """Score and mean [turn, state, place], the least mean [turn, state], and the variance [turn, state, column].

    The turns are those of two steps, one of which is read while the other is written. Column j stands at the place
    pad + j: what is up to `pad` columns below the first is there, too, so that a step need not ask where it leads.
    """

    score: Real
    mean: Real
    least: Real
    variance: Real
    pad: int


class _Found(NamedTuple):
    """The best of some states: score, mean and choice [state, column], and the least mean and the choice for it."""

    score: Real
    mean: Real
    chosen: Bytes
    least: Real
    lowest: Bytes


def bound_plainly(course: Course) -> Bands:
    """floor_h(s) = min over the edges that leave s of c + floor_{h+1}(s'), ceiling_h(s) = max ... ceiling_{h+1}(s')."""
    arrays, goal, depth, late, horizon, failure_cost = course
    floor, ceiling = (np.tile(np.where(goal, 0, failure_cost), (horizon + 1, 1)) for _ in range(2))
    active = np.flatnonzero(np.diff(arrays.row_start))
    first = arrays.edge_start[arrays.row_start[active]]
    for step in reversed(range(horizon if len(active) else 0)):
        acts = (depth[active] <= step) & (step < late[active])
        for table, best in ((floor, np.minimum), (ceiling, np.maximum)):
            found = best.reduceat(arrays.edge_cost + table[step + 1, arrays.edge_next], first)
            table[step, active[acts]] = found[acts]
    return Bands(floor, ceiling)


def lay_tables(course: Course, ends: Real, aim: Aim, rules: SweepRules) -> Tables:
    """The tables after the last step, `ends` [goal, column] being the loss of runs that are over."""
    n_states, width = len(course.goal), ends.shape[1]
    pad = min(int(course.arrays.edge_cost.max(initial=0)), width)
    variance = np.zeros((2, n_states, width)) if rules.is_square else np.zeros((0, 0, 0))
    shape = (2, n_states, pad + width)
    tables = Tables(np.empty(shape), np.empty(shape), np.empty((2, n_states)), variance, pad)
    total = np.where(course.goal, 0.0, float(course.failure_cost))
    score = aim.loss_weight * ends[course.goal.astype(np.int64)] + aim.mean_weight * total[:, None]
    mean, ones = np.repeat(total[:, None], width, axis=1), np.ones(n_states, dtype=np.int64)
    top = width * ones if rules.is_square else np.ceil(total - aim.low).astype(np.int64) + 1
    found = _Found(score, mean, np.empty((0, 0), np.uint8), total, np.empty(0, np.uint8))
    for turn in range(2):  # whoever never acts keeps it
        _write(tables, turn, np.arange(n_states), aim, (ones, width * ones, top), found)
    return tables


def sweep_plainly(
    course: Course, bands: Bands, rules: SweepRules, aim: Aim, step: int, tables: Tables
) -> tuple[Whole, Bytes]:
    """One step of `sweep_columns`: the states that act, and what is done there in each column that is asked for."""
    width, asked = tables.score.shape[2] - tables.pad, int(rules.firsts[step])
    chance = rules.chances[min(step, len(rules.chances) - 1)]
    states = np.flatnonzero((course.depth <= step) & (step < course.late))
    begin, end, top = (np.full(len(states), column) for column in (max(asked, 1), width, width))
    if not rules.is_square:
        top = np.ceil(bands.ceiling[step, states] - aim.low).astype(np.int64) + 1
        begin = np.ceil(bands.floor[step, states] - aim.low).astype(np.int64) + 1
        begin = np.minimum(np.maximum(begin, 1), width)
        end = np.maximum(np.minimum(top + 1, width), np.minimum(begin + 1, width))
    with np.errstate(invalid="ignore"):  # a weight of 0 times an infinite loss; nothing is better than that
        found = _choose(course.arrays, states, rules, aim, step, tables)
        _write(tables, step % 2, states, aim, (begin, end, top), found)
    columns = np.arange(asked, width)
    swept = np.take_along_axis(found.chosen, _clip(columns, begin, end), axis=1)
    choices = np.where(columns < begin[:, None], found.lowest[:, None], swept)
    if rules.is_square:
        _carry_variance(course.arrays._replace(edge_chance=chance), states, choices, tables, step % 2, asked)
    return states, choices


def _choose(arrays: Arrays, states: Whole, rules: SweepRules, aim: Aim, step: int, tables: Tables) -> _Found:
    """The best row of each state in each column: the least score; of equals the least mean, then the first."""
    allowed = rules.allowed[min(step, len(rules.allowed) - 1)]
    counts, width, tie = np.diff(arrays.row_start)[states], tables.score.shape[2] - tables.pad, rules.tie
    rows = stretches(arrays.row_start, states)
    row_score, row_mean, row_least = _score(arrays, rows, rules, aim, step, tables)
    first = np.cumsum(counts) - counts
    score, mean = np.full((2, len(states), width), np.inf)
    least = np.full(len(states), np.inf)
    chosen, lowest = np.zeros((len(states), width), dtype=np.uint8), np.full(len(states), 255, dtype=np.uint8)
    for rank in range(int(counts.max(initial=0))):
        place = np.flatnonzero(counts > rank)
        place = place[allowed[rows[first[place] + rank]]]
        which, number = first[place] + rank, np.uint8(rank)
        cheaper = row_least[which] * (1 + tie) < least[place]
        least[place] = np.where(cheaper, row_least[which], least[place])
        lowest[place] = np.where(cheaper, number, lowest[place])
        one, own, best, beside = row_score[which], row_mean[which], score[place], mean[place]
        better = (one * (1 + tie) < best) | ((one <= best * (1 + tie)) & (own * (1 + tie) < beside))
        score[place], mean[place] = np.where(better, one, best), np.where(better, own, beside)
        chosen[place] = np.where(better, number, chosen[place])
    return _Found(score, mean, chosen, least, lowest)


def _score(
    arrays: Arrays, rows: Whole, rules: SweepRules, aim: Aim, step: int, tables: Tables
) -> tuple[Real, Real, Real]:
    """Of each row: sum p U'(s', w - c) and sum p (c + mean'(s', w - c)) [row, column], and the least mean."""
    low, below, below_slope, loss_weight, mean_weight = aim
    later, chances = (step + 1) % 2, rules.chances[min(step, len(rules.chances) - 1)]
    columns = np.arange(tables.score.shape[2] - tables.pad)
    counts = arrays.edge_start[rows + 1] - arrays.edge_start[rows]
    score, mean = np.zeros((2, len(rows), len(columns)))
    least = np.zeros(len(rows))
    for rank in range(int(counts.max(initial=0))):
        some = np.flatnonzero(counts > rank)
        edges = arrays.edge_start[rows[some]] + rank
        least[some] += chances[edges] * (arrays.edge_cost[edges] + tables.least[later, arrays.edge_next[edges]])
        for far in (False, True):  # as many targets are there as the tables hold; what is dearer exceeds them all
            part = (chances[edges] != 0.0) & ((arrays.edge_cost[edges] > tables.pad) == far)  # a loss may be infinite
            if not part.any():
                continue
            cost, after = arrays.edge_cost[edges[part], None], arrays.edge_next[edges[part], None]
            p, paid = chances[edges[part], None], mean_weight * cost
            if far:
                own = cost + tables.least[later, after]
                loss = below + below_slope * (own - (low + (columns - 1)))
                score[some[part]] += p * (loss_weight * loss + mean_weight * own)
                mean[some[part]] += p * own
            else:
                place = tables.pad + columns - cost
                score[some[part]] += p * (paid + tables.score[later][after, place])
                mean[some[part]] += p * (cost + tables.mean[later][after, place])
    return score, mean, least


def _clip(columns: Whole, begin: Whole, end: Whole) -> Whole:
    """The column between begin and end that stands for each: [state, column]."""
    return np.minimum(np.maximum(columns, begin[:, None]), end[:, None] - 1)


def _write(
    tables: Tables, turn: int, states: Whole, aim: Aim, bounds: tuple[Whole, Whole, Whole], found: _Found
) -> None:
    """All columns of some states, as `target_kernels.write_columns` does."""
    low, below, below_slope, loss_weight, mean_weight = aim
    begin, end, top = (bound[:, None] for bound in bounds)
    columns, least = np.arange(-tables.pad, tables.score.shape[2] - tables.pad), found.least[:, None]
    place = _clip(columns, bounds[0], bounds[1])
    by_formula = (columns < begin) & ((columns < top) | (begin == end))
    score = loss_weight * (below + below_slope * (least - (low + (columns - 1)))) + mean_weight * least
    tables.score[turn, states] = np.where(by_formula, score, np.take_along_axis(found.score, place, axis=1))
    tables.mean[turn, states] = np.where(by_formula, least, np.take_along_axis(found.mean, place, axis=1))
    tables.least[turn, states] = found.least


def _carry_variance(arrays: Arrays, states: Whole, choices: Bytes, tables: Tables, now: int, asked: int) -> None:
    """Var(s, w) = sum p (Var'(s', w - c) + (c + mean'(s', w - c) - mean(s, w))^2) over the outcomes of the choice."""
    means, variances = tables.mean[:, :, tables.pad :], tables.variance
    later_mean, later_variance = means[1 - now], variances[1 - now]
    rows = arrays.row_start[states, None] + choices
    columns = np.broadcast_to(np.arange(asked, means.shape[2]), rows.shape)
    own, total = means[now][states, asked:], np.zeros(rows.shape)
    counts = arrays.edge_start[rows + 1] - arrays.edge_start[rows]
    for rank in range(int(counts.max(initial=0))):
        some = counts > rank
        edges = arrays.edge_start[rows[some]] + rank
        cost, after = arrays.edge_cost[edges], arrays.edge_next[edges]
        left = np.maximum(columns[some] - cost, 0)
        distance = cost + later_mean[after, left] - own[some]
        total[some] += arrays.edge_chance[edges] * (later_variance[after, left] + distance * distance)
    variances[now][states, asked:] = total
