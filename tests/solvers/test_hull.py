"""Mean and deviation: the least of all, and how far from it a plan may be."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

import safear as sa
from safear.risk import Objective
from solvers.gambles import LONGER, TIGHT, compiled, least, one_feature, proved, toss_and_choose


@settings(max_examples=50)
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
