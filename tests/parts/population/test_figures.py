"""Figures of many people as a table: which are the same figure, and who gives up."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from doors import NO_RECOURSE, PLANNED, ROUNDING, PeopleFigures, gives_up


def _rankable(values: list[float]) -> list[float]:
    people = PeopleFigures.unknown(len(values), ("success", "mean"))
    people.figures[:, 1] = values
    return list(people.rankable[:, 1])


def test_what_differs_by_rounding_is_equal_for_ranks_but_chains_are_not() -> None:
    """A hundred figures, each 0.9e-12 from the next: pairs of neighbours are equal, not all of them."""
    chain = [5e-12 + 0.9e-12 * i for i in range(100)]
    assert _rankable([*reversed(chain), 2.0, 2.0 + 1e-15]) == [*reversed(np.repeat(chain[::2], 2)), 2.0, 2.0]
    assert _rankable([3e6, 3e6 + 2e-6, 3e6 + 4e-6]) == [3e6, 3e6, 3e6 + 4e-6]
    assert _rankable([1.0, 1.0 + 1e-11]) == [1.0, 1.0 + 1e-11]


@given(st.lists(st.floats(0, 1e-10) | st.floats(0, 10), max_size=40))
def test_figures_for_ranks_are_close_and_in_order(values: list[float]) -> None:
    found = np.array(_rankable(values))
    assert (np.abs(found - values) <= ROUNDING * np.maximum(1, found)).all()
    order = np.argsort(values, kind="stable")
    steps = np.diff(found[order])
    assert ((steps == 0) | (steps > ROUNDING)).all()


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=8))
def test_who_gives_up_as_one_by_one(chances: list[tuple[float, float]]) -> None:
    people = PeopleFigures.unknown(len(chances) + 1, ("success", "best_success"))
    for number, pair in enumerate(chances):
        people.figures[number], people.decision[number] = pair, PLANNED
    assert people.decision[-1] == NO_RECOURSE
    assert people.gives_up.tolist() == [*(gives_up(*pair) for pair in chances), False]
