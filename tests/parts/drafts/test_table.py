"""What kind a column is."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from doors import ANY, ColumnType, find_step, study_column
from doors import COLUMN_NUMBER as NUMBER

MANY = 250


@pytest.mark.parametrize(
    ("cells", "wanted", "expected"),
    [
        ([1, 2, 3], ANY, "numeric"),
        (["1", "2", "3"], ANY, "nominal"),
        (["1", "2", None], NUMBER, "numeric"),
        (["1", "x"], NUMBER, "nominal"),
        ([1, 2, 3], ColumnType("known", (1, 2, 3)), "nominal"),
        ([1.5, np.nan, 2.5], ANY, "numeric"),
        ([1.0, np.inf], ANY, "nominal"),
        ([True, False], ANY, "boolean"),
        ([True, None, False], ANY, "boolean"),
        (["under 10", "10 or more"], ANY, "ordinal"),
        (["red", "blue"], ANY, "nominal"),
        (pd.Categorical(["b", "a"], ["b", "a"], ordered=True), ANY, "ordinal"),
        (pd.Categorical(["b", "a"]), ANY, "nominal"),
        (pd.array([1, None, 3], dtype="Int64"), ANY, "numeric"),
        (pd.array(["a", None], dtype="string"), ANY, "constant"),
        ([7, 7], ANY, "constant"),
        ([None, None], ANY, "empty"),
        ([np.nan, np.nan], ANY, "empty"),
        (pd.to_datetime(["2020-01-01", "2021-01-01"]), ANY, "date"),
        (["2020-01-01", "2021-01-01"], ANY, "date"),
        ([f"c{i}" for i in range(MANY)], ANY, "identifier"),
        ([f"c{i % 125}" for i in range(MANY)], ANY, "many"),
        (list(range(MANY)), ANY, "identifier"),
        (list(range(0, 2 * MANY, 2)), ANY, "numeric"),
        (["x" * 300, "y", "y"], ANY, "many"),
    ],
)
def test_kinds(cells: Any, wanted: ColumnType, expected: str) -> None:
    assert study_column(pd.Series(cells, name="x"), wanted).kind == expected


@pytest.mark.parametrize("name", ["id", "ID", "Unnamed: 0"])
def test_names_of_identifiers(name: str) -> None:
    assert study_column(pd.Series([3, 1, 2], name=name), ANY).kind == "identifier"


@pytest.mark.parametrize(
    ("numbers", "step"),
    [
        ([1, 2, 3], "1"),
        ([100, 250], "50"),
        ([10_000, 20_000, 500_000], "10000"),
        ([0.5, 2], "0.5"),
        ([0.25, 0.3], "0.05"),
        ([0.251, 0.3], None),
        ([7, 7.5], "0.5"),
        ([*range(0, 100_000, 100), 17], "100"),  # one in a thousand is odd
        ([np.nan, -20, 30], "10"),
    ],
)
def test_steps(numbers: list[float], step: str | None) -> None:
    assert find_step(np.array(numbers, dtype=float)) == (None if step is None else Decimal(step))
