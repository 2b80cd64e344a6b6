"""The figures of all states of all lanes of a family, from the plans of all lanes (see `population.family_figures`)."""

from __future__ import annotations

import cython
import numpy as np

if not cython.compiled:
    from safear.core.arrays import Arrays, Bytes, Real, Short, Whole, fill_wholes, make_reals, make_table, make_wholes
    from safear.core.figures import carry_back, describe

NAN = float("nan")


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
