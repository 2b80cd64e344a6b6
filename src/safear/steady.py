"""Sums and products whose last digits are the same on every processor.

What BLAS adds up (`@`, `np.dot`) depends on the processor and on its threads. Here everything is made of single
additions and multiplications, each rounded as IEEE 754 says, in an order that is written down. Exponentials are made in
the same way (`core.exponentials`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float64]
EXACT_BITS = 53  # of a float: whole numbers up to 2^53 are added without rounding
DEEP = 106  # bits that the parts of a product hold, twice as many as a float


def dot(weights: NDArray[Any], values: NDArray[Any]) -> float:
    """The sum of weight * value; in the order of NumPy's own sums, which is the same everywhere."""
    return float(np.add.reduce(np.multiply(weights, values, dtype=np.float64)))


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
