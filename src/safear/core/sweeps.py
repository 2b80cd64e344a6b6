"""The sweeps over states, each as short as its formula: plans, what can at best still come, and a family's figures.

See `solvers.sweep`, `solvers.success` and, for all states of all lanes of a family, `population.family_figures`.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

    from safear.core.arrays import (
        INF,
        NONE,
        Arrays,
        Bytes,
        Real,
        Short,
        Whole,
        fill_wholes,
        make_reals,
        make_table,
        make_wholes,
    )
    from safear.core.figures import carry_back, describe


NAN = float("nan")


class Deviation:
    """How a deviation counts: by which factor, and whether only costs above the mean do; of two outcomes, per row.

    The score of a row with two outcomes x0 and x1 rises by `rise` per x0 - x1 above 0, and falls by `fall` (<= 0) per
    that below.
    """

    def __init__(self, risk_aversion: float, upper_only: bool, rise: Real, fall: Real) -> None:
        self.risk_aversion, self.upper_only, self.rise, self.fall = risk_aversion, upper_only, rise, fall


def weigh_two_outcomes(
    arrays: Arrays, count: int, risk_aversion: float, upper_only: bool, rise: Real, fall: Real
) -> None:
    """Write how a deviation counts in the first `count` rows, where these have two outcomes.

    Two outcomes x0, x1 with chances p, q lie q |x0 - x1| and p |x0 - x1| from their mean, so d = sqrt(p q) |x0 - x1|,
    and of the larger one alone sqrt(p) q |x0 - x1| or sqrt(q) p |x0 - x1|.
    """
    for row in range(count):
        p, q = arrays.edge_chance[arrays.edge_start[row]], arrays.edge_chance[arrays.edge_start[row + 1] - 1]
        rise[row] = risk_aversion * sqrt(p) * q if upper_only else risk_aversion * sqrt(p * q)
        fall[row] = -risk_aversion * sqrt(q) * p if upper_only else -rise[row]


def count_steps(arrays: Arrays, goal: Bytes, horizon: int) -> Short:
    """Return the fewest steps in which a goal may be reached, of all states of all lanes; horizon + 1 if it cannot."""
    found = np.where(goal, np.int16(0), np.int16(horizon + 1))
    needed = found
    with cython.nogil:
        lower_steps(arrays, needed)
    return found


def lower_steps(arrays: Arrays, needed: Short) -> None:
    """Lower the steps `needed` [state, lane] by what the next states need, until nothing changes."""
    found = True
    while found:
        found = False
        for state in range(needed.shape[0]):
            first, last = arrays.row_start[state], arrays.row_start[state + 1]
            for edge in range(arrays.edge_start[first], arrays.edge_start[last]):
                target = arrays.edge_next[edge]
                if target == state:  # or else several lanes could not be done at a time
                    continue
                nearer = 0
                for lane in range(needed.shape[1]):
                    before = needed[state, lane]
                    ahead = needed[target, lane] + 1
                    needed[state, lane] = min(before, ahead)
                    nearer |= before > ahead
                found = found or nearer > 0


def sweep_arrays(
    arrays: Arrays, deviation: Deviation, goal: Bytes, needed: Short, failure_cost: float, tie: float, choices: Bytes
) -> Real:
    """V_h(s) = min over a of m + risk_aversion * d, m and d the mean and deviation of c + V_{h+1}(s') (see `sweep`).

    For every lane [state, lane] at once: lanes share rows and edges and differ in goals. The deviation of two outcomes
    x0 and x1 is max(rise * (x0 - x1), fall * (x0 - x1)), aversion included. Writes the first row that is the least up
    to `tie` into choices[step, state, lane], 255 where there is none, and returns V at step 0. There is none where more
    steps are `needed` [state, lane] than are left; at goals that have rows, these are more than the horizon.
    """
    horizon, n_states, lanes = choices.shape[0], choices.shape[1], choices.shape[2]
    later, now = make_table(n_states, lanes), make_table(n_states, lanes)
    if not cython.compiled:  # compiled, arrays that nothing else can lie in, or each row would ask whether it does
        # Real numbers both, so that several lanes are compared at a time; and two of each, to read from and write to in
        # turns: writing where one has read becomes masked stores, which some processors (AMD's with AVX2) are slow at.
        least, chosen = make_table(2, 64), make_table(2, 64)
        mean, squares = make_table(2, 64)
    soonest = make_wholes(n_states)  # of all lanes: nothing is done in any of them while fewer steps are left
    row_start, edge_start, edge_next = arrays.row_start, arrays.edge_start, arrays.edge_next
    edge_chance, edge_cost = arrays.edge_chance, arrays.edge_cost
    rise, fall, upper_only = deviation.rise, deviation.fall, deviation.upper_only
    with cython.nogil:
        for state in range(n_states):
            soonest[state] = horizon + 1
            for lane in range(lanes):
                later[state, lane] = 0.0 if goal[state, lane] else failure_cost
                soonest[state] = min(soonest[state], needed[state, lane])
        for step in range(horizon - 1, -1, -1):
            left = horizon - step
            for state in range(n_states):
                end = row_start[state] if soonest[state] > left else row_start[state + 1]
                for begin in range(0, lanes, 64):
                    width = min(lanes - begin, 64)
                    for lane in range(width):  # where nothing is done, no row is less than what is there
                        least[0][lane] = -INF if needed[state, begin + lane] > left else INF
                        chosen[0][lane] = 255.0
                    for row in range(row_start[state], end):
                        number = float(row - row_start[state])
                        old = (row - row_start[state]) & 1
                        new = 1 - old
                        first, outcomes = edge_start[row], edge_start[row + 1] - edge_start[row]
                        second = first + outcomes - 1
                        cost0, chance0, next0 = float(edge_cost[first]), edge_chance[first], edge_next[first]
                        cost1, chance1, next1 = float(edge_cost[second]), edge_chance[second], edge_next[second]
                        if outcomes == 1:
                            for lane in range(width):
                                score = cost0 + later[next0, begin + lane]
                                best, taken = least[old][lane], chosen[old][lane]
                                better = score * (1 + tie) < best
                                least[new][lane] = score if better else best
                                chosen[new][lane] = number if better else taken
                        elif outcomes == 2:
                            above, below = rise[row], fall[row]
                            for lane in range(width):
                                x0, x1 = cost0 + later[next0, begin + lane], cost1 + later[next1, begin + lane]
                                score = chance0 * x0 + chance1 * x1 + max(above * (x0 - x1), below * (x0 - x1))
                                best, taken = least[old][lane], chosen[old][lane]
                                better = score * (1 + tie) < best
                                least[new][lane] = score if better else best
                                chosen[new][lane] = number if better else taken
                        else:
                            for lane in range(width):
                                mean[lane] = squares[lane] = 0.0
                            for edge in range(first, first + outcomes):
                                chance, cost, target = edge_chance[edge], float(edge_cost[edge]), edge_next[edge]
                                for lane in range(width):
                                    mean[lane] += chance * (cost + later[target, begin + lane])
                            for edge in range(first, first + outcomes):
                                chance, cost, target = edge_chance[edge], float(edge_cost[edge]), edge_next[edge]
                                for lane in range(width):
                                    distance = cost + later[target, begin + lane] - mean[lane]
                                    distance = max(distance, 0.0) if upper_only else distance
                                    squares[lane] += chance * distance * distance
                            for lane in range(width):
                                score = mean[lane] + deviation.risk_aversion * sqrt(squares[lane])
                                best, taken = least[old][lane], chosen[old][lane]
                                better = score * (1 + tie) < best
                                least[new][lane] = score if better else best
                                chosen[new][lane] = number if better else taken
                    last = (end - row_start[state]) & 1
                    for lane in range(width):
                        stays, best, taken = later[state, begin + lane], least[last][lane], chosen[last][lane]
                        now[state, begin + lane] = stays if taken == 255.0 else best
                    for lane in range(width):  # apart, since numbers of one width are done several at a time
                        choices[step, state, begin + lane] = cython.cast(cython.uchar, chosen[last][lane])
            later, now = now, later
    return np.asarray(later)


def sweep_single(
    arrays: Arrays, deviation: Deviation, goal: Bytes, needed: Short, failure_cost: float, tie: float, choices: Bytes
) -> Real:
    """Do what `sweep_arrays` does for a single lane, bit for bit; without that index. States that wait cost nothing."""
    later, now = make_reals(choices.shape[1]), make_reals(choices.shape[1])
    with cython.nogil:
        sweep_lane(arrays, deviation, goal, needed, failure_cost, tie, choices, later, now)
    return np.asarray(later if choices.shape[0] % 2 == 0 else now)


def sweep_lane(
    arrays: Arrays,
    deviation: Deviation,
    goal: Bytes,
    needed: Short,
    failure_cost: float,
    tie: float,
    choices: Bytes,
    later: Real,
    now: Real,
) -> None:
    """Do what `sweep_single` does; V at step 0 is in `later` or, if the horizon is odd, in `now`."""
    horizon, n_states = choices.shape[0], choices.shape[1]
    row_start, edge_start, edge_next = arrays.row_start, arrays.edge_start, arrays.edge_next
    edge_chance, edge_cost = arrays.edge_chance, arrays.edge_cost
    rise, fall = deviation.rise, deviation.fall
    for state in range(n_states):
        later[state] = 0.0 if goal[state] else failure_cost
    for step in range(horizon - 1, -1, -1):
        for state in range(n_states):
            least, chosen = INF, NONE
            end = row_start[state] if needed[state] > horizon - step else row_start[state + 1]
            for row in range(row_start[state], end):
                first, last = edge_start[row], edge_start[row + 1]
                x0 = edge_cost[first] + later[edge_next[first]]
                if last - first == 1:
                    score = x0
                elif last - first == 2:
                    x1 = edge_cost[first + 1] + later[edge_next[first + 1]]
                    beside = max(rise[row] * (x0 - x1), fall[row] * (x0 - x1))
                    score = edge_chance[first] * x0 + edge_chance[first + 1] * x1 + beside
                else:
                    mean = squares = 0.0
                    for edge in range(first, last):
                        mean += edge_chance[edge] * (edge_cost[edge] + later[edge_next[edge]])
                    for edge in range(first, last):
                        distance = edge_cost[edge] + later[edge_next[edge]] - mean
                        distance = max(distance, 0.0) if deviation.upper_only else distance
                        squares += edge_chance[edge] * distance * distance
                    score = mean + deviation.risk_aversion * sqrt(squares)
                if score * (1 + tie) < least:
                    least, chosen = score, row - row_start[state]
            now[state] = later[state] if chosen == NONE else least
            choices[step, state] = chosen
        later, now = now, later


# -------------------------------------------------------------------------------------------------------- what is ahead


def sweep_ahead(arrays: Arrays, acts: Bytes, mean: Real, success: Real) -> None:
    """V_h(s) = min over rows of sum p (c + V_{h+1}(s')), P_h(s) = max over rows of sum p P_{h+1}(s').

    `mean` and `success` [step, state] are there for the end, and where nothing is done, `acts` [step, state], for all
    steps.
    """
    with cython.nogil:
        for step in range(acts.shape[0] - 1, -1, -1):
            for state in range(acts.shape[1]):
                if not acts[step, state]:
                    continue
                least, most = INF, 0.0
                for row in range(arrays.row_start[state], arrays.row_start[state + 1]):
                    cost, wins = 0.0, 0.0
                    for edge in range(arrays.edge_start[row], arrays.edge_start[row + 1]):
                        chance, after = arrays.edge_chance[edge], arrays.edge_next[edge]
                        cost += chance * (arrays.edge_cost[edge] + mean[step + 1, after])
                        wins += chance * success[step + 1, after]
                    least, most = min(least, cost), max(most, wins)
                mean[step, state], success[step, state] = least, most


def find_highest_success(arrays: Arrays, goal: Bytes, horizon: int) -> Real:
    """P_h(s) = max over a of sum p P_{h+1}(s'), of all states of all lanes; 1 at goals."""
    n_states, lanes = goal.shape[0], goal.shape[1]
    later, now, chances = make_table(n_states, lanes), make_table(n_states, lanes), make_reals(lanes)
    row_start, edge_start, edge_next = arrays.row_start, arrays.edge_start, arrays.edge_next
    edge_chance = arrays.edge_chance
    with cython.nogil:
        for state in range(n_states):
            for lane in range(lanes):
                later[state, lane] = goal[state, lane]
        for _ in range(horizon):
            for state in range(n_states):
                for lane in range(lanes):  # what could be done in fewer steps can be done in more
                    now[state, lane] = later[state, lane]
                for row in range(row_start[state], row_start[state + 1]):
                    for lane in range(lanes):
                        chances[lane] = 0.0
                    for edge in range(edge_start[row], edge_start[row + 1]):
                        chance, target = edge_chance[edge], edge_next[edge]
                        for lane in range(lanes):
                            chances[lane] += chance * later[target, lane]
                    for lane in range(lanes):
                        best = max(now[state, lane], chances[lane])
                        now[state, lane] = 1.0 if goal[state, lane] else best
            later, now = now, later
    return np.asarray(later)


# -------------------------------------------------------------------------------------------------- figures of a family


def summarise_costs(
    arrays: Arrays, goal: Bytes, choices: Bytes, width: int, level: float, tolerance: float, figures: Real
) -> None:
    """Write success and, given success, mean, variance, VaR, CVaR, tail mean: figures[:, state, lane], NaN if none."""
    n_states, lanes = goal.shape[0], goal.shape[1]
    later, now = make_table(n_states, width), make_table(n_states, width)  # one lane's, used again for the next
    low, high, values = make_wholes(n_states), make_wholes(n_states), make_wholes(width)
    for x in range(width):
        values[x] = x
    for lane in range(lanes):
        with cython.nogil:
            for state in range(n_states):
                later[state, 0] = 1.0
                low[state], high[state] = 0, goal[state, lane]
        final = carry_back(arrays, choices, lane, later, now, low, high)
        with cython.nogil:
            for state in range(n_states):
                begin, end = low[state], high[state]
                found = describe(values[begin:end], final[state, begin:end], level, tolerance)
                figures[0, state, lane], figures[1, state, lane], figures[2, state, lane] = found[0], found[1], found[2]
                figures[3, state, lane], figures[4, state, lane], figures[5, state, lane] = found[3], found[4], found[5]


def summarise_ends(
    arrays: Arrays, goal: Bytes, choices: Bytes, codes: Short, sizes: Whole, ordered: Bytes, figures: Real
) -> None:
    """Write sparsity and proximity: how far a successful run ends from where it began; figures[:, state, lane].

    From the chances of ending at each level of each feature, which follow the recursion of the costs without the costs.
    `codes` [state, feature] are level numbers, `sizes` how many levels each feature has.
    """
    n_states, lanes = goal.shape[0], goal.shape[1]
    width = 0
    for feature in range(sizes.shape[0]):
        width += sizes[feature]
    free = Arrays(
        arrays.row_start,
        arrays.row_action,
        arrays.edge_start,
        arrays.edge_next,
        arrays.edge_chance,
        fill_wholes(arrays.edge_cost.shape[0], 0),
        arrays.edge_outcome,
    )
    later, now = make_table(n_states, width), make_table(n_states, width)
    low, high = make_wholes(n_states), make_wholes(n_states)
    for lane in range(lanes):
        with cython.nogil:
            for state in range(n_states):
                low[state], high[state] = 0, width if goal[state, lane] else 0
                for x in range(width):
                    later[state, x] = 0.0
                first = 0
                for feature in range(sizes.shape[0]):
                    later[state, first + codes[state, feature]] = 1.0
                    first += sizes[feature]
        final = carry_back(free, choices, lane, later, now, low, high)
        with cython.nogil:
            for state in range(n_states):
                figures[0, state, lane] = figures[1, state, lane] = NAN
                if high[state] == 0:
                    continue
                success = changed = moved = 0.0
                for x in range(sizes[0]):
                    success += final[state, x]
                first = 0
                for feature in range(sizes.shape[0]):
                    for code in range(sizes[feature]):
                        far = code - codes[state, feature]
                        distance = max(far, -far)  # with overflows checked, Cython cannot compile abs(...)
                        chance = final[state, first + code]
                        changed += chance * min(distance, 1)
                        moved += chance * (distance if ordered[feature] else min(distance, 1))
                    first += sizes[feature]
                if success > 0:
                    figures[0, state, lane], figures[1, state, lane] = changed / success, moved / success
