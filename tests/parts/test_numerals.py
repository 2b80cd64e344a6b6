"""One form of numbers: in problem files, records, tables, objectives and options."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from doors import as_decimal, find_listed, read_level, reads_as_number
from safear import parse_objective, parse_problem
from safear.errors import ObjectiveError, ProblemError
from safear.people import load_people, read_population

NO_NUMBERS = [
    "1_0",
    "１０",
    "٣",
    "1٣",
    "0x10",
    "0o7",
    "0b1",
    "1:30",
    "inf",
    "-inf",
    "nan",
    "1__0",
    "+-1",
    "1 0",
    "1,5",
    "",
    "½",
    "\x1c10",
    "10\x1f",
]
NUMBERS = {"10": 10, " 10 ": 10, "+10": 10, "-0.5": -0.5, ".5": 0.5, "5.": 5, "1e5": 1e5, "1E-2": 0.01, "007": 7}

PROBLEM = """
safear: 1
title: t
horizon: {horizon}
confidence: {confidence}
features:
  x: {{kind: numeric, edges: [{edge}, 50]}}
goal: {{threshold: {threshold}, failure_cost: {failure}}}
classifier: {{rule: x >= 50}}
actions:
  a: {{cost: {cost}, chance: {chance}, change: {{x: {{by: {by}}}}}, at_most: {most}}}
"""
RIGHT = {
    "horizon": "3",
    "confidence": "0.9",
    "edge": "10",
    "threshold": "0.5",
    "failure": "5",
    "cost": "2",
    "chance": "0.5",
    "by": "1",
    "most": "2",
}


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_number(text: str) -> None:
    assert not reads_as_number(text)
    assert as_decimal(text) is None


@pytest.mark.parametrize(("text", "number"), NUMBERS.items())
def test_what_is_a_number(text: str, number: float) -> None:
    assert reads_as_number(text)
    assert as_decimal(text) == Decimal(str(number))
    assert as_decimal(np.float64(number)) == Decimal(str(number))


def test_the_problem_is_right_with_right_numbers() -> None:
    assert parse_problem(PROBLEM.format(**RIGHT)).horizon == 3


@pytest.mark.parametrize("field", RIGHT)
@pytest.mark.parametrize("text", ["1_0", "１", "0_5", "0x1", "0o7", "1:30", "inf", "'1_0'"])
def test_problem_files_take_no_other_numbers(field: str, text: str) -> None:
    with pytest.raises(ProblemError) as raised:
        parse_problem(PROBLEM.format(**(RIGHT | {field: text})))
    assert raised.value.mistakes[0].place.line


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_cells_and_records_take_no_other_numbers(text: str, tmp_path: Path) -> None:
    problem = parse_problem(PROBLEM.format(**RIGHT))
    assert read_level(problem.features[0], text) is None
    path = tmp_path / "people.csv"
    path.write_text(f'x\n"{text}"\n5\n', encoding="utf-8")
    population = read_population(problem, path, skip_bad=tmp_path / "bad.csv")
    assert population.skipped == 1
    with pytest.raises(Exception, match="x"):
        load_people(path, problem)


@pytest.mark.parametrize(("text", "number"), NUMBERS.items())
def test_cells_take_numbers(text: str, number: float, tmp_path: Path) -> None:
    problem = parse_problem(PROBLEM.format(**RIGHT))
    level = problem.features[0].level_at(Decimal(str(number)))
    assert read_level(problem.features[0], text) == level
    path = tmp_path / "people.csv"
    path.write_text(f'x\n"{text}"\n', encoding="utf-8")
    assert problem.features[0].levels[read_population(problem, path).codes[0, 0]] == level


@pytest.mark.parametrize("text", ["mean-std:1_0", "mean-std:１", "cvar:0_9", "budget:inf", "success-first:mean~1_0"])
def test_objectives_take_no_other_numbers(text: str) -> None:
    with pytest.raises(ObjectiveError, match="not a number"):
        parse_objective(text)


PLACES = {"1": 0, "12": 11, "007": 6, "0" * 5000 + "3": 2}
NO_PLACES = ["0", "", "13", "-1", "1.0", "x", "９", "²", "9" * 5000]


def test_places_in_lists() -> None:
    assert {text: find_listed(text, 12) for text in PLACES} == PLACES
    assert [find_listed(text, 12) for text in NO_PLACES] == [None] * len(NO_PLACES)
