"""Compiled loops of the exact evaluation. Each is as short as its formula; the tests hold them against plain Python.

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Whole = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]


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
            if mass[state, x] > 0 and cumulated >= max(level - tolerance, tolerance) * total:
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


@njit(cache=True, nogil=True)
def find_choice(piece_start: Whole, first: Whole, choice: Bytes, place: int, account: int) -> int:
    """The choice of the last piece of a place that begins at or below the account; see `SpentPolicy`."""
    low, high = piece_start[place], piece_start[place + 1]
    while low + 1 < high:
        middle = (low + high) // 2
        if first[middle] <= account:
            low = middle
        else:
            high = middle
    return int(choice[low])


@njit(cache=True, nogil=True)
def follow_from(
    start: int,
    opening: int,
    horizon: int,
    goal: Flags,
    row_start: Whole,
    edge_start: Whole,
    edge_next: Whole,
    edge_chance: Matrix,
    edge_cost: Whole,
    piece_start: Whole,
    first: Whole,
    choice: Bytes,
    slot: NDArray[np.int32],
    succeeded: Matrix,
    failed: Matrix,
    levels: Matrix,
    final: Matrix,
) -> None:
    """P_{h+1}(s', x + c) = sum of P_h(s, x) * p, for a policy that looks at (state, step, spent), from one start.

    Adds the mass of the runs that end with x spent to succeeded[x] or failed[x], and that of successful runs that end
    in s, times levels[s], to `final`. `slot` [s * width + x] is -1 everywhere, before and after: it finds equal pairs.
    """
    width, n_states = len(succeeded), len(goal)
    state, spent, chance = np.empty(16, np.int64), np.empty(16, np.int64), np.empty(16)
    state[0], spent[0], chance[0] = start, 0, 1.0
    count = 1
    for step in range(horizon + 1):
        next_state, next_spent, next_chance = np.empty(16, np.int64), np.empty(16, np.int64), np.empty(16)
        ahead = 0
        for i in range(count):
            s, x, p = state[i], spent[i], chance[i]
            if goal[s]:
                succeeded[x] += p
                for level in range(len(final)):
                    final[level] += p * levels[s, level]
                continue
            if step == horizon or row_start[s] == row_start[s + 1]:
                failed[x] += p
                continue
            row = row_start[s] + find_choice(piece_start, first, choice, step * n_states + s, opening - x)
            for edge in range(edge_start[row], edge_start[row + 1]):
                target, total = edge_next[edge], x + edge_cost[edge]
                place = target * width + total
                if slot[place] < 0:
                    if ahead == len(next_state):
                        next_state = np.concatenate((next_state, np.empty(ahead, np.int64)))
                        next_spent = np.concatenate((next_spent, np.empty(ahead, np.int64)))
                        next_chance = np.concatenate((next_chance, np.empty(ahead)))
                    slot[place] = ahead
                    next_state[ahead], next_spent[ahead], next_chance[ahead] = target, total, 0.0
                    ahead += 1
                next_chance[slot[place]] += p * edge_chance[edge]
        for i in range(ahead):
            slot[next_state[i] * width + next_spent[i]] = -1
        state, spent, chance, count = next_state, next_spent, next_chance, ahead
