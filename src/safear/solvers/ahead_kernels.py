"""The compiled loop of `ahead`. Imported when first needed: Numba takes a moment to load."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.compiling import njit
from safear.mdp.arrays import Arrays

Real = NDArray[np.float64]


@njit(cache=True, nogil=True)
def sweep_ahead(arrays: Arrays, acts: NDArray[np.bool_], mean: Real, success: Real) -> None:
    """V_h(s) = min over rows of sum p (c + V_{h+1}(s')), P_h(s) = max over rows of sum p P_{h+1}(s').

    `mean` and `success` [step, state] are there for the end, and where nothing is done, `acts` [step, state], for all
    steps.
    """
    for step in range(len(acts) - 1, -1, -1):
        for state in range(acts.shape[1]):
            if not acts[step, state]:
                continue
            least, most = np.inf, 0.0
            for row in range(arrays.row_start[state], arrays.row_start[state + 1]):
                cost, wins = 0.0, 0.0
                for edge in range(arrays.edge_start[row], arrays.edge_start[row + 1]):
                    chance, after = arrays.edge_chance[edge], arrays.edge_next[edge]
                    cost += chance * (arrays.edge_cost[edge] + mean[step + 1, after])
                    wins += chance * success[step + 1, after]
                least, most = min(least, cost), max(most, wins)
            mean[step, state], success[step, state] = least, most
