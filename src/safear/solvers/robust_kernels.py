"""The compiled loop of the robust target sweep: as `target_kernels.sweep_columns`, against the worst chances.

Nature, as it were, chooses the chances anew in each step, after the plan.

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.compiling import njit
from safear.mdp.arrays import Arrays
from safear.solvers.plain_targets import Aim

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]


@njit(cache=True, nogil=True)
def robust_step(
    lows: Real,
    highs: Real,
    states: Whole,
    arrays: Arrays,
    allowed: Flags,
    later_loss: Real,
    later_mean: Real,
    aim: Aim,
    tie: float,
    first: int,
    loss: Real,
    mean: Real,
    choices: Bytes,
) -> None:
    """U(s, w) = min over a of max over p of sum p U'(s', w - c), low <= p <= high, sum p = 1, for every target w.

    Columns are as in `sweep_columns`. What the adversary makes large is what the plan makes small, loss_weight * loss +
    mean_weight * mean (the mean in column 0), and the mean where that is equal. He begins with the least chance of
    every outcome and gives what is left to the worst of them, each up to its most. Of two outcomes that is one end of
    the interval.
    """
    row_start, _, edge_start, edge_next, edge_chance, edge_cost, _ = arrays
    low, below, below_slope, loss_weight, mean_weight = aim
    width = loss.shape[1]
    most = 1
    for row in range(len(edge_start) - 1):
        most = max(most, edge_start[row + 1] - edge_start[row])
    ahead_loss, ahead_mean = np.empty((most, width)), np.empty((most, width))
    row_loss, row_mean, better = np.empty(width), np.empty(width), np.zeros(width, np.bool_)
    order, score = np.empty(most, np.int64), np.empty(most)
    for state in states:
        first_row = row_start[state]
        found = False
        for row in range(first_row, row_start[state + 1]):
            if not allowed[row]:
                continue
            first, outcomes = edge_start[row], edge_start[row + 1] - edge_start[row]
            is_exact = True
            for i in range(outcomes):
                cost, target = edge_cost[first + i], edge_next[first + i]
                is_exact &= lows[first + i] == highs[first + i]
                mean_below = cost + later_mean[target, 0]
                end = min(cost + 1, width)
                ahead_loss[i, 0] = 0.0
                ahead_mean[i, :end] = mean_below
                for j in range(1, end):
                    ahead_loss[i, j] = below + below_slope * (mean_below - (low + j - 1))
                losses, means = ahead_loss[i, end:], ahead_mean[i, end:]
                from_loss, from_mean = later_loss[target, end - cost :], later_mean[target, end - cost :]
                for j in range(len(losses)):
                    losses[j] = from_loss[j]
                    means[j] = cost + from_mean[j]
            if is_exact:
                row_loss[:] = 0.0
                row_mean[:] = 0.0
                for i in range(outcomes):
                    chance = edge_chance[first + i]
                    if chance == 0.0:  # its loss may be infinite
                        continue
                    for j in range(width):
                        row_loss[j] += chance * ahead_loss[i, j]
                        row_mean[j] += chance * ahead_mean[i, j]
            elif outcomes == 2 and np.isfinite(below):
                # Arrays made by hand may have wider bounds than add up to 1.
                least0, most1 = lows[first], highs[first + 1]
                most0, least1 = highs[first], lows[first + 1]
                if least0 + most1 != 1.0:
                    least0 = max(least0, 1.0 - most1)
                    most1 = 1.0 - least0
                if most0 + least1 != 1.0:
                    most0 = min(most0, 1.0 - least1)
                    least1 = 1.0 - most0
                loss0, loss1, mean0, mean1 = ahead_loss[0], ahead_loss[1], ahead_mean[0], ahead_mean[1]
                for j in range(width):
                    weight = mean_weight if j else 1.0  # the loss of column 0 is 0
                    gap = loss_weight * (loss0[j] - loss1[j]) + weight * (mean0[j] - mean1[j])
                    is_first = (gap > 0) | ((gap == 0) & (mean0[j] >= mean1[j]))
                    p = most0 if is_first else least0
                    q = least1 if is_first else most1
                    row_loss[j] = p * loss0[j] + q * loss1[j]
                    row_mean[j] = p * mean0[j] + q * mean1[j]
            else:
                for j in range(width):
                    left = 1.0
                    for i in range(outcomes):
                        left -= lows[first + i]
                        score[i] = ahead_mean[i, 0]
                        if j:
                            score[i] = loss_weight * ahead_loss[i, j] + mean_weight * ahead_mean[i, j]
                        place = i  # the worst first
                        while place:
                            other = order[place - 1]
                            is_worse = ahead_mean[other, j] < ahead_mean[i, j]
                            if score[other] > score[i] or (score[other] == score[i] and not is_worse):
                                break
                            order[place] = other
                            place -= 1
                        order[place] = i
                    row_loss[j] = row_mean[j] = 0.0
                    for place in range(outcomes):
                        i = order[place]
                        more = max(min(highs[first + i] - lows[first + i], left), 0.0)
                        left -= more
                        chance = lows[first + i] + more
                        if chance > 0.0:
                            row_loss[j] += chance * ahead_loss[i, j]
                            row_mean[j] += chance * ahead_mean[i, j]
            choice = np.uint8(row - first_row)
            if not found:
                found = True
                loss[state] = row_loss
                mean[state] = row_mean
                choices[state] = choice
                continue
            keep_better(row_loss, row_mean, aim, tie, choice, loss[state], mean[state], choices[state], better)


@njit(cache=True, nogil=True)
def keep_better(
    row_loss: Real,
    row_mean: Real,
    aim: Aim,
    tie: float,
    choice: np.uint8,
    least_loss: Real,
    least_mean: Real,
    chosen: Bytes,
    better: Flags,
) -> None:
    """Take a row where it is better than the best so far: see `sweep_columns`. `better` is room for flags."""
    _, _, _, loss_weight, mean_weight = aim
    if row_mean[0] * (1 + tie) < least_mean[0]:
        least_mean[0], chosen[0] = row_mean[0], choice
    for j in range(1, len(row_loss)):
        score = loss_weight * row_loss[j] + mean_weight * row_mean[j]
        least = loss_weight * least_loss[j] + mean_weight * least_mean[j]
        better[j] = (score * (1 + tie) < least) | (
            (score <= least * (1 + tie)) & (row_mean[j] * (1 + tie) < least_mean[j])
        )
    for j in range(1, len(row_loss)):  # apart, so that the comparisons are done several columns at a time
        if better[j]:
            least_loss[j], least_mean[j], chosen[j] = row_loss[j], row_mean[j], choice
