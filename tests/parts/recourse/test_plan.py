"""Contingent plans: the full text, that its words are true of every run, and that the flows behind it are exact."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from syrupy.assertion import SnapshotAssertion

import safear as sa
from doors import Method
from ladders import ladder
from moody_policies import Ruled, policies
from safear.evaluation import Policy, Range
from safear.recourse import PlanStep, Teller, make_plan
from small_problems import course, giving_up, surprising

situation_of = Teller.of().situation


def plan_of(name: str, objective: sa.Mean | sa.MeanStd, method: Method | None = None, **person: str) -> sa.Plan:
    problem = sa.load_example(name)
    start = {**problem.default_person, **person}  # type: ignore[dict-item]
    return make_plan(sa.solve(sa.compile_mdp(problem, start=start), objective, method=method))


def test_a_plan_that_can_make_things_worse(snapshot: SnapshotAssertion) -> None:
    assert str(plan_of("loan", sa.Mean())) == snapshot


def test_a_plan_in_two_steps(snapshot: SnapshotAssertion) -> None:
    plan = plan_of("loan", sa.MeanStd(0.5), "greedy")
    assert str(plan) == snapshot
    assert str(plan.steps[0]) == snapshot(name="its first step")
    assert [step.person["education"] for step in plan.steps] == ["school", "degree"]


def test_what_depends_on_the_time_left(snapshot: SnapshotAssertion) -> None:
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
    assert str(make_plan(solution)) == snapshot


def test_the_loan_within_a_budget(snapshot: SnapshotAssertion) -> None:
    """What to do depends on what has been spent, but one need not know it: which tries failed tells it too."""
    problem = sa.load_example("loan")
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Budget(3))
    plan = make_plan(solution)
    assert not plan.depends_on_spent
    assert str(plan) == snapshot
    assert [(step.steps_left, step.spent) for step in plan.steps[::2]] == [
        ((24, 24), (0, 0)),
        ((23, 23), (1, 1)),
        ((2, 21), (3, pytest.approx(29.6))),
    ]


def situations(plan: sa.Plan) -> str:
    return "\n".join(map(situation_of, plan.steps[1:]))


def compile_course(costs: list[float], horizon: int = 2) -> sa.MDP:
    problem = course(costs, horizon)
    return sa.compile_mdp(problem, start=problem.default_person)


def test_what_depends_on_what_has_been_spent(snapshot: SnapshotAssertion) -> None:
    plan = make_plan(sa.solve(compile_course([1, 3]), sa.Budget(4)))
    assert not plan.depends_on_spent  # how the course went tells which step comes next
    assert str(plan) == snapshot
    assert situations(plan) == snapshot(name="situations")


def test_ranges_of_what_has_been_spent(snapshot: SnapshotAssertion) -> None:
    plan = make_plan(Ruled(compile_course([0.5, 1, 1.5, 2, 2.5]), lambda _step, _states, spent: spent // 2 % 2))
    assert [(step.action, step.spent) for step in plan.steps] == [
        ("take a course", (0, 0)),
        ("sit the good exam", (0.5, 0.5)),
        ("sit the cheap exam", (1, 1.5)),
        ("sit the good exam", (2, 2.5)),
    ]
    assert situations(plan) == snapshot


def test_limits_are_not_rounded(snapshot: SnapshotAssertion) -> None:
    plan = make_plan(sa.solve(compile_course([0.5, 1.0001, 1.0002, 3]), sa.Budget(4.0001)))
    assert re.findall(r"[\d.]+", situations(plan)) == ["1.0001", "1.0002"]
    assert situations(plan) == snapshot


def test_what_depends_on_both(snapshot: SnapshotAssertion) -> None:
    """A situation says no more than it takes: step 2 only what has been spent, step 4 only the tries made."""

    def rule(step: int, states: NDArray[np.int64], spent: NDArray[np.int64]) -> NDArray[np.int64]:
        del states
        cheap = spent == 2 if step == 1 else spent <= 4
        return np.where(cheap & (step in {1, 2}), 1, 0)

    plan = make_plan(Ruled(compile_course([1, 2], 4), rule))
    assert str(plan) == snapshot
    assert situations(plan) == snapshot(name="situations")


def test_nothing_to_do() -> None:
    assert plan_of("loan", sa.Mean(), housing="own").lines() == ["There is nothing to do."]


class Cell(NamedTuple):
    left: int
    state: int
    spent: int


def cells_of(policy: Policy) -> dict[Cell, tuple[str, float]]:
    """What is done wherever a run can be, and how probable it is to be there: one cell at a time."""
    mdp = policy.mdp
    start = mdp.locate_start()
    found: dict[Cell, tuple[str, float]] = {}
    here = {(start, 0): 1.0}
    for step in range(mdp.horizon):
        there: dict[tuple[int, int], float] = {}
        for (state, spent), chance in here.items():
            account = policy.accounts[start] - spent
            row = int(policy.rows(step, np.array([state]), np.array([account]))[0])
            if row < 0:
                continue
            found[Cell(mdp.horizon - step, state, spent)] = mdp.actions[mdp.row_action[row]], chance
            for edge in range(mdp.edge_start[row], mdp.edge_start[row + 1]):
                key = int(mdp.edge_next[edge]), spent + int(mdp.edge_cost[edge])
                there[key] = there.get(key, 0.0) + chance * float(mdp.edge_chance[edge])
        here = there
    return found


def holds(situation: str, made: int, spent: float) -> bool:
    """Whether what a situation says of tries made and of what has been spent is so."""
    said = re.findall(r"you have (made|spent) (.*?)(?= and you have|$)", situation)
    return all(is_so(words, spent if about == "spent" else made) for about, words in said)


def is_so(words: str, value: float) -> bool:
    """Whether what is said of a value is so: `at most 3 tries`, `2 months or more`, `1 to 2 months`, `nothing yet`."""
    first, *others = [float(number) for number in re.findall(r"\d[\d.]*(?:e-\d+)?", words)] or [0.0]
    near = 1e-6
    if words.startswith("at most"):
        return value <= first + near
    if words.endswith("or more"):
        return value >= first - near
    return first - near <= value <= (others[0] if others else first) + near


@given(policies())
def test_words_are_true_of_every_run(policy: Policy) -> None:
    """Wherever a run can be, the words of one step apply and of no other, and that step is what is done there."""
    mdp, cells = policy.mdp, cells_of(policy)
    plan = make_plan(policy, limit=None)
    visits = [0.0] * len(plan.steps)
    for cell, (action, chance) in cells.items():
        spent = mdp.to_cost(cell.spent)
        here = [step for step in plan.steps if step.person == mdp.person(cell.state)]
        if not policy.looks_at_spent:
            continue
        (one,) = [step for step in here if holds(situation_of(step), mdp.horizon - cell.left, spent)]
        (same,) = [step for step in here if inside(step, cell.left, spent)]
        assert one is same
        assert one.action == action
        visits[one.number - 1] += chance
    if policy.looks_at_spent:
        assert visits == pytest.approx([step.visits for step in plan.steps])
    assert sum(step.visits for step in plan.steps) == pytest.approx(sum(chance for _, chance in cells.values()))
    assert plan.depends_on_spent == any(re.search("(if|and) you have spent", line) for line in plan.lines())
    assert plan.depends_on_spent == str(plan).endswith("Keep count.")


def inside(step: PlanStep, left: int, spent: float) -> bool:
    """Whether a step's ranges hold a cell."""
    assert step.spent is not None
    return step.steps_left[0] <= left <= step.steps_left[1] and step.spent[0] <= spent <= step.spent[1]


