"""The step of the robust target sweep: as `targets.sweep_columns`, against the worst chances.

Nature, as it were, chooses the chances anew in each step, after the plan.
"""

from __future__ import annotations

import cython
import numpy as np

if not cython.compiled:
    from safear.core.arrays import INF, Arrays, Bytes, PolicyRoom, Real
    from safear.core.sweeps import Ranges, find_end, find_worst
    from safear.core.targets import Aim, Course, note_choices


class LossTables:
    """Loss and mean [turn, state, column]: step by step one turn is read, and the other is written."""

    def __init__(self, loss: Real, mean: Real) -> None:
        self.loss, self.mean = loss, mean


class Prospect:
    """What a row leads to: loss and mean [outcome, column].

    And what it is worth, beside the best row so far [column], whose choice is a real number as well, so that several
    columns are done at a time.
    """

    def __init__(self, outcomes: int, width: int) -> None:
        self.loss, self.mean = np.empty((outcomes, width)), np.empty((outcomes, width))
        self.row_loss, self.row_mean = np.empty(width), np.empty(width)
        self.least_loss, self.least_mean, self.chosen = np.empty(width), np.empty(width), np.empty(width)


def robust_step(
    course: Course, ranges: Ranges, step: int, allowed: Bytes, aim: Aim, tie: float, tables: LossTables,
    room: PolicyRoom,
) -> None:  # fmt: skip
    """U(s, w) = min over a of max over p of sum p U'(s', w - c), low <= p <= high, sum p = 1, for every target w.

    Columns are as in `sweep_columns`. What the adversary makes large is what the plan makes small, loss_weight * loss +
    mean_weight * mean (the mean in column 0), and the mean where that is equal. He begins with the least chance of
    every outcome and gives what is left to the worst of them, each up to its most. Of two outcomes that is one end of
    the interval.
    """
    arrays, width, now, later = course.arrays, tables.loss.shape[2], step % 2, (step + 1) % 2
    prospect = Prospect(ranges.chance.shape[0], width)
    with cython.nogil:
        for state in range(course.goal.shape[0]):
            if not course.depth[state] <= step < course.late[state]:
                continue
            found = False
            for row in range(arrays.row_start[state], arrays.row_start[state + 1]):
                if not allowed[row]:
                    continue
                is_exact = look_ahead(arrays, ranges, row, aim, tables, later, prospect)
                if is_exact:
                    mix_exactly(arrays, ranges, row, prospect)
                elif arrays.edge_start[row + 1] - arrays.edge_start[row] == 2 and -INF < aim.below < INF:
                    mix_pair(arrays, ranges, row, aim, prospect)
                else:
                    mix_worst(arrays, ranges, row, aim, prospect)
                keep_better(prospect, float(row - arrays.row_start[state]), aim, tie, found)
                found = True
            if found:
                write_best(prospect, tables, now, state)
                note_choices(room, step, state, 0, width, -1, prospect.chosen)


def look_ahead(
    arrays: Arrays, ranges: Ranges, row: int, aim: Aim, tables: LossTables, later: int, prospect: Prospect
) -> bool:
    """Find what each outcome of a row leads to, and whether there is nothing to choose among its chances."""
    width, first, is_exact = prospect.row_loss.shape[0], arrays.edge_start[row], True
    low, below, below_slope = aim.low, aim.below, aim.below_slope
    for i in range(arrays.edge_start[row + 1] - first):
        cost, target = arrays.edge_cost[first + i], arrays.edge_next[first + i]
        is_exact = is_exact and ranges.low[first + i] == ranges.high[first + i]
        paid, end = float(cost), min(cost + 1, width)
        mean_below = paid + tables.mean[later, target, 0]
        prospect.loss[i, 0] = 0.0
        for j in range(end):
            prospect.mean[i, j] = mean_below
        for j in range(1, end):
            column = j  # of 32 bits, so that several are made real at a time
            prospect.loss[i, j] = below + below_slope * (mean_below - (low + column - 1))
        for j in range(end, width):
            prospect.loss[i, j] = tables.loss[later, target, j - cost]
        for j in range(end, width):
            prospect.mean[i, j] = paid + tables.mean[later, target, j - cost]
    return is_exact


def mix_exactly(arrays: Arrays, ranges: Ranges, row: int, prospect: Prospect) -> None:
    """Find what a row is worth at its chances, which are known."""
    width, first, last = prospect.row_loss.shape[0], arrays.edge_start[row], arrays.edge_start[row + 1]
    p, q = ranges.low[first], ranges.low[last - 1]
    if last - first == 2 and min(p, q) > 0.0:  # as most rows are
        for j in range(width):
            prospect.row_loss[j] = p * prospect.loss[0, j] + q * prospect.loss[1, j]
        for j in range(width):
            prospect.row_mean[j] = p * prospect.mean[0, j] + q * prospect.mean[1, j]
        return
    for j in range(width):
        prospect.row_loss[j] = 0.0
    for j in range(width):
        prospect.row_mean[j] = 0.0
    for i in range(last - first):
        chance = ranges.low[first + i]
        if chance == 0.0:  # its loss may be infinite
            continue
        for j in range(width):
            prospect.row_loss[j] += chance * prospect.loss[i, j]
        for j in range(width):
            prospect.row_mean[j] += chance * prospect.mean[i, j]


