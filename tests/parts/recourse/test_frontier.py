"""The frontier: held against the optimum for many weights, and against what a frontier is."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import safear as sa
from doors import SAME_SUCCESS
from lanes import scaled
from safear.recourse import Frontier, find_frontier
from safear.risk import MeanCVaR
from strategies import problems

LEVELS = (0.5, 0.8, 0.95, 1.0)


def compile_example(name: str) -> sa.MDP:
    problem = sa.load_example(name)
    return sa.compile_mdp(problem, start=problem.default_person)


def one_feature(actions: dict[str, Any], *, failure_cost: float, horizon: int, steps: int = 1) -> sa.MDP:
    """So many levels to climb."""
    levels = [str(number) for number in range(steps + 1)]
    document = {
        "safear": 1,
        "title": "one feature",
        "horizon": horizon,
        "goal": {"favourable": "done", "failure_cost": failure_cost},
        "features": {
            "a": {"kind": "ordinal", "levels": levels},
            "b": {"kind": "nominal", "levels": ["x", "y"]},
        },
        "actions": actions,
        "classifier": {"rule": f"a == {steps}"},
        "people": {"p": {"a": "0", "b": "x"}},
    }
    problem = sa.parse_problem(document)
    return sa.compile_mdp(problem, start=problem.default_person)


def with_recourse(document: dict[str, Any]) -> sa.MDP:
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assume(mdp.goal.any() and not mdp.goal[mdp.locate()])
    return mdp


def weigh(frontier: Frontier, weight: float) -> float:
    return min((1 - weight) * offer.mean + weight * offer.tail for offer in frontier.offers)


def check_frontier(mdp: sa.MDP, frontier: Frontier) -> None:
    """What holds for every frontier."""
    offers, level = frontier.offers, frontier.level
    assert offers
    means = [offer.mean for offer in offers]
    assert means == sorted(means)
    for one, other in combinations(offers, 2):
        # a pair: each must be better in something
        for first, second in ((one, other), (other, one)):
            better = (
                first.cost.success - second.cost.success,
                (second.mean - first.mean) / max(second.mean, 1e-9),
                (second.tail - first.tail) / max(second.tail, 1e-9),
            )
            assert max(better) > 1e-9
    assert frontier.best_success == pytest.approx(sa.evaluate(sa.solve(mdp, sa.SuccessFirst())).success, abs=1e-12)
    assert max(offer.cost.success for offer in offers) <= frontier.best_success + 1e-9
    assert means[0] == pytest.approx(sa.solve(mdp, sa.Mean()).value, rel=2e-6, abs=1e-12)
    least = min(offer.tail for offer in offers)
    assert least == pytest.approx(sa.solve(mdp, sa.CVaR(level)).value, rel=1e-9, abs=1e-12)
    for offer in offers:
        distribution = sa.evaluate(offer.solution)
        assert offer.mean == pytest.approx(distribution.all_runs.mean, abs=1e-12)
        assert offer.tail == pytest.approx(distribution.all_runs.cvar(level), abs=1e-12)


@given(problems(), st.sampled_from(LEVELS), st.lists(st.floats(0.001, 1), min_size=1, max_size=4))
@settings(max_examples=scaled(60))
def test_no_plan_lies_below_the_frontier(document: dict[str, Any], level: float, weights: list[float]) -> None:
    mdp = with_recourse(document)
    frontier = find_frontier(mdp, level=level, grain=0)
    check_frontier(mdp, frontier)
    for weight in weights:
        value = sa.solve(mdp, MeanCVaR(weight, level)).value
        assert value == pytest.approx(weigh(frontier, weight), rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["loan", "health-insurance"])
def test_the_examples_have_a_convex_frontier_without_gaps(name: str, level: float) -> None:
    mdp = compile_example(name)
    frontier = find_frontier(mdp, level=level, grain=0)
    check_frontier(mdp, frontier)
    slopes = [(right.tail - left.tail) / (right.mean - left.mean) for left, right in pairwise(frontier.offers)]
    assert all(slope < 0 for slope in slopes)
    assert all(later > earlier for earlier, later in pairwise(slopes))
    for weight in [number / 40 for number in range(1, 41)]:
        value = sa.solve(mdp, MeanCVaR(weight, level)).value
        assert value >= weigh(frontier, weight) - 1e-9
        assert value <= weigh(frontier, weight) + 1e-9


def test_every_plan_of_the_frontier_is_best_for_the_weight_it_names() -> None:
    mdp = compile_example("health-insurance")
    frontier = find_frontier(mdp, grain=0)
    assert len(frontier.offers) >= 5
    for offer in frontier.offers:
        assert isinstance(offer.objective, MeanCVaR)
        assert offer.value == pytest.approx(weigh(frontier, offer.objective.weight), rel=1e-9)
        assert offer.value == pytest.approx(offer.solution.bound, rel=1e-9)


def test_the_frontier_at_level_0_is_the_least_mean() -> None:
    """The worst 100% are all runs, so the tail is the mean."""
    mdp = compile_example("loan")
    [offer] = find_frontier(mdp, level=0).offers
    assert offer.mean == pytest.approx(offer.tail) == pytest.approx(sa.solve(mdp, sa.Mean()).value)


def test_one_plan_is_listed_once() -> None:
    mdp = one_feature({"try": {"cost": 1, "chance": 0.5, "change": {"a": "+1"}}}, failure_cost=10, horizon=3)
    [offer] = find_frontier(mdp).offers
    assert offer.mean == pytest.approx(1 + 0.5 + 0.25 + 10 / 8)


def test_a_huge_worst_case_does_not_hide_the_least_mean() -> None:
    """At the level 1 the tail is the worst case, however rare: 1.9 with a chance of 900,001, or 2 for sure."""
    actions = {
        "hope": {"cost": 1, "chance": 0.999999, "change": {"a": "+1"}},
        "be sure": {"cost": 2, "change": {"a": "+1"}},
    }
    mdp = one_feature(actions, failure_cost=900_000, horizon=1)
    cheapest, safest = find_frontier(mdp, level=1).offers
    assert (cheapest.first_action, safest.first_action) == ("hope", "be sure")
    assert [cheapest.mean, cheapest.tail] == pytest.approx([1.9, 900_001])
    assert (safest.mean, safest.tail) == (2, 2)


DITHER: dict[str, Any] = {
    "dither": {"cost": 0.1, "when": "b == x", "outcomes": [{"chance": 0.5, "change": {"b": "y"}}, {}]},
    "dither back": {"cost": 0.1, "when": "b == y", "change": {"b": "x"}},
}


def test_where_giving_up_is_cheap_there_are_plans_that_do_not() -> None:
    actions = {
        **DITHER,
        "work": {"cost": 3, "chance": 0.9, "change": {"a": "+1"}},
        "work hard": {"cost": 5, "change": {"a": "+1"}},
    }
    mdp = one_feature(actions, failure_cost=0, horizon=3, steps=2)
    frontier = find_frontier(mdp)
    check_frontier(mdp, frontier)
    assert frontier.best_success == 1
    assert frontier.offers[0].cost.success == 0
    trying = [offer for offer in frontier.offers if isinstance(offer.objective, sa.SuccessFirst)]
    assert trying
    assert all(offer.cost.success >= 1 - SAME_SUCCESS for offer in trying)
    slack = SAME_SUCCESS / mdp.horizon
    least = sa.evaluate(sa.solve(mdp, sa.SuccessFirst(sa.Mean(), slack))).all_runs.mean
    assert min(offer.mean for offer in trying) == pytest.approx(least, rel=2e-6)
    safest = sa.evaluate(sa.solve(mdp, sa.SuccessFirst(sa.CVaR(0.95), slack))).all_runs.cvar(0.95)
    assert min(offer.tail for offer in trying) == pytest.approx(safest, rel=1e-9)


def test_where_failing_is_dear_nobody_gives_up() -> None:
    actions = {**DITHER, "work": {"cost": 3, "chance": 0.9, "change": {"a": "+1"}}}
    frontier = find_frontier(one_feature(actions, failure_cost=100, horizon=3, steps=2))
    assert not any(isinstance(offer.objective, sa.SuccessFirst) for offer in frontier.offers)
    assert all(offer.cost.success >= frontier.best_success - SAME_SUCCESS for offer in frontier.offers)


@pytest.mark.parametrize("chance", [0.001, 0.008, 0.02])
def test_where_success_is_rare_there_is_still_a_plan_that_tries(chance: float) -> None:
    actions = {**DITHER, "work": {"cost": 3, "chance": chance, "change": {"a": "+1"}}}
    frontier = find_frontier(one_feature(actions, failure_cost=0, horizon=2))
    best = 1 - (1 - chance) ** 2
    assert frontier.best_success == pytest.approx(best)
    assert max(offer.cost.success for offer in frontier.offers) > 0.5 * best


def test_progress_is_told() -> None:
    calls: list[tuple[int, int]] = []
    find_frontier(compile_example("health-insurance"), progress=lambda done, total: calls.append((done, total)))
    assert calls
    assert all(0 < done <= total for done, total in calls)
    assert calls[-1][0] == calls[-1][1]


GUESSES: dict[str, Any] = {
    "learn": {"cost": 1, "chance": [0.2, 0.9], "change": {"a": "+1"}},
    "be taught": {"cost": 3, "chance": [0.7, 0.8], "change": {"a": "+1"}},
    "buy": {"cost": 5, "change": {"a": "+1"}},
}


def test_robust_plans_are_compared_at_their_worst() -> None:
    mdp = one_feature(GUESSES, failure_cost=20, horizon=6, steps=2)
    robust, nominal = (find_frontier(mdp, robust=flag) for flag in (True, False))
    assert all(offer.solution.robust for offer in robust.offers)
    assert robust.best_success == 1  # what can be bought is sure
    for one, other in combinations(robust.offers, 2):
        worst, its = one.judged, other.judged
        assert not (worst.success >= its.success and worst.mean <= its.mean and worst.tail <= its.tail)
    cheapest, safest = robust.offers[0], min(robust.offers, key=lambda offer: offer.judged.tail)
    mean, cvar = (sa.solve(mdp, objective, robust=True).value for objective in (sa.Mean(), sa.CVaR(0.95)))
    assert cheapest.judged.mean == pytest.approx(mean)  # the range of a plan and its solution are found independently
    assert safest.judged.tail == pytest.approx(cvar)
    # The nominal menu trusts the guess, and pays for it where the guess is off.
    assert nominal.offers[0].first_action == "learn"
    assert nominal.offers[0].worst_figures.mean > mean
    assert nominal.offers[0].mean < cheapest.mean


@settings(max_examples=scaled(10))
@given(problems(max_horizon=3), st.sampled_from([0.5, 0.95]))
def test_the_ends_of_a_robust_frontier_are_optimal(document: dict[str, Any], level: float) -> None:
    mdp = with_recourse(document)
    offers = find_frontier(mdp, level=level, robust=True).offers
    mean, tail = (sa.solve(mdp, objective, robust=True) for objective in (sa.Mean(), sa.CVaR(level)))
    assert min(offer.judged.mean for offer in offers) == pytest.approx(mean.value, rel=1e-5, abs=1e-9)
    least = min(offer.judged.tail for offer in offers)
    assert tail.bound * (1 - 1e-6) - 1e-9 <= least <= tail.value * (1 + 1e-6) + 1e-9


def test_without_intervals_a_robust_frontier_is_the_frontier() -> None:
    mdp = compile_example("loan")
    robust, nominal = (find_frontier(mdp, robust=flag).offers for flag in (True, False))
    assert [offer.figures for offer in robust] == [offer.figures for offer in nominal]
