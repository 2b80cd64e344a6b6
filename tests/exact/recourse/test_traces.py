"""Traces against the enumeration of all histories."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import safear as sa
from compare import as_policy, read_both
from doors import find_fallback
from drawn_menus import ALL, menu_of
from lanes import scaled
from safear.recourse import find_traces
from strategies import problems


@given(problems(), st.integers(1, 6))
def test_they_are_the_most_probable_histories(document: dict[str, Any], limit: int) -> None:
    problem, judge, start = read_both(document)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.MeanStd(0.5), method="greedy")
    histories = list(judge.histories(as_policy(solution), start))
    traces = find_traces(solution, limit=limit)
    expected = sorted((float(history[3]) for history in histories), reverse=True)
    assert [trace.chance for trace in traces.shown] == pytest.approx(expected[:limit], abs=1e-12)
    known = {
        tuple((action, outcome) for action, outcome in history[0]): (float(history[1]), history[2], float(history[3]))
        for history in histories
    }
    for trace in traces.shown:
        cost, success, chance = known[tuple((step.action, step.outcome) for step in trace.steps)]
        assert trace.cost == pytest.approx(cost)
        assert trace.success == success
        assert trace.chance == pytest.approx(chance)
        failure = 0 if success else float(judge.failure_cost)
        assert sum(step.cost for step in trace.steps) + failure == pytest.approx(cost)
    rest = expected[limit:]
    if rest:
        assert traces.rest is not None
        assert traces.rest.chance == pytest.approx(sum(rest), abs=1e-12)
        assert math.fsum([*(trace.chance for trace in traces.shown), traces.rest.chance]) == pytest.approx(1)
        exact = sa.evaluate(solution)
        shown = math.fsum(trace.chance for trace in traces.shown if trace.success)
        assert traces.rest.success == pytest.approx(exact.success - shown, abs=1e-12)
        spent = math.fsum(trace.chance * trace.cost for trace in traces.shown)
        assert spent + traces.rest.chance * traces.rest.mean_cost == pytest.approx(exact.all_runs.mean, abs=1e-9)
        assert traces.rest.least_cost - 1e-9 <= traces.rest.mean_cost <= traces.rest.largest_cost + 1e-9
    else:
        assert traces.rest is None


@given(problems(), st.integers(1, 6), st.sampled_from(["0.5", "0.8", "0.95"]))
@settings(max_examples=scaled(60))
def test_one_of_the_worst_histories_is_shown(document: dict[str, Any], limit: int, level: str) -> None:
    """Of all histories that cost at least the tail it is the likeliest, and the rest leaves it out."""
    problem, judge, start = read_both(document)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.MeanStd(0.5), method="greedy")
    policy = as_policy(solution)
    tail = oracle.cvar(judge.distribution(policy, start), level)
    assert tail is not None
    histories = list(judge.histories(policy, start))
    bad = [(float(cost), float(chance)) for _, cost, _, chance, _ in histories if cost >= tail]
    likely, traces = find_traces(solution, limit=limit), find_traces(solution, limit=limit, level=float(level))
    assert traces.shown[: len(likely.shown)] == likely.shown
    assert len({trace.steps for trace in traces.shown}) == len(traces.shown) <= limit + 1
    shown = [trace for trace in traces.shown if trace.cost >= float(tail) * (1 - 1e-9)]
    assert max(trace.chance for trace in shown) == pytest.approx(max(chance for _, chance in bad), abs=1e-12)
    others = len(histories) - len(traces.shown)
    assert (traces.rest is not None) == (others > 0)
    parts = [trace.chance for trace in traces.shown] + ([] if traces.rest is None else [traces.rest.chance])
    assert math.fsum(parts) == pytest.approx(1)
    failed = math.fsum(trace.chance for trace in traces.shown if not trace.success)
    failed += 0 if traces.rest is None else traces.rest.failure
    assert failed == pytest.approx(1 - float(oracle.success(judge.distribution(policy, start))), abs=1e-12)
    few = sum(chance for _, cost, _, chance, _ in histories if cost >= tail) <= 1 - oracle.number(level)
    assert [traces.is_worst(trace) for trace in traces.shown] == [few and trace in shown for trace in traces.shown]


@pytest.mark.parametrize("name", ALL)
def test_every_plan_shows_one_of_its_worst_ways(name: str) -> None:
    for offer in menu_of(name):
        shown, rest = offer.traces.shown, offer.traces.rest
        assert any(trace.cost >= offer.tail * (1 - 1e-9) for trace in shown)
        assert math.fsum([*(trace.chance for trace in shown), 0 if rest is None else rest.chance]) == pytest.approx(1)


def test_the_rest_leaves_out_the_worst_that_is_shown() -> None:
    """Seven tries are the likeliest of the worst; six, and eight, stay among the rest."""
    traces = menu_of("health-insurance")["cheapest on average"].traces
    assert [(trace.chance, trace.cost) for trace in traces.shown[-1:]] == [(0.5**7, 7.0)]
    assert [traces.is_worst(trace) for trace in traces.shown] == [False] * 5 + [True]
    assert traces.rest is not None
    assert traces.rest.chance == pytest.approx(0.5**6 + 0.5**7)
    assert traces.rest.success_costs == (6.0, 8.0)
    assert (traces.rest.least_cost, traces.rest.largest_cost) == (6.0, 8.0)


def test_failures_are_told_from_what_works() -> None:
    problem = sa.load_example("loan")
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean())
    first, second, *_ = find_traces(solution).shown
    assert [(step.action, step.works) for step in first.steps] == [("change job", True)]
    assert [(step.action, step.works) for step in second.steps] == [
        ("change job", False),
        ("find work", True),
        ("change job", True),
    ]
    assert second.cost == 3.4


def test_a_long_walk_is_no_exponential_search() -> None:
    """2^100 histories: the most probable ones are found all the same."""
    levels = [str(i) for i in range(101)]
    problem = sa.parse_problem(
        {
            "safear": 1,
            "title": "walk",
            "horizon": 150,
            "goal": {"stop": False},
            "features": {"a": {"kind": "ordinal", "levels": levels}},
            "actions": {"up": {"cost": 1, "chance": 0.5, "change": {"a": "+1"}}},
            "classifier": {"rule": "a == 100"},
            "people": {"p": {"a": "0"}},
        }
    )
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean())
    traces = find_traces(solution)
    assert [trace.chance for trace in traces.shown] == pytest.approx([0.5**100] + [0.5**101] * 4)
    assert [trace.cost for trace in traces.shown] == [100, 101, 101, 101, 101]
    assert traces.rest is not None
    assert traces.rest.chance == pytest.approx(1)
    assert (traces.rest.least_cost, traces.rest.largest_cost) == (101, 150)


def test_the_rest_goes_as_far_as_the_distribution() -> None:
    problem = sa.load_example("loan")
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.MeanStd(0.5))
    rest = find_traces(solution).rest
    assert rest is not None
    assert rest.largest_cost == max(cost for cost, _, _ in sa.evaluate(solution).points())


@given(problems())
@settings(max_examples=scaled(80))
def test_the_fallback_holds_however_the_first_step_fails(document: dict[str, Any]) -> None:
    """Held against all histories on which the first step fails and the others work, by the manner in which it fails."""
    problem, judge, start = read_both(document)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.MeanStd(0.5), method="greedy")
    ways: dict[int, set[tuple[tuple[str, ...], bool]]] = {}
    for steps, _, success, _, _ in judge.histories(as_policy(solution), start):
        if steps and not judge.works(*steps[0]):
            possible = ways.setdefault(steps[0][1], set())
            if all(judge.works(*step) for step in steps[1:]):
                possible.add((tuple(action for action, _ in steps[1:]), success))
    way = find_fallback(solution)
    if way is not None:
        told = tuple(step.action for step in way.steps[1:])
        assert way.success
        assert not way.steps[0].works
        assert ways
        assert all((told, True) in possible for possible in ways.values() if possible)
    elif ways and not solution.mdp.has_intervals:
        [first, *others] = ways.values()
        assert len(first) != 1 or any(other != first for other in others) or not all(success for _, success in first)


def yes_or_no(*names: str) -> dict[str, Any]:
    return {name: {"kind": "nominal", "levels": ["no", "yes"]} for name in names}


def solve_first(document: dict[str, Any]) -> sa.Solution:
    problem = sa.parse_problem({"safear": 1, "title": "fallback", **document})
    return sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean())


def test_no_fallback_is_told_that_depends_on_how_the_first_step_fails() -> None:
    def ask(*failing: dict[str, Any]) -> list[str] | None:
        learn = {"cost": 1, "outcomes": [{"chance": 0.4, "change": {"skill": "yes"}}, *failing]}
        document = {
            "horizon": 12,
            "goal": {"failure_cost": 40},
            "features": yes_or_no("skill", "job"),
            "classifier": {"rule": "skill == yes and job == yes"},
            "actions": {"learn": learn, "find": {"cost": 3, "chance": 0.9, "change": {"job": "yes"}}},
            "people": {"p": {"skill": "no", "job": "yes"}},
        }
        way = find_fallback(solve_first(document))
        return None if way is None else [step.action for step in way.steps[1:]]

    lose = {"change": {"job": "no"}}
    assert ask({}) == ["learn"]
    assert ask(lose) == ["learn", "find"]
    assert ask({"chance": 0.31}, lose) is None
    assert ask({"chance": 0.31}, {"label": "you are bored"}) == ["learn"]


@pytest.mark.parametrize(("horizon", "told"), [(3, None), (4, ["a", "b", "c"])])
def test_no_fallback_is_told_that_misses_the_goal(horizon: int, told: list[str] | None) -> None:
    """Who goes on when all is lost has steps to take, but they lead nowhere."""
    names = ("a", "b", "c")
    chances = zip(names, (0.9, 0.99, 0.99), strict=True)
    document = {
        "horizon": horizon,
        "goal": {"failure_cost": 5, "stop": False},
        "features": yes_or_no(*names),
        "classifier": {"rule": "a == yes and b == yes and c == yes"},
        "actions": {name: {"cost": 1, "chance": chance, "change": {name: "yes"}} for name, chance in chances},
        "people": {"p": dict.fromkeys(names, "no")},
    }
    way = find_fallback(solve_first(document))
    assert (None if way is None else [step.action for step in way.steps[1:]]) == told
