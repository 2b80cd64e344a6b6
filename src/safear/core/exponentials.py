"""Exponentials and logarithms of single operations, so that their last digits are the same on every processor.

exp      x = k log 2 + r with |r| <= log(2) / 2:  2^k (1 + expm1(r)), the series of expm1 up to r^17
log1p    2 artanh(s), s = y / (2 + y), the series up to s^35; for |y| < 1/2, so |s| < 1/3
log      m = f 2^k with 2/3 <= f < 4/3:  k log 2 + log1p(f - 1)
"""

from __future__ import annotations

import math
from fractions import Fraction

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import frexp, ldexp, rint
else:
    from math import frexp, ldexp

    from numpy import rint

    from safear.core.arrays import INF, Real

NEAR_ONE = 0.5  # nearer than that, the logarithm is taken of the distance from 1
# log 2 in two parts: the upper has so few digits that k times it is exact for every power 2^k that a float can hold.
_LOG_2 = Fraction("0.69314718055994530941723212145817656808")
LOG_2 = float(_LOG_2)
LOG_2_HIGH = float(Fraction(round(_LOG_2 * 2**40), 2**40))
LOG_2_LOW = float(_LOG_2 - Fraction(LOG_2_HIGH))
EXP_TERMS = np.array([1 / math.factorial(k) for k in range(17, 1, -1)])
LOG_TERMS = np.array([1 / k for k in range(35, 1, -2)])


def add_series(x: float, terms: Real) -> float:
    """Return the polynomial with these terms, that of the highest power first."""
    total: float = terms[0]
    for i in range(1, terms.shape[0]):
        total = total * x + terms[i]
    return total


def split_power(x: float) -> tuple[float, float]:
    """Return the k and the expm1(r) with which exp(x) = 2^k (1 + expm1(r))."""
    held = max(x, -1100.0)  # exp(-1100) is 0
    power = rint(held / LOG_2)
    rest = (held - power * LOG_2_HIGH) - power * LOG_2_LOW
    return power, rest + rest * rest * add_series(rest, EXP_TERMS)


def steady_exp(x: float) -> float:
    """Return exp(x)."""
    power, series = split_power(x)
    return ldexp(1.0 + series, cython.cast(cython.int, power))


def steady_expm1(x: float) -> float:
    """Return exp(x) - 1."""
    power, series = split_power(x)
    k: int = cython.cast(cython.int, power)
    return ldexp(series, k) + (ldexp(1.0, k) - 1.0)


def steady_log1p(y: float) -> float:
    """Return log(1 + y) for y between -1/2 and 1/2."""
    half = y / (2.0 + y)
    square = half * half
    return 2.0 * (half + half * square * add_series(square, LOG_TERMS))


def log_of(mass: float, below: float) -> float:
    """Return log(m), given m - 1 too: near 1 the logarithm is taken of the distance from 1, which has more digits."""
    if -NEAR_ONE < below < NEAR_ONE:
        return steady_log1p(below)
    if mass <= 0:
        return -INF
    power: int = 0
    if cython.compiled:
        part = frexp(mass, cython.address(power))
    else:
        part, power = frexp(mass)
    if part < 2.0 / 3.0:
        part, power = 2.0 * part, power - 1
    return power * LOG_2_HIGH + (power * LOG_2_LOW + steady_log1p(part - 1.0))


def find_entropic(values: Real, chances: Real, aversion: float) -> float:
    """Return the entropic risk log(sum p exp(b x)) / b, the largest x that may happen taken out of the sum."""
    largest, mass, below = -INF, 0.0, 0.0
    for i in range(values.shape[0]):
        if chances[i] > 0:
            largest = max(largest, values[i])
    for i in range(values.shape[0]):
        if chances[i] > 0:
            exponent = aversion * (values[i] - largest)
            mass += chances[i] * steady_exp(exponent)
            below += chances[i] * steady_expm1(exponent)
    return largest + log_of(mass, below) / aversion
