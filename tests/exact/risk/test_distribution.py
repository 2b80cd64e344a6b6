"""Measures on distributions of any shape."""

from __future__ import annotations

import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import safear as sa
from doors import EPSILON, describe, merge_units
from safear.errors import ObjectiveError
from safear.evaluation import StateCosts
from safear.risk import Costs
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


# Half of the runs cost 1 and three tenths 2.5; those that fail spend 0.5 and 2, and pay 5 for it.
RUNS = sa.CostDistribution(
    np.array([2, 5]), np.array([0.5, 0.3]), np.array([1, 4]), np.array([0.15, 0.05]), 10, Fraction(1, 2)
)


def test_figures_by_hand() -> None:
    """All runs: 1, 2.5, 5.5 and 7 with 50, 30, 15 and 5%. Given success: 1 with 5/8, 2.5 with 3/8."""
    costs, good = RUNS.all_runs, RUNS.given_success
    assert good is not None
    assert costs.values.tolist() == [1, 2.5, 5.5, 7]
    assert costs.chances == pytest.approx([0.5, 0.3, 0.15, 0.05])
    assert costs.mean == pytest.approx(2.425)
    assert costs.variance == pytest.approx(9.3625 - 2.425**2)  # E[x^2] - E[x]^2
    assert costs.std**2 == pytest.approx(costs.variance)
    assert costs.lower_std**2 == pytest.approx(0.3 * 0.075**2 + 0.15 * 3.075**2 + 0.05 * 4.575**2)
    assert [costs.var(level) for level in (0, 0.5, 0.51, 0.8, 0.9, 0.95, 0.96, 1)] == [1, 1, 2.5, 2.5, 5.5, 5.5, 7, 7]
    assert costs.cvar(0.9) == pytest.approx((0.05 * 5.5 + 0.05 * 7) / 0.1)
    assert costs.cvar(0.6) == pytest.approx((0.2 * 2.5 + 0.15 * 5.5 + 0.05 * 7) / 0.4)
    assert costs.tail_mean(0.6) == pytest.approx((0.15 * 5.5 + 0.05 * 7) / 0.2)
    assert costs.tail_mean(0.95) == 7
    assert costs.tail_mean(0.99) is None
    assert RUNS.success == pytest.approx(0.8)
    assert good.chances == pytest.approx([5 / 8, 3 / 8])
    assert RUNS.mean == pytest.approx(25 / 16)
    assert RUNS.variance == pytest.approx(5 / 8 * 3 / 8 * 1.5**2)
    assert RUNS.std == pytest.approx((5 / 8 * 3 / 8) ** 0.5 * 1.5)
    assert (RUNS.var(0.6), RUNS.var(0.7), RUNS.tail_mean(0.6)) == (1, 2.5, 2.5)
    assert RUNS.cvar(0.5) == pytest.approx((1 / 8 * 1 + 3 / 8 * 2.5) / 0.5)
    assert RUNS.points() == [(1, 0.5, True), (2.5, 0.3, True), (5.5, 0.15, False), (7, 0.05, False)]
    assert RUNS.to_frame().to_numpy().tolist() == [list(point) for point in RUNS.points()]


@pytest.mark.parametrize("aversion", [1e-9, 0.01, 0.3, 2.0, 50.0])
def test_entropic_risk_by_its_definition(aversion: float) -> None:
    """In decimals of 60 digits, where nothing overflows and next to nothing is lost."""
    pairs = [("0.5", "1"), ("0.3", "2.5"), ("0.15", "5.5"), ("0.05", "7")]
    with localcontext(prec=60):
        total = Decimal(0)
        for chance, cost in pairs:
            total += Decimal(chance) * (Decimal(aversion) * Decimal(cost)).exp()
        expected = float(total.ln() / Decimal(aversion))
    assert RUNS.all_runs.entropic(aversion) == pytest.approx(expected, rel=1e-12)
    assert RUNS.all_runs.entropic(0) == RUNS.all_runs.mean


