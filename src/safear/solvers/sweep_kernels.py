"""The compiled loops of the sweeps over states, each as short as its formula.

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.compiling import njit
from safear.mdp.arrays import Arrays

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Steps = NDArray[np.int16]


class Deviation(NamedTuple):
    """How a deviation counts: by which factor, and whether only costs above the mean do; of two outcomes, per row.

    The score of a row with two outcomes x0 and x1 rises by `rise` per x0 - x1 above 0, and falls by `fall` (<= 0) per
    that below.
    """

    risk_aversion: float
    upper_only: bool
    rise: Real
    fall: Real


@njit(cache=True, nogil=True)
def count_steps(arrays: Arrays, goal: Flags, horizon: int) -> Steps:
    """The fewest steps in which a goal may be reached, of all states of all lanes; horizon + 1 if it cannot."""
    n_states, lanes = goal.shape
    needed = np.where(goal, np.int16(0), np.int16(horizon + 1))
    found = True
    while found:
        found = False
        for state in range(n_states):
            first, last = arrays.row_start[state], arrays.row_start[state + 1]
            for edge in range(arrays.edge_start[first], arrays.edge_start[last]):
                target = arrays.edge_next[edge]
                if target == state:  # or else several lanes could not be done at a time
                    continue
                nearer = np.int16(0)
                for lane in range(lanes):
                    before, ahead = needed[state, lane], np.int16(needed[target, lane] + np.int16(1))
                    needed[state, lane] = min(before, ahead)
                    nearer |= np.int16(before > ahead)
                found = found or bool(nearer > 0)
    return needed


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_arrays(
    arrays: Arrays, deviation: Deviation, goal: Flags, needed: Steps, failure_cost: float, tie: float, choices: Bytes
) -> Real:
    """V_h(s) = min over a of m + risk_aversion * d, m and d the mean and deviation of c + V_{h+1}(s') (see `sweep`).

    For every lane [state, lane] at once: lanes share rows and edges and differ in goals. The deviation of two outcomes
    x0 and x1 is max(rise * (x0 - x1), fall * (x0 - x1)), aversion included. Writes the first row that is the least up
    to `tie` into choices[step, state, lane], 255 where there is none, and returns V at step 0. There is none where more
    steps are `needed` [state, lane] than are left; at goals that have rows, these are more than the horizon.
    """
    row_start, _, edge_start, edge_next, edge_chance, edge_cost, _ = arrays
    risk_aversion, upper_only, rise, fall = deviation
    horizon, n_states, lanes = choices.shape
    later, now = np.empty((n_states, lanes)), np.empty((n_states, lanes))
    # Real numbers both, so that several lanes are compared at a time; and two of each, to read from and to write to in
    # turns: writing where one has read becomes masked stores, which some processors (AMD's with AVX2) are slow at.
    least, chosen = np.empty((2, lanes)), np.empty((2, lanes))
    mean, squares = np.empty(lanes), np.empty(lanes)
    goals = np.zeros(n_states, np.int64)  # in how many lanes a state is one
    for state in range(n_states):
        for lane in range(lanes):
            later[state, lane] = 0.0 if goal[state, lane] else failure_cost
            goals[state] += goal[state, lane]
    for step in range(horizon - 1, -1, -1):
        left = np.int16(horizon - step)  # as narrow as `needed`
        for state in range(n_states):
            for lane in range(lanes):
                least[0, lane], chosen[0, lane] = np.inf, 255.0
            end = row_start[state] if goals[state] == lanes else row_start[state + 1]
            for row in range(row_start[state], end):
                number = float(row - row_start[state])
                old = (row - row_start[state]) & 1
                new = 1 - old
                first, outcomes = edge_start[row], edge_start[row + 1] - edge_start[row]
                cost0, chance0, next0 = float(edge_cost[first]), edge_chance[first], edge_next[first]
                # Lanes are indexed in place: a slice of an array costs more than the arithmetic of a row.
                if outcomes == 1:
                    for lane in range(lanes):
                        score = cost0 + later[next0, lane]
                        best, taken = least[old, lane], chosen[old, lane]
                        better = score * (1 + tie) < best
                        least[new, lane] = score if better else best
                        chosen[new, lane] = number if better else taken
                elif outcomes == 2:
                    cost1, chance1, next1 = float(edge_cost[first + 1]), edge_chance[first + 1], edge_next[first + 1]
                    above, below = rise[row], fall[row]
                    for lane in range(lanes):
                        x0, x1 = cost0 + later[next0, lane], cost1 + later[next1, lane]
                        score = chance0 * x0 + chance1 * x1 + max(above * (x0 - x1), below * (x0 - x1))
                        best, taken = least[old, lane], chosen[old, lane]
                        better = score * (1 + tie) < best
                        least[new, lane] = score if better else best
                        chosen[new, lane] = number if better else taken
                else:
                    for lane in range(lanes):
                        mean[lane] = squares[lane] = 0.0
                    for edge in range(first, first + outcomes):
                        for lane in range(lanes):
                            mean[lane] += edge_chance[edge] * (edge_cost[edge] + later[edge_next[edge], lane])
                    for edge in range(first, first + outcomes):
                        for lane in range(lanes):
                            distance = edge_cost[edge] + later[edge_next[edge], lane] - mean[lane]
                            distance = max(distance, 0.0) if upper_only else distance
                            squares[lane] += edge_chance[edge] * distance * distance
                    for lane in range(lanes):
                        score = mean[lane] + risk_aversion * np.sqrt(squares[lane])
                        best, taken = least[old, lane], chosen[old, lane]
                        better = score * (1 + tie) < best
                        least[new, lane] = score if better else best
                        chosen[new, lane] = number if better else taken
            last = (end - row_start[state]) & 1
            for lane in range(lanes):  # everything is read whatever comes of it, so that no lane needs a branch
                stays, best, taken = later[state, lane], least[last, lane], chosen[last, lane]
                idle = (taken == 255.0) | (needed[state, lane] > left)
                choice = np.uint8(taken)
                now[state, lane] = stays if idle else best
                choices[step, state, lane] = np.uint8(255) if idle else choice
        later, now = now, later
    return later


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_single(
    arrays: Arrays, deviation: Deviation, goal: Flags, needed: Steps, failure_cost: float, tie: float, choices: Bytes
) -> Real:
    """What `sweep_arrays` does for a single lane, bit for bit; without that index. States that wait cost nothing."""
    row_start, _, edge_start, edge_next, edge_chance, edge_cost, _ = arrays
    risk_aversion, upper_only, rise, fall = deviation
    horizon, n_states = choices.shape
    later, now = np.where(goal, 0.0, failure_cost), np.empty(n_states)
    for step in range(horizon - 1, -1, -1):
        for state in range(n_states):
            least, chosen = np.inf, 255
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
                        distance = max(distance, 0.0) if upper_only else distance
                        squares += edge_chance[edge] * distance * distance
                    score = mean + risk_aversion * np.sqrt(squares)
                if score * (1 + tie) < least:
                    least, chosen = score, row - row_start[state]
            now[state] = later[state] if chosen == 255 else least
            choices[step, state] = chosen
        later, now = now, later
    return later
