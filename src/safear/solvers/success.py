"""Success first: the highest probability of success, and the least expected cost among the plans that have it.

Backward, with P the probability of success and V the expected cost of the next step:

    q(s, a) = sum p P(s'),    P(s) = max over a of q(s, a)
    V(s) = min of sum p (c + V(s'))    over the actions with q(s, a) = P(s)

A plan has the highest probability of success if and only if it takes such an action wherever it can get to, so the
second line is exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.mdp.model import MDP
from safear.risk.objectives import Mean
from safear.solvers.greedy import Progress, first_best, score_rows
from safear.solvers.policy import NOTHING, Policy

EQUAL = 1e-12  # probabilities this close are equal up to rounding


def sweep_success(mdp: MDP, progress: Progress | None = None) -> tuple[Policy, NDArray[np.float64]]:
    """The policy, and the expected cost of each state at step 0 in quanta."""
    success = mdp.goal.astype(np.float64)
    values = np.where(mdp.goal, 0.0, float(mdp.failure_cost))
    choices = np.full((mdp.horizon, mdp.n_states), NOTHING, dtype=np.uint8)
    active = np.flatnonzero(np.diff(mdp.row_start))
    for step in reversed(range(mdp.horizon)):
        if len(active):
            first = mdp.row_start[active]
            row_success = np.add.reduceat(mdp.edge_chance * success[mdp.edge_next], mdp.edge_start[:-1])
            success[active] = np.maximum.reduceat(row_success, first)
            best = row_success >= success[mdp.row_state] - EQUAL
            scores = np.where(best, score_rows(mdp, values, Mean()), np.inf)
            rows = first_best(scores, first)
            choices[step, active] = rows - first
            values[active] = scores[rows]
        if progress is not None:
            progress(mdp.horizon - step, mdp.horizon)
    return Policy(mdp, choices), values
