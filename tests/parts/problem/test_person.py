"""People: levels by name or by raw number, and everything that is wrong with a record."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

from mistakes import LOAN, whole
from safear.errors import PersonError
from safear.problem import Problem, parse_problem, read_person

ANN = {"age": "young", "skill": "basic", "job": "employed", "sex": "female", "bmi": 22.5}


def problem_with(**features: dict[str, Any]) -> Problem:
    """A problem with these features and one more, `act`, that an action changes."""
    return parse_problem(
        {
            "safear": 1,
            "title": "people",
            "horizon": 1,
            "features": features | {"act": {"kind": "nominal", "levels": ["x", "y"]}},
            "actions": {"act": {"cost": 1, "change": {"act": "y"}}},
        }
    )


def level(feature: dict[str, Any], value: object) -> str:
    return read_person(problem_with(it=feature), {"it": value, "act": "x"})["it"]


def refused(problem: Problem, record: dict[Any, object]) -> str:
    with pytest.raises(PersonError) as caught:
        read_person(problem, record)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_a_person_has_a_level_for_each_feature_in_the_order_of_the_problem() -> None:
    record = dict(reversed(ANN.items()))
    person = read_person(parse_problem(LOAN), record)
    assert list(person.items()) == [
        ("age", "young"),
        ("skill", "basic"),
        ("job", "employed"),
        ("sex", "female"),
        ("bmi", "20-25"),
    ]
    assert read_person(parse_problem(LOAN), person) == person


@pytest.mark.parametrize(
    "value, left, right",
    [
        (19, "<20", "<=20"),
        (19.999, "<20", "<=20"),
        (20, "20-25.5", "<=20"),
        (20.0, "20-25.5", "<=20"),
        ("20", "20-25.5", "<=20"),
        (" 20.00 ", "20-25.5", "<=20"),
        (20.001, "20-25.5", "20-25.5"),
        (25.49, "20-25.5", "20-25.5"),
        (25.5, ">=25.5", "20-25.5"),
        ("25.50", ">=25.5", "20-25.5"),
        (Decimal("25.5"), ">=25.5", "20-25.5"),
        (np.float64(25.5), ">=25.5", "20-25.5"),
        (np.int64(20), "20-25.5", "<=20"),
        (26, ">=25.5", ">25.5"),
        (-1e300, "<20", "<=20"),
        (10**400, ">=25.5", ">25.5"),
    ],
)
def test_raw_numbers_fall_into_levels(value: object, left: str, right: str) -> None:
    assert level({"kind": "numeric", "edges": [20, 25.5]}, value) == left
    assert level({"kind": "numeric", "edges": [20, 25.5], "closed": "right"}, value) == right


@pytest.mark.parametrize("name", ["<20", "20-25", ">=25"])
def test_numeric_levels_can_be_named(name: str) -> None:
    assert level({"kind": "numeric", "edges": [20, 25]}, name) == name


@pytest.mark.parametrize(
    "levels, value, name",
    [
        (["1", "2"], 1, "1"),
        (["1", "2"], 2.0, "2"),
        (["1", "2"], np.float64(2.0), "2"),
        (["1", "2"], np.int64(2), "2"),
        (["-1", "0"], -0.0, "0"),
        (["-1", "0"], -1.0, "-1"),
        (["1.0", "1"], 1.0, "1.0"),
        (["1", "1.5"], 1.5, "1.5"),
        (["true", "false"], True, "true"),
        (["true", "false"], np.False_, "false"),
        (["True", "False"], True, "True"),
        (["True", "False"], np.False_, "False"),
        (["true", "True"], True, "True"),
        (["007", "7"], "007", "007"),
        (["no", "yes"], "no", "no"),
        (["null", "~"], "~", "~"),
        (["Little (Res)", "x"], "Little (Res)", "Little (Res)"),
    ],
)
@pytest.mark.parametrize("kind", ["ordinal", "nominal"])
def test_values_that_name_a_level(kind: str, levels: list[str], value: object, name: str) -> None:
    assert level({"kind": kind, "levels": levels}, value) == name


@pytest.mark.parametrize("value", [1.5, 3.0, "1.0", True, " 1", "nan", float("inf"), ["1"]])
def test_values_that_name_no_level(value: object) -> None:
    problem = problem_with(it={"kind": "ordinal", "levels": ["1", "2"]})
    said = refused(problem, {"it": value, "act": "x"}).splitlines()
    assert said[0] == f"it: '{value}' is not a level of 'it'"


@pytest.mark.parametrize("value", ["heavy", "nan", float("-inf"), "1e999x", True, [20], "20,5"])
def test_values_that_are_no_number(value: object) -> None:
    said = refused(parse_problem(LOAN), ANN | {"bmi": value}).splitlines()
    assert said[0] == f"bmi: '{value}' is neither a number nor a level of 'bmi'"


@pytest.mark.parametrize("value", [None, float("nan"), np.float64("nan"), pd.NA, ""])
def test_empty_cells_are_missing(value: object) -> None:
    problem = parse_problem(LOAN)
    assert refused(problem, ANN | {"bmi": value}) == whole(
        """
        bmi: 'bmi' is missing
            a number, or one of: <20, 20-25, >=25
        """
    )
    assert refused(problem, ANN | {"skill": value}).startswith("skill: 'skill' is missing\n    one of: ")


def test_every_mistake_is_told(snapshot: SnapshotAssertion) -> None:
    record = {"agee": "young", "skill": "Basic", "job": "employed", "sex": 3, "height": "tall"}
    assert refused(parse_problem(LOAN), record) == snapshot


def test_names_that_are_no_text_are_told() -> None:
    nearly = {name: level for name, level in ANN.items() if name != "job"}
    said = refused(parse_problem(LOAN), {**nearly, 3: "x"})
    assert said.startswith(("3: there is no feature '3'\n", "[3]: there is no feature '3'\n"))


def test_other_columns_are_carried_along() -> None:
    problem = parse_problem(LOAN)
    assert read_person(problem, {**ANN, "customer": 17}) == read_person(problem, ANN)


def test_a_missing_feature_with_many_levels_is_told_briefly() -> None:
    problem = problem_with(it={"kind": "ordinal", "levels": [f"l{n}" for n in range(100)]})
    said = refused(problem, {"act": "x"})
    assert said.startswith("it: 'it' is missing\n    one of: l0, l1, ")
    assert len(said) < 200


def test_constraints_hold_for_people() -> None:
    problem = parse_problem(LOAN)
    assert refused(problem, ANN | {"skill": "manager", "job": "unemployed"}) == (
        "breaks the constraint 'not (job == unemployed and skill == manager)'"
    )
    assert read_person(problem, ANN | {"skill": "manager"})["skill"] == "manager"


def test_every_broken_constraint_is_told_by_raw_numbers_too() -> None:
    problem = parse_problem(LOAN.replace("people:\n", "  - bmi < 25 or skill != basic\n  - bmi >= 20\npeople:\n"))
    assert refused(problem, ANN | {"bmi": 25}) == "breaks the constraint 'bmi < 25 or skill != basic'"
    assert refused(problem, ANN | {"bmi": 19.9, "skill": "manager", "job": "unemployed"}).splitlines() == [
        "breaks the constraint 'not (job == unemployed and skill == manager)'",
        "breaks the constraint 'bmi >= 20'",
    ]
    assert read_person(problem, ANN | {"bmi": 20})["bmi"] == "20-25"
