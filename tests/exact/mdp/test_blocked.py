"""Why actions are not offered, beside the oracle, and in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import safear as sa
from compare import read_both
from doors import Blocked, find_blocked, find_hints, find_never_offered, person_codes
from safear.mdp import StateSpace
from safear.problem import read_person
from strategies import problems


@given(problems())
def test_blocked_is_what_is_not_offered(document: dict[str, Any]) -> None:
    problem, judge, start = read_both(document)
    space = StateSpace(problem.features, {})
    never = set(judge.actions)
    for state in judge.all_states():
        codes = person_codes(problem.features, dict(zip(problem.feature_by_name, state, strict=True)))
        offered = {choice.action for choice in judge.offered(state)}
        assert {item.action for item in find_blocked(problem, codes[None, :])} == set(judge.actions) - offered
        never -= offered
    assert {item.action for item in find_never_offered(problem)} == never
    assert space.size
    met, layer = {start}, {start}
    for _ in range(judge.horizon):
        layer = {edge.next for state in layer for choice in judge.offered(state) for edge in choice.edges} - met
        met |= layer
    assert problem.default_person is not None
    first = person_codes(problem.features, read_person(problem, problem.default_person))[None, :]
    ever = {choice.action for state in met for choice in judge.offered(state)}
    assert {item.action for item in find_never_offered(problem, first)} == set(judge.actions) - ever


DOCUMENT: dict[str, Any] = {
    "safear": 1,
    "title": "Loan",
    "horizon": 3,
    "features": {
        "skill": {"kind": "ordinal", "levels": ["basic", "skilled", "manager"]},
        "income": {"range": [0, 4], "at_most": 1},
        "age": {"range": [60, 65], "unit": "years", "actionable": False},
        "stage": {"kind": "ordinal", "levels": ["a", "b"], "hidden": True},
        "debt": {"range": [0, 2]},
    },
    "goal": {"favourable": "approved", "failure_cost": 5},
    "classifier": {"rule": "skill == manager"},
    "actions": {
        "learn": {"cost": 1, "change": {"skill": "+1"}, "when": "skill < manager and skill == manager"},
        "work": {"cost": 1, "change": {"income": "+2"}},
        "wait": {"cost": 1, "change": {"skill": "manager"}, "when": "stage == b"},
        "borrow": {"cost": 1, "change": {"debt": "+1"}},
        "rest": {"cost": 1, "chance": 0, "change": {"debt": "-1"}},
    },
    "constraints": ["debt == 0"],
    "people": {"ann": {"skill": "basic", "income": 2, "age": 64, "debt": 0}},
}


def test_each_reason_in_words() -> None:
    problem = sa.parse_problem(DOCUMENT)
    person = person_codes(problem.features, read_person(problem, DOCUMENT["people"]["ann"]))
    assert find_blocked(problem, person[None, :]) == (
        Blocked("learn", "when", "skill == manager"),
        Blocked("work", "limit", "income"),
        Blocked("wait", "closed"),
        Blocked("borrow", "constraint", "debt == 0"),
        Blocked("rest", "no_change"),
    )
    menu = sa.recommend(problem)
    assert menu.no_recourse is not None
    assert str(menu.no_recourse) == (
        "As things are, no step is open to you. learn: it is open only if skill is manager. work: it would take "
        "income further from what was filed than is allowed. wait: it is not open at this point. borrow: it would "
        "break a rule: debt is 0. rest: it would change nothing."
    )
    hints = [str(hint) for hint in find_hints(problem) if hint.code == "never_offered"]
    assert hints == [
        "actions.learn: is never offered to anybody: it is open only if skill is manager",
        "actions.borrow: is never offered to anybody: it would break a rule: debt is 0",
        "actions.rest: is never offered to anybody: it would change nothing",
    ]  # somebody may file an income of 3 that has been 4, or come back at the second stage


@pytest.mark.parametrize(
    ("tries", "age", "expected"),
    [("0", 64, None), ("1", 64, Blocked("grow", "tries")), ("0", 65, Blocked("grow", "clipped", "age"))],
)
def test_tries_and_clipped_side_effects(tries: str, age: int, expected: Blocked | None) -> None:
    actions = {"grow": {"cost": 1, "change": {"skill": "+1"}, "once": True}}
    effects = [{"cause": "skill", "change": {"age": {"by": "1 years", "per": 1}}}]
    problem = sa.parse_problem({**DOCUMENT, "actions": actions, "side_effects": effects})
    record = {**DOCUMENT["people"]["ann"], "age": age, "tries of 'grow'": tries}
    codes = person_codes(problem.features, read_person(problem, record))
    assert find_blocked(problem, codes[None, :]) == (() if expected is None else (expected,))


def test_many_states_are_judged_by_who_is_there() -> None:
    more = {f"x{i}": {"range": [0, 30], "mutable": False} for i in range(4)}
    document = {**DOCUMENT, "features": {**DOCUMENT["features"], **more}}
    document["people"] = {"ann": {**DOCUMENT["people"]["ann"], **dict.fromkeys(more, 1)}}
    problem = sa.parse_problem(document)
    blocked = [hint.blocked.action for hint in find_hints(problem) if hint.blocked is not None]
    assert blocked == ["learn", "work", "wait", "borrow", "rest"]
    nobody = sa.parse_problem({**document, "people": {}})
    assert not [hint for hint in find_hints(nobody) if hint.blocked is not None]
    other = read_person(problem, {**document["people"]["ann"], "stage": "b"})
    starts = np.array([person_codes(problem.features, other)])
    assert "wait" not in [item.action for item in find_never_offered(problem, starts)]
