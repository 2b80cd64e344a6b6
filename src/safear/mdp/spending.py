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


def least_totals(mdp: MDP) -> NDArray[np.float64]:
    """[step, row]: the least that a run may spend from a step on, if it begins with a row and reaches a goal in time.

    In quanta; infinite if none does. What may happen though its nominal chance is 0 counts too.
    """
    found = np.full((mdp.horizon, mdp.n_rows), np.inf)
    least = np.where(mdp.goal, 0.0, np.inf)
    for step in reversed(range(mdp.horizon)):
        totals = np.where(mdp.edge_high > 0, mdp.edge_cost + least[mdp.edge_next], np.inf)
        found[step] = np.minimum.reduceat(totals, mdp.edge_start[:-1])
        least = np.where(mdp.goal, 0.0, np.inf)
        np.minimum.at(least, mdp.row_state, found[step])
    return found
