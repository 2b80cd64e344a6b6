"""Walking along a plan: the same policy, the account kept right, and what is ahead exactly."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from lanes import scaled
from safear import walk
from safear.cli.main import cli
from safear.errors import InputError
from safear.risk import Objective
from small_problems import surprising

LOAN = sa.load_example("loan")
SPEND = """
safear: 1
title: Spend or save
horizon: 4
features: {a: {kind: ordinal, levels: [low, mid, high]}}
goal: {failure_cost: 10}
classifier: {rule: a == high}
actions:
  try:
    cost: 1
    outcomes:
      - {chance: 0.5, change: {a: +1}}
      - {chance: 0.3}
      - {chance: 0.2, cost: 4}
  pay: {cost: 3, change: {a: +1}}
people: {me: {a: low}}
"""
OBJECTIVES = [sa.Mean(), sa.CVaR(0.95), sa.MeanCVaR(0.5, 0.8), sa.Budget(3), sa.MeanStd(1.0)]


@cache
def offer_for(objective: Objective) -> sa.Offer:
    return make_plan_of(LOAN, objective)


def make_plan_of(problem: sa.Problem, objective: Objective) -> sa.Offer:
    return sa.recommend(problem, objectives=[objective], exact=True)[0]


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
@settings(max_examples=scaled(30))
@given(data=st.data())
def test_a_walk_does_what_the_policy_says(objective: Objective, data: st.DataObject) -> None:
    """Whatever comes about: at each step the action is that of `Policy.action` with what was really spent."""
    offer = offer_for(objective)
    outcomes: list[int] = []
    here = walk(offer, outcomes)
    while here.kind == "step":
        steps = len(outcomes)
        asked = offer.solution.policy.action(here.person, step=steps, spent=here.spent, start=LOAN.default_person)
        assert here.action == asked
        assert here.steps_left == LOAN.horizon - steps
        assert math.isclose(sum(ending.chance for ending in here.endings), 1)
        outcomes.append(data.draw(st.sampled_from([ending.outcome for ending in here.endings])))
        there = walk(offer, outcomes)
        assert math.isclose(there.spent, here.spent + there.taken[-1].ending.cost)
        here = there
    assert len(here.taken) == len(outcomes)
    assert here.ahead.success == (here.kind == "goal")


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_what_is_ahead_adds_up(objective: Objective) -> None:
    """At the start it is the plan's own distribution; later it is that of its endings, weighed by their chances."""
    offer = offer_for(objective)
    start = walk(offer, [])
    assert start.ahead.success == pytest.approx(offer.cost.success)
    assert start.ahead.all_runs.mean == pytest.approx(offer.mean)
    _check_balance(offer, start, [], depth=3)


def _check_balance(offer: sa.Offer, here: Any, outcomes: list[int], depth: int) -> None:
    if depth == 0 or here.kind != "step":
        return
    ways = [(ending, walk(offer, [*outcomes, ending.outcome])) for ending in here.endings]
    success = sum(ending.chance * there.ahead.success for ending, there in ways)
    mean = sum(ending.chance * (ending.cost + there.ahead.all_runs.mean) for ending, there in ways)
    assert here.ahead.success == pytest.approx(success)
    assert here.ahead.all_runs.mean == pytest.approx(mean)
    for ending, there in ways:
        _check_balance(offer, there, [*outcomes, ending.outcome], depth - 1)


def test_a_plan_that_looks_at_what_was_spent() -> None:
    """The same state and step, reached at another price, asks for another action."""
    problem = sa.parse_problem(SPEND, "spend.yaml")
    seen: dict[tuple[str, int], set[str | None]] = {}
    for limit in range(3, 9):
        offer = make_plan_of(problem, sa.Budget(limit))
        assert offer.solution.policy.looks_at_spent or limit in {3, 8}
        _collect(offer, [], seen)
    assert any(len(actions) > 1 for actions in seen.values())


