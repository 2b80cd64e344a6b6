"""What runs can spend."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.mdp.arrays import MDP, once_per_mdp


@once_per_mdp
def largest_spent(mdp: MDP) -> NDArray[np.int64]:
    """The most that a run of any plan can spend from each state, in quanta; the failure cost is not spent."""
    largest = np.zeros(mdp.n_states, dtype=np.int64)
    active = np.flatnonzero(np.diff(mdp.row_start))
    for _ in range(mdp.horizon):
        if not len(active):
            break
        per_row = np.maximum.reduceat(mdp.edge_cost + largest[mdp.edge_next], mdp.edge_start[:-1])
        largest[active] = np.maximum.reduceat(per_row, mdp.row_start[active])
    return largest


@once_per_mdp
def least_to_goal(mdp: MDP) -> NDArray[np.int64]:
    """The least that a run spends that reaches a goal from each state in time, in quanta; -1 if none does.

    With h steps left: the least over the edges of the cost plus what it takes from the next state with h - 1.
    """
    never = np.iinfo(np.int64).max // 2
    least = np.where(mdp.goal, 0, never)
    active = np.flatnonzero(np.diff(mdp.row_start))
    for _ in range(mdp.horizon if len(active) else 0):
        per_edge = np.where(mdp.edge_chance > 0, mdp.edge_cost + least[mdp.edge_next], never)
        per_row = np.minimum.reduceat(per_edge, mdp.edge_start[:-1])
        least[active] = np.minimum.reduceat(per_row, mdp.row_start[active])
    return np.where(least < never, least, -1)
