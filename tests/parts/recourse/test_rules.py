"""Steps that repeat an action are one rule; who follows it does what the steps say."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import safear as sa
from doors import count_rules, group_rules
from ladders import CLIMB, ladders
from lanes import scaled
from moody_policies import in_pieces, policies
from safear.evaluation import Policy
from safear.recourse import PlanStep, make_plan

MOST_STEPS = 1_000_000  # no plan has as many


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


@pytest.mark.parametrize("objective", ["mean", "cvar:0.95"])
def test_steps_that_lead_elsewhere_stay_apart(objective: str) -> None:
    """The loan's plans repeat nothing."""
    plan = sa.recommend(sa.load_example("loan"), objectives=objective)[0].plan
    assert [len(rule) for rule in group_rules(plan)] == [1] * len(plan.steps)


# ------------------------------------------------------------------------------------------- from what the steps say


def find_rules(plan: sa.Plan) -> list[list[int]]:
    """Return the numbers of the steps of each rule, from what the steps say."""
    rules = [[step.number for step in plan.steps[:1]]]
    ways = {(step.number, f.step) for step in plan.steps for branch in step.branches for f in branch.follow_ups}
    for step, after in pairwise(plan.steps):
        come = {before for before, number in ways if number == after.number}
        if come <= {step.number, after.number} and repeats(plan, step, after):
            rules[-1].append(after.number)
        else:
            rules.append([after.number])
    return rules if plan.steps else []


def repeats(plan: sa.Plan, step: PlanStep, after: PlanStep) -> bool:
    """Return whether a step does again what the one before it did, once that has worked, and both try until they do.

    Not if the second has a reason of its own: a rule tells only that of its first step.
    """
    fails = [branch for one in (step, after) for branch in one.branches if not branch.works]
    again = [after.number], [after.number, "out of time"]
    return (
        (step.action, step.cost, step.hope, step.is_main) == (after.action, after.cost, after.hope, after.is_main)
        and after.reason is None
        and list_ways(plan, step, works=True) == [[after.number]]
        and len(list_ways(plan, after, works=True)) == 1
        and all(ways == [step.number] for ways in list_ways(plan, step, works=False))
        and all(ways in again for ways in list_ways(plan, after, works=False))
        and len({(branch.cost, branch.label, branch.changes) for branch in fails}) <= 1
    )


def list_ways(plan: sa.Plan, step: PlanStep, *, works: bool) -> list[list[int | str]]:
    """Return what likely comes after each outcome that works, or does not: the numbers of steps, and kinds of ends."""
    turns = [plan.find_turns(branch, step) for branch in step.branches if branch.works == works]
    return [[turn.follow_up.step or turn.follow_up.kind for turn in each] for each in turns]


def check_rules(solution: sa.Solution | Policy) -> None:
    for limit in (None, 4, MOST_STEPS):
        plan = make_plan(solution, limit=limit)
        assert [[step.number for step in rule] for rule in group_rules(plan)] == find_rules(plan)
    assert count_rules(solution) == len(find_rules(plan))


@settings(max_examples=scaled(150))
@given(policy=policies())
def test_policies_that_change_their_mind(policy: Policy) -> None:
    check_rules(in_pieces(policy))
    check_rules(policy)


@settings(max_examples=scaled(60))
@given(document=ladders(2, 9), objective=st.sampled_from(["mean", "cvar:0.8", "var:0.7", "mean-std:1"]))
def test_solutions_with_reasons(document: dict[str, Any], objective: str) -> None:
    """A step that has a reason of its own is no part of a rule; where one has, the steps differ anyway."""
    problem = sa.parse_problem(document)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.parse_objective(objective))
    check_rules(solution)


@pytest.mark.parametrize("chance", [0.8, [0, 0, 0.6], [0.4, 1, 1]])
def test_what_only_intervals_let_happen_counts(chance: object) -> None:
    unsure = {**CLIMB, "actions": {name: {**action, "chance": chance} for name, action in CLIMB["actions"].items()}}
    problem = sa.parse_problem(unsure)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.CVaR(0.9))
    check_rules(solution)


def test_nobody_who_is_there_needs_a_rule() -> None:
    problem = sa.parse_problem({**CLIMB, "classifier": {"rule": "true"}})
    policy = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean()).policy
    assert count_rules(policy) == 0


def test_memory_that_is_not_there_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever array cannot be made, nobody gets a wrong number."""
    problem, left, empty = sa.parse_problem(CLIMB), 0, np.empty
    policy = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean()).policy

    def make(*args: Any) -> NDArray[Any]:
        nonlocal left
        left -= 1
        if left == 0:
            raise MemoryError
        return empty(*args)

    monkeypatch.setattr(np, "empty", make)
    count_rules(policy)
    needed = -left
    assert needed >= 18  # also what it takes to tell the nodes of a state apart
    for failing in range(1, needed + 1):
        left = failing
        with pytest.raises(MemoryError):
            count_rules(policy)
