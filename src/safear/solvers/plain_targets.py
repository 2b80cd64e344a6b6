"""The steps of the target sweep in NumPy, for problems that are solved before compiled code is loaded.

One step of `target_kernels.sweep_columns`, with all columns, all rows at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.mdp.arrays import Arrays

Real = NDArray[np.float64]
Whole = NDArray[np.int64]


class Aim(NamedTuple):
    """The lowest target, the loss below it, below + below_slope * (E[C] - w), and the weights of loss and mean."""

    low: float
    below: float
    below_slope: float
    loss_weight: float
    mean_weight: float


def plain_target_step(  # noqa: PLR0913, PLR0917  # what all such steps take
    states: Whole,
    arrays: Arrays,
    allowed: NDArray[np.bool_],
    later_loss: Real,
    later_mean: Real,
    aim: Aim,
    tie: float,
    first: int,
    loss: Real,
    mean: Real,
    choices: NDArray[np.uint8],
) -> None:
    """U(s, w) = min over a of sum p U'(s', w - c), for every target w at once: see `sweep_columns`."""
    first_row, counts = arrays.row_start[states], arrays.row_start[states + 1] - arrays.row_start[states]
    least_loss, least_mean, chosen = loss[states, first:], mean[states, first:], choices[states, first:]
    found = np.zeros(len(states), dtype=bool)
    with np.errstate(invalid="ignore"):  # a weight of 0 times an infinite loss; nothing is better than that
        row_loss, row_mean = _score(arrays, later_loss, later_mean, aim, first)
        for rank in range(int(counts.max(initial=0))):
            place = np.flatnonzero(counts > rank)
            place = place[allowed[first_row[place] + rank]]
            rows = first_row[place] + rank
            some = row_loss[rows], row_mean[rows], least_loss[place], least_mean[place]
            better = _is_better(*some, aim=aim, tie=tie, first=first) | ~found[place, None]
            least_loss[place] = np.where(better, some[0], some[2])
            least_mean[place] = np.where(better, some[1], some[3])
            chosen[place] = np.where(better, np.uint8(rank), chosen[place])
            found[place] = True
    loss[states, first:], mean[states, first:], choices[states, first:] = least_loss, least_mean, chosen


def _score(arrays: Arrays, later_loss: Real, later_mean: Real, aim: Aim, first: int) -> tuple[Real, Real]:
    """Of all rows, from the column `first` on: sum p U'(s', w - c) and sum p (c + mean'(s', w - c))."""
    columns = np.arange(first, later_loss.shape[1])
    targets = aim.low + columns - 1
    counts = np.diff(arrays.edge_start)
    row_loss, row_mean = np.zeros((2, len(counts), len(columns)))
    for rank in range(int(counts.max(initial=0))):
        rows = np.flatnonzero(counts > rank)
        rows = rows[arrays.edge_chance[arrays.edge_start[rows] + rank] != 0.0]  # its loss may be infinite
        edges = arrays.edge_start[rows] + rank
        chance, cost, after = arrays.edge_chance[edges, None], arrays.edge_cost[edges, None], arrays.edge_next[edges]
        left = np.maximum(columns - cost, 0)
        means = cost + later_mean[after[:, None], left]
        below = aim.below + aim.below_slope * (cost + later_mean[after, :1] - targets)
        row_loss[rows] += chance * np.where(left > 0, later_loss[after[:, None], left], below)
        row_mean[rows] += chance * means
    row_loss[:, columns == 0] = 0.0
    return row_loss, row_mean


def _is_better(
    loss: Real, mean: Real, least_loss: Real, least_mean: Real, *, aim: Aim, tie: float, first: int
) -> NDArray[np.bool_]:
    """Where rows are better than the best so far: see `robust_kernels.keep_better`."""
    score = aim.loss_weight * loss + aim.mean_weight * mean
    least = aim.loss_weight * least_loss + aim.mean_weight * least_mean
    cheaper: NDArray[np.bool_] = mean * (1 + tie) < least_mean
    better: NDArray[np.bool_] = (score * (1 + tie) < least) | ((score <= least * (1 + tie)) & cheaper)
    if first == 0:
        better[:, 0] = cheaper[:, 0]
    return better


def plain_variance_step(
    states: Whole,
    arrays: Arrays,
    choices: NDArray[np.uint8],
    later_mean: Real,
    later_variance: Real,
    first: int,
    mean: Real,
    variance: Real,
) -> None:
    """Var(s, w) = sum p (Var'(s', w - c) + (c + mean'(s', w - c) - mean(s, w))^2) over the outcomes of the choice."""
    columns = np.broadcast_to(np.arange(first, mean.shape[1]), (len(states), mean.shape[1] - first))
    rows = arrays.row_start[states, None] + choices[states, first:]
    means, total = mean[states, first:], np.zeros(rows.shape)
    counts = arrays.edge_start[rows + 1] - arrays.edge_start[rows]
    for rank in range(int(counts.max(initial=0))):
        some = counts > rank
        edges = arrays.edge_start[rows[some]] + rank
        cost, after = arrays.edge_cost[edges], arrays.edge_next[edges]
        left = np.maximum(columns[some] - cost, 0)
        distance = cost + later_mean[after, left] - means[some]
        total[some] += arrays.edge_chance[edges] * (later_variance[after, left] + distance * distance)
    variance[states, first:] = total
