"""Compiled loops of the exact evaluation. Each is as short as its formula; the tests hold them against plain Python.

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.compiling import njit
from safear.mdp.arrays import Arrays

Matrix = NDArray[np.float64]
Whole = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Short = NDArray[np.int32]
ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)


@njit(cache=True, nogil=True, error_model="numpy")
def carry_back(
    arrays: Arrays,
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
    row_start, _, edge_start, edge_next, edge_chance, edge_cost, _ = arrays
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
    cumulated, begin = 0.0, 0
    if level <= 1 - tolerance:
        needed = max(level - tolerance, tolerance) * total
        for four in range(len(mass) // 4):  # four at a time while that is not enough: see `moments`
            i = np.uint64(4 * four)
            ahead = cumulated + ((mass[i] + mass[i + TWO]) + (mass[i + ONE] + mass[i + THREE]))
            if ahead >= needed:
                break
            cumulated, begin = ahead, 4 * four + 4
        for x in range(begin, len(mass)):
            cumulated += mass[x]
            # A column without mass never counts, so that level 0 is the least cost that can happen.
            if mass[x] > 0 and cumulated >= needed:
                return x
    last = len(mass) - 1
    while last > 0 and not mass[last] > 0:
        last -= 1
    return max(last, 0)


@njit(cache=True, nogil=True)
def moments(values: Whole, mass: Matrix, first: int) -> tuple[float, float]:
    """The sum of the mass, and of value * mass, from place `first` on.

    Every fourth term goes to the same sum, so that four are added at a time, in an order that is always the same. (Left
    to the compiler, the order would depend on the processor, and on what was compiled together.)
    """
    total0 = total1 = total2 = total3 = weighted0 = weighted1 = weighted2 = weighted3 = 0.0
    fours = max(len(mass) - first, 0) // 4
    for four in range(fours):
        i = np.uint64(first + 4 * four)  # one that is never negative needs no look at its sign
        j, k, m = i + ONE, i + TWO, i + THREE
        total0 += mass[i]
        total1 += mass[j]
        total2 += mass[k]
        total3 += mass[m]
        weighted0 += values[i] * mass[i]
        weighted1 += values[j] * mass[j]
        weighted2 += values[k] * mass[k]
        weighted3 += values[m] * mass[m]
    total, weighted = (total0 + total2) + (total1 + total3), (weighted0 + weighted2) + (weighted1 + weighted3)
    for last in range(first + 4 * fours, len(mass)):
        total += mass[last]
        weighted += values[last] * mass[last]
    return total, weighted


@njit(cache=True, nogil=True)
def squares(values: Whole, mass: Matrix, centre: float) -> float:
    """The sum of mass * (value - centre)^2, in the order of `moments`."""
    total0 = total1 = total2 = total3 = 0.0
    fours = len(mass) // 4
    for four in range(fours):
        i = np.uint64(4 * four)
        j, k, m = i + ONE, i + TWO, i + THREE
        total0 += mass[i] * (values[i] - centre) ** 2
        total1 += mass[j] * (values[j] - centre) ** 2
        total2 += mass[k] * (values[k] - centre) ** 2
        total3 += mass[m] * (values[m] - centre) ** 2
    total = (total0 + total2) + (total1 + total3)
    for last in range(4 * fours, len(mass)):
        total += mass[last] * (values[last] - centre) ** 2
    return total


@njit(cache=True, nogil=True)
def describe(
    values: Whole, mass: Matrix, level: float, tolerance: float
) -> tuple[float, float, float, float, float, float]:
    """The total mass and, scaled to 1, mean, variance, VaR, CVaR and tail mean of rising values; NaN if undefined.

    See `risk.distribution`.
    """
    total, weighted = moments(values, mass, 0)
    if total <= 0:
        return 0.0, np.nan, np.nan, np.nan, np.nan, np.nan
    mean = weighted / total
    position = quantile(mass, total, level, tolerance)
    at_risk = float(values[position])
    while position + 1 < len(values) and values[position + 1] == values[position]:
        position += 1  # the same value again does not exceed it
    tail, beyond = moments(values, mass, position + 1)
    share = max(total * (1 - level), tail)  # see Costs.cvar
    excess = (beyond - at_risk * tail) / share if level <= 1 - tolerance else 0.0
    tail_mean = beyond / tail if tail > 0 else np.nan
    return total, mean, squares(values, mass, mean) / total, at_risk, at_risk + excess, tail_mean


@njit(cache=True, nogil=True)
def quantile_positions(mass: Matrix, level: float, tolerance: float) -> Whole:
    """The quantile of each row."""
    result = np.empty(len(mass), dtype=np.int64)
    for state in range(len(mass)):
        result[state] = quantile(mass[state], mass[state].sum(), level, tolerance)
    return result


@njit(cache=True, nogil=True)
def moments_beyond(values: Whole, mass: Matrix, first: Whole) -> tuple[Matrix, Matrix]:
    """The moments of each row."""
    total, weighted = np.empty(len(mass)), np.empty(len(mass))
    for state in range(len(mass)):
        total[state], weighted[state] = moments(values, mass[state], first[state])
    return total, weighted


@njit(cache=True, nogil=True)
def centred_squares(values: Whole, mass: Matrix, centre: Matrix) -> Matrix:
    """The squares of each row."""
    result = np.empty(len(mass))
    for state in range(len(mass)):
        result[state] = squares(values, mass[state], centre[state])
    return result


class Account(NamedTuple):
    """A `SpentPolicy` for compiled loops.

    At `place` = step * n_states + state, choice[i] holds for accounts from first[i] on, with i from piece_start[place]
    to piece_start[place + 1].
    """

    piece_start: Whole
    first: Whole
    choice: Bytes


@njit(cache=True, nogil=True)
def find_choice(plan: Account, place: int, account: int) -> int:
    """The choice of the last piece of a place that begins at or below the account, 255 if none; see `SpentPolicy`."""
    low, high = plan.piece_start[place], plan.piece_start[place + 1]
    if low == high:
        return 255
    while low + 1 < high:
        middle = (low + high) // 2
        if plan.first[middle] <= account:
            low = middle
        else:
            high = middle
    return int(plan.choice[low])


@njit(cache=True, nogil=True)
def follow_from(
    arrays: Arrays,
    goal: Flags,
    horizon: int,
    plan: Account,
    start: int,
    opening: int,
    table: Short,
    width: int,
    most: int,
) -> tuple[Whole, Whole, Matrix]:
    """P_{h+1}(s', x + c) = sum of P_h(s, x) * p, from one start, only where it is not zero (see `forward.propagate`).

    Returns the state, what was spent and the mass of all ends; nothing, if there are more than `most` pairs at a time.
    `table` is -1 everywhere, before and after, and finds equal pairs: at s * width + x or, with `width` 0, by a hash
    (its length is then a power of two; it grows as it must).
    """
    row_start, _, edge_start, edge_next, edge_chance, edge_cost, _ = arrays
    state, spent, mass = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64)
    state[0], spent[0], mass[0] = start, 0, 1.0
    count, ends = 1, 0
    end_state, end_spent, end_mass = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64)
    for step in range(horizon + 1):
        ahead = 0
        next_state, next_spent, next_mass = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64)
        for i in range(count):
            s, x, p = state[i], spent[i], mass[i]
            choice = 255 if goal[s] or step == horizon else find_choice(plan, step * len(goal) + s, opening - x)
            if choice == 255:
                if ends == len(end_state):
                    end_state = np.concatenate((end_state, np.empty(ends, np.int64)))
                    end_spent = np.concatenate((end_spent, np.empty(ends, np.int64)))
                    end_mass = np.concatenate((end_mass, np.empty(ends)))
                end_state[ends], end_spent[ends], end_mass[ends] = s, x, p
                ends += 1
                continue
            row = row_start[s] + choice
            for edge in range(edge_start[row], edge_start[row + 1]):
                if edge_chance[edge] == 0.0:  # possible, but not at these chances
                    continue
                target, total = edge_next[edge], x + edge_cost[edge]
                place = find_place(table, width, next_state, next_spent, target, total)
                if table[place] < 0:
                    if ahead == len(next_state):
                        next_state = np.concatenate((next_state, np.empty(ahead, np.int64)))
                        next_spent = np.concatenate((next_spent, np.empty(ahead, np.int64)))
                        next_mass = np.concatenate((next_mass, np.empty(ahead)))
                    next_state[ahead], next_spent[ahead], next_mass[ahead] = target, total, 0.0
                    table[place] = ahead
                    ahead += 1
                    if width == 0 and 2 * ahead > len(table):
                        table[:] = -1  # the caller's is left as it was
                        table = np.full(4 * len(table), -1, np.int32)
                        for known in range(ahead):
                            s2, x2 = next_state[known], next_spent[known]
                            table[find_place(table, width, next_state, next_spent, s2, x2)] = known
                        place = find_place(table, width, next_state, next_spent, target, total)
                next_mass[table[place]] += p * edge_chance[edge]
        if width == 0:
            table[:] = -1
        else:
            for i in range(ahead):
                table[next_state[i] * width + next_spent[i]] = -1
        state, spent, mass, count = next_state, next_spent, next_mass, ahead
        if count > most:
            return end_state[:0], end_spent[:0], end_mass[:0]
        if not count:
            break
    return end_state[:ends], end_spent[:ends], end_mass[:ends]


@njit(cache=True, nogil=True)
def find_place(table: Short, width: int, states: Whole, totals: Whole, state: int, total: int) -> int:
    """Where a pair stands in the table of `follow_from`, or the free place where it belongs."""
    if width:
        return state * width + total
    mixed = (total * 0x9E3779B1 + state) * 0x85EBCA6B
    place = (mixed ^ (mixed >> 17)) & (len(table) - 1)
    while table[place] >= 0 and (states[table[place]] != state or totals[table[place]] != total):
        place = (place + 1) & (len(table) - 1)
    return place


@njit(cache=True, nogil=True)
def follow_all(
    arrays: Arrays, goal: Flags, horizon: int, plan: Account, starts: Whole, opening: Whole, levels: Matrix,
    succeeded: Matrix, failed: Matrix, final: Matrix,
) -> None:  # fmt: skip
    """From each of `starts`: adds the mass of runs that end with x spent to succeeded[start, x] or failed[start, x].

    That of successful runs that end in s, times levels[s], is added to final[start].
    """
    n_states, width = succeeded.shape
    table = np.full(n_states * width, -1, np.int32)
    for start in starts:
        states, spent, mass = follow_from(
            arrays, goal, horizon, plan, start, opening[start], table, width, n_states * width
        )
        for i in range(len(mass)):
            if not goal[states[i]]:
                failed[start, spent[i]] += mass[i]
                continue
            succeeded[start, spent[i]] += mass[i]
            for level in range(levels.shape[1]):
                final[start, level] += mass[i] * levels[states[i], level]
