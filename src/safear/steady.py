"""Sums, products and exponentials whose last digits are the same on every processor.

What BLAS adds up (`@`, `np.dot`) depends on the processor and on its threads, and NumPy's `exp` and `log` depend on
which vectors the processor knows. Here everything is made of single additions, multiplications and divisions, each
rounded as IEEE 754 says, in an order that is written down.

    exp      x = k log 2 + r with |r| <= log(2) / 2:  2^k (1 + expm1(r)), the series of expm1 up to r^17
    log1p    2 artanh(s), s = y / (2 + y), the series up to s^35; for |y| < 1/2, so |s| < 1/3
    log      m = f 2^k with 2/3 <= f < 4/3:  k log 2 + log1p(f - 1)
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
EXACT_BITS = 53  # of a float: whole numbers up to 2^53 are added without rounding
NEAR_ONE = 0.5  # nearer than that, the logarithm is taken of the distance from 1
DEEP = 106  # bits that the parts of a product hold, twice as many as a float
# log 2 in two parts: the upper has so few digits that k times it is exact for every power 2^k that a float can hold.
_LOG_2 = Fraction("0.69314718055994530941723212145817656808")
LOG_2_HIGH = float(Fraction(round(_LOG_2 * 2**40), 2**40))
LOG_2 = float(_LOG_2)
LOG_2_LOW = float(_LOG_2 - Fraction(LOG_2_HIGH))
EXP_TERMS = tuple(1 / math.factorial(k) for k in range(17, 1, -1))
LOG_TERMS = tuple(1 / k for k in range(35, 1, -2))


def dot(weights: NDArray[Any], values: NDArray[Any]) -> float:
    """The sum of weight * value; in the order of NumPy's own sums, which is the same everywhere."""
    return float(np.add.reduce(np.multiply(weights, values, dtype=np.float64)))


def add_rows(values: Real, start: Whole) -> Real:
    """The sum of values[..., start[i]], ..., values[..., start[i + 1] - 1] for each i, one after the other.

    So do compiled loops; `np.add.reduceat` has an order of its own. No sum may be empty.
    """
    first, counts = start[:-1], np.diff(start)
    total: Real = values[..., first]
    for rank in range(1, int(counts.max(initial=0))):
        some = np.flatnonzero(counts > rank)
        if len(some) == len(first):
            total += values[..., first + rank]
        else:
            total[..., some] += values[..., first[some] + rank]
    return total


def weigh_exactly(counts: Real, values: Real) -> Real:
    """The product counts @ values, for whole counts [i, j] from 0 up and values [j, k]: rounded at the end.

    Each column of values is cut into parts of so few digits that no sum of count * part needs more than a float has. In
    whatever order BLAS adds them up, nothing is rounded; then the parts are put together, the finest first.
    """
    most = float(np.max(np.add.reduce(counts, axis=1), initial=1.0))
    bits = EXACT_BITS - max(math.ceil(math.log2(most)), 0) - 1
    if bits < 1:
        raise ValueError(f"{most:g} are too many to be counted exactly")
    _, exponents = np.frexp(np.abs(values).max(axis=0, initial=0.0))
    rest, parts = values.astype(np.float64), []
    for place in range(0, DEEP, bits):
        scale = exponents - place - bits
        part = np.rint(np.ldexp(rest, -scale))
        rest = rest - np.ldexp(part, scale)
        parts.append(np.ldexp(counts @ part, scale))
        if not rest.any():
            break
    total: Real = parts.pop()
    while parts:
        total = parts.pop() + total
    return total


def steady_exp(x: Real) -> Real:
    """exp(x)."""
    power, series = split_power(x)
    return np.ldexp(1.0 + series, power)


def steady_expm1(x: Real) -> Real:
    """exp(x) - 1."""
    power, series = split_power(x)
    return np.ldexp(series, power) + (np.ldexp(1.0, power) - 1.0)


def split_power(x: Real) -> tuple[NDArray[np.int32], Real]:
    """The k and the expm1(r) with exp(x) = 2^k (1 + expm1(r))."""
    held = np.maximum(x, -1100.0)  # exp(-1100) is 0
    power = np.rint(held / LOG_2)
    rest = (held - power * LOG_2_HIGH) - power * LOG_2_LOW
    return power.astype(np.int32), rest + rest * rest * add_series(rest, EXP_TERMS)


def steady_log1p(y: Real) -> Real:
    """log(1 + y) for y between -1/2 and 1/2."""
    half = y / (2.0 + y)
    square = half * half
    return 2.0 * (half + half * square * add_series(square, LOG_TERMS))


def steady_log(mass: Real) -> Real:
    """log(m), -infinity for 0."""
    part, power = np.frexp(mass)
    small = part < 2 / 3
    part, power = np.where(small, 2.0 * part, part), power - small
    logarithm = power * LOG_2_HIGH + (power * LOG_2_LOW + steady_log1p(part - 1.0))
    return np.where(mass > 0, logarithm, -np.inf)


def log_of(mass: float, below: float) -> float:
    """log(m), given m - 1 too: near 1 the logarithm is taken of the distance from 1, which has more digits."""
    return float(steady_log1p(np.array([below]))[0] if abs(below) < NEAR_ONE else steady_log(np.array([mass]))[0])


def add_series(x: Real, terms: tuple[float, ...]) -> Real:
    """The polynomial with these terms, that of the highest power first."""
    total: Real = np.full_like(x, terms[0])
    for term in terms[1:]:
        total = total * x + term
    return total
