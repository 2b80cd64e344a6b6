"""Where a goal can still be reached, and what it means to stop where it cannot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import safear as sa
from compare import read_both, rows_of
from lanes import scaled
from safear.datasets import load
from small_problems import ladder
from strategies import problems


@given(problems())
@settings(max_examples=scaled(50))
def test_steps_to_goal_are_those_of_a_search(document: dict[str, Any]) -> None:
    problem, judge, _ = read_both(document)
    mdp = sa.compile_mdp(problem)
    needed = mdp.steps_to_goal
    for state in range(mdp.n_states):
        person = tuple(mdp.person(state).values())
        assert [bool(needed[state] <= steps) for steps in range(mdp.horizon + 1)] == [
            judge.reaches(person, steps) for steps in range(mdp.horizon + 1)
        ]
    for step in range(mdp.horizon):
        assert mdp.acting[step].tolist() == [bool(rows_of(mdp)(state, step)) for state in range(mdp.n_states)]


@pytest.mark.parametrize("objective", ["mean", "cvar:0.9", "mean-std:1", "entropic:0.5", "budget:3"])
def test_to_stop_costs_nothing(objective: str) -> None:
    """Whoever stops spends no more, and succeeds as often."""
    telling = 0

    @given(problems())
    @settings(max_examples=scaled(25))
    def check(document: dict[str, Any]) -> None:
        nonlocal telling
        problem = sa.parse_problem(document)
        mdp = sa.compile_mdp(problem, start=problem.default_person)
        aim = sa.parse_objective(objective)
        stopping, going_on = (sa.solve(replace(mdp, stops=stops), aim) for stops in (True, False))
        assert stopping.value <= going_on.value + 1e-9
        first, then = (sa.solve(replace(mdp, stops=stops), sa.SuccessFirst()) for stops in (True, False))
        assert sa.evaluate(first).success == pytest.approx(sa.evaluate(then).success, abs=1e-12)
        assert first.value <= then.value + 1e-9
        telling += stopping.value < going_on.value - 1e-9

    check()
    assert telling or objective.startswith("budget")


@pytest.mark.parametrize("method", ["optimal", "greedy", "episodic"])
@pytest.mark.parametrize("stop", [True, False])
def test_a_lost_run_ends(method: Any, stop: bool) -> None:
    """Two rungs in three steps: after two failures the second cannot be reached any more."""
    problem = ladder({"up": {"cost": 1, "chance": 0.5, "change": {"a": "+1"}}}, levels="012", failure_cost=10)
    problem = replace(problem, horizon=3, goal=replace(problem.goal, stop=stop))
    mdp = sa.compile_mdp(problem, start={"a": "0"})
    solution = sa.solve(mdp, sa.MeanStd(0.5), method=method, rng=np.random.default_rng(0))
    cost = sa.evaluate(solution)
    points = {(total, success): chance for total, chance, success in cost.points()}
    late = {(12.0, False): 0.25, (13.0, False): 0.25} if stop else {(13.0, False): 0.5}
    assert points == pytest.approx({(2.0, True): 0.25, (3.0, True): 0.25} | late)
    offer = sa.recommend(problem, person={"a": "0"}, objectives=["mean"])[0]
    situation = sa.walk(offer, ["fails", "fails"])
    assert situation.kind == ("lost" if stop else "step")
    if stop:
        assert str(situation).splitlines()[-2:] == [
            "Stop here: “there” is out of reach",
            (
                "You have spent 2 units. In the steps that are left nothing leads there, so do not spend more. "
                "Ask for your options again from where you are now."
            ),
        ]
        assert "stop, since “there” is out of reach" in "\n".join(offer.plan.lines())


def test_the_presets_of_the_paper_go_on() -> None:
    assert not load("german").problem.goal.stop
    assert sa.load_example("loan").goal.stop
