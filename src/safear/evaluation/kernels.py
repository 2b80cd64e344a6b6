"""Compiled loops of the exact evaluation. Each is as short as its formula; the tests hold them against plain Python.

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Whole = NDArray[np.int64]


@njit(cache=True, nogil=True)
def step_back(
    rows: Whole, edge_start: Whole, edge_next: Whole, edge_chance: Matrix, edge_cost: Whole, later: Matrix, width: int
) -> Matrix:
    """now(s, x) = sum of p * later(s', x - c) over the edges (p, c, s') of the row taken at s; else later(s, x).

    Only the first `width` columns can be other than zero.
    """
    now = np.zeros_like(later)
    for state in range(len(rows)):
        row = rows[state]
        if row < 0:
            now[state, :width] = later[state, :width]
            continue
        for edge in range(edge_start[row], edge_start[row + 1]):
            chance, cost, target = edge_chance[edge], edge_cost[edge], edge_next[edge]
            for x in range(cost, width):
                now[state, x] += chance * later[target, x - cost]
    return now


@njit(cache=True, nogil=True)
def quantile_positions(mass: Matrix, level: float, tolerance: float) -> Whole:
    """For each row the first x whose cumulated mass reaches `level` times the row's total; 0 where the total is 0."""
    result = np.zeros(len(mass), dtype=np.int64)
    for state in range(len(mass)):
        total = mass[state].sum()
        cumulated = 0.0
        for x in range(mass.shape[1]):
            cumulated += mass[state, x]
            # A column without mass never counts, so that level 0 is the least cost that can happen.
            if mass[state, x] > 0 and cumulated >= (level - tolerance) * total:
                result[state] = x
                break
    return result


@njit(cache=True, nogil=True)
def moments_beyond(mass: Matrix, first: Whole) -> tuple[Matrix, Matrix]:
    """For each row: the sum of mass(x), and of x * mass(x), over x >= first."""
    total, weighted = np.zeros(len(mass)), np.zeros(len(mass))
    for state in range(len(mass)):
        for x in range(first[state], mass.shape[1]):
            total[state] += mass[state, x]
            weighted[state] += x * mass[state, x]
    return total, weighted


@njit(cache=True, nogil=True)
def centred_squares(mass: Matrix, centre: Matrix) -> Matrix:
    """For each row the sum of mass(x) * (x - centre)^2."""
    result = np.zeros(len(mass))
    for state in range(len(mass)):
        for x in range(mass.shape[1]):
            result[state] += mass[state, x] * (x - centre[state]) ** 2
    return result
