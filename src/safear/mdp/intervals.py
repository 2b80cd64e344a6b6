"""Chances that are only known to lie between bounds: the worst of them.

The chances of a row may be any p with low <= p <= high and sum p = 1. The p with the highest sum p * value begins with
every outcome at its least and gives what is left to the outcomes in order of their values, each up to its most.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ROUNDING = 1e-14  # a chance that is left and below this is none


def worst_chances(
    low: NDArray[np.float64], high: NDArray[np.float64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The chances with the highest expected value [row, outcome, column], of rows with as many outcomes each.

    `low` and `high` are [row, outcome]; `values` are [row, outcome, column], and each column has its own worst case.
    """
    if low.shape[1] == 1:
        return np.ones_like(values)
    if low.shape[1] == 2:  # an end of the interval, in a fifth of the time
        least, most = np.maximum(low[:, 0], 1.0 - high[:, 1]), np.minimum(high[:, 0], 1.0 - low[:, 1])
        first = np.where(values[:, 0] >= values[:, 1], most[:, None], least[:, None])
        return np.stack([first, 1.0 - first], axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    room = np.take_along_axis((high - low)[:, :, None], order, axis=1)
    left = 1.0 - low.sum(axis=1)[:, None, None] - (np.cumsum(room, axis=1) - room)
    filled = np.clip(np.where(left > ROUNDING, left, 0.0), 0.0, room)
    chances = np.empty_like(values)
    np.put_along_axis(chances, order, filled, axis=1)
    chances += low[:, :, None]
    return chances


def bound_sum(low: NDArray[np.float64], high: NDArray[np.float64], chosen: NDArray[np.bool_]) -> tuple[float, float]:
    """The least and the most that the chances of some outcomes of a row can add up to: the others take the rest."""
    if (low == high).all():
        exact = float(low[chosen].sum())
        return exact, exact
    least = max(float(low[chosen].sum()), 1.0 - float(high[~chosen].sum()), 0.0)
    most = min(float(high[chosen].sum()), 1.0 - float(low[~chosen].sum()), 1.0)
    return least, max(least, most)