def _collect(offer: sa.Offer, outcomes: list[int], seen: dict[tuple[str, int], set[str | None]]) -> None:
    here = walk(offer, outcomes)
    if here.kind != "step":
        return
    asked = offer.solution.policy.action(here.person, step=len(outcomes), spent=here.spent)
    assert here.action == asked
    seen.setdefault((here.person["a"], len(outcomes)), set()).add(here.action)
    for ending in here.endings:
        _collect(offer, [*outcomes, ending.outcome], seen)


def test_outcomes_in_words() -> None:
    offer = offer_for(sa.Mean())
    for word, number in (("works", 0), ("fails", 1), ("Works", 0), ("FAILED", 1), ("1", 1)):
        assert str(walk(offer, [word])) == str(walk(offer, [number]))
    trying = make_plan_of(sa.parse_problem(SPEND, "spend.yaml"), sa.Budget(3))
    assert walk(trying, ["works"]).person == {"a": "mid"}
    possible = r"possible: 0 \(works: a becomes mid\), 1 \(fails\), 2 \(fails\)"
    with pytest.raises(InputError, match=rf"'fails' can mean several outcomes\n +{possible}"):
        walk(trying, ["fails"])


def test_where_somebody_is_in_words() -> None:
    here = walk(offer_for(sa.Mean()), ["fails"])
    assert str(here).splitlines() == [
        "1. change job: failed, 1 month (you lose your job)",
        "By now job is unemployed.",
        "Now: find work",
        "1.4 months; works 40 times in 100.",
        "   0: works 40 times in 100, 1.4 months (job becomes employed)",
        "   1: fails 60 times in 100, 1.4 months",
        (
            "Spent so far: 1 month. From here: >99.9% of cases reach “approved”; 5 months more on average. "
            "You can make 23 more tries."
        ),
    ]
    assert here._repr_html_().startswith("<pre>1. change job")
    assert [change[:2] for change in here.changes] == [("job", "unemployed")]


@pytest.mark.parametrize("outcomes", [[2], [0, 0], [1, 5], ["maybe"], ["works", "works"]])
def test_walks_that_cannot_be(outcomes: list[int | str]) -> None:
    with pytest.raises(InputError, match=r"outcomes\[\d\]"):
        walk(offer_for(sa.Mean()), outcomes)


def test_what_has_never_failed_and_may() -> None:
    offer = sa.recommend(surprising(), objectives="mean")[0]
    assert str(walk(offer, [])).splitlines()[1:4] == [
        "1 month; works every time so far, but perhaps only 48 times in 100.",
        "   0: works every time so far, but perhaps only 48 times in 100, 1 month (job becomes good)",
        "   1: fails 0 times so far, but perhaps up to 52 times in 100, 1 month (job becomes lost)",
    ]
    situation = walk(offer, ["failed"])
    assert "works 80 times in 100, 50 to 90 if our estimates are off" in str(situation)
    assert [(ending.chance, ending.low, ending.high) for ending in situation.endings] == [
        pytest.approx((0.8, 0.5, 0.9)),
        pytest.approx((0.2, 0.1, 0.5)),
    ]


def test_the_end_of_time() -> None:
    offer = make_plan_of(LOAN.with_horizon(2), sa.Mean())
    late = walk(offer, [1, 1])
    assert (late.kind, late.action, late.endings, late.steps_left) == ("out of time", None, (), 0)
    assert late.ahead.success == 0


def test_the_worst_cases_ahead_are_those_of_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    here = walk(sa.recommend(LOAN, level=0.8)["safest"], ["fails"])
    with pytest.raises(SystemExit):
        cli(["walk", "loan", "--level", "0.8", "--plan", "safest", "--outcome", "fails", "--json"])
    told = json.loads(capsys.readouterr().out)["ahead"]["cvar"]
    assert told == here.ahead.all_runs.cvar(0.8) < here.ahead.all_runs.cvar(0.95)
