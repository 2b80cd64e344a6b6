"""The scale of a numeric feature: all multiples of a step from one number to another, and moves in its own unit."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from safear.problem.model import Feature, as_decimal

MAX_LEVELS = 32_767  # level numbers are stored in 16 bits
ONE = Decimal(1)
IN_UNIT = re.compile(r"(?P<number>[+-]?[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[^\s\d.,%_].*)")


def spread_range(
    first: Decimal, last: Decimal, step: Decimal | None = None, *, closed: Literal["left", "right"] = "left"
) -> dict[str, Any]:
    """What `range: [first, last]` says of a feature: a level for each multiple of the step, called as it is written.

    An edge is where a level begins (closed on the left) or ends (on the right).
    """
    by = ONE if step is None else step
    numbers = [first + by * i for i in range(int((last - first) / by) + 1)]
    return {
        "levels": tuple(f"{number.normalize():f}" for number in numbers),
        "values": tuple(map(float, numbers)),
        "edges": tuple(numbers[1:] if closed == "left" else numbers[:-1]),
        "closed": closed,
        "step": by,
        "least": first,
        "most": last,
    }


def is_range(feature: Feature) -> bool:
    """Whether a feature is what a range gives, and nothing else."""
    first, last, step = feature.least, feature.most, feature.step
    if feature.kind != "numeric" or not feature.values or first is None or last is None or step is None:
        return False
    if not all(number.is_finite() for number in (first, last, step)) or step <= 0 or len(feature.levels) < 2:
        return False
    if (last - first) != step * (len(feature.levels) - 1):
        return False
    spread = spread_range(first, last, step, closed=feature.closed)
    return all(getattr(feature, name) == value for name, value in spread.items())


@lru_cache(maxsize=256)
def level_numbers(feature: Feature) -> NDArray[np.float64] | None:
    """The numbers that stand for the levels of a numeric feature; None if it has none."""
    is_cut = feature.kind == "numeric" and len(feature.values) == len(feature.levels) == len(feature.edges) + 1
    if not is_cut or any(as_decimal(value) is None for value in feature.values):
        return None
    return np.array(feature.values, dtype=np.float64)


@lru_cache(maxsize=256)
def shift_table(feature: Feature, by: Decimal) -> NDArray[np.int16]:
    """For each level, the number of the level that its value plus `by` falls into; beyond the last it stays there."""
    find = bisect_right if feature.closed == "left" else bisect_left
    values = _decimals(feature.values)
    return np.array([find(feature.edges, value + by) for value in values], dtype=np.int16)


def _decimals(values: Sequence[object]) -> list[Decimal]:
    return [as_decimal(value) or Decimal(0) for value in values]
