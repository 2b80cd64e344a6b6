"""The exact figures of plans: all runs at once, back from the end or on from one start, and what they cost.

Each loop is as short as its formula (see `evaluation.backward` and `evaluation.forward`).
"""

from __future__ import annotations

import cython
import numpy as np
from numpy.typing import NDArray

if not cython.compiled:
    from safear.core.arrays import (
        Arrays,
        Bytes,
        PolicyArrays,
        Real,
        Whole,
        choose_row,
        make_grid,
        make_reals,
        make_table,
        make_wholes,
        widen_reals,
        widen_wholes,
    )

FEW = 64  # pairs that there is room for at first
NAN = float("nan")


# ------------------------------------------------------------------------------------------------------------ backward


def carry_back(arrays: Arrays, choices: Bytes, lane: int, later: Real, now: Real, low: Whole, high: Whole) -> Real:
    """D_h(s, x) = sum of p * D_{h+1}(s', x - c) over the edges (p, c, s') of the row taken at s; else D_{h+1}(s, x).

    `choices` [step, state, lane] are rows counted from the state's first, 255 for none. Begins with D in `later`, which
    is other than zero only at low[s] <= x < high[s]; returns D at step 0, whose `low` and `high` are written too (what
    lies outside is undefined). `later` and `now` are both used up.
    """
    horizon, n_states, width = choices.shape[0], choices.shape[1], later.shape[1]
    next_low, next_high = make_wholes(n_states), make_wholes(n_states)
    row_start, edge_start, edge_next = arrays.row_start, arrays.edge_start, arrays.edge_next
    edge_chance, edge_cost = arrays.edge_chance, arrays.edge_cost
    with cython.nogil:
        for step in range(horizon - 1, -1, -1):
            for state in range(n_states):
                next_low[state], next_high[state] = low[state], high[state]
            for state in range(n_states):
                choice = choices[step, state, lane]
                if choice == 255:
                    for x in range(low[state], high[state]):
                        now[state, x] = later[state, x]
                    continue
                row = row_start[state] + choice
                opening, closing = edge_start[row], edge_start[row + 1]
                begin, end = width, 0
                for edge in range(opening, closing):
                    cost, target = edge_cost[edge], edge_next[edge]
                    if next_low[target] < next_high[target]:
                        begin, end = min(begin, next_low[target] + cost), max(end, next_high[target] + cost)
                for edge in range(opening, closing):
                    chance, cost, target = edge_chance[edge], edge_cost[edge], edge_next[edge]
                    first, last = next_low[target], next_high[target]
                    if edge > opening:
                        for x in range(first, last):
                            now[state, x + cost] += chance * later[target, x]
                        continue
                    for x in range(begin, min(first + cost, end)):  # the first outcome need not be added to zeros
                        now[state, x] = 0.0
                    for x in range(first, last):
                        now[state, x + cost] = chance * later[target, x]
                    for x in range(max(last + cost, begin), end):
                        now[state, x] = 0.0
                if begin < end:
                    low[state], high[state] = begin, end
                else:
                    low[state], high[state] = 0, 0
            later, now = now, later
    return later


def clear_outside(mass: Real, low: Whole, high: Whole) -> None:
    """Set to zero where low[s] <= x < high[s] does not hold."""
    with cython.nogil:
        for state in range(mass.shape[0]):
            for x in range(low[state]):
                mass[state, x] = 0.0
            for x in range(high[state], mass.shape[1]):
                mass[state, x] = 0.0


# ------------------------------------------------------------------------------------------------------- distributions


