"""The best plans with a given first step, beside lists of all plans."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracle
import safear as sa
from compare import read_both
from doors import PlanBounds, begin_with, either, restrict_to
from drawn_menus import CRAFT
from oracle import Distribution, TooManyError
from safear.risk import Objective
from small_problems import ladder
from strategies import problems

MEASURES: dict[Objective, Callable[[Distribution], float | Fraction]] = {
    sa.Mean(): oracle.mean_of_all,
    sa.CVaR(0.8): oracle.cvar_of_all("0.8"),
    sa.MeanStd(1): oracle.mean_std(1),
    sa.Entropic(0.3): oracle.entropic(0.3),
    sa.Budget(3.0): oracle.budget_miss("3"),
}

KNOWN_BOTH_WAYS = (sa.Mean(), sa.CVaR(0.8), sa.MeanCVaR(0.4, level=0.8), sa.Entropic(0.3), sa.Budget(3.0))


def first_rows(mdp: sa.MDP) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.arange(mdp.row_start[mdp.start], mdp.row_start[mdp.start + 1])


@given(problems(tiny=True), st.sampled_from(list(MEASURES)), st.sampled_from([None, 0, 1]))
def test_the_best_plan_with_each_first_step(
    document: dict[str, Any], objective: Objective, cheap_failure: float | None
) -> None:
    if cheap_failure is not None:
        document = document | {"cost": {}, "goal": {"failure_cost": cheap_failure}}
    problem, judge, start = read_both(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assume(mdp.steps_to_goal[mdp.start] <= mdp.horizon and not mdp.goal[mdp.start])
    assume(mdp.cost_error == 0 or not isinstance(objective, sa.Budget))  # the plan allows for what rounding did
    for row in first_rows(mdp):
        name = mdp.actions[mdp.row_action[row]]
        try:
            plans = judge.all_distributions(start, first=name)
        except TooManyError:
            assume(False)
        found = sa.solve(begin_with(mdp, np.array([row])), objective).value
        assert found == pytest.approx(float(oracle.best(plans, MEASURES[objective])), rel=1e-9, abs=1e-9)


@given(problems(max_horizon=3))
def test_goals_are_as_far_away_as_before(document: dict[str, Any]) -> None:
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assume(len(first_rows(mdp)))
    same = either(mdp, mdp.edge_chance, mdp.edge_chance / 2)
    assert same is not None
    assert same.steps_to_goal.tolist() == mdp.steps_to_goal.tolist()
    begun = begin_with(mdp, first_rows(mdp)[:1])
    assert begun.steps_to_goal.tolist() == [*mdp.steps_to_goal, mdp.steps_to_goal[mdp.start]]
    part = restrict_to(begun, np.arange(begun.n_states - 1)).mdp
    assert part.steps_to_goal.tolist() == mdp.steps_to_goal.tolist()


@given(problems(max_horizon=3), st.sampled_from([*KNOWN_BOTH_WAYS, sa.MeanStd(0.5), sa.MeanVariance(0.3)]))
def test_a_plan_is_worth_the_same_at_least_and_at_most_while_nothing_moves(
    document: dict[str, Any], objective: Objective
) -> None:
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assume(mdp.steps_to_goal[mdp.start] <= mdp.horizon and not mdp.goal[mdp.start])
    policy, costs = sa.solve(mdp, sa.Mean()).policy, sa.evaluate(sa.solve(mdp, sa.Mean()))
    assume(costs.all_runs.std > 0 or not isinstance(objective, sa.MeanStd))
    bounds, still = PlanBounds(policy, objective), [mdp.edge_chance, mdp.edge_chance]
    value = pytest.approx(objective.of(costs), rel=1e-9, abs=1e-9)
    assert bounds.at_most(costs.all_runs, still) == value
    assert bounds.at_least(still) == (value if objective in KNOWN_BOTH_WAYS else None)


COIN = 0.5 * math.exp(0.5) + 0.5 * math.exp(2.5)


@pytest.mark.parametrize(
    ("objective", "least", "most"),
    [
        (sa.Mean(), 1.8, 3.0),
        (sa.Budget(1), 0.2, 0.5),  # to spend all of it is not to miss it
        (sa.Entropic(0.5), 2 * math.log(0.8 * math.exp(0.5) + 0.2 * math.exp(2.5)), 2 * math.log(COIN)),
        (sa.CVaR(0.75), 1 + 4 * 0.8, 5.0),
        (sa.MeanCVaR(0.5, level=0.75), 0.5 * 1.8 + 0.5 * 4.2, 4.0),
        (sa.MeanStd(1), None, 3.0 + 2),
        (sa.MeanVariance(0.25), None, 3.0 + 0.25 * 4),
        (sa.CVaR(1), None, None),
        (sa.VaR(0.75), None, None),
        (sa.MeanLowerStd(1), None, None),
    ],
    ids=str,
)
def test_a_plan_between_two_chances_by_hand(objective: Objective, least: float | None, most: float | None) -> None:
    """A step that costs 1, and 4 more if it fails, with a chance between 0.5 and 0.8."""
    problem = ladder({"try": {"cost": 1, "chance": 0.5, "change": {"a": "yes"}}}, failure_cost=4)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    solution = sa.solve(mdp, sa.Mean())
    chances = [mdp.edge_chance, np.array([0.8, 0.2])]
    bounds, costs = PlanBounds(solution.policy, objective), sa.evaluate(solution).all_runs
    assert bounds.at_least(chances) == (least if least is None else pytest.approx(least, rel=1e-13))
    assert bounds.at_most(costs, chances) == (most if most is None else pytest.approx(most, rel=1e-13))


def test_a_plan_that_surely_works_costs_what_it_costs() -> None:
    """Whatever a failure would cost on the way."""
    problem = ladder({"pay": {"cost": 3, "change": {"a": "yes"}}}, failure_cost=10_000)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    solution = sa.solve(mdp, sa.Mean())
    costs, chances = sa.evaluate(solution).all_runs, [mdp.edge_chance, mdp.edge_chance]
    for objective in (sa.Mean(), sa.Entropic(2), sa.CVaR(0.9), sa.MeanVariance(1)):
        assert PlanBounds(solution.policy, objective).at_most(costs, chances) == 3
    for objective in (sa.Mean(), sa.Entropic(2), sa.CVaR(0.9)):
        assert PlanBounds(solution.policy, objective).at_least(chances) == 3
    assert PlanBounds(solution.policy, sa.MeanStd(1)).at_most(costs, chances) is None  # there is no slope at 0


def test_no_plan_between_two_chances_is_below_what_a_plan_is_at_least_worth() -> None:
    """Whatever the objective, or else nobody says so."""
    problem = ladder({"try": {"cost": 1, "chance": 0.5, "change": {"a": "yes"}}}, failure_cost=4)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    solution = sa.solve(mdp, sa.Mean())
    chances = [np.array([0.9, 0.1]), np.array([1.0, 0.0])]
    for objective in (*MEASURES, sa.MeanVariance(1), sa.MeanLowerStd(1), sa.VaR(0.8)):
        found = PlanBounds(solution.policy, objective).at_least(chances)
        for chance in chances:
            moved = sa.evaluate(sa.solve(replace(mdp, edge_chance=chance), sa.Mean()))
            assert found is None or found <= objective.of(moved) + 1e-12


def test_rows_whose_chances_differ_are_there_twice() -> None:
    actions = {
        "buy": {"cost": 4, "chance": 0.9, "change": {"a": "yes"}},
        "try": {"cost": 1, "chance": 0.5, "change": {"a": "yes"}},
        "wait": {"cost": 0, "chance": 0.1, "change": {"a": "yes"}},
    }
    problem = ladder(actions, failure_cost=4)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert mdp.edge_chance == pytest.approx([0.9, 0.1, 0.5, 0.5, 0.1, 0.9])
    other = mdp.edge_chance.copy()
    other[2:] = [0.7, 0.3, 0.2, 0.8]
    both = either(mdp, mdp.edge_chance, other)
    assert both is not None
    assert both.edge_chance == pytest.approx([0.9, 0.1, 0.5, 0.5, 0.7, 0.3, 0.1, 0.9, 0.2, 0.8])
    assert [both.actions[action] for action in both.row_action] == ["buy", "try", "try", "wait", "wait"]
    assert sa.solve(both, sa.Mean()).value == pytest.approx(1 + 0.3 * 4)


def test_thousands_of_totals_need_little_memory() -> None:
    problem = sa.parse_problem(CRAFT)  # 40 tries whose costs hardly ever add up to the same
    policy = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean()).policy
    bounds, chances = PlanBounds(policy, sa.CVaR(0.95)), [policy.mdp.edge_chance] * 2
    tracemalloc.start()
    try:
        bounds.at_least(chances)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(bounds.totals) * len(bounds.ends) * 8 > 1e9  # what all targets at once would take
    assert most < 1e8


@pytest.mark.parametrize(("actions", "fits"), [(127, True), (128, False)])
def test_more_rows_than_a_byte_can_tell_apart_are_not_doubled(actions: int, fits: bool) -> None:
    steps = {f"step {number}": {"cost": 1 + number, "chance": 0.5, "change": {"a": "yes"}} for number in range(actions)}
    problem = ladder(steps)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert (either(mdp, mdp.edge_chance, mdp.edge_chance / 2) is not None) == fits
