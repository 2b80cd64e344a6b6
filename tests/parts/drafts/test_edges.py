"""Where numbers are cut: the best levels, against all that there could be."""

from __future__ import annotations

from decimal import Decimal
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from doors import (
    MOST_LEVELS,
    SPARSE,
    choose_levels,
    choose_point,
    cut_cells,
    find_limits,
    round_edge,
)


def loss(decisions: np.ndarray, people: np.ndarray, begin: tuple[int, ...], least: float) -> float:
    """What the docstring says, in loops."""
    count, total = decisions.shape[1], 0.0
    weight = people / max(people.sum(), 1) + 1 / count
    for start, end in pairwise((0, *begin, count)):
        if people[start:end].sum() < least * people.sum():
            return np.inf
        total += min(
            sum(weight[c] * (decisions[:, c] != decisions[:, r]).sum() for c in range(start, end))
            for r in range(start, end)
        )
    return total


@given(
    st.integers(1, 9).flatmap(
        lambda n: st.tuples(arrays(bool, (6, n)), arrays(np.int64, n, elements=st.integers(0, 9)))
    )
)
def test_no_other_levels_are_better(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    decisions, people = drawn
    begin = tuple(choose_levels(decisions, people))
    assert list(begin) == sorted(set(begin))
    assert len(begin) < MOST_LEVELS
    two = [(cut,) for cut in range(1, decisions.shape[1])]
    least = SPARSE if any(np.isfinite(loss(decisions, people, cut, SPARSE)) for cut in two) else 0
    others = combinations(range(1, decisions.shape[1]), len(begin))
    assert (
        loss(decisions, people, begin, least) <= min(loss(decisions, people, other, least) for other in others) + 1e-9
    )
    assert begin or not (decisions != decisions[:, :1]).any()


def test_one_threshold_makes_two_levels() -> None:
    decisions = np.arange(12)[None, :] >= np.full((20, 1), 7)
    assert choose_levels(decisions, np.ones(12, dtype=np.int64)) == [7]


def test_the_point_of_a_level_is_the_most_favourable_that_people_have() -> None:
    decisions = np.zeros((100, 4), dtype=bool)
    decisions[:50, 1], decisions[:46, 2] = True, True
    assert choose_point(decisions, np.array([90, 1, 30, 0])) == 2
    assert choose_point(decisions[:, [0, 1, 3]], np.array([90, 1, 0])) == 1


NUMBERS = np.array([6.0, 12, 18, 24, 24, 36, 48, np.nan])


def test_cells_of_a_model_are_cut_at_its_splits() -> None:
    cells = cut_cells(NUMBERS, [3.0, 11.5, 20.5, 99.0], Decimal(1))
    assert cells is not None
    assert list(map(int, cells.first)) == [6, 12, 21]
    assert [low <= point for low, point in zip(cells.first, cells.points, strict=True)] == [True] * 3
    assert [point < high for point, high in zip(cells.points, cells.first[1:], strict=False)] == [True] * 2
    assert cells.people.tolist() == [1, 2, 4]
    assert cells.of_model


@pytest.mark.parametrize("splits", [[], [1.0, 60.0], [6.0001, 11.0]])
def test_splits_that_part_no_people_of_a_grid(splits: list[float]) -> None:
    cells = cut_cells(NUMBERS, splits, Decimal(1))
    assert cells is None or all(6 < cut <= 48 for cut in cells.first[1:])


@given(
    arrays(np.float64, st.integers(2, 80), elements=st.integers(-1000, 1000).map(lambda n: n / 4)),
    st.one_of(st.none(), st.lists(st.floats(-300, 300), max_size=90)),
    st.sampled_from([None, Decimal("0.25")]),
)
def test_cells_and_edges_are_in_order(numbers: np.ndarray, splits: list[float] | None, step: Decimal | None) -> None:
    if len(np.unique(numbers)) < 2:
        return
    cells = cut_cells(numbers, splits, step)
    if cells is None:
        return
    ends = [*cells.first[1:], Decimal(str(numbers.max())) + 1]
    for low, point, high in zip(cells.first, cells.points, ends, strict=True):
        assert low <= point < high
        assert step is None or not point % step
    assert cells.people.sum() == len(numbers)
    edges = [round_edge(cells, place, numbers, step) for place in range(1, len(cells))]
    for place, edge in enumerate(edges, start=1):
        assert cells.points[place - 1] < edge <= cells.points[place]
    least, most = find_limits(numbers)
    assert least <= numbers.min() <= numbers.max() <= most