@given(policies())
def test_a_step_says_no_more_than_it_must(policy: Policy) -> None:
    plan = make_plan(policy, limit=None)
    for step in plan.steps:
        alone = sum(other.person == step.person for other in plan.steps) == 1
        assert alone != (step.says_spent is not None or step.says_made is not None)
        assert (step.says_made is not None) == ("you have made" in situation_of(step))
        assert (step.spent is None) != policy.looks_at_spent


@given(policies())
def test_hope_is_told_as_it_is(policy: Policy) -> None:
    """A step says that its plan does not lead to the goal, or that nothing does, where that is so."""
    mdp, cells = policy.mdp, cells_of(policy)

    @cache
    def possible(state: int, left: int) -> bool:
        ahead = mdp.edge_next[mdp.row_state[mdp.edge_row] == state].tolist()
        return bool(mdp.goal[state]) or (left > 0 and any(possible(other, left - 1) for other in ahead))

    @cache
    def planned(cell: Cell) -> bool:
        if mdp.goal[cell.state] or cell not in cells:
            return bool(mdp.goal[cell.state])
        row = mdp.actions.index(cells[cell][0])
        edges = np.flatnonzero((mdp.row_state[mdp.edge_row] == cell.state) & (mdp.row_action[mdp.edge_row] == row))
        costs = zip(mdp.edge_next[edges].tolist(), mdp.edge_cost[edges].tolist(), strict=True)
        return any(planned(Cell(cell.left - 1, state, cell.spent + cost)) for state, cost in costs)

    for step in make_plan(policy, limit=None).steps:
        here = [
            cell
            for cell in cells
            if mdp.person(cell.state) == step.person
            and step.steps_left[0] <= cell.left <= step.steps_left[1]
            and (step.spent is None or step.spent[0] <= mdp.to_cost(cell.spent) <= step.spent[1])
        ]
        assert (step.hope == "yes") == any(map(planned, here))
        assert (step.hope == "none") == (not any(possible(cell.state, cell.left) for cell in here))


