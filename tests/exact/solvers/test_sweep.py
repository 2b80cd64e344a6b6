"""The backward sweep against brute force and the literal Algorithm 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from compare import as_points, as_policy, as_state, read_both
from doors import sweep
from lanes import scaled
from oracle import State
from safear.evaluation import StatePolicy
from safear.mdp import compile_blocks
from small_problems import ladder
from strategies import problems

AVERSIONS = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0])


@settings(max_examples=scaled(60))
@given(problems(tiny=True))
def test_mean_is_the_least_of_all_policies(document: dict[str, Any]) -> None:
    problem, judge, start = read_both(document)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean())
    assert solution.method == "optimal"
    best = float(judge.best_by_enumeration(start))
    assert solution.planned_value() == pytest.approx(best, abs=1e-9)
    assert sa.Mean().of(sa.evaluate(solution)) == pytest.approx(best, abs=1e-9)


@given(problems(), AVERSIONS, st.booleans())
def test_greedy_is_algorithm_1(document: dict[str, Any], aversion: float, lower: bool) -> None:
    problem, judge, start = read_both(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    objective = sa.MeanLowerStd(aversion) if lower else sa.MeanStd(aversion)
    solution = sa.solve(mdp, objective, method="greedy")
    policy, value = judge.greedy(start, aversion, lower=lower)
    assert solution.planned_value() == pytest.approx(value, abs=1e-9)
    ours = as_policy(solution)
    assert ours == {key: policy[key] for key in ours}


@given(problems(), AVERSIONS)
def test_distribution_is_that_of_all_histories(document: dict[str, Any], aversion: float) -> None:
    problem, judge, start = read_both(document)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.MeanStd(aversion), method="greedy")
    expected = {key: float(chance) for key, chance in judge.distribution(as_policy(solution), start).items() if chance}
    assert as_points(sa.evaluate(solution)) == pytest.approx(expected, abs=1e-12)


@given(problems())
def test_greedy_without_aversion_is_the_mean(document: dict[str, Any]) -> None:
    mdp = sa.compile_mdp(sa.parse_problem(document))
    mean = sa.solve(mdp, sa.Mean())
    for objective in (sa.MeanStd(0), sa.MeanLowerStd(0)):
        greedy = sa.solve(mdp, objective, method="greedy")
        assert np.allclose(greedy.planned, mean.planned, atol=1e-12)
        assert isinstance(greedy.policy, StatePolicy)
        assert isinstance(mean.policy, StatePolicy)
        assert np.array_equal(greedy.policy.choices, mean.policy.choices)


@given(problems(), AVERSIONS)
def test_whole_blocks_and_reachable_agree(document: dict[str, Any], aversion: float) -> None:
    problem = sa.parse_problem(document)
    objective = sa.MeanStd(aversion)
    whole = sa.solve(sa.compile_mdp(problem), objective, method="greedy")
    expected = as_policy(whole)
    found: dict[tuple[int, State], str] = {}
    for block in compile_blocks(problem):
        solution = sa.solve(block, objective, method="greedy")
        found.update(as_policy(solution))
        for state in range(block.n_states):
            assert solution.planned[state] == pytest.approx(whole.planned_value(block.person(state)), abs=1e-12)
    assert found == expected
    assert problem.default_person is not None
    reachable = sa.solve(sa.compile_mdp(problem, start=problem.default_person), objective, method="greedy")
    ours = as_policy(reachable)
    assert ours == {key: expected[key] for key in ours}
    assert reachable.planned_value() == pytest.approx(whole.planned_value(problem.default_person), abs=1e-12)


def test_ties_go_to_the_first_action() -> None:
    document = {
        "safear": 1,
        "title": "ties",
        "horizon": 2,
        "features": {"a": {"kind": "nominal", "levels": ["x", "y", "z"]}},
        "actions": {
            "first": {"cost": 0.3, "change": {"a": "y"}},
            "second": {"cost": 0.3, "change": {"a": "z"}},
            "sum": {"cost": 0.1, "chance": 1, "change": {"a": "y"}},
        },
        "classifier": {"rule": "a in [y, z]"},
        "people": {"p": {"a": "x"}},
    }
    problem = sa.parse_problem(document)
    for names in (["first", "second"], ["second", "first"]):
        ordered = {**document, "actions": {name: document["actions"][name] for name in names}}  # type: ignore[index]
        mdp = sa.compile_mdp(sa.parse_problem(ordered), start={"a": "x"})
        for aversion in (0.0, 0.7):
            assert sa.solve(mdp, sa.MeanStd(aversion)).policy.action() == names[0]
    assert sa.solve(sa.compile_mdp(problem, start={"a": "x"}), sa.Mean()).policy.action() == "sum"


def test_dead_end_costs_the_failure_cost() -> None:
    outcomes = [{"chance": 0.75, "change": {"a": "goal"}}, {"change": {"a": "stuck"}}]
    actions = {"try": {"cost": 1, "when": "a == start", "outcomes": outcomes}}
    problem = ladder(actions, levels=("start", "stuck", "goal"), horizon=5, failure_cost=7)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean())
    assert solution.planned_value() == pytest.approx(1 + 0.25 * 7)
    cost = sa.evaluate(solution)
    assert cost.success == 0.75
    assert cost.points() == [(1.0, 0.75, True), (8.0, 0.25, False)]


def test_progress_is_told_to_the_end() -> None:
    problem = sa.load_example("health-insurance")
    mdp = sa.compile_mdp(problem)
    seen: list[tuple[int, int]] = []
    sa.solve(mdp, sa.Entropic(0.1), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 8) for done in range(1, 9)]
    seen.clear()
    sa.solve(mdp, sa.Mean(), progress=lambda done, total: seen.append((done, total)))  # one compiled loop
    assert seen == [(8, 8)]


def test_identity_problem_is_solved_by_every_solver() -> None:
    """One state, one sure step to the goal."""
    problem = ladder({"go": {"cost": 2.5, "change": {"a": "yes"}}})
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    rng = np.random.default_rng(0)
    for solution in (
        sa.solve(mdp, sa.Mean()),
        sa.solve(mdp, sa.MeanStd(1)),
        sa.solve(mdp, sa.MeanStd(1), method="greedy"),
        sa.solve(mdp, sa.MeanLowerStd(1)),
        sa.solve(mdp, sa.MeanStd(1), method="episodic", rng=rng),
    ):
        assert solution.planned_value() == 2.5
        assert solution.policy.action() == "go"
        assert sa.evaluate(solution).points() == [(2.5, 1.0, True)]
        assert as_state(mdp.person(mdp.locate())) == ("no",)


def test_entropic_risk_by_hand() -> None:
    """To try costs 1.5 with a chance of 1/4 and 5.5 otherwise, to pay costs 5; what never happens takes no part."""
    never = {"chance": [0, 0, 0.1], "cost": 10_000}
    tried = [{"chance": 0.25, "change": {"a": "yes"}}, {"works": False}, never | {"works": False}]
    actions = {"try": {"cost": 1.5, "outcomes": tried}, "pay": {"cost": 5, "change": {"a": "yes"}}}
    problem = ladder(actions, failure_cost=4)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    for aversion, risk, action in [
        (0, 0.25 * 1.5 + 0.75 * 5.5, "try"),
        (1e-9, 4.5 + 1e-9 / 2 * 3, "try"),  # mean and variance: log(mass) alone would be wrong by 1e-7
        (0.2, math.log(0.25 * math.exp(0.3) + 0.75 * math.exp(1.1)) / 0.2, "try"),
        (1, 5, "pay"),
    ]:
        policy, values = sweep(mdp, sa.Entropic(aversion))
        assert policy.action() == action
        assert values[mdp.start] * float(mdp.quantum) == pytest.approx(risk, rel=1e-13)


def test_entropic_risk_of_costs_whose_exponentials_overflow() -> None:
    problem = ladder({"try": {"cost": 1, "chance": 0.25, "change": {"a": "yes"}}}, failure_cost=10_000)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert sa.solve(mdp, sa.Entropic(2)).value == pytest.approx(10_001 + math.log(0.75) / 2, rel=1e-15)
