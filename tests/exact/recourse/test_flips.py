"""Flips against scans of the whole grid, each point a problem of its own, all of whose plans are enumerated."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracle
import safear as sa
from doors import (
    CompiledMDP,
    Direction,
    Parameter,
    begin_with,
    choose_grid,
    find_equals,
    find_leeway,
    find_parameters,
)
from moving import with_amount
from oracle import Distribution, Oracle, TooManyError
from safear.recourse import Leeway
from safear.risk import Objective
from small_problems import better_job, ladder
from strategies import FEWER, problems

MEASURES: dict[Objective, Callable[[Distribution], float | Fraction]] = {
    sa.Mean(): oracle.mean_of_all,
    sa.CVaR(0.8): oracle.cvar_of_all("0.8"),
    sa.MeanCVaR(0.5, 0.95): oracle.mean_cvar("0.5", "0.95"),
    sa.Entropic(0.3): oracle.entropic(0.3),
    sa.Budget(3.0): oracle.budget_miss("3"),
}
CLOSE = 1e-7  # values that differ by less, relatively, are no matter of the first step


@pytest.mark.parametrize(("extra", "equals"), [(0, ("two",)), (1, ()), (5, ())])
def test_only_what_is_worth_the_same_is_as_good(extra: int, equals: tuple[str, ...]) -> None:
    """Costs are so fine that the search rounds them; bounds allow for that, and are no reason to call steps equal."""
    actions = {
        name: {"cost": 10007 + more, "chance": 0.9, "change": {"a": "+1"}}
        for name, more in (("one", 0), ("two", extra))
    }
    levels = [f"l{number}" for number in range(6)]
    solution = sa.solve(person_mdp(ladder(actions, levels=levels, horizon=12, failure_cost=900_001)), sa.CVaR(0.95))
    assert solution.search_unit is not None
    assert find_equals(solution) == equals


def person_mdp(problem: sa.Problem) -> CompiledMDP:
    return sa.compile_mdp(problem, start=problem.default_person)


def regret(mdp: sa.MDP, objective: Objective, action: str) -> float:
    """By how much the best plan that begins with an action is worse than the best of all, relatively."""
    best = sa.solve(mdp, objective).value
    rows = np.arange(mdp.row_start[mdp.start], mdp.row_start[mdp.start + 1])
    own = sa.solve(begin_with(mdp, rows[mdp.row_action[rows] == mdp.actions.index(action)]), objective).value
    return (own - best) / max(best, 1e-9)


def enumerated_regret(problem: sa.Problem, objective: Objective, action: str) -> float:
    """The same, from a list of all plans."""
    judge, measure = Oracle(sa.dump_problem(problem)), MEASURES[objective]
    best, own = (
        float(oracle.best(judge.all_distributions(judge.start(), first=first), measure)) for first in (None, action)
    )
    return (own - best) / max(best, 1e-9)


def scan(
    problem: sa.Problem, objective: Objective, parameter: Parameter, direction: Direction, grid: Fraction
) -> list[tuple[float, float]]:
    """(value, regret) for all points of the grid between what the amount is and where it may not go further."""
    action = sa.solve(person_mdp(problem), objective).policy.action()
    assert action is not None
    end, sign = (parameter.high, 1) if direction == "up" else (parameter.low, -1)
    found = []
    for number in range(1, int(abs(end - parameter.value) / grid) + 1):
        value = parameter.value + sign * number * grid
        if value != end:  # at the very end outcomes drop out of the file
            amount = Decimal(value.numerator) / Decimal(value.denominator)
            changed = with_amount(problem, parameter.path, amount)
            if sa.check_problem(changed):  # chances that add up for this person, and not for others
                break
            found.append((float(value), enumerated_regret(changed, objective, action)))
    return found


def agree(leeway: Leeway, points: list[tuple[float, float]]) -> None:
    """All points before the flip are fine, and the first point after it is not."""
    sign = 1 if leeway.direction == "up" else -1
    stop = sign * (leeway.certain_to if leeway.flip is None or not leeway.is_certain else leeway.flip.same)
    for value, loss in points:
        if sign * value <= stop + 1e-9:
            assert loss <= CLOSE, f"{value} was jumped over"
        if leeway.flip is not None and abs(value - leeway.flip.value) < 1e-9:
            assert loss > 1e-10


@FEWER
@given(
    problems(tiny=True),
    st.sampled_from(list(MEASURES)),
    st.sampled_from(["down", "up"]),
    st.sampled_from([None, 0.5, 1, 3]),
    st.data(),
)
def test_no_flip_is_jumped_over(
    document: dict[str, Any],
    objective: Objective,
    direction: Direction,
    cheap_failure: float | None,
    data: st.DataObject,
) -> None:
    if cheap_failure is not None:  # so that plans may rather give up
        document = document | {"goal": {"failure_cost": cheap_failure}}
    problem = sa.parse_problem({**document, "cost": {}})
    mdp = person_mdp(problem)
    assume(mdp.goal.any() and not mdp.goal[mdp.start])
    stated = {action.name for action in problem.actions if all(o.chance is not None for o in action.outcomes)}
    parameters = [p for p in find_parameters(mdp) if not (p.is_chance and p.path[1] in stated)]
    assume(parameters)
    solution = sa.solve(mdp, objective)
    assume(solution.policy.action() is not None)
    parameter = data.draw(st.sampled_from(parameters))
    leeway = find_leeway(solution, parameter, direction, tolerance=0.04, solves=400)
    grid = choose_grid(mdp, objective, parameter, 0.04)
    try:
        points = scan(problem, objective, parameter, direction, grid)
    except TooManyError:
        assume(False)
    agree(leeway, points)


@pytest.mark.parametrize("objective", [sa.Mean(), sa.CVaR(0.8), sa.Entropic(0.3)])
def test_steps_in_vain_are_paid_for(objective: Objective) -> None:
    # Failing is so cheap that the plan does the cheap step, which leads nowhere, and then stops: 1.5 + 1 against 2 x.
    actions = {
        "climb": {"cost": 3, "change": {"b": "+1"}},
        "wander": {"cost": 1.5, "when": "b == b0", "change": {"a": "yes"}},
    }
    problem = ladder(
        actions,
        horizon=2,
        failure_cost=1,
        features={
            "a": {"kind": "ordinal", "levels": ["no", "yes"]},
            "b": {"kind": "ordinal", "levels": ["b0", "b1", "b2"]},
        },
        classifier={"rule": "b == b2"},
        people={"p": {"a": "no", "b": "b0"}},
    )
    for path, side, at in (
        ("actions.climb.cost", "down", 1.25),
        ("actions.wander.cost", "up", 5.0),
        ("goal.failure_cost", "up", 4.5),
    ):
        found = leeways(problem, objective, path)[side]
        assert found.is_certain
        assert found.flip is not None
        assert found.flip.action == "climb"
        assert min(found.flip.same, found.flip.value) <= at <= max(found.flip.same, found.flip.value)


def leeways(problem: sa.Problem, objective: Objective, path: str, **person: str) -> dict[str, Leeway]:
    mdp = sa.compile_mdp(problem, start=person or problem.default_person)
    solution = sa.solve(mdp, objective)
    (parameter,) = (p for p in find_parameters(mdp) if ".".join(map(str, p.path)) == path)
    sides: tuple[Direction, ...] = ("down", "up")
    return {side: find_leeway(solution, parameter, side) for side in sides}


def test_a_closed_form_is_met_to_the_tolerance() -> None:
    # One try costs 1 and works with p, or failing costs 10: worth 1 + 10 (1 - p). A sure way costs 4: equal at p = 0.7.
    actions = {
        "try": {"cost": 1, "chance": [0.6, 0.8, 0.9], "change": {"a": "yes"}},
        "pay": {"cost": 4, "change": {"a": "yes"}},
    }
    problem = ladder(actions, failure_cost=10)
    chance = leeways(problem, sa.Mean(), "actions.try.outcomes.0.chance")
    flip = chance["down"].flip
    assert flip is not None
    assert flip.same == pytest.approx(0.7, abs=1e-12)
    assert flip.value == pytest.approx(0.699)
    assert flip.action == "pay"
    assert flip.is_guessed
    assert flip.cost.success == 1
    assert chance["down"].is_certain
    assert chance["up"].flip is None
    assert chance["up"].certain_to == 1
    cost = leeways(problem, sa.Mean(), "actions.pay.cost")["down"].flip
    assert cost is not None
    assert (cost.same, cost.value) == pytest.approx((3.0, 2.98))
    failing = leeways(problem, sa.Mean(), "goal.failure_cost")["up"].flip
    assert failing is not None
    assert (failing.same, failing.value) == pytest.approx((15.0, 15.1))


def test_the_order_of_two_steps_is_no_flip() -> None:
    steps = {name: {"cost": 1, "when": f"{name} == no", "change": {name: "yes"}} for name in ("b", "c")}
    features = {name: {"kind": "nominal", "levels": ["no", "yes"]} for name in ("b", "c")}
    problem = ladder(
        steps,
        horizon=2,
        failure_cost=30,
        features=features,
        classifier={"rule": "b == yes and c == yes"},
        people={"p": {"b": "no", "c": "no"}},
    )
    for side in leeways(problem, sa.Mean(), "actions.b.cost").values():
        assert side.flip is None
        assert not side.is_certain
        assert side.certain_to == 1


@pytest.mark.parametrize("objective", [sa.Mean(), sa.CVaR(0.9), sa.SuccessFirst(sa.Mean()), sa.VaR(0.9), sa.MeanStd(1)])
def test_each_flip_is_one_on_both_sides(objective: Objective) -> None:
    problem = better_job()
    person = {"x": "low", "gender": "female"}
    mdp = sa.compile_mdp(problem, start=person)
    solution = sa.solve(mdp, objective)
    first = solution.policy.action()
    assert first is not None
    sides: tuple[Direction, ...] = ("down", "up")
    found = [find_leeway(solution, parameter, side).flip for parameter in find_parameters(mdp) for side in sides]
    flips = [flip for flip in found if flip is not None]
    assert flips
    for flip in flips:
        same, other = (flip.parameter.move(mdp, Fraction(str(value))) for value in (flip.same, flip.value))
        assert sa.solve(other, objective).policy.action() == flip.action != first
        if isinstance(objective, sa.SuccessFirst):
            assert sa.solve(same, objective).policy.action() == first
        else:
            assert regret(same, objective, first) < CLOSE < regret(other, objective, first)


def test_what_changes_back_is_not_jumped_over() -> None:
    # To wait and act needs both outcomes of a toss, one after the other: it does best at even odds.
    actions = {
        "toss": {
            "cost": 0,
            "outcomes": [{"chance": 0.05, "change": {"heads": "yes"}}, {"change": {"tails": "yes"}}],
        },
        "pay": {"cost": 6, "when": "heads == no and tails == no", "change": {"heads": "yes", "tails": "yes"}},
    }
    features = {name: {"kind": "nominal", "levels": ["no", "yes"]} for name in ("heads", "tails")}
    rule = {"rule": "heads == yes and tails == yes"}
    more: dict[str, Any] = {"features": features, "classifier": rule, "people": {"p": dict.fromkeys(features, "no")}}
    problem = ladder(actions, horizon=2, failure_cost=10, **more)
    side = leeways(problem, sa.Mean(), "actions.toss.outcomes.0.chance")["up"]
    # 10 (1 - 2 p (1 - p)) < 6 between (1 - sqrt(0.2)) / 2 and (1 + sqrt(0.2)) / 2
    assert side.flip is not None
    assert side.is_certain
    assert side.flip.same <= (1 - 0.2**0.5) / 2 <= side.flip.value
    assert side.flip.action == "toss"


def test_a_cost_that_changes_the_advice_twice() -> None:
    # To prepare costs 1 and then the fee x or 2: min(x + 1, 3). To gamble costs 2.3, and one time in five the fee.
    actions = {
        "prepare": {"cost": 1, "when": "a == new", "change": {"a": "ready"}},
        "gamble": {
            "cost": 2.3,
            "when": "a == new",
            "outcomes": [{"chance": 0.8, "change": {"a": "done"}}, {"change": {"a": "owing"}}],
        },
        "fee": {"cost": 1, "when": "a in [ready, owing]", "change": {"a": "done"}},
        "detour": {"cost": 2, "when": "a == ready", "change": {"a": "done"}},
    }
    problem = ladder(actions, levels=("new", "ready", "owing", "done"), horizon=3, failure_cost=90)
    side = leeways(problem, sa.Mean(), "actions.fee.cost")["up"]
    assert side.flip is not None
    assert side.is_certain
    assert (side.flip.same, side.flip.value) == pytest.approx((1.62, 1.63))
    assert side.flip.action == "gamble"
