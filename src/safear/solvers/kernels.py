"""The compiled loops of the backward sweeps: one step each, as short as its formula.

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]


@njit(cache=True, nogil=True)
def greedy_step(
    row_start: Whole,
    edge_start: Whole,
    edge_next: Whole,
    edge_chance: Real,
    edge_cost: Whole,
    later: Real,
    risk_aversion: float,
    upper_only: bool,  # noqa: FBT001  # compiled functions take positions
    tie: float,
    now: Real,
    choices: Bytes,
) -> None:
    """V(s) = min over a of m + risk_aversion * d, with m and d the mean and deviation of c + later(s') (see `greedy`).

    Writes V into `now` and the first row that is the least up to `tie` into `choices`, where a state has rows.
    """
    for state in range(len(row_start) - 1):
        least, chosen = np.inf, -1
        for row in range(row_start[state], row_start[state + 1]):
            first, last = edge_start[row], edge_start[row + 1]
            mean = 0.0
            for edge in range(first, last):
                mean += edge_chance[edge] * (edge_cost[edge] + later[edge_next[edge]])
            score = mean
            if risk_aversion > 0:
                squares = 0.0
                for edge in range(first, last):
                    distance = edge_cost[edge] + later[edge_next[edge]] - mean
                    if distance > 0 or not upper_only:
                        squares += edge_chance[edge] * distance * distance
                score += risk_aversion * np.sqrt(squares)
            if chosen < 0 or score * (1 + tie) < least:
                least, chosen = score, row
        if chosen >= 0:
            now[state] = least
            choices[state] = chosen - row_start[state]


@njit(cache=True, nogil=True)
def target_step(
    states: Whole,
    row_start: Whole,
    edge_start: Whole,
    edge_next: Whole,
    edge_chance: Real,
    edge_cost: Whole,
    allowed: Flags,
    later_loss: Real,
    later_mean: Real,
    low: float,
    below: float,
    below_slope: float,
    loss_weight: float,
    mean_weight: float,
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
            if first == 0 and row_mean[0] * (1 + tie) < least_mean[0]:
                least_mean[0], chosen[0] = row_mean[0], choice
            begin = max(first, 1)
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
def variance_step(
    states: Whole,
    row_start: Whole,
    edge_start: Whole,
    edge_next: Whole,
    edge_chance: Real,
    edge_cost: Whole,
    choices: Bytes,
    later_mean: Real,
    later_variance: Real,
    first: int,
    mean: Real,
    variance: Real,
) -> None:
    """Var(s, w) = sum p (Var'(s', w - c) + (c + mean'(s', w - c) - mean(s, w))^2) over the outcomes of the choice."""
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
