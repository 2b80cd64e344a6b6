"""Success first: which actions keep the highest probability of success.

Backward, with P the highest probability of success from the next step on:

    q(s, a) = sum p P(s'),    P(s) = max over a of q(s, a)

A plan has the highest probability of success if and only if it takes an action with q(s, a) = P(s) wherever it can get
to, so any objective can be made small among these plans by sweeping over such actions only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.mdp.arrays import MDP, once_per_mdp
from safear.problem.model import Record
from safear.solvers.sweep import Allowed


@once_per_mdp
def sweep_success(mdp: MDP, *, slack: float = 1e-12) -> tuple[NDArray[np.float64], Allowed]:
    """P of each state at step 0, and for each step which rows have q(s, a) >= (1 - slack) P(s)."""
    success = mdp.goal.astype(np.float64)
    allowed = np.zeros((mdp.horizon, mdp.n_rows), dtype=bool)
    active = np.flatnonzero(np.diff(mdp.row_start))
    for step in reversed(range(mdp.horizon)):
        if len(active):
            per_row = np.add.reduceat(mdp.edge_chance * success[mdp.edge_next], mdp.edge_start[:-1])
            success[active] = np.maximum.reduceat(per_row, mdp.row_start[active])
            allowed[step] = per_row >= success[mdp.row_state] * (1 - slack)
    return success, allowed


def highest_success(mdp: MDP, person: Record | int | None = None) -> float:
    """The highest probability of success that any plan has for a person."""
    return float(sweep_success(mdp)[0][mdp.locate_start(person)])


def allowed_rows(mdp: MDP, slack: float | None) -> Allowed | None:
    """What a plan may do if each step may give away the share `slack` of the highest success; None is everything."""
    return None if slack is None else sweep_success(mdp, slack=slack)[1]