def test_a_plan_that_does_not_go_there_is_not_told_to_be_hopeless(snapshot: SnapshotAssertion) -> None:
    problem = giving_up()
    plan = make_plan(sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean()))
    assert [step.hope for step in plan.steps] == ["not_with_this_plan"] * 2
    assert str(plan) == snapshot(name="gives up")
    late = problem.with_horizon(1)
    on = replace(late, goal=replace(late.goal, stop=False))
    plan = make_plan(sa.solve(sa.compile_mdp(on, start=on.default_person), sa.Mean()))
    assert str(plan) == snapshot(name="too late")
    plan = make_plan(sa.solve(sa.compile_mdp(late, start=late.default_person), sa.Mean()))
    assert plan.lines() == ["There is nothing to do."]


def test_steps_that_are_too_late_are_told_in_the_whole_plan_only() -> None:
    ways = {"walk": (2.1, 0.9, "+1"), "jump": (1.8, 0.8, "+1")}
    problem = sa.parse_problem(ladder(ways, horizon=4, failure=10, stop=False, rungs=4))
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean())
    hopes = [[step.hope for step in make_plan(solution, limit=limit).steps] for limit in (20, None)]
    assert hopes == [["yes"] * 3, ["yes"] * 3 + ["none"] * 2]


@given(policies())
def test_flows_add_up(policy: Policy) -> None:
    plan = make_plan(policy, limit=None)
    assert not plan.hidden_steps
    exact = sa.evaluate(policy)
    done = cost = 0.0
    arrivals = dict.fromkeys([step.number for step in plan.steps], 0.0) | ({1: 1.0} if plan.steps else {})
    for step in plan.steps:
        assert sum(branch.chance for branch in step.branches) == pytest.approx(1)
        for branch in step.branches:
            assert sum(follow_up.share for follow_up in branch.follow_ups) == pytest.approx(1)
            cost += step.visits * branch.chance * branch.cost
            for follow_up in branch.follow_ups:
                assert follow_up.since <= follow_up.until
                flow = step.visits * branch.chance * follow_up.share
                done += flow if follow_up.kind == "goal" else 0
                if follow_up.step is not None:
                    arrivals[follow_up.step] += flow
    for step in plan.steps:
        assert arrivals[step.number] == pytest.approx(step.visits)
    if plan.steps:
        assert done == pytest.approx(exact.success, abs=1e-12)
        total = cost + policy.mdp.to_cost(policy.mdp.failure_cost) * (1 - exact.success)
        assert total == pytest.approx(exact.all_runs.mean, abs=1e-9)
    assert "\n".join(plan.lines()) == str(plan)


