"""Numbers as people would say them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doors import round_outwards, roundest

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
