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
SUMS = {"reassoc", "nsz"}  # terms from 0 up may be added in any order, so several at a time


@njit(cache=True, nogil=True, error_model="numpy")
def carry_back(
    row_start: Whole,
    edge_start: Whole,
    edge_next: Whole,
    edge_chance: Matrix,
    edge_cost: Whole,
    choices: Bytes,
    lane: int,
    later: Matrix,
    now: Matrix,
    low: Whole,
    high: Whole,
) -> Matrix:
    """D_h(s, x) = sum of p * D_{h+1}(s', x - c) over the edges (p, c, s') of the row taken at s; else D_{h+1}(s, x).

    `choices` [step, state, lane] are rows counted from the state's first, 255 for none. Begins with D in `later`, which
    is other than zero only at low[s] <= x < high[s]; returns D at step 0, whose `low` and `high` are written too (what
    lies outside is undefined). `later` and `now` are both used up.
    """
    horizon, n_states, _ = choices.shape
    next_low, next_high = np.empty(n_states, np.int64), np.empty(n_states, np.int64)
    for step in range(horizon - 1, -1, -1):
        next_low[:], next_high[:] = low, high
        for state in range(n_states):
            if choices[step, state, lane] == 255:
                for x in range(low[state], high[state]):
                    now[state, x] = later[state, x]
                continue
            row = row_start[state] + choices[step, state, lane]
            begin, end = later.shape[1], 0
            for edge in range(edge_start[row], edge_start[row + 1]):
                cost, target = edge_cost[edge], edge_next[edge]
                if next_low[target] < next_high[target]:
                    begin, end = min(begin, next_low[target] + cost), max(end, next_high[target] + cost)
            for edge in range(edge_start[row], edge_start[row + 1]):
                chance, cost, target = edge_chance[edge], edge_cost[edge], edge_next[edge]
                first, last = next_low[target], next_high[target]
                if edge > edge_start[row]:
                    for x in range(first, last):
                        now[state, x + cost] += chance * later[target, x]
                    continue
                for x in range(begin, min(first + cost, end)):  # the first outcome need not be added to zeros
                    now[state, x] = 0.0
                for x in range(first, last):
                    now[state, x + cost] = chance * later[target, x]
                for x in range(max(last + cost, begin), end):
                    now[state, x] = 0.0
            low[state], high[state] = (begin, end) if begin < end else (0, 0)
        later, now = now, later
    return later


@njit(cache=True, nogil=True)
def clear_outside(mass: Matrix, low: Whole, high: Whole) -> None:
    """Zero where low[s] <= x < high[s] does not hold."""
    for state in range(len(mass)):
        mass[state, : low[state]] = 0.0
        mass[state, high[state] :] = 0.0


@njit(cache=True, nogil=True)
def quantile(mass: Matrix, total: float, level: float, tolerance: float) -> int:
    """The first x whose cumulated mass reaches `level` times the total; the last that has any at level 1; or 0."""
    cumulated, last = 0.0, 0
    for x in range(len(mass)):
        cumulated += mass[x]
        # A column without mass never counts, so that level 0 is the least cost that can happen.
        if mass[x] > 0:
            last = x
            if level <= 1 - tolerance and cumulated >= max(level - tolerance, tolerance) * total:
                break
    return last


@njit(cache=True, nogil=True, fastmath=SUMS)
def moments(mass: Matrix, first: int) -> tuple[float, float]:
    """The sum of mass(x), and of x * mass(x), over x >= first."""
    total = weighted = 0.0
    for x in range(first, len(mass)):
        total += mass[x]
        weighted += x * mass[x]
    return total, weighted


@njit(cache=True, nogil=True, fastmath=SUMS)
def squares(mass: Matrix, centre: float) -> float:
    """The sum of mass(x) * (x - centre)^2."""
    result = 0.0
    for x in range(len(mass)):
        result += mass[x] * (x - centre) ** 2
    return result


@njit(cache=True, nogil=True)
def quantile_positions(mass: Matrix, level: float, tolerance: float) -> Whole:
    """The quantile of each row."""
    result = np.empty(len(mass), dtype=np.int64)
    for state in range(len(mass)):
        result[state] = quantile(mass[state], mass[state].sum(), level, tolerance)
    return result


@njit(cache=True, nogil=True)
def moments_beyond(mass: Matrix, first: Whole) -> tuple[Matrix, Matrix]:
    """The moments of each row."""
    total, weighted = np.empty(len(mass)), np.empty(len(mass))
    for state in range(len(mass)):
        total[state], weighted[state] = moments(mass[state], first[state])
    return total, weighted


@njit(cache=True, nogil=True)
def centred_squares(mass: Matrix, centre: Matrix) -> Matrix:
    """The squares of each row."""
    result = np.empty(len(mass))
    for state in range(len(mass)):
        result[state] = squares(mass[state], centre[state])
    return result


@njit(cache=True, nogil=True)
def summarise_lanes(
    row_start: Whole,
    edge_start: Whole,
    edge_next: Whole,
    edge_chance: Matrix,
    edge_cost: Whole,
    goal: Flags,
    choices: Bytes,
    width: int,
    level: float,
    tolerance: float,
    figures: NDArray[np.float64],
) -> None:
    """Success and, given success, mean, variance, VaR and CVaR of all states of all lanes: figures[:, state, lane]."""
    n_states, lanes = goal.shape
    later, now = np.empty((n_states, width)), np.empty((n_states, width))  # one lane's, used again for the next
    low, high = np.empty(n_states, np.int64), np.empty(n_states, np.int64)
    for lane in range(lanes):
        for state in range(n_states):
            later[state, 0] = 1.0
            low[state], high[state] = 0, int(goal[state, lane])
        final = carry_back(
            row_start, edge_start, edge_next, edge_chance, edge_cost, choices, lane, later, now, low, high
        )
        for state in range(n_states):
            mass = final[state, low[state] : high[state]]
            total, weighted = moments(mass, 0)
            figures[:, state, lane] = 0.0
            if total > 0:
                mean = weighted / total
                position = quantile(mass, total, level, tolerance)
                tail, beyond = moments(mass, position + 1)
                share = max(total * (1 - level), tail)  # see Costs.cvar
                excess = (beyond - position * tail) / share if level <= 1 - tolerance else 0.0
                figures[0, state, lane] = total
                figures[1, state, lane] = low[state] + mean
                figures[2, state, lane] = squares(mass, mean) / total
                figures[3, state, lane] = low[state] + position
                figures[4, state, lane] = low[state] + position + excess


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
