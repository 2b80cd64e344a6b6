"""Budgets that no plan can keep: decided here for menus, batches and audits alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.mdp.arrays import MDP
from safear.mdp.spending import least_to_goal
from safear.risk.distribution import units_within
from safear.risk.objectives import Budget, Objective


def exceeds_budget(mdp: MDP, objective: Objective, states: NDArray[np.int64]) -> NDArray[np.bool_]:
    """From which states a plan within a budget is asked for, and every run that ends well spends more.

    Where costs were rounded by up to e, a run may really spend e less: the limit is then e higher. Objectives that are
    no budget are exceeded nowhere.
    """
    if not isinstance(objective, Budget):
        return np.zeros(len(states), dtype=bool)
    limit = units_within(objective.limit + float(mdp.cost_error), mdp.quantum)
    return np.asarray(least_to_goal(mdp)[states] > limit)


def least_budget(mdp: MDP) -> tuple[float, float]:
    """What the person of an MDP spends at least if all ends well, and a budget that is enough for that.

    They are the same unless costs were rounded.
    """
    least, error = mdp.to_cost(int(least_to_goal(mdp)[mdp.locate()])), float(mdp.cost_error)
    return max(least - error, 0.0), least + error