def quantile(mass: Real, total: float, level: float, tolerance: float) -> int:
    """Return the first x whose cumulated mass reaches `level` times the total; the last with any at level 1; or 0."""
    count, cumulated, begin = mass.shape[0], 0.0, 0
    if level <= 1 - tolerance:
        needed = max(level - tolerance, tolerance) * total
        for four in range(count // 4):  # four at a time while that is not enough: see `moments`
            i = 4 * four
            ahead = cumulated + ((mass[i] + mass[i + 2]) + (mass[i + 1] + mass[i + 3]))
            if ahead >= needed:
                break
            cumulated, begin = ahead, i + 4
        for x in range(begin, count):
            cumulated += mass[x]
            # A column without mass never counts, so that level 0 is the least cost that can happen.
            if mass[x] > 0 and cumulated >= needed:
                return x
    last = count - 1
    while last > 0 and not mass[last] > 0:
        last -= 1
    return max(last, 0)


def moments(values: Whole, mass: Real, first: int) -> tuple[float, float]:
    """Return the sum of the mass, and of value * mass, from place `first` on.

    Every fourth term goes to the same sum, so that four are added at a time, in an order that is always the same. (Left
    to the compiler, the order would depend on the processor, and on what was compiled together.)
    """
    count = mass.shape[0]
    total0 = total1 = total2 = total3 = weighted0 = weighted1 = weighted2 = weighted3 = 0.0
    fours = max(count - first, 0) // 4
    for four in range(fours):
        i = first + 4 * four
        total0 += mass[i]
        total1 += mass[i + 1]
        total2 += mass[i + 2]
        total3 += mass[i + 3]
        weighted0 += values[i] * mass[i]
        weighted1 += values[i + 1] * mass[i + 1]
        weighted2 += values[i + 2] * mass[i + 2]
        weighted3 += values[i + 3] * mass[i + 3]
    total, weighted = (total0 + total2) + (total1 + total3), (weighted0 + weighted2) + (weighted1 + weighted3)
    for last in range(first + 4 * fours, count):
        total += mass[last]
        weighted += values[last] * mass[last]
    return total, weighted


def squares(values: Whole, mass: Real, centre: float) -> float:
    """Return the sum of mass * (value - centre)^2, in the order of `moments`."""
    count = mass.shape[0]
    total0 = total1 = total2 = total3 = 0.0
    fours = count // 4
    for four in range(fours):
        i = 4 * four
        from0, from1 = values[i] - centre, values[i + 1] - centre
        from2, from3 = values[i + 2] - centre, values[i + 3] - centre
        total0 += mass[i] * (from0 * from0)
        total1 += mass[i + 1] * (from1 * from1)
        total2 += mass[i + 2] * (from2 * from2)
        total3 += mass[i + 3] * (from3 * from3)
    total = (total0 + total2) + (total1 + total3)
    for last in range(4 * fours, count):
        from0 = values[last] - centre
        total += mass[last] * (from0 * from0)
    return total


def describe(
    values: Whole, mass: Real, level: float, tolerance: float
) -> tuple[float, float, float, float, float, float]:
    """Return total mass and, scaled to 1, mean, variance, VaR, CVaR and tail mean of rising values; NaN if undefined.

    See `risk.distribution`.
    """
    total, weighted = moments(values, mass, 0)
    if total <= 0:
        return 0.0, NAN, NAN, NAN, NAN, NAN
    mean = weighted / total
    position = quantile(mass, total, level, tolerance)
    at_risk = float(values[position])
    while position + 1 < values.shape[0] and values[position + 1] == values[position]:
        position += 1  # the same value again does not exceed it
    tail, beyond = moments(values, mass, position + 1)
    share = max(total * (1 - level), tail)  # see Costs.cvar
    excess = (beyond - at_risk * tail) / share if level <= 1 - tolerance else 0.0
    tail_mean = beyond / tail if tail > 0 else NAN
    return total, mean, squares(values, mass, mean) / total, at_risk, at_risk + excess, tail_mean


def quantile_positions(mass: Real, level: float, tolerance: float) -> Whole:
    """Return the quantile of each row."""
    found = make_wholes(mass.shape[0])
    with cython.nogil:
        for state in range(mass.shape[0]):
            total = 0.0
            for x in range(mass.shape[1]):
                total += mass[state, x]
            found[state] = quantile(mass[state], total, level, tolerance)
    return np.asarray(found)


def moments_beyond(values: Whole, mass: Real, first: Whole) -> tuple[Real, Real]:
    """Return the moments of each row."""
    total, weighted = make_reals(mass.shape[0]), make_reals(mass.shape[0])
    with cython.nogil:
        for state in range(mass.shape[0]):
            total[state], weighted[state] = moments(values, mass[state], first[state])
    return np.asarray(total), np.asarray(weighted)


def centred_squares(values: Whole, mass: Real, centre: Real) -> Real:
    """Return the squares of each row."""
    found = make_reals(mass.shape[0])
    with cython.nogil:
        for state in range(mass.shape[0]):
            found[state] = squares(values, mass[state], centre[state])
    return np.asarray(found)


# ------------------------------------------------------------------------------------------------------------- forward


def make_places(count: int) -> NDArray[np.int32]:
    """Return a table for `follow` in which nothing stands."""
    return np.full(count, -1, np.int32)


class Room:
    """Room for following runs, used again from one start to the next: pairs, those a step ahead, and those that end."""

    def __init__(self) -> None:
        whole, real = make_grid(6, FEW), make_table(3, FEW)  # each piece made by itself takes long
        self.state, self.spent, self.mass = whole[0], whole[1], real[0]
        self.next_state, self.next_spent, self.next_mass = whole[2], whole[3], real[1]
        self.end_state, self.end_spent, self.end_mass = whole[4], whole[5], real[2]
        self.table = np.empty(0, np.int32)


def follow(
    arrays: Arrays,
    goal: Bytes,
    horizon: int,
    policy: PolicyArrays,
    start: int,
    opening: int,
    table: NDArray[np.int32],
    width: int,
    most: int,
    room: Room,
) -> int:
    """P_{h+1}(s', x + c) = sum of P_h(s, x) * p, from one start, only where it is not zero.

    `runs.follow_policy` keeps all cells and moves, in order. For the ends alone of all starts of a block of Adult or
    German (some 3,000) it takes 1.5 to 1.8 times as long.

    Writes the state, what was spent and the mass of all ends to `room`, and returns how many there are; none, if there
    are more than `most` pairs at a time. `table` is -1 everywhere, before and after, and finds equal pairs: at
    s * width + x or, with `width` 0, by a hash (its length is then a power of two; another takes its place when it is
    too small).
    """
    row_start, edge_start, edge_next = arrays.row_start, arrays.edge_start, arrays.edge_next
    edge_chance, edge_cost = arrays.edge_chance, arrays.edge_cost
    state, spent, mass = room.state, room.spent, room.mass
    next_state, next_spent, next_mass = room.next_state, room.next_spent, room.next_mass
    end_state, end_spent, end_mass = room.end_state, room.end_spent, room.end_mass
    state[0], spent[0], mass[0] = start, 0, 1.0
    count, ends = 1, 0
    for step in range(horizon + 1):
        ahead = 0
        for i in range(count):
            s, x, p = state[i], spent[i], mass[i]
            row = -1 if goal[s] or step == horizon else choose_row(row_start, policy, step, s, opening - x)
            if row < 0:
                if ends == end_state.shape[0]:
                    end_state, end_spent = widen_wholes(end_state, 2 * ends), widen_wholes(end_spent, 2 * ends)
                    end_mass = widen_reals(end_mass, 2 * ends)
                end_state[ends], end_spent[ends], end_mass[ends] = s, x, p
                ends += 1
                continue
            for edge in range(edge_start[row], edge_start[row + 1]):
                chance = edge_chance[edge]
                if chance == 0.0:  # possible, but not at these chances
                    continue
                target, total = edge_next[edge], x + edge_cost[edge]
                place = find_place(table, width, next_state, next_spent, target, total)
                number = table[place]
                if number < 0:
                    if ahead == next_state.shape[0]:
                        next_state = widen_wholes(next_state, 2 * ahead)
                        next_spent = widen_wholes(next_spent, 2 * ahead)
                        next_mass = widen_reals(next_mass, 2 * ahead)
                    next_state[ahead], next_spent[ahead], next_mass[ahead] = target, total, 0.0
                    table[place] = number = ahead
                    ahead += 1
                    if width == 0 and 2 * ahead > table.shape[0]:
                        for known in range(table.shape[0]):
                            table[known] = -1  # as the caller's was
                        size = 4 * table.shape[0]
                        if room.table.shape[0] < size:
                            room.table = make_places(size)
                        table = room.table[:size]
                        for known in range(ahead):
                            s2, x2 = next_state[known], next_spent[known]
                            table[find_place(table, width, next_state, next_spent, s2, x2)] = known
                next_mass[number] += p * chance
        if width == 0:
            for known in range(table.shape[0]):
                table[known] = -1
        else:
            for i in range(ahead):
                table[next_state[i] * width + next_spent[i]] = -1
        state, next_state = next_state, state
        spent, next_spent = next_spent, spent
        mass, next_mass = next_mass, mass
        count = ahead
        if count > most:
            ends = 0
            break
        if count == 0:
            break
    room.state, room.spent, room.mass = state, spent, mass
    room.next_state, room.next_spent, room.next_mass = next_state, next_spent, next_mass
    room.end_state, room.end_spent, room.end_mass = end_state, end_spent, end_mass
    return ends


@cython.overflowcheck(False)  # type: ignore[untyped-decorator]  # what is mixed may wrap around
def find_place(table: NDArray[np.int32], width: int, states: Whole, totals: Whole, state: int, total: int) -> int:
    """Return where a pair stands in the table of `follow`, or the free place where it belongs."""
    if width > 0:
        return state * width + total
    mask = table.shape[0] - 1
    mixed = cython.cast(cython.ulonglong, total) * 0x1E3779B1 + cython.cast(cython.ulonglong, state)
    mixed *= 0x45EBCA6B
    slot: int = (mixed ^ (mixed >> 17)) & mask
    while table[slot] >= 0 and (states[table[slot]] != state or totals[table[slot]] != total):
        slot = (slot + 1) & mask
    return slot


def follow_all(
    arrays: Arrays, goal: Bytes, horizon: int, policy: PolicyArrays, starts: Whole, opening: Whole, levels: Real,
    succeeded: Real, failed: Real, final: Real,
) -> None:  # fmt: skip
    """Follow runs from each of `starts`, and add the mass of those that end with x spent to what they belong to.

    That is succeeded[start, x] or failed[start, x]. The mass of successful runs that end in s, times levels[s], is
    added to final[start].
    """
    n_states, width = succeeded.shape[0], succeeded.shape[1]
    table, room = make_places(n_states * width), Room()
    with cython.nogil:
        for number in range(starts.shape[0]):
            start = starts[number]
            ends = follow(arrays, goal, horizon, policy, start, opening[start], table, width, n_states * width, room)
            for i in range(ends):
                state, spent, mass = room.end_state[i], room.end_spent[i], room.end_mass[i]
                if not goal[state]:
                    failed[start, spent] += mass
                    continue
                succeeded[start, spent] += mass
                for level in range(levels.shape[1]):
                    final[start, level] += mass * levels[state, level]
