"""Sums and exponentials that are the same everywhere are also right."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doors import (
    dot,
    log_of,
    steady_exp,
    steady_expm1,
    steady_log1p,
    weigh_exactly,
)

DIGITS = 60
ULPS = 2.0


def count_ulps(found: Iterable[float], exact: list[Decimal]) -> float:
    """How many units of the last place the worst is off."""
    with localcontext() as context:
        context.prec = DIGITS
        pairs = zip(found, exact, strict=True)
        return max(float(abs(Decimal(one) - other) / Decimal(math.ulp(float(other)))) for one, other in pairs)


def test_exponentials_and_logarithms_are_right_to_the_last_digits() -> None:
    rng = np.random.default_rng(3)
    x = (-np.concatenate([10.0 ** rng.uniform(-15, 2.8, 300), rng.random(300) * 3])).tolist()
    y = (-np.concatenate([10.0 ** rng.uniform(-17, -0.31, 300), rng.random(300) / 2])).tolist()
    m = np.concatenate([10.0 ** rng.uniform(-300, 2, 300), rng.random(300)]).tolist()
    with localcontext() as context:
        context.prec = DIGITS
        assert count_ulps(map(steady_exp, x), [Decimal(value).exp() for value in x]) < ULPS
        assert count_ulps(map(steady_expm1, x), [Decimal(value).exp() - 1 for value in x]) < ULPS
        assert count_ulps(map(steady_log1p, y), [(1 + Decimal(value)).ln() for value in y]) < ULPS
        assert count_ulps((log_of(value, -1.0) for value in m), [Decimal(value).ln() for value in m]) < ULPS
    assert [steady_exp(each) for each in (0.0, -800.0, -1e300, 700.0)] == [1.0, 0.0, 0.0, pytest.approx(math.exp(700))]
    assert [steady_expm1(0.0), steady_expm1(-800.0)] == [0.0, -1.0]
    assert [log_of(1.0, 0.0), log_of(0.0, -1.0)] == [0.0, -math.inf]
    assert log_of(1 - 1e-14, -1e-14) == pytest.approx(math.log1p(-1e-14), rel=1e-15)
    assert log_of(0.25, -0.75) == math.log(0.25)
    high = float(Fraction(round(Fraction(math.log(2)) * 2**40), 2**40))  # as it is written: 0.3 is 1.2 / 4, not 0.6 / 2
    low = float(Fraction("0.69314718055994530941723212145817656808") - Fraction(high))
    for mass in (0.25, 0.26, 0.3, 0.33):
        assert log_of(mass, -0.75) == -2 * high + (-2 * low + steady_log1p(4 * mass - 1))


@given(
    n=st.sampled_from([1, 2, 3, 1000, 32_561, 2**31, 2**48]),
    values=st.lists(st.floats(-1e6, 1e6) | st.floats(0, 1) | st.just(0.0), min_size=1, max_size=9),
    seed=st.integers(0, 99),
)
def test_weighed_sums_are_exact(n: int, values: list[float], seed: int) -> None:
    """Up to one rounding at the end, however many people there are and however much cancels."""
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(n, np.full(len(values), 1 / len(values)), size=3).astype(np.float64)
    columns = np.stack([np.array(values), np.array(values)[::-1] / 3], axis=1)
    found = weigh_exactly(drawn, columns)
    for row, column in np.ndindex(found.shape):
        pairs = zip(drawn[row].tolist(), columns[:, column].tolist(), strict=True)
        exact = sum((Fraction(count) * Fraction(value) for count, value in pairs), Fraction(0))
        largest = float(np.abs(columns[:, column]).max()) * n
        assert abs(Fraction(float(found[row, column])) - exact) <= abs(exact) / 2**52 + Fraction(largest) / 2**100


def test_more_than_a_float_can_count_is_refused() -> None:
    with pytest.raises(ValueError, match="too many"):
        weigh_exactly(np.array([[2.0**53]]), np.ones((1, 1)))


def test_dot_is_the_sum_of_products() -> None:
    assert dot(np.array([1, 2, 3]), np.array([True, False, True])) == 4.0
    assert dot(np.array([0.5, 0.25]), np.array([4, 8])) == 4.0
    assert dot(np.empty(0), np.empty(0)) == 0.0
