"""Conditions, changes, side effects and quantities on arrays of level numbers."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from graphlib import CycleError
from typing import Any

import numpy as np
import pytest

import safear as sa
from doors import (
    CodeArray,
    apply_change,
    apply_side_effects,
    evaluate_quantity,
    holds,
    order_side_effects,
)
from safear.problem import Amount, ByCase, ByLevel, Feature, Move, SetTo, SideEffect, parse_condition, parse_problem

FEATURES = {
    "skill": Feature("skill", "ordinal", ("basic", "skilled", "manager")),
    "job": Feature("job", "nominal", ("employed", "unemployed")),
    "bmi": Feature("bmi", "numeric", ("<20", "20-25", ">=25"), edges=(Decimal(20), Decimal(25))),
    "pulse": Feature("pulse", "numeric", ("low", "mid", "high"), edges=(Decimal(60), Decimal("70.5")), closed="right"),
}


def codes(**columns: list[int]) -> dict[str, CodeArray]:
    return {name: np.array(column, np.int16) for name, column in columns.items()}


def lists(columns: Mapping[str, CodeArray]) -> dict[str, list[int]]:
    return {name: column.tolist() for name, column in columns.items()}


@pytest.mark.parametrize(
    "text, expected",
    [
        ("true", [1, 1, 1]),
        ("false", [0, 0, 0]),
        ("skill == skilled", [0, 1, 0]),
        ("skill != skilled", [1, 0, 1]),
        ("skill < skilled", [1, 0, 0]),
        ("skill <= skilled", [1, 1, 0]),
        ("skill > skilled", [0, 0, 1]),
        ("skill >= skilled", [0, 1, 1]),
        ("skill in [basic, manager]", [1, 0, 1]),
        ("skill not in [basic, manager]", [0, 1, 0]),
        ("not skill == basic and not skill == manager", [0, 1, 0]),
        ("skill == basic or skill == manager", [1, 0, 1]),
        ("bmi < 20", [1, 0, 0]),
        ("bmi >= 20", [0, 1, 1]),
        ("bmi < 25.0", [1, 1, 0]),
        ("bmi >= 2.5e1", [0, 0, 1]),
        ("bmi == '<20'", [1, 0, 0]),
        ("bmi > '<20'", [0, 1, 1]),
        ("pulse <= 60", [1, 0, 0]),
        ("pulse > 60", [0, 1, 1]),
        ("pulse <= 70.5", [1, 1, 0]),
        ("pulse > 70.50", [0, 0, 1]),
    ],
)
def test_conditions(text: str, expected: list[int]) -> None:
    states = codes(skill=[0, 1, 2], bmi=[0, 1, 2], pulse=[0, 1, 2])
    result = holds(parse_condition(text), states, FEATURES)
    assert result.dtype == np.bool_
    assert result.tolist() == [bool(value) for value in expected]


@pytest.mark.parametrize(
    "effect, expected",
    [
        (Move(1), [1, 2, 2]),
        (Move(2), [2, 2, 2]),
        (Move(-1), [0, 0, 1]),
        (Move(-7), [0, 0, 0]),
        (Move(40_000), [2, 2, 2]),
        (Move(-(2**70)), [0, 0, 0]),
        (Move(2**63 - 1), [2, 2, 2]),
        (SetTo("skilled"), [1, 1, 1]),
    ],
)
def test_changes_stop_at_the_last_level(effect: Move | SetTo, expected: list[int]) -> None:
    before = codes(skill=[0, 1, 2], job=[0, 1, 0])
    after = apply_change({"skill": effect}, before, FEATURES)
    assert lists(after) == {"skill": expected, "job": [0, 1, 0]}
    assert after["skill"].dtype == np.int16
    assert lists(before) == {"skill": [0, 1, 2], "job": [0, 1, 0]}  # untouched


def _amount(number: float) -> Amount:
    return Amount.exactly(number)


@pytest.mark.parametrize(
    "quantity, expected",
    [
        (_amount(0.5), [0.5, 0.5, 0.5]),
        (Amount.between(Decimal("0.2"), Decimal("0.4")), [0.3, 0.3, 0.3]),
        # by the level that is reached, not the one before
        (ByLevel("skill", {"skilled": _amount(0.8), "manager": _amount(0.7)}), [0.8, 0.7, 0.7]),
        # by a condition on the state before; the first that holds counts
        (
            ByCase(
                (
                    (parse_condition("skill >= skilled"), _amount(0.1)),
                    (parse_condition("skill == manager"), _amount(0.2)),
                ),
                _amount(0.9),
            ),
            [0.9, 0.1, 0.1],
        ),
        (ByCase((), _amount(0.9)), [0.9, 0.9, 0.9]),
    ],
)
def test_quantities(quantity: Amount | ByLevel | ByCase, expected: list[float]) -> None:
    before, reached = codes(skill=[0, 1, 2]), codes(skill=[1, 2, 2])
    numbers = evaluate_quantity(quantity, before, reached, features=FEATURES, number=lambda a: float(a.nominal))
    assert numbers.tolist() == expected


def problem_with(*side_effects: dict[str, Any]) -> Any:
    levels = ["0", "1", "2", "3"]
    return parse_problem(
        {
            "safear": 1,
            "title": "side effects",
            "horizon": 1,
            "features": {name: {"kind": "ordinal", "levels": levels} for name in "abc"},
            "actions": {"act": {"cost": 1, "change": {"a": "+1"}}},
            "side_effects": list(side_effects),
        }
    )


@pytest.mark.parametrize(
    "side_effects, before, after, expected",
    [
        # direction: any is the default
        ([{"cause": "a", "change": {"b": "+1"}}], "000", "100", "110"),
        ([{"cause": "a", "change": {"b": "+1"}}], "200", "100", "110"),
        ([{"cause": "a", "change": {"b": "+1"}}], "100", "100", "100"),
        ([{"cause": "a", "change": {"b": "+1"}, "direction": "up"}], "000", "100", "110"),
        ([{"cause": "a", "change": {"b": "+1"}, "direction": "up"}], "200", "100", "100"),
        ([{"cause": "a", "change": {"b": "+1"}, "direction": "down"}], "200", "100", "110"),
        ([{"cause": "a", "change": {"b": "+1"}, "direction": "down"}], "000", "100", "100"),
        # by one step however far the cause has moved; stops at the last level
        ([{"cause": "a", "change": {"b": "+1"}}], "000", "300", "310"),
        ([{"cause": "a", "change": {"b": "+2"}}], "020", "120", "130"),
        # `when` looks at the state before the step
        ([{"cause": "a", "change": {"b": "+1"}, "when": "a == 0"}], "000", "100", "110"),
        ([{"cause": "a", "change": {"b": "+1"}, "when": "a == 1"}], "000", "100", "100"),
        # consequences set off others, whatever their order in the file
        ([{"cause": "a", "change": {"b": "+1"}}, {"cause": "b", "change": {"c": "3"}}], "000", "100", "113"),
        ([{"cause": "b", "change": {"c": "3"}}, {"cause": "a", "change": {"b": "+1"}}], "000", "100", "113"),
        # the total change counts: what is undone sets off nothing
        ([{"cause": "b", "change": {"c": "3"}}, {"cause": "a", "change": {"b": "-1"}}], "000", "110", "100"),
        # two side effects of one cause
        ([{"cause": "a", "change": {"b": "+1"}}, {"cause": "a", "change": {"b": "+1"}}], "000", "100", "120"),
        ([{"cause": "a", "change": {"b": "+1", "c": "+2"}}], "000", "100", "112"),
    ],
)
def test_side_effects(side_effects: list[dict[str, Any]], before: str, after: str, expected: str) -> None:
    def states(text: str) -> dict[str, CodeArray]:
        return codes(**{name: [int(digit)] for name, digit in zip("abc", text, strict=True)})

    result, fits = apply_side_effects(states(before), states(after), problem_with(*side_effects))
    assert fits.all()
    assert lists(result) == lists(states(expected))


def test_side_effects_are_told_apart_by_state() -> None:
    problem = problem_with({"cause": "a", "direction": "up", "change": {"b": "+1"}})
    before, after = codes(a=[0, 1, 2], b=[0, 0, 0], c=[0, 0, 0]), codes(a=[1, 1, 1], b=[0, 0, 0], c=[0, 0, 0])
    assert lists(apply_side_effects(before, after, problem)[0])["b"] == [1, 0, 0]


def test_causes_come_before_consequences() -> None:
    first = SideEffect("a", {"b": Move(1)})
    second = SideEffect("b", {"c": Move(1)})
    third = SideEffect("c", {"d": Move(1)})
    assert order_side_effects([third, first, second]) == [first, second, third]
    assert order_side_effects([]) == []


def test_a_circle_of_side_effects_is_refused() -> None:
    with pytest.raises(CycleError):
        order_side_effects([SideEffect("a", {"b": Move(1)}), SideEffect("b", {"a": Move(1)})])


def test_side_effects_in_proportion_are_never_clipped() -> None:
    """Three years of work are three years of age; whoever would be too old for that is not offered the work."""
    work = {"range": [0, 6], "step": 2, "unit": "years"}
    document = {
        "safear": 1,
        "title": "Work",
        "horizon": 1,
        "features": {
            "work": work,
            "age": {"range": [18, 24], "unit": "years"},
            "grade": {"kind": "ordinal", "levels": ["a", "b", "c"]},
        },
        "classifier": {"rule": "grade == c"},
        "actions": {"work on": {"cost": 1, "change": {"work": {"by": "4 years"}}}},
        "side_effects": [
            {"cause": "work", "change": {"age": {"by": "1 years", "per": "1 years"}}},
            {"cause": "work", "change": {"grade": {"by": 1, "per": 2}}},
        ],
    }
    problem = sa.parse_problem(document)
    assert sa.parse_problem(sa.dump_problem(problem)) == problem
    ends = {}
    for age in (18, 20, 21, 24):
        mdp = sa.compile_mdp(problem, start={"work": 0, "age": age, "grade": "a"})
        ends[age] = [tuple(mdp.person(state).values()) for state in range(mdp.n_states)][1:]
    assert ends == {18: [("4", "22", "b")], 20: [("4", "24", "b")], 21: [], 24: []}
    short = sa.compile_mdp(problem, start={"work": 4, "age": 20, "grade": "a"})  # one level: no whole two
    assert [tuple(short.person(state).values()) for state in range(short.n_states)][1:] == [("6", "22", "a")]
