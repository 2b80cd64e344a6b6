"""The compiled loops of the backward sweeps, each as short as its formula.

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from safear.mdp.arrays import Arrays

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Steps = NDArray[np.int16]


class Deviation(NamedTuple):
    """How a deviation counts: by which factor, and whether only costs above the mean do; of two outcomes, per row.

    The score of a row with two outcomes x0 and x1 rises by `rise` per x0 - x1 above 0, and falls by `fall` (<= 0) per
    that below.
    """

    risk_aversion: float
    upper_only: bool
    rise: Real
    fall: Real


@njit(cache=True, nogil=True)
def count_steps(arrays: Arrays, goal: Flags, horizon: int) -> Steps:
    """The fewest steps in which a goal may be reached, of all states of all lanes; horizon + 1 if it cannot."""
    n_states, lanes = goal.shape
    needed = np.where(goal, np.int16(0), np.int16(horizon + 1))
    found = True
    while found:
        found = False
        for state in range(n_states):
            first, last = arrays.row_start[state], arrays.row_start[state + 1]
            for edge in range(arrays.edge_start[first], arrays.edge_start[last]):
                for lane in range(lanes):
                    ahead = np.int16(needed[arrays.edge_next[edge], lane] + 1)
                    if ahead < needed[state, lane]:
                        needed[state, lane], found = ahead, True
    return needed


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_arrays(
    arrays: Arrays, deviation: Deviation, goal: Flags, needed: Steps, failure_cost: float, tie: float, choices: Bytes
) -> Real:
    """V_h(s) = min over a of m + risk_aversion * d, m and d the mean and deviation of c + V_{h+1}(s') (see `sweep`).

    For every lane [state, lane] at once: lanes share rows and edges and differ in goals. The deviation of two outcomes
    x0 and x1 is max(rise * (x0 - x1), fall * (x0 - x1)), aversion included. Writes the first row that is the least up
    to `tie` into choices[step, state, lane], 255 where there is none, and returns V at step 0. There is none where more
    steps are `needed` [state, lane] than are left.
    """
    row_start, _, edge_start, edge_next, edge_chance, edge_cost, _ = arrays
    risk_aversion, upper_only, rise, fall = deviation
    horizon, n_states, lanes = choices.shape
    later, now = np.empty((n_states, lanes)), np.empty((n_states, lanes))
    least, chosen = np.empty(lanes), np.empty(lanes)  # real numbers both, so that several lanes are compared at a time
    mean, squares = np.empty(lanes), np.empty(lanes)
    goals = np.zeros(n_states, np.int64)  # in how many lanes a state is one
    for state in range(n_states):
        for lane in range(lanes):
            later[state, lane] = 0.0 if goal[state, lane] else failure_cost
            goals[state] += goal[state, lane]
    for step in range(horizon - 1, -1, -1):
        for state in range(n_states):
            for lane in range(lanes):
                least[lane], chosen[lane] = np.inf, 255.0
            end = row_start[state] if goals[state] == lanes else row_start[state + 1]
            for row in range(row_start[state], end):
                number = float(row - row_start[state])
                first, outcomes = edge_start[row], edge_start[row + 1] - edge_start[row]
                cost0, chance0, next0 = float(edge_cost[first]), edge_chance[first], edge_next[first]
                # Lanes are indexed in place: a slice of an array costs more than the arithmetic of a row.
                if outcomes == 1:
                    for lane in range(lanes):
                        score = cost0 + later[next0, lane]
                        better = score * (1 + tie) < least[lane]
                        least[lane] = score if better else least[lane]
                        chosen[lane] = number if better else chosen[lane]
                elif outcomes == 2:
                    cost1, chance1, next1 = float(edge_cost[first + 1]), edge_chance[first + 1], edge_next[first + 1]
                    above, below = rise[row], fall[row]
                    for lane in range(lanes):
                        x0, x1 = cost0 + later[next0, lane], cost1 + later[next1, lane]
                        score = chance0 * x0 + chance1 * x1 + max(above * (x0 - x1), below * (x0 - x1))
                        better = score * (1 + tie) < least[lane]
                        least[lane] = score if better else least[lane]
                        chosen[lane] = number if better else chosen[lane]
                else:
                    for lane in range(lanes):
                        mean[lane] = squares[lane] = 0.0
                    for edge in range(first, first + outcomes):
                        for lane in range(lanes):
                            mean[lane] += edge_chance[edge] * (edge_cost[edge] + later[edge_next[edge], lane])
                    for edge in range(first, first + outcomes):
                        for lane in range(lanes):
                            distance = edge_cost[edge] + later[edge_next[edge], lane] - mean[lane]
                            distance = max(distance, 0.0) if upper_only else distance
                            squares[lane] += edge_chance[edge] * distance * distance
                    for lane in range(lanes):
                        score = mean[lane] + risk_aversion * np.sqrt(squares[lane])
                        better = score * (1 + tie) < least[lane]
                        least[lane] = score if better else least[lane]
                        chosen[lane] = number if better else chosen[lane]
            for lane in range(lanes):
                idle = goal[state, lane] or chosen[lane] == 255.0 or needed[state, lane] > horizon - step
                now[state, lane] = later[state, lane] if idle else least[lane]
                choices[step, state, lane] = np.uint8(255) if idle else np.uint8(chosen[lane])
        later, now = now, later
    return later


class Aim(NamedTuple):
    """The lowest target, the loss below it, below + below_slope * (E[C] - w), and the weights of loss and mean."""

    low: float
    below: float
    below_slope: float
    loss_weight: float
    mean_weight: float


@njit(cache=True, nogil=True)
def keep_better(
    row_loss: Real,
    row_mean: Real,
    aim: Aim,
    tie: float,
    first: int,
    choice: np.uint8,
    least_loss: Real,
    least_mean: Real,
    chosen: Bytes,
    better: Flags,
) -> None:
    """Take a row where it is better than the best so far: see `target_step`. `better` is room for flags."""
    _, _, _, loss_weight, mean_weight = aim
    if first == 0 and row_mean[0] * (1 + tie) < least_mean[0]:
        least_mean[0], chosen[0] = row_mean[0], choice
    begin, width = max(first, 1), len(row_loss)
    for j in range(begin, width):
        score = loss_weight * row_loss[j] + mean_weight * row_mean[j]
        least = loss_weight * least_loss[j] + mean_weight * least_mean[j]
        better[j] = (score * (1 + tie) < least) | (
            (score <= least * (1 + tie)) & (row_mean[j] * (1 + tie) < least_mean[j])
        )
    for j in range(begin, width):  # apart, so that the comparisons are done several columns at a time
        if better[j]:
            least_loss[j], least_mean[j], chosen[j] = row_loss[j], row_mean[j], choice


@njit(cache=True, nogil=True)
def target_step(
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
    """U(s, w) = min over a of sum p U'(s', w - c), for every target w at once (see `targets`).

    Column j > 0 is the target w = low + j - 1; column 0 stands for all targets below `low`. There the loss is
    below + below_slope * (E[C] - w), and what is made small is the mean. Elsewhere it is
    loss_weight * loss + mean_weight * mean; ties (up to `tie`) go to the smaller mean, then to the first row. Columns
    before `first` are not asked for.
    """
    row_start, _, edge_start, edge_next, edge_chance, edge_cost, _ = arrays
    low, below, below_slope, _, _ = aim
    width = loss.shape[1]
    row_loss, row_mean, better = np.empty(width), np.empty(width), np.zeros(width, np.bool_)
    for state in states:
        first_row = row_start[state]
        least_loss, least_mean, chosen = loss[state], mean[state], choices[state]
        found = False
        for row in range(first_row, row_start[state + 1]):
            if not allowed[row]:
                continue
            row_loss[first:] = 0.0
            row_mean[first:] = 0.0
            for edge in range(edge_start[row], edge_start[row + 1]):
                chance, cost, target = edge_chance[edge], edge_cost[edge], edge_next[edge]
                if chance == 0.0:  # its loss may be infinite
                    continue
                mean_below = cost + later_mean[target, 0]
                if first == 0:
                    row_mean[0] += chance * mean_below
                for j in range(max(first, 1), min(cost + 1, width)):
                    row_loss[j] += chance * (below + below_slope * (mean_below - (low + j - 1)))
                    row_mean[j] += chance * mean_below
                begin = min(max(first, cost + 1), width)
                # Slices of equal length, so that the loop below is done several columns at a time.
                losses, means = row_loss[begin:], row_mean[begin:]
                from_loss, from_mean = later_loss[target, begin - cost :], later_mean[target, begin - cost :]
                for j in range(len(losses)):
                    losses[j] += chance * from_loss[j]
                    means[j] += chance * (cost + from_mean[j])
            choice = np.uint8(row - first_row)
            if not found:
                found = True
                least_loss[first:] = row_loss[first:]
                least_mean[first:] = row_mean[first:]
                chosen[first:] = choice
                continue
            keep_better(row_loss, row_mean, aim, tie, first, choice, least_loss, least_mean, chosen, better)


@njit(cache=True, nogil=True)
def variance_step(
    states: Whole,
    arrays: Arrays,
    choices: Bytes,
    later_mean: Real,
    later_variance: Real,
    first: int,
    mean: Real,
    variance: Real,
) -> None:
    """Var(s, w) = sum p (Var'(s', w - c) + (c + mean'(s', w - c) - mean(s, w))^2) over the outcomes of the choice."""
    row_start, _, edge_start, edge_next, edge_chance, edge_cost, _ = arrays
    for state in states:
        for j in range(first, mean.shape[1]):
            row = row_start[state] + choices[state, j]
            total = 0.0
            for edge in range(edge_start[row], edge_start[row + 1]):
                cost, target = edge_cost[edge], edge_next[edge]
                column = max(j - cost, 0)
                distance = cost + later_mean[target, column] - mean[state, j]
                total += edge_chance[edge] * (later_variance[target, column] + distance * distance)
            variance[state, j] = total
