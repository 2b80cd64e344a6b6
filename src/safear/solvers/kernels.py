"""The compiled loop of the backward sweep: one step, as short as its formula.

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Bytes = NDArray[np.uint8]


@njit(cache=True, nogil=True)
def greedy_step(
    row_start: Whole,
    edge_start: Whole,
    edge_next: Whole,
    edge_chance: Real,
    edge_cost: Whole,
    later: Real,
    risk_aversion: float,
    upper_only: bool,  # noqa: FBT001  # compiled functions take positions
    tie: float,
    now: Real,
    choices: Bytes,
) -> None:
    """V(s) = min over a of m + risk_aversion * d, with m and d the mean and deviation of c + later(s') (see `greedy`).

    Writes V into `now` and the first row that is the least up to `tie` into `choices`, where a state has rows.
    """
    for state in range(len(row_start) - 1):
        least, chosen = np.inf, -1
        for row in range(row_start[state], row_start[state + 1]):
            first, last = edge_start[row], edge_start[row + 1]
            mean = 0.0
            for edge in range(first, last):
                mean += edge_chance[edge] * (edge_cost[edge] + later[edge_next[edge]])
            score = mean
            if risk_aversion > 0:
                squares = 0.0
                for edge in range(first, last):
                    distance = edge_cost[edge] + later[edge_next[edge]] - mean
                    if distance > 0 or not upper_only:
                        squares += edge_chance[edge] * distance * distance
                score += risk_aversion * np.sqrt(squares)
            if chosen < 0 or score * (1 + tie) < least:
                least, chosen = score, row
        if chosen >= 0:
            now[state] = least
            choices[state] = chosen - row_start[state]
