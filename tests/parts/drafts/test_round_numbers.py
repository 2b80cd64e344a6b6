"""Round numbers, and the order of words."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doors import ANY, ColumnType, find_order, find_step, round_outwards, roundest, study_column
from doors import COLUMN_NUMBER as NUMBER

# ------------------------------------------------------------------------------------ Numbers as people would say them


NUMBERS = st.decimals(-(10**7), 10**7, places=3)


@pytest.mark.parametrize(
    ("low", "high", "near", "expected"),
    [
        ("11", "17", "13", "15"),
        ("1000", "9000", "3487", "5000"),
        ("1201", "1399", "1234", "1300"),
        ("1201", "1249", "1234", "1230"),
        ("0.31", "0.37", "0.34", "0.35"),
        ("-3", "8", "1", "0"),
        ("12", "12", "12", "12"),
    ],
)
def test_roundest(low: str, high: str, near: str, expected: str) -> None:
    assert roundest(Decimal(low), Decimal(high), Decimal(near)) == Decimal(expected)


def test_nothing_in_between() -> None:
    assert roundest(Decimal(2), Decimal(1), Decimal(1)) is None
    assert roundest(Decimal(11), Decimal(19), Decimal(13), step=Decimal(10)) is None


@given(NUMBERS, NUMBERS, NUMBERS, st.sampled_from([None, Decimal(1), Decimal(5), Decimal(10), Decimal("0.01")]))
def test_roundest_lies_in_between_and_none_has_fewer_digits(
    one: Decimal, other: Decimal, near: Decimal, step: Decimal | None
) -> None:
    low, high = sorted((one, other))
    found = roundest(low, high, near, step=step)
    if found is None:
        assert step is not None
        assert (low // step) == (high // step) or (low / step) // 1 == (high / step) // 1
        return
    assert low <= found <= high
    assert step is None or not found % step
    if step is None and found:
        coarser = Decimal(10).scaleb(max(int(found.normalize().as_tuple().exponent), -3))
        multiples = [n * coarser for n in (int(low / coarser), int(low / coarser) + 1, int(high / coarser))]
        assert not any(low <= number <= high for number in multiples)


@given(NUMBERS)
def test_rounding_outwards(number: Decimal) -> None:
    low, high = (round_outwards(number, 2, up=up) for up in (False, True))
    assert low <= number <= high
    assert high - low <= max(abs(number), Decimal(1)) / 10
    assert low * number >= 0
    assert high * number >= 0


# ---------------------------------------------------------------------- Which words have an order that is beyond doubt


ORDERED = [
    "none|under 100|under 500|under 1000|1000 or more",
    "unemployed|under 1 year|under 4 years|under 7 years|7 years or more",
    "<20|20-25|>=25",
    "18-25|26-35|36+",
    "< 1 year|1-4 years|4-7 years|>= 7 years",
    "up to 1,000|1,000 to 5,000|over 5,000",
    "0-9|10-19|20-29|30 and over",
    "Low|Medium|High",
    "very_low|low|high",
    "jan|feb|dec",
    "Monday|Tuesday|Sunday",
]
UNORDERED = [
    "none|overdrawn|under 200|200 or more",  # which of the first two is less?
    "A11|A12|A13|A14",
    "yes|no",
    "10th|11th|12th",
    "high|low",  # of what? two words are no scale
    "10-30|20-40|50+",  # bands that overlap
    "no|none|under 10|10 or more",
    "red|green|blue",
    "under 10|Under 10|10 or more",
    "under 10|5 to 20|20 or more",
]


@pytest.mark.parametrize("words", ORDERED)
@pytest.mark.parametrize("turn", [1, -1])
def test_words_with_an_order(words: str, turn: int) -> None:
    assert find_order(words.split("|")[::turn]) == tuple(words.split("|"))


@pytest.mark.parametrize("words", UNORDERED)
def test_no_order_is_made_up(words: str) -> None:
    assert find_order(words.split("|")) is None


@given(st.lists(st.text(max_size=8), max_size=6, unique=True))
def test_an_order_has_all_the_words(words: list[str]) -> None:
    found = find_order(words)
    assert found is None or sorted(found) == sorted(words)


# ----------------------------------------------------------------------------------------------- What kind a column is


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
