"""Amounts: exact decimals, intervals and their middle."""

from __future__ import annotations

from decimal import Decimal

import pytest

from doors import amounts
from safear.problem import Amount, ByCase, ByLevel, parse_condition


@pytest.mark.parametrize(
    "given, number",
    [
        (0.1, "0.1"),
        ("0.1", "0.1"),
        (Decimal("0.1"), "0.1"),
        (1, "1"),
        (1.0, "1.0"),
        (1e-7, "1e-7"),
        ("1e-400", "1e-400"),
        (1 / 3, "0.3333333333333333"),
        ("0.12345678901234567890123456789012345", "0.12345678901234567890123456789012345"),
    ],
)
def test_a_number_is_taken_as_it_prints(given: float | str | Decimal, number: str) -> None:
    amount = Amount.exactly(given)
    assert amount == Amount(Decimal(number), Decimal(number), Decimal(number))
    assert not amount.is_interval


def test_the_middle_of_an_interval_is_nominal() -> None:
    assert Amount.between(Decimal("0.7"), Decimal("0.9")) == Amount(Decimal("0.8"), Decimal("0.7"), Decimal("0.9"))
    assert Amount.between(Decimal("0.1"), Decimal("0.2")).nominal == Decimal("0.15")


def test_another_nominal_value_can_be_given() -> None:
    amount = Amount.between(Decimal("0.7"), Decimal("0.9"), Decimal("0.85"))
    assert (amount.low, amount.nominal, amount.high) == (Decimal("0.7"), Decimal("0.85"), Decimal("0.9"))
    assert amount.is_interval


def test_an_interval_without_width_is_a_number() -> None:
    assert Amount.between(Decimal("0.7"), Decimal("0.70")) == Amount.exactly("0.7")
    assert not Amount.between(Decimal("0.7"), Decimal("0.7")).is_interval


def test_all_amounts() -> None:
    one, two, three = (Amount.exactly(number) for number in (1, 2, 3))
    assert list(amounts(one)) == [one]
    assert list(amounts(ByLevel("skill", {"basic": two, "skilled": one}))) == [two, one]
    cases = ((parse_condition("a == b"), three), (parse_condition("a == c"), one))
    assert list(amounts(ByCase(cases, two))) == [three, one, two]
