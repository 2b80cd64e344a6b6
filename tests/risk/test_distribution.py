"""Measures on distributions of any shape."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import safear as sa
from safear.errors import ObjectiveError
from safear.evaluation import StateCosts
from safear.evaluation.evaluation_kernels import describe
from safear.risk import Costs
from safear.risk.distribution import EPSILON
from small_problems import ladder


@st.composite
def costs(draw: st.DrawFn) -> Costs:
    values = sorted(draw(st.sets(st.integers(0, 100), min_size=1, max_size=8)))
    weights = np.array(draw(st.lists(st.integers(1, 50), min_size=len(values), max_size=len(values))), dtype=float)
    return Costs(np.array(values, dtype=float) / 10, weights / weights.sum())


def expand(distribution: Costs) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The costs of a hundred thousand cases, sorted."""
    return np.repeat(distribution.values, np.round(distribution.chances * 1e5).astype(int))


@given(costs(), st.floats(0, 1), st.floats(0, 1))
def test_monotone_in_level(distribution: Costs, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert distribution.var(low) <= distribution.var(high)
    assert distribution.cvar(low) <= distribution.cvar(high) + 1e-9
    assert distribution.cvar(low) >= distribution.var(low) - 1e-12
    assert distribution.cvar(low) >= distribution.mean - 1e-9


@given(costs())
def test_ends(distribution: Costs) -> None:
    assert distribution.cvar(0) == pytest.approx(distribution.mean)
    assert distribution.cvar(1) == distribution.values[-1] == distribution.var(1)
    assert distribution.var(0) == distribution.values[0]
    assert distribution.tail_mean(1) is None
    assert distribution.lower_std <= distribution.std + 1e-12


@given(costs(), st.sampled_from([0.5, 0.8, 0.95]))
def test_against_many_cases(distribution: Costs, level: float) -> None:
    cases = expand(distribution)
    worst = cases[round(len(cases) * level) :]
    assert distribution.cvar(level) == pytest.approx(worst.mean(), abs=2e-3)
    assert distribution.mean == pytest.approx(cases.mean(), abs=2e-3)
    assert distribution.variance == pytest.approx(cases.var(), abs=2e-2)


def test_levels_that_meet_the_mass_exactly() -> None:
    """0.1 + 0.2 + 0.65 is not quite 0.95 in floats; the value at risk must not jump over it."""
    distribution = Costs(np.array([1.0, 2.0, 3.0, 9.0]), np.array([0.1, 0.2, 0.65, 0.05]))
    assert distribution.var(0.95) == 3
    assert distribution.cvar(0.95) == pytest.approx(9)
    assert distribution.tail_mean(0.95) == 9
    assert distribution.var(0.3) == 2


@pytest.mark.parametrize("level", [-0.1, 1.1, float("nan"), 95])
def test_a_level_is_a_probability(level: float) -> None:
    distribution = sa.evaluate(
        sa.solve(sa.compile_mdp(sa.load_example("loan"), start=sa.load_example("loan").default_person), sa.Mean())
    )
    for measure in (distribution.var, distribution.cvar, distribution.tail_mean, distribution.all_runs.cvar):
        with pytest.raises(ObjectiveError, match="is not between 0 and 1"):
            measure(level)


def test_exact_decimals() -> None:
    """Totals of 0.1, 0.2, ... are the floats that people write."""
    problem = ladder({"try": {"cost": 0.1, "chance": 0.5, "change": {"a": "yes"}}}, horizon=9)
    cost = sa.evaluate(sa.solve(sa.compile_mdp(problem, start={"a": "no"}), sa.Mean()))
    assert [point[0] for point in cost.points()] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.9]


def test_the_highest_level_is_the_largest_cost_however_rare() -> None:
    distribution = Costs(np.array([1.0, 2.0, 3.0]), np.array([1 - 1e-20 - 1e-15, 1e-15, 1e-20]))
    assert distribution.var(1) == distribution.cvar(1) == 3
    assert distribution.tail_mean(1) is None


@pytest.mark.parametrize("rest", [0.0, 5e-13, 9.9e-13])
@pytest.mark.parametrize("level", [0.999999, 1 - 1e-9, 1 - 1e-11])
def test_no_cvar_lies_above_the_largest_cost(level: float, rest: float) -> None:
    """A tail that is a rounding larger than 1 - level."""
    tail = 1 - level + rest
    costs = Costs(np.array([0.0, 100.0]), np.array([1 - tail, tail]))
    assert costs.cvar(level) == pytest.approx(100, rel=1e-9)
    assert costs.cvar(level) <= 100
    lanes = StateCosts(np.array([[1 - tail, tail]]), np.array([0, 100]), Fraction(1))
    assert lanes.cvar(level)[0] == pytest.approx(costs.cvar(level), rel=1e-12)
    assert describe(np.array([0, 100]), np.array([1 - tail, tail]), level, EPSILON)[4] <= 100
