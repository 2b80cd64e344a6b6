"""Where there is anything left to do: an action is offered and, where plans stop, a goal can still be reached."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.mdp.arrays import MDP, once_per_mdp


@once_per_mdp
def list_acting(mdp: MDP) -> NDArray[np.bool_]:
    """List in which states something is done: [step, state]."""
    left = mdp.horizon - np.arange(mdp.horizon)[:, None]
    in_time = mdp.steps_to_goal <= left if mdp.stops else np.ones((mdp.horizon, 1), dtype=bool)
    return (np.diff(mdp.row_start) > 0) & in_time
