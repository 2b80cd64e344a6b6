"""What would help: every change that is offered works when it is made in the file, and none that works is missed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import safear as sa
from doors import AdviceTeller, And, advice_module, find_relaxations
from oracle import Oracle, State
from safear.problem import parse_condition
from safear.recourse import Desk, Relaxation, Teller
from small_problems import TERM, ladder
from strategies import Document, problems

NUMBERS: dict[str, Any] = {
    "safear": 1,
    "title": "Numbers",
    "horizon": 2,
    "features": {"term": TERM, "age": {"kind": "numeric", "edges": [40], "values": [30, 50], "mutable": False}},
    "actions": {"shorten": {"cost": 1, "change": {"term": -1}}},
    "people": {"p": {"term": 20, "age": 36}},
}
Decide = Callable[[pd.DataFrame], Any]


def reaches(document: Document) -> bool:
    """Whether a goal can be reached in time, by the oracle; False for files that make no sense."""
    try:
        oracle = Oracle(document)
        layer: set[State] = {oracle.start()}
        sa.parse_problem(document)
    except (ValueError, sa.InputError):
        return False
    for _ in range(int(document["horizon"]) + 1):
        if any(map(oracle.is_goal, layer)):
            return True
        layer = {edge.next for state in layer for choice in oracle.offered(state) for edge in choice.edges}
    return False


def apply(found: Relaxation, document: Document) -> Document:
    """A change as somebody would make it in the file."""
    changed = deepcopy(document)
    action = changed["actions"].get(found.action, {})
    match found.code:
        case "horizon":
            changed["horizon"] = found.horizon
        case "when":
            condition = parse_condition(str(action.pop("when")))
            parts = condition.parts if isinstance(condition, And) else (condition,)
            left = [f"({part})" for part in parts if str(part) != found.what]
            if found.what != str(condition):
                action["when"] = " and ".join(left)
        case "tries":
            action.pop("at_most", action.pop("once", None))
        case "constraint":
            changed["constraints"] = [
                text for text in changed["constraints"] if str(parse_condition(text)) != found.what
            ]
        case "limit":
            del changed["features"][found.feature]["at_most"]
        case "promise":
            changed["goal"]["promise"] = "narrow"
        case _:
            value = found.level if found.value is None else found.value
            next(iter(changed["people"].values()))[found.feature] = value
    return changed


def list_changes(document: Document) -> Iterator[Document]:
    """The file with any single change of those that are tried, by hand."""
    for name, action in document["actions"].items():
        for key in {"when", "at_most", "once"} & set(action):
            changed = deepcopy(document)
            del changed["actions"][name][key]
            yield changed
    for number in range(len(document.get("constraints", []))):
        changed = deepcopy(document)
        del changed["constraints"][number]
        yield changed
    problem = sa.parse_problem(document)
    for feature in problem.shown_features:
        if feature.at_most is not None:
            changed = deepcopy(document)
            del changed["features"][feature.name]["at_most"]
            yield changed
        if not (feature.mutable and feature.actionable and feature.name in problem.changed_features):
            for level in feature.levels:
                changed = deepcopy(document)
                changed["people"]["someone"][feature.name] = level
                yield changed


def is_about_hidden(document: Document) -> bool:
    return any(feature.get("hidden") for feature in document["features"].values())


@given(problems(max_horizon=2))
def test_what_is_offered_works_in_the_file_and_nothing_that_works_is_missed(document: Document) -> None:
    case = Desk.of(sa.parse_problem(document)).open()
    if case.favourable or case.needs_plan:
        return
    found = find_relaxations(case)
    assert found.is_complete
    for one in found.found:
        changed = apply(one, document)
        assert reaches(changed)
        menu = sa.recommend(sa.parse_problem(changed), objectives=sa.SuccessFirst())
        assert menu.no_recourse is None
        figures = (1.0, 0.0) if menu.favourable else (menu[0].cost.success, menu[0].mean)
        assert (one.success, one.mean) == pytest.approx(figures, rel=1e-9)
        assert one.success > 0
    order = [one.mean for one in found.found]
    assert order == sorted(order)
    if not found.found and not is_about_hidden(document):
        assert not any(map(reaches, list_changes(document)))


CLIMB: Document = {"cost": 1, "chance": 0.5, "change": {"a": "+1"}}


LIMITED = {"features": {"a": {"kind": "ordinal", "levels": ["0", "1", "2"], "at_most": 1}}}


@pytest.mark.parametrize(
    ("climb", "more", "forbid", "expected"),
    [
        ({}, {"horizon": 1}, [], [("horizon", 2)]),
        ({}, {}, ["climb"], [("allow", "climb")]),
        ({"when": "a == 1"}, {}, [], [("when", "a == 1")]),
        ({"when": "a != 1 and a < 2"}, {}, [], [("when", "a != 1")]),
        ({"when": "a == 1 and not a == 0"}, {}, [], [("when", "a == 1 and not a == 0")]),
        ({"at_most": 1}, {}, [], [("tries", "climb")]),
        ({}, {"constraints": ["a != 2", "a >= 0"]}, [], [("constraint", "a != 2")]),
        ({}, LIMITED, [], [("limit", "a")]),
        ({"at_most": 1}, LIMITED, [], []),
    ],
)
def test_each_kind_of_change(
    climb: Document, more: dict[str, Any], forbid: list[str], expected: list[tuple[str, object]]
) -> None:
    problem = ladder({"climb": CLIMB | climb}, levels=["0", "1", "2"], **{"horizon": 4, **more})
    found = find_relaxations(Desk.of(problem).open(terms=sa.Terms.of(forbid=forbid)))
    assert found.is_complete
    assert [(one.code, one.horizon or one.what or one.action or one.feature) for one in found.found] == expected


def decide(rule: str) -> Decide:
    return lambda frame: np.asarray(frame.eval(rule))


@pytest.mark.parametrize(
    ("rule", "promise", "expected"),
    [
        ("age >= 45", "narrow", [("feature", "age", 50.0)]),
        ("age >= 45 and term < 12", "value", [("feature", "age", 50.0)]),
        ("term < 19 and term > 15", "range", [("number", "term", 18.0)]),  # no step stays in the level
        ("age < 33", "narrow", [("number", "age", 30.0)]),
        ("term == 9", "range", [("promise", "", None)]),
        ("term == 9 and age < 33", "range", []),
    ],
)
def test_changes_of_numbers(rule: str, promise: str, expected: list[tuple[str, str, float | None]]) -> None:
    document = {**NUMBERS, "goal": {"promise": promise}}
    case = Desk.of(sa.parse_problem(document), decide(rule)).open()
    found = find_relaxations(case).found
    assert [(one.code, one.feature, one.value) for one in found] == expected
    for one in found:
        assert sa.recommend(sa.parse_problem(apply(one, document)), decide(rule)).no_recourse is None


@pytest.mark.parametrize("aim", [None, 0.7])
def test_a_record_that_would_be_accepted_helps_whatever_the_aim(aim: float | None) -> None:
    """With an aim, no state with the change is a goal, but somebody like that is not rejected."""
    region = {"kind": "nominal", "levels": ["n", "s"], "mutable": False}
    problem = ladder(
        {"climb": CLIMB},
        levels=["0", "1"],
        features={"region": region, "a": {"kind": "ordinal", "levels": ["0", "1"]}},
        people={"p": {"region": "n", "a": "0"}},
        goal={"threshold": 0.5} | ({} if aim is None else {"aim": aim}),
    )
    found = find_relaxations(Desk.of(problem, lambda frame: np.where(frame["region"] == "s", 0.6, 0.2)).open())
    assert found.is_complete
    assert [(one.code, one.feature, one.level, one.mean) for one in found.found] == [("feature", "region", "s", 0.0)]


@pytest.mark.parametrize("models", [1, 2])
def test_a_margin_that_cannot_be_kept_is_not_told_as_a_decision(models: int) -> None:
    """What decides can be reached; the score that plans aim for, or the other model, cannot."""
    goal = {"failure_cost": 5, "threshold": 0.5} | ({"aim": 0.95} if models == 1 else {})
    problem = ladder({"climb": CLIMB}, levels=["0", "1"], goal=goal)

    def decide_alone(frame: pd.DataFrame) -> object:
        return np.where(frame["a"] == "1", 0.9, 0.1)

    def refuse(frame: pd.DataFrame) -> object:
        return np.full(len(frame), 0.2)

    menu = sa.recommend(problem, decide_alone if models == 1 else [decide_alone, refuse])
    assert menu.no_recourse is not None
    assert menu.no_recourse.margin
    assert "with the margin that plans must keep" in str(menu.no_recourse)
    alone = sa.recommend(replace(problem, goal=replace(problem.goal, aim=None)), decide_alone)[0]
    assert menu.advice is not None
    (found,) = (one for one in menu.advice.relaxations if one.code == "margin")
    assert (found.success, found.mean) == (alone.cost.success, alone.mean)
    assert "today's model alone" in AdviceTeller(menu.advice, Teller.of()).relaxation(found)


@pytest.mark.parametrize("promise", ["narrow", "range"])
def test_a_record_with_another_number_files_one_and_not_a_range(promise: str) -> None:
    document = {**NUMBERS, "goal": {"promise": promise}}
    found = find_relaxations(Desk.of(sa.parse_problem(document), decide("age > 45 and age < 55 and term < 12")).open())
    assert [(one.code, one.feature, one.value) for one in found.found] == [("feature", "age", 50.0)]


def test_at_most_five_the_cheapest_first() -> None:
    names = [f"f{number}" for number in range(7)]
    flags = {name: {"kind": "nominal", "levels": ["no", "yes"], "mutable": False} for name in names}
    rule = " or ".join(["a == 2", *(f"{name} == yes" for name in names)])
    problem = ladder(
        {"climb": CLIMB},
        features={"a": {"kind": "ordinal", "levels": ["0", "1", "2"]}, **flags},
        classifier={"rule": rule},
        people={"p": {"a": "0", **dict.fromkeys(names, "no")}},
    )
    found = find_relaxations(Desk.of(problem).open()).found
    assert [one.code for one in found] == ["feature"] * 5  # more steps cost more than being somebody else
    assert [one.mean for one in found] == [0.0] * 5


@pytest.mark.parametrize(("name", "most"), [("MOST_IN_ALL", 0), ("MOST_IN_ALL", 1), ("MOST_EACH", 1)])
def test_it_is_said_if_there_is_too_much_to_try(name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice_module, name, most)
    levels = [str(level) for level in range(9)]
    climb = {**CLIMB, "when": "a < 3"}
    problem = ladder(
        {"climb": climb, "slip": {"cost": 1, "when": "a == 7", "change": {"a": 0}}}, levels=levels, horizon=9
    )
    found = find_relaxations(Desk.of(problem).open())
    assert (found.found, found.is_complete) == ((), False)
    monkeypatch.undo()
    assert find_relaxations(Desk.of(problem).open()).is_complete
    hurried = replace(Desk.of(problem), max_seconds=-1.0)
    assert not find_relaxations(hurried.open()).is_complete


def test_a_model_is_not_asked_again_about_what_it_has_said() -> None:
    asked: list[tuple[float, float]] = []

    def remember(frame: pd.DataFrame) -> Any:
        asked.extend(zip(frame["term"], frame["age"], strict=True))
        return (frame["age"] > 99).to_numpy()

    document = {
        **NUMBERS,
        "actions": {**NUMBERS["actions"], "lengthen": {"cost": 1, "change": {"term": "+1"}, "when": "age >= 40"}},
    }
    case = Desk.of(sa.parse_problem(document), remember).open()
    assert case.no_recourse is not None
    before = set(asked)
    asked.clear()
    find_relaxations(case)
    again = [one for one in asked if one in before]
    assert len(again) <= 2  # of those whose record was changed
