"""Mean and deviation: the least of all, and how far from it a plan may be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import safear as sa
from doors import (
    HullPlans,
    KnownPlans,
    Line,
    Point,
    Scale,
    equally_good,
    find_optimum,
    least_between,
)
from gambles import LONGER, TIGHT, compiled, least, one_feature, proved, toss_and_choose
from lanes import scaled
from safear.evaluation import SpentPolicy
from safear.risk import Objective


@settings(max_examples=scaled(50))
@given(LONGER)
def test_a_looser_tolerance_is_kept(document: dict[str, Any]) -> None:
    mdp = compiled(document)
    for objective in (sa.MeanStd(1), sa.MeanVariance(0.3)):
        best = least(mdp, objective)
        slack = 1e-9 * max(1, best)
        for tolerance in (0.5, 1e-2, 1e-6):
            value, bound = proved(sa.solve(mdp, objective, tolerance=tolerance))
            assert bound - slack <= best <= value + slack
            assert value - bound <= tolerance * value + slack
        value, bound = proved(sa.solve(mdp, objective))
        assert value - bound <= 1e-6 * value + slack


def test_mean_and_deviation_by_hand() -> None:
    # (after 0, after 10): cheap, cheap: 1 or 11, 6 + 5b. dear, cheap: 4 or 11, 7.5 + 3.5b: less for b > 1.
    # cheap, dear: 1 or 14, 7.5 + 6.5b. dear, dear: 4 or 14, 9 + 5b.
    # The same with variances: 6 + 25b and 7.5 + 12.25b: less for b > 1.5 / 12.75 = 0.1176...
    mdp = toss_and_choose()
    table: list[tuple[Objective, float, str]] = [
        (sa.MeanStd(0.9), 6 + 5 * 0.9, "cheap"),
        (sa.MeanStd(2), 7.5 + 3.5 * 2, "dear"),
        (sa.MeanVariance(0.1), 8.5, "cheap"),
        (sa.MeanVariance(0.2), 7.5 + 12.25 * 0.2, "dear"),
        (sa.CVaR(0.5), 11, "cheap"),
        (sa.Mean(), 6, "cheap"),
    ]
    for objective, value, after_nothing in table:
        solution = sa.solve(mdp, objective, tolerance=TIGHT)
        assert proved(solution) == pytest.approx((value, value), rel=1e-10), objective
        mid = {"x": "mid"}
        if not isinstance(objective, sa.CVaR):  # what is cheap or dear does not change the worst half
            assert solution.policy.action(mid, step=1, spent=0) == after_nothing, objective
        assert solution.policy.action(mid, step=1, spent=10) == "cheap", objective
    greedy = sa.solve(mdp, sa.MeanStd(2), method="greedy")
    assert sa.MeanStd(2).of(sa.evaluate(greedy)) == pytest.approx(6 + 5 * 2)


def test_a_sure_plan_has_no_deviation() -> None:
    """Costs that are large beside their differences: nothing is lost to rounding."""
    sure = {"cost": 1000.01, "change": {"x": "goal"}}
    unsure = {
        "cost": 1000,
        "outcomes": [{"chance": 0.5, "change": {"x": "goal"}}, {"cost": 1000.02, "change": {"x": "goal"}}],
    }
    mdp = one_feature({"unsure": unsure, "sure": sure}, horizon=1)
    for objective in (sa.MeanStd(1), sa.MeanStd(1e-3), sa.MeanVariance(1), sa.Entropic(2), sa.CVaR(0.9), sa.VaR(0.9)):
        solution = sa.solve(mdp, objective, tolerance=TIGHT)
        assert solution.policy.action() == "sure", objective
        value, bound = proved(solution)
        assert value == pytest.approx(1000.01, rel=1e-13), objective
        assert bound == pytest.approx(1000.01, rel=1e-10), objective


@pytest.mark.parametrize("objective", [sa.MeanStd(1e6), sa.MeanVariance(1000), sa.MeanVariance(1e6)], ids=str)
def test_an_extreme_aversion_takes_what_is_sure(objective: Objective) -> None:
    """Two plans have the mean 6, and one of them no deviation."""
    unsure = [{"chance": 0.5, "change": {"x": "goal"}}, {"cost": 10.5, "change": {"x": "goal"}}]
    actions = {"unsure": {"cost": 1.5, "outcomes": unsure}, "sure": {"cost": 6, "change": {"x": "goal"}}}
    solution = sa.solve(one_feature(actions, horizon=1), objective)
    assert proved(solution) == pytest.approx((6, 6), rel=1e-6)
    assert solution.policy.action() == "sure"


# ------------------------------------------------------------------------------- the search, among plans that are given


class Cloud(HullPlans):
    """Plans of which nothing is known but mean and variance; counts how often one is asked for."""

    def __init__(self, plans: list[tuple[float, float]]) -> None:
        self.plans, self.asked = plans, 0

    def find(self, target: float) -> Point:
        self.asked += 1
        losses = [(variance + (mean - target) ** 2, mean, variance) for mean, variance in self.plans]
        loss, mean, variance = min(losses)
        return Point(Line(target, mean, variance, loss), None, 0)


# The more a plan costs on average, the less it varies: some lie on the lower hull, others above it.
CLOUDS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 400)), min_size=1, max_size=12).map(
    lambda pairs: [(mean / 4, variance / 4) for mean, variance in pairs]
)
SCALES = st.builds(Scale, st.sampled_from([0.02, 0.1, 0.5, 2.0]), st.booleans())
HAND = [(0.0, 100.0), (1.0, 60.0), (2.5, 30.0), (5.0, 9.0), (8.0, 1.0), (10.0, 0.0)]


def neighbours(cloud: Cloud) -> tuple[Point, Point]:
    """Those of the least mean and of the least variance, but for next to nothing."""
    return cloud.find(-1e4), cloud.find(1e4)


@given(CLOUDS, SCALES)
@example(HAND, Scale(0.02))
@example(HAND, Scale(0.1))
@example(HAND, Scale(0.5))
@example(HAND, Scale(0.5, of_deviation=True))
@example(HAND, Scale(2.0, of_deviation=True))
@example([(mean + 3, variance) for mean, variance in HAND], Scale(0.1))
def test_the_search_finds_the_best_of_all(plans: list[tuple[float, float]], scale: Scale) -> None:
    cloud = Cloud(plans)
    left, right = neighbours(cloud)
    known = KnownPlans(min(left, right, key=scale.of), [(left, right)])
    best = min(float(scale.value(mean, variance)) for mean, variance in plans)
    found = find_optimum(cloud, scale, known, tolerance=1e-9)
    assert (found.value, found.bound) == pytest.approx((best, best), rel=1e-6, abs=1e-6)
    assert scale.of(found.point) == found.value
    assert cloud.asked <= 2 + 2 * len(plans)  # each target adds a plan, or shows that there is none
    asked = cloud.asked
    assert find_optimum(cloud, scale, known, tolerance=1.0).value == scale.of(known.best)
    assert cloud.asked == asked  # whatever there is to find, it is near enough
    loose = find_optimum(cloud, scale, known, tolerance=0.2)
    assert loose.bound - 1e-6 <= best <= loose.value + 1e-6
    assert loose.value - loose.bound <= 0.2 * loose.value + 1e-6


@given(CLOUDS, SCALES, st.integers(-8, 8), st.integers(1, 12))
@example(HAND, Scale(0.1), -2, 6)
@example(HAND, Scale(0.5, of_deviation=True), 0, 8)
@example(HAND, Scale(0.02), -6, 3)
@example([(0.0, 20.0), (9.0, 0.0)], Scale(2.0), -1, 9)
def test_no_plan_between_neighbours_is_below_the_bound(
    plans: list[tuple[float, float]], scale: Scale, low: int, width: int
) -> None:
    """A plan keeps v + (m - t)^2 >= loss for both targets, and v >= 0; the bound is the least of all that do."""
    cloud = Cloud(plans)
    left, right = cloud.find(low).line, cloud.find(low + width).line
    bound = float(least_between(left, right, scale))
    means = np.linspace(left.mean, max(left.mean, right.mean), 20_001)
    least = np.maximum.reduce([line.loss - (means - line.target) ** 2 for line in (left, right)] + [0 * means])
    values = scale.value(means, np.maximum(least, 0.0))
    ends = (float(scale.value(line.mean, line.variance)) for line in (left, right))
    assert bound == pytest.approx(min(float(values.min()), *ends), rel=1e-3, abs=1e-2)
    assert (
        bound
        <= min(float(scale.value(mean, variance)) for mean, variance in plans if left.mean <= mean <= right.mean) + 1e-9
    )


@pytest.mark.parametrize(("low", "high", "expected"), [(0, 4, 2.0), (2, 4, None), (0, 2, None), (1.9, 2.1, 2.0)])
def test_a_target_for_which_two_are_equally_good(low: float, high: float, expected: float | None) -> None:
    """Mean 1 and variance 9, mean 5 and variance 1: 9 + (1 - t)^2 = 1 + (5 - t)^2 at t = 2, if that lies between."""
    left, right = Line(low, 1.0, 9.0, 9 + (1 - low) ** 2), Line(high, 5.0, 1.0, 1 + (5 - high) ** 2)
    assert equally_good(left, right) == expected
    assert equally_good(left, Line(high, 1.0, 1.0, 1 + (1 - high) ** 2)) is None


def test_where_the_target_of_the_best_lies() -> None:
    """On v + (m - t)^2 = constant a plan is best where dv/dm = -1 / aversion, or -2 deviations / aversion."""
    means, variances, values = np.array([2.0]), np.array([9.0]), np.array([7.0])
    assert [float(end[0]) for end in Scale(0.25).own_targets(means, variances, values)] == [2 - 2, 7 - 2]
    by_deviation = Scale(0.25, of_deviation=True).own_targets(means, variances, values)
    assert [float(end[0]) for end in by_deviation] == [2 - 4 * 3, 7]


@pytest.mark.parametrize("target", [-20.0, 0.0, 1.5, 5.5, 7.5, 9.0, 11.0, 30.0])
def test_the_plan_of_a_target_by_hand(target: float) -> None:
    """The four plans of `test_mean_and_deviation_by_hand`; nothing can fail, and no run costs more than 14."""
    mdp = toss_and_choose()
    plans, unit = HullPlans(mdp, None), float(mdp.quantum)
    found = plans.find(target / unit)
    losses = [variance + (mean - target) ** 2 for mean, variance in ((6, 25), (7.5, 12.25), (7.5, 42.25), (9, 25))]
    assert found.line.loss * unit**2 == pytest.approx(min(losses))
    assert found.line.variance + (found.line.mean - target / unit) ** 2 == pytest.approx(found.line.loss)
    assert found.policy is not None
    policy = SpentPolicy.of(mdp, np.full(mdp.n_states, found.opening), found.policy)
    run = sa.evaluate(policy).all_runs
    assert (run.mean, run.variance) == pytest.approx((found.line.mean * unit, found.line.variance * unit**2))
    assert HullPlans(replace(mdp, failure_cost=5), None).largest == plans.most + 5
