"""The numbers of a level: whatever may change the decision inside a range is tried."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from doors import level_range
from safear.problem import Feature

EDGES = (Decimal(1000), Decimal(2000))


def level(step: int | None, value: float) -> Feature:
    grid, values = None if step is None else Decimal(step), (0.0, value, 4000.0)
    return Feature("amount", "numeric", ("low", "middle", "high"), values=values, edges=EDGES, step=grid)


@given(
    st.lists(st.floats(900, 2100) | st.integers(900, 2100).map(lambda n: n + 0.5), unique=True),
    st.sampled_from([None, 1, 5]),
    st.integers(200, 399).map(lambda n: 5.0 * n),
)
@example([1502.5, 1507.5], None, 1500.0)  # between two numbers of the grid
@example([1502.5, float(np.nextafter(1502.5, 2000))], None, 1500.0)
def test_every_part_between_splits_is_tried(splits: list[float], step: int | None, value: float) -> None:
    """Wherever a promise begins and ends among the points, no part of it is without one."""
    splits.sort()
    found = level_range(level(step, value), 1)
    points = found.points(splits)
    assert found.is_exhausted(splits)
    assert value in points
    assert points[0] == 1000
    assert points[-1] == float(found.high)
    parts = np.searchsorted(splits, points)
    if step is None:
        assert set(parts) == set(range(parts[0], parts[-1] + 1))
    else:
        every = np.arange(1000, 2000, step)
        assert not (points % step).any()
        assert set(parts) == set(np.searchsorted(splits, every))
