"""Features and problems as data: levels of raw numbers, what works, what has intervals."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from decimal import Decimal
from typing import Literal

import pytest

from doors import as_decimal
from mistakes import LOAN, edited
from safear.problem import Action, Amount, Feature, Outcome, parse_problem


def bmi(closed: Literal["left", "right"]) -> Feature:
    edges = (Decimal(20), Decimal("25.5"))
    return Feature("bmi", "numeric", ("low", "mid", "high"), edges=edges, closed=closed)


@pytest.mark.parametrize(
    "number, left, right",
    [
        ("-1e9", "low", "low"),
        ("19.999999999999999999999", "low", "low"),
        ("20", "mid", "low"),
        ("20.0", "mid", "low"),
        ("2e1", "mid", "low"),
        ("20.000000000000000000001", "mid", "mid"),
        ("25.49", "mid", "mid"),
        ("25.5", "high", "mid"),
        ("25.50", "high", "mid"),
        ("25.51", "high", "high"),
        ("1e999", "high", "high"),
    ],
)
def test_levels_of_raw_numbers(number: str, left: str, right: str) -> None:
    assert bmi("left").level_of(Decimal(number)) == left
    assert bmi("right").level_of(Decimal(number)) == right


@pytest.mark.parametrize("closed, below, above", [("left", "<", ">="), ("right", "<=", ">")])
def test_edges_can_be_compared_with_if_they_separate_levels(
    closed: Literal["left", "right"], below: str, above: str
) -> None:
    feature = bmi(closed)
    for text, position in (("20", 1), ("20.0", 1), ("25.5", 2), ("2.55e1", 2), ("22", None), ("low", None)):
        assert feature.edge_position(text, below) == position
        assert feature.edge_position(text, above) == position
    for operator in {"<", "<=", ">", ">=", "==", "!="} - {below, above}:
        assert feature.edge_position("20", operator) is None


def test_only_numeric_features_have_edges_to_compare_with() -> None:
    assert Feature("age", "ordinal", ("20", "25")).edge_position("20", "<") is None


@pytest.mark.parametrize(
    "given, number",
    [
        ("1.50", Decimal("1.5")),
        (" 7 ", Decimal(7)),
        (1.1, Decimal("1.1")),
        ("1e400", Decimal("1e400")),
        ("nan", None),
        ("-inf", None),
        (float("inf"), None),
        ("seven", None),
        ("", None),
        (None, None),
        (True, None),
    ],
)
def test_finite_decimals(given: object, number: Decimal | None) -> None:
    assert as_decimal(given) == number


@pytest.mark.parametrize("kind, ordered", [("ordinal", True), ("numeric", True), ("nominal", False)])
def test_order(kind: Literal["ordinal", "nominal", "numeric"], ordered: bool) -> None:
    assert Feature("x", kind, ("a", "b")).is_ordered is ordered


def test_the_first_outcome_works_unless_it_is_said_otherwise() -> None:
    outcomes = (Outcome(), Outcome(), Outcome(works=True))
    action = Action("a", Amount.exactly(1), outcomes)
    assert [action.works(number) for number in range(3)] == [True, False, True]
    assert not Action("a", Amount.exactly(1), (Outcome(works=False), Outcome())).works(0)


def test_the_first_person_is_the_default() -> None:
    text = LOAN + "  bob: {age: adult, skill: basic, job: employed, sex: male, bmi: <20}\n"
    problem = parse_problem(text)
    assert list(problem.people) == ["ann", "bob"]
    assert problem.default_person == problem.people["ann"]
    assert parse_problem(LOAN.split("people:")[0]).default_person is None


def test_intervals_are_found() -> None:
    assert parse_problem(LOAN).has_intervals
    assert not parse_problem(edited(("chance: [0.7, 0.9]", "chance: 0.8"))).has_intervals
    assert not parse_problem(edited(("chance: [0.7, 0.9]", "chance: [0.8, 0.8]"))).has_intervals
    inside = edited(("chance: [0.7, 0.9]", "chance: [{when: age == young, chance: [0.1, 0.2]}, 0.8]"))
    assert parse_problem(inside).has_intervals


def test_quantities_are_named_by_action_and_outcome() -> None:
    places = [path for path, _ in parse_problem(LOAN).quantities()]
    found = [(path[1], path[3] if path[2] == "outcomes" else None) for path in places]
    assert found == [
        ("learn", None),
        ("learn", 0),
        ("change job", None),
        ("change job", 0),
        ("change job", 1),  # its chance
        ("change job", 1),  # its cost
        ("diet", None),
        ("diet", 0),
    ]


def test_problems_show_themselves_briefly() -> None:
    assert repr(parse_problem(LOAN)) == "Problem('Loan': 5 features, 3 actions, horizon 12)"


def test_problems_are_frozen_and_changed_by_copies() -> None:
    problem = parse_problem(LOAN)
    with pytest.raises(FrozenInstanceError):
        problem.horizon = 3  # type: ignore[misc]  # what is tested
    shorter = problem.with_horizon(3)
    assert (shorter.horizon, problem.horizon) == (3, 12)
    assert shorter.with_horizon(12) == problem
