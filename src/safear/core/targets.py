"""The target sweep: all steps in one call, only as many targets as make a difference (see `solvers.targets`).

From a state s at a step h a run still costs at least floor_h(s) and at most ceiling_h(s), whatever the plan. Below the
one and above the other, nothing depends on the target but by a formula, so that only the targets between are swept:

    w < floor_h(s)       every run costs more than w: the loss is below + below_slope * (E[C] - w), the plan that of the
                         least mean
    w > ceiling_h(s)     no run costs more: loss and plan are those of the ceiling
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import ceil
else:
    from math import ceil

    from safear.core.arrays import INF, NONE, Arrays, Bytes, PolicyRoom, Real, Whole, widen_policy


class Aim:
    """The lowest target, the loss below it, below + below_slope * (E[C] - w), and the weights of loss and mean."""

    def __init__(self, low: float, below: float, below_slope: float, loss_weight: float, mean_weight: float) -> None:
        self.low, self.below, self.below_slope = low, below, below_slope
        self.loss_weight, self.mean_weight = loss_weight, mean_weight


class Course:
    """An MDP for sweeps: its arrays, goals, when each state can first be met, and when it is too late to act.

    Something is done in a state at the steps from `depth` up to, but not including, `late`.
    """

    def __init__(self, arrays: Arrays, goal: Bytes, depth: Whole, late: Whole, horizon: int, failure_cost: int) -> None:
        self.arrays, self.goal, self.depth, self.late = arrays, goal, depth, late
        self.horizon, self.failure_cost = horizon, failure_cost


class Bands:
    """The least and the most that a run from each state [step, state] can cost, in quanta, the failure included."""

    def __init__(self, floor: Whole, ceiling: Whole) -> None:
        self.floor, self.ceiling = floor, ceiling


class SweepRules:
    """What a sweep may do: `allowed` [step, row], `chances` [step, edge]; one step, if they are the same at all.

    Columns before firsts[step] are not asked for. The variance is only computed if the loss `is_square`; then all
    columns are swept.
    """

    def __init__(self, allowed: Bytes, chances: Real, firsts: Whole, tie: float, is_square: bool) -> None:
        self.allowed, self.chances, self.firsts, self.tie, self.is_square = allowed, chances, firsts, tie, is_square


class Tables:
    """Score and mean [turn, state, place], the least mean [turn, state], and the variance [turn, state, column].

    The turns are those of two steps, one of which is read while the other is written. Column j stands at the place
    pad + j: what is up to `pad` columns below the first is there, too, so that a step need not ask where it leads.
    """

    def __init__(self, score: Real, mean: Real, least: Real, variance: Real, pad: int) -> None:
        self.score, self.mean, self.least, self.variance, self.pad = score, mean, least, variance, pad


class Columns:
    """The columns of one state: what a row makes of them, and the best so far, the choice as a real number, too.

    Arrays of their own, and one loop after the other, so that several columns are done at a time.
    """

    def __init__(self, row_score: Real, row_mean: Real, score: Real, mean: Real, chosen: Real) -> None:
        self.row_score, self.row_mean, self.score, self.mean, self.chosen = row_score, row_mean, score, mean, chosen


def make_tables(course: Course, ends: Real, aim: Aim, rules: SweepRules) -> Tables:
    """Return the tables after the last step, `ends` [goal, column] being the loss of runs that are over."""
    n_states, width, dearest = course.goal.shape[0], ends.shape[1], 0
    for edge in range(course.arrays.edge_cost.shape[0]):
        dearest = max(dearest, course.arrays.edge_cost[edge])
    pad = min(dearest, width)
    score, mean = np.empty((2, n_states, pad + width)), np.empty((2, n_states, pad + width))
    variance = np.zeros((2, n_states, width)) if rules.is_square else np.zeros((0, 0, 0))
    tables = Tables(score, mean, np.empty((2, n_states)), variance, pad)
    columns = make_columns(width)
    with cython.nogil:
        for state in range(n_states):
            goal = 1 if course.goal[state] else 0
            total = 0.0 if goal else float(course.failure_cost)
            for j in range(width - 1):
                columns.score[j] = aim.loss_weight * ends[goal, j + 1] + aim.mean_weight * total
                columns.mean[j] = total
            top = width if rules.is_square else find_column(total - aim.low)
            for turn in range(2):  # whoever never acts keeps it
                write_columns(tables, turn, state, aim, 1, width, top, total, columns)
    return tables


def make_columns(width: int) -> Columns:
    """Return room for so many columns."""
    return Columns(np.empty(width), np.empty(width), np.empty(width), np.empty(width), np.empty(width))


def find_column(above: float) -> int:
    """Return the first column whose target is so much above the lowest, or more."""
    column: int = cython.cast(cython.longlong, ceil(above)) + 1
    return column


def sweep_columns(
    course: Course, bands: Bands, rules: SweepRules, aim: Aim, begin_step: int, end_step: int, tables: Tables,
    room: PolicyRoom,
) -> None:  # fmt: skip
    """U_h(s, w) = min over a of sum p U_{h+1}(s', w - c), for every target w at once, from the last step to the first.

    Column j > 0 is the target w = low + j - 1; column 0 stands for all targets below `low`, where what is made small is
    the mean. Elsewhere it is the score, loss_weight * loss + mean_weight * mean; ties (up to `tie`) go to the smaller
    mean, then to the first row. Goes from end_step - 1 down to begin_step. What is found at step h is in turn h % 2;
    what is done there is written to `room`, in which the account of column j is j - 1.
    """
    n_states, width = course.goal.shape[0], tables.score.shape[2] - tables.pad
    columns = make_columns(width)
    row_start, allowed, chances = course.arrays.row_start, rules.allowed, rules.chances
    with cython.nogil:
        for step in range(end_step - 1, begin_step - 1, -1):
            may, at = min(step, allowed.shape[0] - 1), min(step, chances.shape[0] - 1)
            now, later, asked = step % 2, (step + 1) % 2, rules.firsts[step]
            for state in range(n_states):
                if not course.depth[state] <= step < course.late[state]:
                    continue
                begin, end, top = max(asked, 1), width, width
                if not rules.is_square:
                    top = find_column(bands.ceiling[step, state] - aim.low)  # the column of the ceiling
                    begin = min(max(find_column(bands.floor[step, state] - aim.low), 1), width)
                    end = max(min(top + 1, width), min(begin + 1, width))
                clear_columns(columns, end - begin)
                least, lowest = INF, NONE
                for row in range(row_start[state], row_start[state + 1]):
                    if not allowed[may, row]:
                        continue
                    number = row - row_start[state]
                    mean = find_least(course.arrays, chances, at, row, tables, later)
                    if mean * (1 + rules.tie) < least:
                        least, lowest = mean, number
                    sweep_row(course.arrays, chances, at, row, aim, tables, later, begin, end - begin, columns)
                    keep_better(columns, end - begin, float(number), rules.tie)
                write_columns(tables, now, state, aim, begin, end, top, least, columns)
                if rules.is_square:
                    carry_variance(course.arrays, chances, at, state, asked, lowest, columns, tables, now)
                lowest = lowest if asked == 0 else -1
                note_choices(room, step, state, begin, end - begin, lowest, columns.chosen)


def clear_columns(columns: Columns, size: int) -> None:
    """Begin with what every row is better than."""
    for j in range(size):
        columns.score[j] = INF
    for j in range(size):
        columns.mean[j] = INF
    for j in range(size):
        columns.chosen[j] = 0.0


def find_least(arrays: Arrays, chances: Real, at: int, row: int, tables: Tables, later: int) -> float:
    """Return the least mean that a row leads to."""
    total = 0.0
    for edge in range(arrays.edge_start[row], arrays.edge_start[row + 1]):
        total += chances[at, edge] * (arrays.edge_cost[edge] + tables.least[later, arrays.edge_next[edge]])
    return total


def sweep_row(
    arrays: Arrays, chances: Real, at: int, row: int, aim: Aim, tables: Tables, later: int, begin: int, size: int,
    columns: Columns,
) -> None:  # fmt: skip
    """Find score and mean of a row in `size` columns from `begin` on."""
    first, last = arrays.edge_start[row], arrays.edge_start[row + 1]
    place, pad, mean_weight, loss_weight = tables.pad + begin, tables.pad, aim.mean_weight, aim.loss_weight
    low, below, below_slope = aim.low, aim.below, aim.below_slope
    if last - first == 2 and max(arrays.edge_cost[first], arrays.edge_cost[first + 1]) <= pad:  # as most rows are
        p, q = chances[at, first], chances[at, first + 1]
        if min(p, q) > 0.0:
            next0, next1 = arrays.edge_next[first], arrays.edge_next[first + 1]
            place0, place1 = place - arrays.edge_cost[first], place - arrays.edge_cost[first + 1]
            cost0, cost1 = float(arrays.edge_cost[first]), float(arrays.edge_cost[first + 1])
            paid0, paid1 = mean_weight * cost0, mean_weight * cost1
            for j in range(size):
                score0, score1 = tables.score[later, next0, place0 + j], tables.score[later, next1, place1 + j]
                columns.row_score[j] = p * (paid0 + score0) + q * (paid1 + score1)
            for j in range(size):
                mean0, mean1 = tables.mean[later, next0, place0 + j], tables.mean[later, next1, place1 + j]
                columns.row_mean[j] = p * (cost0 + mean0) + q * (cost1 + mean1)
            return
    for j in range(size):
        columns.row_score[j] = 0.0
    for j in range(size):
        columns.row_mean[j] = 0.0
    for edge in range(first, last):
        p, after = chances[at, edge], arrays.edge_next[edge]
        if p == 0.0:  # its loss may be infinite
            continue
        cost0, place0 = float(arrays.edge_cost[edge]), place - arrays.edge_cost[edge]
        paid0, mean0 = mean_weight * cost0, cost0 + tables.least[later, after]
        if arrays.edge_cost[edge] > pad:  # more than all targets
            for j in range(size):
                column = begin + j
                loss = below + below_slope * (mean0 - (low + (column - 1)))
                columns.row_score[j] += p * (loss_weight * loss + mean_weight * mean0)
            for j in range(size):
                columns.row_mean[j] += p * mean0
            continue
        for j in range(size):
            columns.row_score[j] += p * (paid0 + tables.score[later, after, place0 + j])
        for j in range(size):
            columns.row_mean[j] += p * (cost0 + tables.mean[later, after, place0 + j])


def keep_better(columns: Columns, size: int, number: float, tie: float) -> None:
    """Take a row where it is better than the best so far."""
    for j in range(size):
        score, mean, chosen = columns.score[j], columns.mean[j], columns.chosen[j]
        row_score, row_mean = columns.row_score[j], columns.row_mean[j]
        better = (row_score * (1 + tie) < score) | ((row_score <= score * (1 + tie)) & (row_mean * (1 + tie) < mean))
        columns.score[j] = row_score if better else score
        columns.mean[j] = row_mean if better else mean
        columns.chosen[j] = number if better else chosen


def write_columns(
    tables: Tables, turn: int, state: int, aim: Aim, begin: int, end: int, top: int, least: float, columns: Columns
) -> None:
    """Write all columns of a state: those from `begin` to `end` as they were swept, the rest as they follow.

    From `top` on, the column of the ceiling, all are alike. Below the floor the plan is that of the least mean.
    """
    low, below, below_slope = aim.low, aim.below, aim.below_slope
    loss_weight, mean_weight = aim.loss_weight, aim.mean_weight
    pad, size, places = tables.pad, end - begin, tables.score.shape[2]
    tables.least[turn, state] = least
    for place in range(pad + begin):
        column = place - pad  # of 32 bits, so that several are made real at a time
        loss = below + below_slope * (least - (low + (column - 1)))
        tables.score[turn, state, place] = loss_weight * loss + mean_weight * least
    for place in range(pad + begin):  # loop after loop, so that several columns are done at a time
        tables.mean[turn, state, place] = least
    for j in range(size):
        tables.score[turn, state, pad + begin + j] = columns.score[j]
    for j in range(size):
        tables.mean[turn, state, pad + begin + j] = columns.mean[j]
    if size > 0:
        for place in range(max(pad + top, 0), pad + begin):  # where even the lowest target is above the ceiling
            tables.score[turn, state, place], tables.mean[turn, state, place] = columns.score[0], columns.mean[0]
        for place in range(pad + end, places):
            tables.score[turn, state, place] = columns.score[size - 1]
        for place in range(pad + end, places):
            tables.mean[turn, state, place] = columns.mean[size - 1]


def carry_variance(
    arrays: Arrays, chances: Real, at: int, state: int, asked: int, lowest: int, columns: Columns, tables: Tables,
    now: int,
) -> None:  # fmt: skip
    """Var(s, w) = sum p (Var'(s', w - c) + (c + mean'(s', w - c) - mean(s, w))^2) over the outcomes of the choice."""
    later, pad = 1 - now, tables.pad
    if lowest == NONE:
        return
    for column in range(asked, tables.variance.shape[2]):
        row = arrays.row_start[state] + lowest
        mean, total = tables.least[now, state], 0.0
        if column > 0:
            row = arrays.row_start[state] + cython.cast(cython.longlong, columns.chosen[column - max(asked, 1)])
            mean = tables.mean[now, state, pad + column]
        for edge in range(arrays.edge_start[row], arrays.edge_start[row + 1]):
            after, ahead = arrays.edge_next[edge], max(column - arrays.edge_cost[edge], 0)
            later_mean = tables.least[later, after] if ahead == 0 else tables.mean[later, after, pad + ahead]
            distance = arrays.edge_cost[edge] + later_mean - mean
            total += chances[at, edge] * (tables.variance[later, after, ahead] + distance * distance)
        tables.variance[now, state, column] = total


def note_choices(room: PolicyRoom, step: int, state: int, begin: int, size: int, lowest: int, chosen: Real) -> int:
    """Write what is done in `size` columns from `begin` on, and before them `lowest`, if it is not below 0."""
    if room.count + size + 1 > room.first.shape[0]:
        widen_policy(room, size + 1)
    count, last = room.count, -1.0
    if lowest >= 0:
        room.first[count], room.choice[count] = -1, lowest
        count, last = count + 1, float(lowest)
    for j in range(size):
        if chosen[j] != last:
            last = chosen[j]
            room.first[count], room.choice[count] = begin + j - 1, cython.cast(cython.uchar, last)
            count += 1
    room.size[step, state] = count - room.count
    room.count = count
    return 0