def test_entropic_risk_of_what_hardly_ever_happens() -> None:
    """A cost of 100 with a chance of 1e-13 outweighs all others, and neither it nor its chance is lost."""
    costs = Costs(np.array([0.0, 100.0]), np.array([1 - 1e-13, 1e-13]))
    assert costs.entropic(5) == pytest.approx(100 + math.log(1e-13) / 5, rel=1e-12)
    assert Costs(np.array([0, 100]), np.array([0.5, 0.5])).entropic(5) == pytest.approx(100 + math.log(0.5) / 5)
    assert Costs(np.array([0.0, 1e4]), np.array([0.5, 0.5])).entropic(1) == pytest.approx(1e4 + math.log(0.5))
    thirds = Costs(np.array([0.0, 1.0, 1e4]), np.full(3, 1 / 3))
    assert thirds.entropic(1) == pytest.approx(1e4 - math.log(3), rel=1e-15)


@pytest.mark.parametrize(
    ("limit", "chance"),
    [(0, 0), (0.99, 0), (1, 0.5), (1 - 9e-13, 0.5), (1 - 1.1e-12, 0), (2.49, 0.5), (2.5, 0.8), (7, 0.8)],
)
def test_success_within_a_limit(limit: float, chance: float) -> None:
    """A limit that is a rounding below a total, 1e-12 of it, holds it."""
    assert RUNS.success_within(limit) == pytest.approx(chance)


@pytest.mark.parametrize("share", [0.5, 2.0])
def test_chances_are_shares_whatever_they_add_up_to(share: float) -> None:
    """Rounding lets them add up to a little more or less than 1; figures are those of the shares."""
    cost = sa.CostDistribution(
        *(RUNS.succeeded_units, RUNS.succeeded_chances * share, RUNS.failed_units, RUNS.failed_chances * share),
        *(RUNS.failure_cost, Fraction(3, 10)),
    )
    assert cost.success == pytest.approx(0.8)
    assert cost.success_within(0.6) == pytest.approx(0.5)
    assert cost.all_runs.values.tolist() == [0.6, 1.5, 3.3, 4.2]
    assert cost.all_runs.mean == pytest.approx(2.425 * 0.6)
    assert cost.mean == pytest.approx(25 / 16 * 0.6)


def test_chances_that_a_rounding_lacks() -> None:
    assert Costs(np.array([1.0, 2.0]), np.array([0.5, 0.5 - 1e-11])).var(1 - 2e-12) == 2


def test_what_notebooks_show() -> None:
    assert repr(RUNS.all_runs) == "Costs(4 from 1 to 7, mean 2.425)"
    cells = re.findall("<t[hd][^>]*>([^<]*)</t[hd]>", RUNS._repr_html_())
    assert cells[6:12] == ["runs that succeed", "80%", "1.56", "0.73", "2.5", "2.5"]
    assert cells[12:14] + cells[15:] == ["all runs", "100%", "1.87", "5.5", "7"]  # 2.425 may become 2.42 or 2.43


def test_where_nobody_succeeds_there_is_no_figure() -> None:
    none = np.empty(0)
    cost = sa.CostDistribution(none.astype(np.int64), none, np.array([3]), np.array([1.0]), 4)
    assert (cost.success, cost.given_success, cost.mean, cost.variance, cost.std) == (0, None, None, None, None)
    assert (cost.var(0.5), cost.cvar(0.5), cost.tail_mean(0.5)) == (None, None, None)
    assert cost.all_runs.values.tolist() == [7]


@pytest.mark.parametrize("units", [[5, 2, 5, 9], [-3, 4, -3], [7], [10**9, 3, 10**9], [-(10**6), 10**6], []])
def test_equal_units_are_added_up(units: list[int]) -> None:
    """Near each other, which is done by counting, and far from each other, which is done by sorting."""
    distinct, chances = merge_units(np.array(units, np.int64), np.arange(1.0, len(units) + 1))
    expected = {unit: sum(i + 1.0 for i, other in enumerate(units) if other == unit) for unit in sorted(units)}
    assert distinct.tolist() == list(expected)
    assert chances.tolist() == list(expected.values())
