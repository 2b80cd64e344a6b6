"""What can at best still come (see `solvers.ahead`)."""

from __future__ import annotations

import cython

if not cython.compiled:
    from safear.core.arrays import INF, Arrays, Bytes, Real


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
