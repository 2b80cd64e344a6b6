"""What can at best still come: the least mean cost and the highest success from each state at each step on.

Backward, with the outcomes (p, c, s') of a row:

    V_h(s) = min over rows of sum p (c + V_{h+1}(s')),    P_h(s) = max over rows of sum p P_{h+1}(s')

where V is 0 and P is 1 at goals, and V is the failure cost and P is 0 where the run is over without one. No plan has a
lower mean, or a higher success, from there on; the two need not be those of one plan.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.core.sweeps import sweep_ahead
from safear.mdp.arrays import MDP, once_per_mdp
from safear.mdp.hope import list_acting


class Ahead(NamedTuple):
    """The least mean (in quanta, a failure with its cost) and the highest success: [step, state], horizon included."""

    mean: NDArray[np.float64]
    success: NDArray[np.float64]


@once_per_mdp
def look_ahead(mdp: MDP) -> Ahead:
    """Look ahead from all states and steps of an MDP."""
    mean, success = (np.empty((mdp.horizon + 1, mdp.n_states)) for _ in range(2))
    mean[:], success[:] = np.where(mdp.goal, 0.0, float(mdp.failure_cost)), mdp.goal
    sweep_ahead(mdp.arrays, list_acting(mdp).view(np.uint8), mean, success)
    return Ahead(mean, success)