@given(policies(), st.integers(1, 5))
def test_a_short_plan_has_the_likely_steps(policy: Policy, limit: int) -> None:
    plan = make_plan(policy, limit=limit)
    assert len(plan.steps) <= limit
    surprises = bool((policy.mdp.edge_chance == 0).any())
    assert all(step.visits >= 0.001 for step in plan.steps[1:] if step.visits or not surprises)
    assert len(plan.steps) + plan.hidden_steps >= len({tuple(step.person.items()) for step in plan.steps})
    for line in plan.lines():
        assert "None" not in line


@given(policies())
def test_nothing_is_told_as_certain_that_is_not(policy: Policy) -> None:
    """How far a chance can be off is as far as the worst chances of its row go; all that is possible is told."""
    mdp = policy.mdp
    for step in make_plan(policy, limit=None).steps:
        state, action = mdp.locate(step.person), mdp.actions.index(step.action)
        (row,) = np.flatnonzero((mdp.row_state == state) & (mdp.row_action == action)).tolist()
        edges = np.arange(mdp.edge_start[row], mdp.edge_start[row + 1])
        assert len(step.branches) == len(edges)
        low, high = mdp.edge_low[edges], mdp.edge_high[edges]

        def most(wanted: list[bool], low: Any = low, high: Any = high) -> float:
            """With every outcome at its least, what is left goes to those wanted first."""
            left = 1 - low.sum()
            return float(low[wanted].sum() + min((high - low)[wanted].sum(), left))

        works = [branch.works for branch in step.branches]
        ranges = [(step.within, works)]
        for place, branch in enumerate(step.branches):
            ranges.append((Range(branch.low, branch.high), [place == other for other in range(len(edges))]))
        for within, wanted in ranges:
            assert within.high == pytest.approx(most(wanted), abs=1e-12)
            assert within.low == pytest.approx(1 - most([not one for one in wanted]), abs=1e-12)
        told = Teller.of().facts(step)
        assert told.endswith("every time") == (step.within.low > 1 - 1e-9)
        assert ("every time so far" in told) == (step.within.low <= 1 - 1e-9 < step.chance)


def test_what_has_never_failed_and_may(snapshot: SnapshotAssertion) -> None:
    for robust in (False, True):
        offer = sa.recommend(surprising(), objectives="mean", robust=robust)[0]
        assert str(offer.plan) == snapshot(name="robust or not")
        assert [step.visits for step in offer.plan.steps] == [1, 0]
        assert sa.SavedPlan.of(offer).plan.lines() == offer.plan.lines()
        fails = offer.plan.to_frame().query("step == 1 and not works").iloc[0]
        assert (fails.chance, fails.low, fails.then) == (0, 0, 2)
        assert fails.high == pytest.approx(1 - 0.025**0.2)  # Clopper and Pearson, 5 of 5


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
    for step in make_plan(solution).steps:
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
    plan = make_plan(sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean()))
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
    plan = make_plan(sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean()))
    assert str(plan.steps[0]) == "go: costs 0.004 units, works every time"


def test_the_main_route_is_what_happens_if_all_goes_well() -> None:
    """It is not the likeliest way over all times: who is late takes another one."""
    document = {
        "safear": 1,
        "title": "early or late",
        "horizon": 6,
        "goal": {"favourable": "done", "failure_cost": 50},
        "features": {
            "a": {"kind": "nominal", "levels": ["no", "yes"]},
            "b": {"kind": "ordinal", "levels": ["0", "1", "2", "3", "4"]},
        },
        "actions": {
            "begin": {"cost": 1, "chance": 0.1, "change": {"a": "yes"}},
            "walk": {"cost": 1, "when": "a == yes", "change": {"b": "+1"}},
            "fly": {"cost": 8, "when": "a == yes", "change": {"b": "4"}},
        },
        "classifier": {"rule": "b == 4"},
        "people": {"p": {"a": "no", "b": "0"}},
    }
    problem = sa.parse_problem(document)
    plan = make_plan(sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean()))
    assert [step.action for step in plan.steps if step.is_main] == ["begin", *["walk"] * 4]
    assert [step.action for step in plan.steps if not step.is_main] == ["fly"]
