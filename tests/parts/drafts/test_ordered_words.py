"""Which words have an order that is beyond doubt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doors import find_order

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
