"""The numbers of a level: from where to where they go, and at which of them a decision is tried.

They are on a grid: multiples of the feature's `step` or, if it has none, of a power of ten that divides the level into
a hundred parts or more. What is promised to people can then be written down without rounding. Without a step all other
numbers exist as well, so those between two splits are tried even if the grid has none there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from safear.problem.model import Feature

FINE = 100  # parts of a level, at least, if the feature has no step
ALL = 64  # numbers of a range up to which each of them is tried
BETWEEN = 16  # evenly spaced numbers that are tried in a longer range, and as many drawn at random


@dataclass(frozen=True)
class LevelRange:
    """The numbers of a level on its grid: from `low` to `high`, both among them. `value` is what stands for the level.

    Without a limit (`min` or `max` of the feature) a level that is open goes as far as its value. `is_dense`: numbers
    off the grid exist, too.
    """

    low: Decimal
    high: Decimal
    value: Decimal
    grid: Decimal
    is_dense: bool = False

    @cached_property
    def count(self) -> int:
        """How many numbers of the grid there are."""
        return int((self.high - self.low) / self.grid) + 1

    def points(self, splits: Sequence[float] | None = None) -> NDArray[np.float64]:
        """The numbers at which a decision is tried, ascending: both ends, the value, and numbers between them.

        These are all numbers, if there are few; else, for a model that can only change its mind at `splits`, the last
        number before and the first after each; else some that are evenly spaced and some that are drawn at random,
        always the same.
        """
        some = {self.low, self.value, self.high}
        if self.count <= ALL:
            numbers = list(range(self.count))
        elif splits is not None:
            inside = [Decimal(repr(float(split))) for split in splits if self.low <= split <= self.high]
            last = [int(((split - self.low) / self.grid).to_integral_value(ROUND_FLOOR)) for split in inside]
            numbers = [number for before in last for number in (before, before + 1)]
            if self.is_dense:
                places = zip(pairwise(inside), pairwise(last), strict=True)
                some |= {_pick_between(*cell, self.grid) for cell, (one, other) in places if one == other}
        else:
            rng = np.random.default_rng(self.count)
            drawn = rng.integers(self.count, size=BETWEEN).tolist()
            numbers = [*np.linspace(0, self.count - 1, BETWEEN + 2).astype(int).tolist(), *drawn]
        some |= {self.low + number * self.grid for number in numbers if 0 <= number < self.count}
        return np.array(sorted(map(float, some)))

    def is_exhausted(self, splits: Sequence[float] | None = None) -> bool:
        """Whether `points` leave no number out at which the decision could differ."""
        return self.count <= ALL or splits is not None


def level_range(feature: Feature, code: int) -> LevelRange:
    """The numbers of a level of a feature with values."""
    value = Decimal(repr(float(feature.values[code])))
    below = feature.edges[code - 1] if code else None
    above = feature.edges[code] if code < len(feature.edges) else None
    low = max((limit for limit in (below, feature.least) if limit is not None), default=value)
    high = min((limit for limit in (above, feature.most) if limit is not None), default=value)
    grid = feature.step or _fine_grid(high - low)
    first, last = _round(low, grid, ROUND_CEILING), _round(high, grid, ROUND_FLOOR)
    if first == below and feature.closed == "right":
        first += grid
    if last == above and feature.closed == "left":
        last -= grid
    return LevelRange(min(first, value), max(last, value), value, grid, is_dense=feature.step is None)


def _fine_grid(width: Decimal) -> Decimal:
    return Decimal(1) if width <= 0 else Decimal(1).scaleb((width / FINE).adjusted())


def _pick_between(low: Decimal, high: Decimal, grid: Decimal) -> Decimal:
    """A number with as few digits as possible that is above `low` and not above `high`."""
    number = low
    while number <= low:
        grid = grid.scaleb(-1)
        number = _round(high, grid, ROUND_FLOOR)
    return number


def _round(number: Decimal, grid: Decimal, rounding: str) -> Decimal:
    return (number / grid).to_integral_value(rounding) * grid
