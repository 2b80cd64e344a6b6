"""Plans that weigh mean and tail, in one compiled call each: those that `solve` finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from doors import Among, Weigher, find_spans, largest_spent, weighed
from gambles import compiled, gamble
from lanes import scaled
from safear.evaluation import Runs, run_exactly
from strategies import problems

WEIGHTS = (0.0, 1e-6, 0.3, 0.8, 1.0)


def assert_same_runs(one: Runs, other: Runs) -> None:
    """To the last bit."""
    assert one.state.tolist() == other.state.tolist()
    assert one.spent.tolist() == other.spent.tolist()
    assert one.chance.tolist() == other.chance.tolist()


def assert_as_solved(mdp: sa.MDP, level: float, slack: float | None) -> None:
    weigher = Weigher.of(mdp, level, slack)
    if weigher is None:  # costs are too fine
        return
    for weight in WEIGHTS:
        found = weigher.find(weight)
        objective = sa.MeanCVaR(weight, level)
        assert found.objective == (objective if slack is None else sa.SuccessFirst(objective, slack))
        solved = sa.solve(mdp, found.objective)
        cost, runs = sa.evaluate(found.solution), found.runs.distribution
        assert found.solution.value == solved.value
        assert_same_runs(found.runs, run_exactly(solved))
        assert found.objective.cost_objective.of(cost) == pytest.approx(solved.value, rel=1e-9, abs=1e-9)
        for one in (cost, runs):
            figures = one.success, one.all_runs.mean, one.all_runs.cvar(level)
            assert (found.success, found.mean, found.tail) == pytest.approx(figures, rel=1e-10, abs=1e-10)


@settings(max_examples=scaled(120))
@given(
    document=st.one_of(problems(tiny=True), problems()),
    level=st.sampled_from([0.5, 0.8, 0.95, 0.999]),
    slack=st.sampled_from([None, None, 0.0, 0.01]),
    times=st.sampled_from([0, 1, 3, 40]),
)
def test_plans_are_those_of_solve(document: dict[str, Any], level: float, slack: float | None, times: int) -> None:
    """With a high failure cost, there are two spans of targets, whose accounts must not be mixed up."""
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    if mdp.goal[mdp.start] or not mdp.n_rows:
        return
    most = int(largest_spent(mdp)[mdp.start])
    assert_as_solved(replace(mdp, failure_cost=mdp.failure_cost if times == 0 else times * (most + 1)), level, slack)


def test_two_spans() -> None:
    problem = sa.load_example("loan")
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    mdp = replace(mdp, failure_cost=480, horizon=2)
    assert len(find_spans(mdp, 0.95, Among())) == 2
    assert_as_solved(mdp, 0.95, None)


@pytest.mark.parametrize("seed", [1163, 1663])
def test_of_targets_that_are_equally_good_both_take_the_first(seed: int) -> None:
    assert_as_solved(compiled(gamble(seed)), 0.5, None)


def test_the_success_is_a_share_of_all_runs_where_chances_add_up_to_one_only_nearly() -> None:
    mdp = compiled(gamble(1))
    mdp = replace(mdp, edge_chance=mdp.edge_chance * (1 - 1e-10))
    weigher = Weigher.of(mdp, 0.8)
    assert weigher is not None
    found = weigher.find(0.5)
    assert found.success == pytest.approx(sa.evaluate(found.solution).success, rel=1e-14)


def test_fine_costs_and_certainty_are_for_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = sa.load_example("loan")
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert Weigher.of(mdp, 0.95) is not None
    assert Weigher.of(mdp, 1.0) is None
    monkeypatch.setattr(weighed, "unit_for", lambda *_: 2)
    assert Weigher.of(mdp, 0.95) is None


def test_amounts_that_one_number_cannot_tell_apart_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, found = sa.load_example("loan"), list[Runs]()
    for most in (2**62, 1):
        monkeypatch.setattr("safear.evaluation.forward.MOST_KEYS", most)
        weigher = Weigher.of(sa.compile_mdp(problem, start=problem.default_person), 0.95)
        assert weigher is not None
        found.append(weigher.find(0.5).runs)
    assert_same_runs(*found)
