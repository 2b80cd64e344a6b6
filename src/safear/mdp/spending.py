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
