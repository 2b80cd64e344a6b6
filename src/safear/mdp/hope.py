"""Where a goal can still be reached: how many steps that takes at least, and where there is anything left to do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.mdp.arrays import MDP, once_per_mdp


@once_per_mdp
def count_steps_to_goal(mdp: MDP) -> NDArray[np.int64]:
    """The fewest steps in which a goal may be reached from each state, if all goes well; horizon + 1 if it cannot."""
    needed = np.where(mdp.goal, 0, mdp.horizon + 1)
    origin = mdp.row_state[mdp.edge_row]
    for step in range(1, mdp.horizon + 1):
        before = origin[needed[mdp.edge_next] == step - 1]
        needed[before] = np.minimum(needed[before], step)
    return needed


def may_act(mdp: MDP, step: int) -> NDArray[np.bool_]:
    """In which states something is done at a step: an action is offered and, if plans stop, a goal can be reached."""
    offered = np.diff(mdp.row_start) > 0
    return offered & (count_steps_to_goal(mdp) <= mdp.horizon - step) if mdp.stops else offered