def mix_pair(arrays: Arrays, ranges: Ranges, row: int, aim: Aim, prospect: Prospect) -> None:
    """Find what a row of two outcomes is worth at the worst chances: one end of the interval."""
    first, loss_weight, mean_weight = arrays.edge_start[row], aim.loss_weight, aim.mean_weight
    find_end(ranges, first, True)
    most0, least1 = ranges.chance[0], ranges.chance[1]
    find_end(ranges, first, False)
    least0, most1 = ranges.chance[0], ranges.chance[1]
    is_first = prospect.mean[0, 0] >= prospect.mean[1, 0]
    prospect.row_loss[0] = 0.0
    prospect.row_mean[0] = most0 * prospect.mean[0, 0] + least1 * prospect.mean[1, 0]
    if not is_first:
        prospect.row_mean[0] = least0 * prospect.mean[0, 0] + most1 * prospect.mean[1, 0]
    for j in range(1, prospect.row_loss.shape[0]):
        loss0, loss1, mean0, mean1 = prospect.loss[0, j], prospect.loss[1, j], prospect.mean[0, j], prospect.mean[1, j]
        gap = loss_weight * (loss0 - loss1) + mean_weight * (mean0 - mean1)
        is_first = (gap > 0) | ((gap == 0) & (mean0 >= mean1))
        p = most0 if is_first else least0
        q = least1 if is_first else most1
        prospect.row_loss[j] = p * loss0 + q * loss1
        prospect.row_mean[j] = p * mean0 + q * mean1


def mix_worst(arrays: Arrays, ranges: Ranges, row: int, aim: Aim, prospect: Prospect) -> None:
    """Find what a row is worth if the worst outcomes get all that is left."""
    first, outcomes = arrays.edge_start[row], arrays.edge_start[row + 1] - arrays.edge_start[row]
    loss_weight, mean_weight = aim.loss_weight, aim.mean_weight
    for j in range(prospect.row_loss.shape[0]):
        for i in range(outcomes):
            ranges.value[i] = ranges.second[i] = prospect.mean[i, j]
            if j > 0:
                ranges.value[i] = loss_weight * prospect.loss[i, j] + mean_weight * prospect.mean[i, j]
        find_worst(ranges, first, outcomes)
        loss = mean = 0.0
        for place in range(outcomes):
            i = ranges.order[place]
            chance = ranges.chance[i]
            if chance > 0.0:
                loss += chance * prospect.loss[i, j]
                mean += chance * prospect.mean[i, j]
        prospect.row_loss[j], prospect.row_mean[j] = loss, mean


def keep_better(prospect: Prospect, number: float, aim: Aim, tie: float, found: bool) -> None:
    """Take a row where it is better than the best so far, if one was found: see `sweep_columns`."""
    loss_weight, mean_weight, width = aim.loss_weight, aim.mean_weight, prospect.row_loss.shape[0]
    if not found:
        for j in range(width):
            prospect.least_loss[j] = prospect.row_loss[j]
        for j in range(width):
            prospect.least_mean[j] = prospect.row_mean[j]
        for j in range(width):
            prospect.chosen[j] = number
        return
    if prospect.row_mean[0] * (1 + tie) < prospect.least_mean[0]:
        prospect.least_mean[0], prospect.chosen[0] = prospect.row_mean[0], number
    for j in range(1, width):
        row_loss, row_mean = prospect.row_loss[j], prospect.row_mean[j]
        loss, mean, chosen = prospect.least_loss[j], prospect.least_mean[j], prospect.chosen[j]
        score, least = loss_weight * row_loss + mean_weight * row_mean, loss_weight * loss + mean_weight * mean
        better = (score * (1 + tie) < least) | ((score <= least * (1 + tie)) & (row_mean * (1 + tie) < mean))
        prospect.least_loss[j] = row_loss if better else loss
        prospect.least_mean[j] = row_mean if better else mean
        prospect.chosen[j] = number if better else chosen


def write_best(prospect: Prospect, tables: LossTables, now: int, state: int) -> None:
    """Write the best of a state."""
    for j in range(prospect.row_loss.shape[0]):
        tables.loss[now, state, j] = prospect.least_loss[j]
    for j in range(prospect.row_loss.shape[0]):
        tables.mean[now, state, j] = prospect.least_mean[j]
