"""The best plans with a given first step, beside lists of all plans."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracle
import safear as sa
from compare import read_both
from oracle import Distribution, TooManyError
from plots.menus import CRAFT
from safear.mdp.slices import take
from safear.risk.objectives import Objective
from safear.solvers.first_step import PlanBounds, begin_with, either
from small_problems import ladder
from strategies import problems

MEASURES: dict[Objective, Callable[[Distribution], float | Fraction]] = {
    sa.Mean(): oracle.mean_of_all,
    sa.CVaR(0.8): oracle.cvar_of_all("0.8"),
    sa.MeanStd(1): oracle.mean_std(1),
    sa.Entropic(0.3): oracle.entropic(0.3),
    sa.Budget(3.0): oracle.budget_miss("3"),
}


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
    some = np.arange(begun.n_states - 1)
    part = take(begun, some, acting=np.ones(len(some), dtype=bool)).mdp
    assert part.steps_to_goal.tolist() == mdp.steps_to_goal.tolist()


@given(
    problems(max_horizon=3),
    st.sampled_from([sa.Mean(), sa.CVaR(0.8), sa.MeanCVaR(0.4, level=0.8), sa.Entropic(0.3), sa.Budget(3.0)]),
)
def test_a_plan_is_worth_the_same_at_least_and_at_most_while_nothing_moves(
    document: dict[str, Any], objective: Objective
) -> None:
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assume(mdp.steps_to_goal[mdp.start] <= mdp.horizon and not mdp.goal[mdp.start])
    policy, costs = sa.solve(mdp, sa.Mean()).policy, sa.evaluate(sa.solve(mdp, sa.Mean()))
    bounds, still = PlanBounds(policy, objective), [mdp.edge_chance, mdp.edge_chance]
    for found in (bounds.at_least(still), bounds.at_most(costs.all_runs, still)):
        assert found is None or found == pytest.approx(objective.of(costs), rel=1e-9, abs=1e-9)


@pytest.mark.slow
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
    assert sum(map(len, bounds.totals)) * len(bounds.ends) * 8 > 1e9  # what all targets at once would take
    assert most < 1e8


@pytest.mark.parametrize(("actions", "fits"), [(127, True), (128, False)])
def test_more_rows_than_a_byte_can_tell_apart_are_not_doubled(actions: int, fits: bool) -> None:
    steps = {f"step {number}": {"cost": 1 + number, "chance": 0.5, "change": {"a": "yes"}} for number in range(actions)}
    problem = ladder(steps)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert (either(mdp, mdp.edge_chance, mdp.edge_chance / 2) is not None) == fits
