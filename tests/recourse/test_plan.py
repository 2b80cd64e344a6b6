"""Contingent plans: the full text, and that the flows behind it are exact."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

import safear as sa
from strategies import problems


def plan_of(name: str, objective: sa.Mean | sa.MeanStd, **person: str) -> sa.Plan:
    problem = sa.load_example(name)
    start = {**problem.default_person, **person}  # type: ignore[dict-item]
    return sa.make_plan(sa.solve(sa.compile_mdp(problem, start=start), objective))


def test_a_plan_that_can_make_things_worse() -> None:
    assert plan_of("loan", sa.Mean()).lines() == [
        "1. Change job: costs 1 month, works 90 times in 100.",
        "   If it works (savings becomes rich): done (approved).",
        "   If it fails (you lose your job): go on with step 2.",
        "2. (when job is unemployed) Find work: costs 1.4 months, works 40 times in 100.",
        "   If it works (job becomes employed): go on with step 1.",
        "   If it fails: try again.",
        "What a step's (when ...) does not mention is as it is today.",
        "4 rarer situations are not shown.",
    ]


def test_a_plan_in_two_steps() -> None:
    plan = plan_of("loan", sa.MeanStd(0.5))
    assert str(plan) == "\n".join(
        [
            "1. Study part-time: costs 1 month, works 90 times in 100.",
            "   If it works (education becomes degree and age becomes adult): go on with step 2.",
            "   If it fails: try again.",
            "2. (when age is adult and education is degree) Increase savings: costs 1 month, works 92 times in 100.",
            "   If it works (savings becomes moderate): done (approved).",
            "   If it fails: try again.",
            "What a step's (when ...) does not mention is as it is today.",
            "2 rarer situations are not shown.",
        ]
    )
    assert str(plan.steps[0]) == "study part-time: 1 month, works 90 times in 100"
    assert [step.person["education"] for step in plan.steps] == ["school", "degree"]


def test_what_depends_on_the_time_left() -> None:
    document = {
        "safear": 1,
        "title": "late",
        "horizon": 3,
        "goal": {"favourable": "done", "failure_cost": 10},
        "cost": {"unit": "days"},
        "features": {"a": {"kind": "ordinal", "levels": ["0", "1", "2"]}},
        "actions": {
            "two sure steps": {"cost": 1, "chance": 0.9, "change": {"a": "+1"}},
            "leap": {"cost": 4, "when": "a == 0", "outcomes": [{"chance": 0.8, "change": {"a": "2"}}, {"cost": 5}]},
        },
        "classifier": {"rule": "a == 2"},
        "people": {"p": {"a": "0"}},
    }
    problem = sa.parse_problem(document)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean())
    assert [solution.policy.action({"a": "0"}, step=step) for step in range(3)] == ["two sure steps"] * 2 + ["leap"]
    assert sa.make_plan(solution).lines() == [
        "1. (when there are 2 to 3 steps left) Two sure steps: costs 1 day, works 90 times in 100.",
        "   If it works (a becomes 1): go on with step 2.",
        "   If it fails: try again; later go on with step 3.",
        "2. (when a is 1) Two sure steps: costs 1 day, works 90 times in 100.",
        "   If it works (a becomes 2): done (done).",
        "   If it fails: try again; at the end the time is up.",
        "3. (when there is 1 step left) Leap: costs 4 days, works 80 times in 100.",
        "   If it works (a becomes 2): done (done).",
        "   If it fails: costs 5 days instead; the time is up.",
        "What a step's (when ...) does not mention is as it is today.",
    ]


def test_nothing_to_do() -> None:
    assert plan_of("loan", sa.Mean(), housing="own").lines() == ["Nothing to do."]


@given(problems())
def test_flows_add_up(document: dict[str, Any]) -> None:
    problem = sa.parse_problem(document)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.MeanStd(0.5))
    plan = sa.make_plan(solution, limit=1000)
    for step in plan.steps:
        assert sum(branch.chance for branch in step.branches) == pytest.approx(1)
        for branch in step.branches:
            assert sum(follow_up.share for follow_up in branch.follow_ups) == pytest.approx(1)
    if plan.steps and not plan.hidden_steps:
        done = sum(
            step.visits * branch.chance * follow_up.share
            for step in plan.steps
            for branch in step.branches
            for follow_up in branch.follow_ups
            if follow_up.kind == "goal"
        )
        assert done == pytest.approx(sa.evaluate(solution).success, abs=1e-12)
        cost = sum(step.visits * branch.chance * branch.cost for step in plan.steps for branch in step.branches)
        failure = float(problem.goal.failure_cost) if problem.cost_resolution is None else None
        if failure is not None:
            total = cost + failure * (1 - sa.evaluate(solution).success)
            assert total == pytest.approx(sa.evaluate(solution).all_runs.mean, abs=1e-9)
    assert "\n".join(plan.lines()) == str(plan)


def test_follow_ups_are_in_order_of_time() -> None:
    """What is said first happens first, however rare it is."""
    document = {
        "safear": 1,
        "title": "early and late",
        "horizon": 4,
        "goal": {"favourable": "done", "failure_cost": 3},
        "features": {"a": {"kind": "ordinal", "levels": ["0", "1"]}},
        "actions": {
            "thorough": {"cost": 1, "chance": 0.6, "change": {"a": "1"}},
            "quick": {"cost": 0.9, "chance": 0.5, "change": {"a": "1"}},
        },
        "classifier": {"rule": "a == 1"},
        "people": {"p": {"a": "0"}},
    }
    problem = sa.parse_problem(document)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean())
    for step in sa.make_plan(solution).steps:
        for branch in step.branches:
            assert [f.since for f in branch.follow_ups] == sorted(f.since for f in branch.follow_ups)


def test_the_main_line_follows_what_works() -> None:
    document = {
        "safear": 1,
        "title": "the second outcome works",
        "horizon": 4,
        "features": {"a": {"kind": "nominal", "levels": ["start", "broken", "half", "done"]}},
        "actions": {
            "try": {
                "cost": 1,
                "when": "a == start",
                "outcomes": [
                    {"chance": 0.5, "change": {"a": "broken"}, "works": False},
                    {"chance": 0.5, "change": {"a": "half"}, "works": True},
                ],
            },
            "repair": {"cost": 1, "when": "a == broken", "change": {"a": "start"}},
            "finish": {"cost": 1, "when": "a == half", "change": {"a": "done"}},
        },
        "classifier": {"rule": "a == done"},
        "people": {"p": {"a": "start"}},
    }
    problem = sa.parse_problem(document)
    plan = sa.make_plan(sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean()))
    assert [step.action for step in plan.steps] == ["try", "finish", "repair"]


def test_outcomes_that_all_work_work_every_time() -> None:
    document = {
        "safear": 1,
        "title": "sure",
        "horizon": 1,
        "features": {"a": {"kind": "nominal", "levels": ["0", "1", "2", "3"]}},
        "actions": {
            "go": {
                "cost": 0.004,
                "outcomes": [
                    {"chance": c, "change": {"a": str(i)}, "works": True} for i, c in ((1, 0.7), (2, 0.2), (3, 0.1))
                ],
            }
        },
        "classifier": {"rule": "a != 0"},
        "people": {"p": {"a": "0"}},
    }
    problem = sa.parse_problem(document)
    plan = sa.make_plan(sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean()))
    assert str(plan.steps[0]) == "go: 0.004 units, works every time"
