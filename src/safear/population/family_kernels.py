"""The compiled loops over families: the figures of all states of all lanes, from the plans of all lanes.

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.compiling import njit
from safear.evaluation.evaluation_kernels import carry_back, describe
from safear.mdp.arrays import Arrays

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]


@njit(cache=True, nogil=True)
def summarise_costs(
    arrays: Arrays, goal: Flags, choices: Bytes, width: int, level: float, tolerance: float, figures: Real
) -> None:
    """Success and, given success, mean, variance, VaR, CVaR and tail mean: figures[:, state, lane], NaN if none."""
    n_states, lanes = goal.shape
    later, now = np.empty((n_states, width)), np.empty((n_states, width))  # one lane's, used again for the next
    low, high = np.empty(n_states, np.int64), np.empty(n_states, np.int64)
    values = np.arange(width)
    for lane in range(lanes):
        for state in range(n_states):
            later[state, 0] = 1.0
            low[state], high[state] = 0, int(goal[state, lane])
        final = carry_back(arrays, choices, lane, later, now, low, high)
        for state in range(n_states):
            inside = slice(low[state], high[state])
            figures[:, state, lane] = describe(values[inside], final[state, inside], level, tolerance)


@njit(cache=True, nogil=True)
def summarise_ends(
    arrays: Arrays, goal: Flags, choices: Bytes, codes: NDArray[np.int16], sizes: Whole, ordered: Flags, figures: Real
) -> None:
    """Sparsity and proximity: how far a successful run ends from where it began; figures[:, state, lane].

    From the chances of ending at each level of each feature, which follow the recursion of the costs without the costs.
    `codes` [state, feature] are level numbers, `sizes` how many levels each feature has.
    """
    n_states, lanes = goal.shape
    row_start, row_action, edge_start, edge_next, edge_chance, edge_cost, edge_outcome = arrays
    nothing = np.zeros_like(edge_cost)
    free = Arrays(row_start, row_action, edge_start, edge_next, edge_chance, nothing, edge_outcome)
    width = sizes.sum()
    later, now = np.empty((n_states, width)), np.empty((n_states, width))
    low, high = np.empty(n_states, np.int64), np.empty(n_states, np.int64)
    for lane in range(lanes):
        for state in range(n_states):
            low[state], high[state] = 0, width if goal[state, lane] else 0
            later[state], first = 0.0, 0
            for feature in range(len(sizes)):
                later[state, first + codes[state, feature]] = 1.0
                first += sizes[feature]
        final = carry_back(free, choices, lane, later, now, low, high)
        for state in range(n_states):
            figures[:, state, lane] = np.nan
            if high[state] == 0:
                continue
            success, changed, moved, first = final[state, : sizes[0]].sum(), 0.0, 0.0, 0
            for feature in range(len(sizes)):
                for code in range(sizes[feature]):
                    distance = abs(code - codes[state, feature])
                    chance = final[state, first + code]
                    changed += chance * min(distance, 1)
                    moved += chance * (distance if ordered[feature] else min(distance, 1))
                first += sizes[feature]
            if success > 0:
                figures[0, state, lane], figures[1, state, lane] = changed / success, moved / success


@njit(cache=True, nogil=True)
def find_highest_success(arrays: Arrays, goal: Flags, horizon: int) -> Real:
    """P_h(s) = max over a of sum p P_{h+1}(s'), of all states of all lanes; 1 at goals."""
    n_states, lanes = goal.shape
    later, now, chance = goal.astype(np.float64), np.empty(goal.shape), np.empty(lanes)
    for _ in range(horizon):
        for state in range(n_states):
            now[state] = later[state]  # what could be done in fewer steps can be done in more
            for row in range(arrays.row_start[state], arrays.row_start[state + 1]):
                chance[:] = 0.0
                for edge in range(arrays.edge_start[row], arrays.edge_start[row + 1]):
                    for lane in range(lanes):
                        chance[lane] += arrays.edge_chance[edge] * later[arrays.edge_next[edge], lane]
                for lane in range(lanes):
                    now[state, lane] = 1.0 if goal[state, lane] else max(now[state, lane], chance[lane])
        later, now = now, later
    return later
