"""Chances of outcomes that are intervals: who takes the rest, and which chances each can have with those of the others.

Limits are arrays [state, outcome] in units of which `whole` make up 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.errors import Mistake, Path, mistake

TRACE = 1e-9  # room that comes from chances which add up to 1 only nearly
SEVERAL = 2


def give_rest(
    low: NDArray[np.int64], high: NDArray[np.int64], whole: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """The limits of chances that are all stated, with the one that takes the rest open, and where there is none.

    An interval can move only if another chance gives way. Where a single outcome is no interval, that is the one: it
    may have any chance. Where several are none, nobody can say which; an interval that cannot move is then a mistake.
    """
    exact = low >= high
    exacts = exact.sum(axis=1, keepdims=True)
    rest = exact & (exacts == 1) & (exact.shape[1] > 1)
    low, high = np.where(rest, 0, low), np.where(rest, whole, high)
    least, most = limit_chances(low, high, whole)
    stuck = ~exact & (most - least <= TRACE * whole) & (exacts >= SEVERAL)
    return low, high, stuck.any(axis=1)


def limit_chances(
    low: NDArray[np.int64], high: NDArray[np.int64], whole: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """max(low_i, 1 - sum of the other highs) and min(high_i, 1 - sum of the other lows)."""
    least = np.maximum(low, whole - high.sum(axis=1, keepdims=True) + high)
    most = np.minimum(high, whole - low.sum(axis=1, keepdims=True) + low)
    return least, most


def stuck_interval(path: Path, where: str = "") -> Mistake:
    """The mistake of an interval beside several chances that leave it no room."""
    cause = "an interval cannot move: the other chances are given exactly" + (f" where {where}" if where else "")
    remedy = "leave out the chance of the outcome that takes the rest"
    return mistake(path, cause, remedy, code="stuck_interval")
