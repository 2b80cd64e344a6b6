"""What runs can spend."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.core.sweeps import NO_BYTES, bound_totals
from safear.mdp.arrays import MDP, once_per_mdp

Whole = NDArray[np.int64]
NEVER = np.iinfo(np.int64).max  # in place of a total: there is none
ANY: NDArray[np.float64] = np.empty(0)  # in place of what is possible


def bound_spent(
    mdp: MDP,
    ends: Whole | int,
    depth: Whole | None = None,
    late: Whole | None = None,
    *,
    is_most: bool,
    possible: NDArray[np.float64] = ANY,
    choices: NDArray[np.uint8] = NO_BYTES,
    by_step: bool = True,
) -> Whole:
    """The least or the most that may be spent from each state on, and `ends` at the end: [step, state], or of step 0.

    By edges that are `possible`, above 0, or by all.
    """
    totals = np.empty((mdp.horizon + 1 if by_step else 2, mdp.n_states), dtype=np.int64)
    totals[:] = ends
    depth = np.zeros(mdp.n_states, dtype=np.int64) if depth is None else depth
    late = np.full(mdp.n_states, mdp.horizon, dtype=np.int64) if late is None else late
    bound_totals(mdp.arrays, possible, depth, late, choices, is_most, totals, mdp.horizon)
    return totals if by_step else totals[0]


@once_per_mdp
def largest_spent(mdp: MDP) -> Whole:
    """The most that a run of any plan can spend from each state, in quanta; the failure cost is not spent."""
    return bound_spent(mdp, 0, is_most=True, by_step=False)


@once_per_mdp
def least_to_goal(mdp: MDP) -> Whole:
    """The least that a run spends that reaches a goal from each state in time, in quanta; -1 if none does."""
    ends = np.where(mdp.goal, 0, NEVER)
    least = bound_spent(mdp, ends, is_most=False, possible=mdp.edge_chance, by_step=False)
    return np.where(least == NEVER, -1, least)
