"""Steps that repeat an action are one rule; who follows it does what the steps say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import safear as sa
from doors import Reason, count_rules, group_rules
from safear.recourse import make_plan


def climb(chances: dict[str, float], cost: object = 1) -> sa.Problem:
    """A ladder of levels, to be climbed rung by rung."""
    levels = ["0", *chances]
    document: dict[str, Any] = {
        "safear": 1,
        "title": "climb",
        "horizon": 12,
        "goal": {"favourable": "up", "failure_cost": 50},
        "cost": {"unit": "days"},
        "features": {"rung": {"kind": "ordinal", "levels": levels}},
        "actions": {
            "climb": {"cost": cost, "chance": chances, "change": {"rung": "+1"}},
        },
        "classifier": {"rule": f"rung == {levels[-1]}"},
        "people": {"p": {"rung": "0"}},
    }
    return sa.parse_problem(document)


def plan_of(problem: sa.Problem) -> sa.Plan:
    return make_plan(sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean()))


def test_what_is_repeated_is_told_once() -> None:
    plan = plan_of(climb({"1": 0.9, "2": 0.9, "3": 0.9}))
    assert plan.lines()[:3] == [
        "1–3. Climb, 3 times: costs 1 day each time, works 90 times in 100.",
        "   If it has worked 3 times (rung becomes 3): you have reached “up”.",
        "   If it fails: try again.",
    ]
    assert [len(rule) for rule in group_rules(plan)] == [3]


def test_chances_that_differ_are_told_in_turn() -> None:
    problem = climb({"1": 0.9, "2": 1})
    plan = plan_of(problem)
    assert plan.lines()[:3] == [
        "1–2. Climb, twice: costs 1 day each time, works 90 times in 100, then every time.",
        "   If it has worked twice (rung becomes 2): you have reached “up”.",
        "   If it fails: try again.",
    ]
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert count_rules(sa.solve(mdp, sa.Mean())) == 1


def test_costs_that_differ_are_told_apart() -> None:
    assert len(group_rules(plan_of(climb({"1": 0.9, "2": 0.9}, {"1": 1, "2": 2})))) == 2


@pytest.mark.parametrize(("which", "sizes"), [(0, [3]), (1, [1, 2]), (2, [2, 1])])
def test_a_step_with_a_reason_of_its_own_begins_a_rule(which: int, sizes: list[int]) -> None:
    plan = plan_of(climb({"1": 0.9, "2": 0.9, "3": 0.9}))
    steps = list(plan.steps)
    steps[which] = replace(steps[which], reason=Reason("deadline", "fly"))
    plan = replace(plan, steps=tuple(steps))
    assert [len(rule) for rule in group_rules(plan)] == sizes
    assert sum("fly" in line for line in plan.lines()) == 1  # none is lost


@pytest.mark.parametrize("objective", ["mean", "cvar:0.95"])
def test_steps_that_lead_elsewhere_stay_apart(objective: str) -> None:
    """The loan's plans repeat nothing."""
    plan = sa.recommend(sa.load_example("loan"), objectives=objective)[0].plan
    assert [len(rule) for rule in group_rules(plan)] == [1] * len(plan.steps)
