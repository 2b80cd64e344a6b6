"""Columns of numbers and truth values: what a cell means, whatever its type, and which cells are refused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from doors import NumberColumn
from lanes import scaled

COST = NumberColumn("cost:learn", 0.0, 1e15)
CHANCE = NumberColumn("chance:learn")
FLAG = NumberColumn("forbid:learn", is_flag=True)
Meaning = float | str | None  # a number, missing (None), or "wrong"
WRONG = "wrong"


def read(column: NumberColumn, cells: Any) -> list[Meaning]:
    """What DuckDB makes of the cells of an Arrow array."""
    with duckdb.connect() as connection:
        connection.register("people", pa.table({"x": cells}))
        ((_, kind, *_),) = connection.execute("DESCRIBE SELECT x FROM people").fetchall()
        value, is_wrong = column.expressions("x", kind)
        found = connection.execute(f"SELECT {value}, {is_wrong}, typeof({value}) FROM people").fetchall()
    assert {kind for _, _, kind in found} == {"DOUBLE"}
    assert all(isinstance(wrong, bool) for _, wrong, _ in found)
    return [WRONG if wrong else number for number, wrong, _ in found]


def bounded(column: NumberColumn, numbers: Sequence[float | None]) -> list[Meaning]:
    """What numbers mean: those out of bounds are wrong, and NaN is missing."""
    return [None if n is None or math.isnan(n) else n if column.low <= n <= column.high else WRONG for n in numbers]


# -------------------------------------------------------------------------------------------------------------- numbers


@settings(max_examples=scaled(15))
@given(
    column=st.sampled_from([COST, CHANCE]),
    numbers=st.lists(st.none() | st.floats() | st.floats(0, 1) | st.floats(0, 1e15), min_size=1, max_size=40),
)
@example(column=COST, numbers=[0.0, -0.0, 1e15, 1.0000000000000002e15, 5e-324, -5e-324, math.inf, -math.inf, math.nan])
@example(column=CHANCE, numbers=[0.0, 1.0, 1.0000000000000002, 0.9999999999999999, 1.5, None])
def test_doubles(column: NumberColumn, numbers: list[float | None]) -> None:
    assert read(column, pa.array(numbers, pa.float64())) == bounded(column, numbers)


@settings(max_examples=scaled(10))
@given(numbers=st.lists(st.none() | st.floats(0, 1, width=32), min_size=1, max_size=40))
@example(numbers=[0.10000000149011612, 0.30000001192092896])
def test_narrow_floats_are_meant_as_they_are_written(numbers: list[float | None]) -> None:
    written = [None if n is None else float(str(np.float32(n))) for n in numbers]
    assert read(CHANCE, pa.array(numbers, pa.float32())) == written


def test_missing_narrow_floats() -> None:
    assert read(CHANCE, pa.array([0.25, math.nan, None, math.inf], pa.float32())) == [0.25, None, None, WRONG]


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int32", "int64", "uint64"])
def test_whole_numbers(kind: str) -> None:
    cells = [0, 1, 2, 100, None] + ([] if kind.startswith("u") else [-1])
    assert read(COST, pa.array(cells, getattr(pa, kind)())) == [0, 1, 2, 100, None, WRONG][: len(cells)]
    assert read(CHANCE, pa.array(cells, getattr(pa, kind)())) == [0, 1, WRONG, WRONG, None, WRONG][: len(cells)]


def test_decimals() -> None:
    cells = [Decimal("0.10"), Decimal("999999999999999.99"), Decimal("-0.01"), None, Decimal("0.30")]
    column = pa.array(cells, pa.decimal128(20, 2))
    assert read(COST, column) == [0.1, 999999999999999.99, WRONG, None, 0.3]
    assert read(CHANCE, column) == [0.1, WRONG, WRONG, None, 0.3]


TEXTS = {
    "": None, "   ": None, "0": 0.0, "1": 1.0, " 0.25 ": 0.25, "0.1": 0.1, ".5": 0.5, "1e-3": 0.001, "1E-3": 0.001,
    "+0.5": 0.5, "-0.5": WRONG, "1.5": WRONG, "nan": WRONG, "NaN": WRONG, "inf": WRONG, "-inf": WRONG, "x": WRONG,
    "0,5": WRONG, "0.5 months": WRONG, "true": WRONG, "NA": WRONG, "null": WRONG, "1e400": WRONG, "0.3.1": WRONG,
    "-1e-400": 0.0, "1e-400": 0.0, "--1": WRONG, "½": WRONG, "50%": WRONG,
}  # fmt: skip


def test_text() -> None:
    assert dict(zip(TEXTS, read(CHANCE, pa.array(list(TEXTS))), strict=True)) == TEXTS


@settings(max_examples=scaled(15))
@given(numbers=st.lists(st.floats(0, 1e15) | st.decimals(0, 10**15, places=3).map(float), min_size=1, max_size=30))
def test_numbers_as_text(numbers: list[float]) -> None:
    assert read(COST, pa.array([repr(number) for number in numbers])) == numbers


def test_other_types_are_refused() -> None:
    assert read(COST, pa.array([True, False, None])) == [WRONG, WRONG, None]


# --------------------------------------------------------------------------------------------------------- truth values


@pytest.mark.parametrize(
    "cells, expected",
    [
        (pa.array([True, False, None]), [1, 0, None]),
        (pa.array([0, 1, 2, -1, None], pa.int8()), [0, 1, WRONG, WRONG, None]),
        (pa.array([0, 1, 2], pa.uint64()), [0, 1, WRONG]),
        (pa.array([0.0, 1.0, 0.5, math.nan, None, math.inf]), [0, 1, WRONG, None, None, WRONG]),
        (pa.array([0.0, 1.0, math.nan], pa.float32()), [0, 1, None]),
        (pa.array([Decimal(0), Decimal(1), Decimal(2)], pa.decimal128(3, 1)), [0, 1, WRONG]),
        (pa.array(["true", "false", "True", "FALSE", " true ", "1", "0"]), [1, 0, 1, 0, 1, 1, 0]),
        (pa.array(["", "  ", None]), [None, None, None]),
        (pa.array(["maybe", "2", "-1", "x", "nan"]), [WRONG] * 5),
        (pa.array(["1.0", "0.0"]), [1, 0]),  # what pandas writes for a column in which some are missing
    ],
    ids=["bool", "int8", "uint64", "double", "float", "decimal", "words", "empty", "bad", "written by pandas"],
)
def test_flags(cells: Any, expected: list[Meaning]) -> None:
    assert read(FLAG, cells) == expected


# ------------------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    "column, value, cause",
    [
        (COST, "-1", "'-1' is not a number from 0 to 1e+15"),
        (CHANCE, 1.5, "'1.5' is not a number from 0 to 1"),
        (FLAG, "maybe", "'maybe' is neither true nor false"),
    ],
)
def test_complaints(column: NumberColumn, value: object, cause: str) -> None:
    found = column.complain(value)
    assert str(found) == f"{column.name}: {cause}\n    leave the cell empty to keep the problem's value"
    assert (found.code, found.values) == ("not_a_truth" if column.is_flag else "out_of_range", {"value": value})
