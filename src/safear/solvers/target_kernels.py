"""The compiled target sweep (see `targets`): all steps in one call, only as many targets as make a difference.

From a state s at a step h a run still costs at least floor_h(s) and at most ceiling_h(s), whatever the plan. Below the
one and above the other, nothing depends on the target but by a formula, so that only the targets between are swept:

    w < floor_h(s)       every run costs more than w: the loss is below + below_slope * (E[C] - w), the plan that of the
                         least mean
    w > ceiling_h(s)     no run costs more: loss and plan are those of the ceiling

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.compiling import njit
from safear.mdp.arrays import Arrays
from safear.solvers.plain_targets import Aim, Bands, Course, SweepRules, Tables

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]


class Changes(NamedTuple):
    """Where choices change along the account, by rising place: see `policy.Pieces`."""

    place: Whole
    first: Whole
    choice: Bytes


@njit(cache=True, nogil=True)
def bound_costs(course: Course) -> Bands:
    """floor_h(s) = min over the edges that leave s of c + floor_{h+1}(s'), ceiling_h(s) = max ... ceiling_{h+1}(s')."""
    arrays, goal, depth, late, horizon, failure_cost = course
    n_states = len(goal)
    floor, ceiling = np.empty((horizon + 1, n_states), np.int64), np.empty((horizon + 1, n_states), np.int64)
    for state in range(n_states):
        floor[horizon, state] = ceiling[horizon, state] = 0 if goal[state] else failure_cost
    for step in range(horizon - 1, -1, -1):
        for state in range(n_states):
            least, most = floor[horizon, state], ceiling[horizon, state]
            if depth[state] <= step < late[state]:
                first, last = arrays.row_start[state], arrays.row_start[state + 1]
                least, most = np.iinfo(np.int64).max, 0
                for edge in range(arrays.edge_start[first], arrays.edge_start[last]):
                    cost, target = arrays.edge_cost[edge], arrays.edge_next[edge]
                    least = min(least, cost + floor[step + 1, target])
                    most = max(most, cost + ceiling[step + 1, target])
            floor[step, state], ceiling[step, state] = least, most
    return Bands(floor, ceiling)


@njit(cache=True, nogil=True)
def sweep_columns(
    course: Course, bands: Bands, rules: SweepRules, aim: Aim, steps: tuple[int, int], tables: Tables
) -> Changes:
    """U_h(s, w) = min over a of sum p U_{h+1}(s', w - c), for every target w at once, from the last step to the first.

    Column j > 0 is the target w = low + j - 1; column 0 stands for all targets below `low`, where what is made small is
    the mean. Elsewhere it is the score, loss_weight * loss + mean_weight * mean; ties (up to `tie`) go to the smaller
    mean, then to the first row. Goes from steps[1] - 1 down to steps[0]; what is found at step h is in turn h % 2.
    """
    arrays, goal, depth, late, _, _ = course
    row_start, _, edge_start, edge_next, _, edge_cost, _ = arrays
    allowed, chances, firsts, tie, is_square = rules
    low, below, below_slope, loss_weight, mean_weight = aim
    scores, means, least_means, _, pad = tables
    n_states, width = len(goal), scores.shape[2] - pad
    # Arrays of their own, and one loop after the other, so that several columns are done at a time.
    row_score, row_mean, score, mean = np.empty(width), np.empty(width), np.empty(width), np.empty(width)
    chosen = np.empty(width)  # real as the rest
    changes, count = Changes(np.empty(1024, np.int64), np.empty(1024, np.int64), np.empty(1024, np.uint8)), 0
    begins = np.empty(steps[1] - steps[0] + 1, np.int64)
    for step in range(steps[1] - 1, steps[0] - 1, -1):
        begins[step - steps[0] + 1] = count
        rows, chance = allowed[min(step, len(allowed) - 1)], chances[min(step, len(chances) - 1)]
        now, later, asked = step % 2, (step + 1) % 2, firsts[step]
        for state in range(n_states):
            if not depth[state] <= step < late[state]:
                continue
            begin, end, top = max(asked, 1), width, width
            if not is_square:
                top = math.ceil(bands.ceiling[step, state] - low) + 1  # the column of the ceiling
                begin = min(max(math.ceil(bands.floor[step, state] - low) + 1, 1), width)
                end = max(min(top + 1, width), min(begin + 1, width))
            size, place = end - begin, pad + begin
            for j in range(size):
                score[j] = mean[j] = np.inf
            least_mean, lowest = np.inf, 255
            for row in range(row_start[state], row_start[state + 1]):
                if not rows[row]:
                    continue
                number, first, last = row - row_start[state], edge_start[row], edge_start[row + 1]
                least = 0.0
                for edge in range(first, last):
                    least += chance[edge] * (edge_cost[edge] + least_means[later, edge_next[edge]])
                if least * (1 + tie) < least_mean:
                    least_mean, lowest = least, number
                is_pair = last - first == 2 and max(edge_cost[first], edge_cost[last - 1]) <= pad
                if is_pair and min(chance[first], chance[last - 1]) > 0.0:  # as most rows are
                    p, q, cost0, cost1 = chance[first], chance[first + 1], edge_cost[first], edge_cost[first + 1]
                    paid0, paid1 = mean_weight * cost0, mean_weight * cost1
                    score0, mean0 = scores[later, edge_next[first]], means[later, edge_next[first]]
                    score1, mean1 = scores[later, edge_next[first + 1]], means[later, edge_next[first + 1]]
                    score0, mean0 = score0[place - cost0 :], mean0[place - cost0 :]
                    score1, mean1 = score1[place - cost1 :], mean1[place - cost1 :]
                    for j in range(size):
                        row_score[j] = p * (paid0 + score0[j]) + q * (paid1 + score1[j])
                        row_mean[j] = p * (cost0 + mean0[j]) + q * (cost1 + mean1[j])
                else:
                    for j in range(size):
                        row_score[j] = row_mean[j] = 0.0
                    for edge in range(first, last):
                        p, cost, target = chance[edge], edge_cost[edge], edge_next[edge]
                        if p == 0.0:  # its loss may be infinite
                            continue
                        paid, below_mean = mean_weight * cost, cost + least_means[later, target]
                        if cost > pad:  # more than all targets
                            for j in range(size):
                                loss = below + below_slope * (below_mean - (low + (begin + j - 1)))
                                row_score[j] += p * (loss_weight * loss + mean_weight * below_mean)
                                row_mean[j] += p * below_mean
                            continue
                        score0, mean0 = scores[later, target, place - cost :], means[later, target, place - cost :]
                        for j in range(size):
                            row_score[j] += p * (paid + score0[j])
                            row_mean[j] += p * (cost + mean0[j])
                for j in range(size):
                    better = (row_score[j] * (1 + tie) < score[j]) | (
                        (row_score[j] <= score[j] * (1 + tie)) & (row_mean[j] * (1 + tie) < mean[j])
                    )
                    score[j] = row_score[j] if better else score[j]
                    mean[j] = row_mean[j] if better else mean[j]
                    chosen[j] = number if better else chosen[j]
            write_columns(tables, now, state, aim, (begin, end, top), least_mean, score, mean)
            if is_square:
                carry_variance(arrays, chance, state, asked, lowest, chosen, tables, now)
            if count + size + 1 > len(changes.place):
                changes = grow(changes, count + size + 1)
            before = count
            if asked == 0:  # what is done in column 0 is done before `begin`, too
                changes.place[count], changes.first[count], changes.choice[count] = step * n_states + state, -1, lowest
                count += 1
            for j in range(size):
                choice = np.uint8(chosen[j])
                if count == before or changes.choice[count - 1] != choice:
                    changes.place[count], changes.choice[count] = step * n_states + state, choice
                    changes.first[count] = begin + j - 1
                    count += 1
    begins[0] = count
    return order_changes(changes, begins)


@njit(cache=True, nogil=True)
def write_columns(
    tables: Tables, turn: int, state: int, aim: Aim, columns: tuple[int, int, int], least: float, score: Real,
    mean: Real,
) -> None:  # fmt: skip
    """All columns of a state: those between the first two of `columns` as they were swept, the rest as they follow.

    From the third, that of the ceiling, on all are alike. Below the floor the plan is that of the least mean.
    """
    low, below, below_slope, loss_weight, mean_weight = aim
    begin, end, top = columns
    pad, size = tables.pad, end - begin
    scores, means = tables.score[turn, state], tables.mean[turn, state]
    tables.least[turn, state] = least
    for place in range(pad + begin):
        scores[place] = loss_weight * (below + below_slope * (least - (low + (place - pad - 1)))) + mean_weight * least
    for place in range(pad + begin):  # loop after loop, so that several columns are done at a time
        means[place] = least
    for j in range(size):
        scores[pad + begin + j] = score[j]
    for j in range(size):
        means[pad + begin + j] = mean[j]
    if size:
        for place in range(max(pad + top, 0), pad + begin):  # where even the lowest target is above the ceiling
            scores[place], means[place] = score[0], mean[0]
        for place in range(pad + end, len(scores)):
            scores[place] = score[size - 1]
        for place in range(pad + end, len(means)):
            means[place] = mean[size - 1]


@njit(cache=True, nogil=True)
def make_tables(course: Course, ends: Real, aim: Aim, rules: SweepRules) -> Tables:
    """The tables after the last step, `ends` [goal, column] being the loss of runs that are over."""
    n_states, width = len(course.goal), ends.shape[1]
    pad = min(course.arrays.edge_cost.max(), width) if len(course.arrays.edge_cost) else 0
    shape = (2, n_states, pad + width)
    variance = np.zeros((2, n_states, width)) if rules.is_square else np.zeros((0, 0, 0))
    tables = Tables(np.empty(shape), np.empty(shape), np.empty((2, n_states)), variance, pad)
    score, mean = np.empty(width - 1), np.empty(width - 1)
    for state in range(n_states):
        total = 0.0 if course.goal[state] else float(course.failure_cost)
        for j in range(width - 1):
            score[j] = aim.loss_weight * ends[int(course.goal[state]), j + 1] + aim.mean_weight * total
            mean[j] = total
        top = width if rules.is_square else math.ceil(total - aim.low) + 1
        for turn in range(2):  # whoever never acts keeps it
            write_columns(tables, turn, state, aim, (1, width, top), total, score, mean)
    return tables


@njit(cache=True, nogil=True)
def carry_variance(
    arrays: Arrays, chance: Real, state: int, asked: int, lowest: int, chosen: Real, tables: Tables, now: int
) -> None:
    """Var(s, w) = sum p (Var'(s', w - c) + (c + mean'(s', w - c) - mean(s, w))^2) over the outcomes of the choice."""
    _, means, least_means, variances, pad = tables
    later = 1 - now
    for column in range(asked, variances.shape[2]):
        row = arrays.row_start[state] + (lowest if column == 0 else int(chosen[column - max(asked, 1)]))
        mean = least_means[now, state] if column == 0 else means[now, state, pad + column]
        total = 0.0
        for edge in range(arrays.edge_start[row], arrays.edge_start[row + 1]):
            cost, target = arrays.edge_cost[edge], arrays.edge_next[edge]
            ahead = max(column - cost, 0)
            distance = cost + (least_means[later, target] if ahead == 0 else means[later, target, pad + ahead]) - mean
            total += chance[edge] * (variances[later, target, ahead] + distance * distance)
        variances[now, state, column] = total


@njit(cache=True, nogil=True)
def grow(changes: Changes, least: int) -> Changes:
    """The same with room for twice as many, at least for so many."""
    more = max(len(changes.place), least - len(changes.place))
    return Changes(
        np.concatenate((changes.place, np.empty(more, np.int64))),
        np.concatenate((changes.first, np.empty(more, np.int64))),
        np.concatenate((changes.choice, np.empty(more, np.uint8))),
    )


@njit(cache=True, nogil=True)
def order_changes(changes: Changes, begins: Whole) -> Changes:
    """Changes by rising step: those of the last step come first, and those of the i-th begin at begins[i + 1]."""
    found = Changes(np.empty(begins[0], np.int64), np.empty(begins[0], np.int64), np.empty(begins[0], np.uint8))
    done = 0
    for i in range(len(begins) - 1):
        for old in range(begins[i + 1], begins[i]):
            found.place[done], found.first[done] = changes.place[old], changes.first[old]
            found.choice[done] = changes.choice[old]
            done += 1
    return found
