"""Coarser costs: the same MDP with costs in larger units, and a bound on what that does to totals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from safear.mdp.arrays import MDP


def round_costs(mdp: MDP, units: int) -> MDP:
    """The MDP with every cost rounded to the nearest multiple of so many quanta, which becomes the quantum.

    A total is then off by at most horizon * (largest rounding of a step) + (rounding of the failure cost) more than it
    was: `cost_error`.
    """
    cost = (mdp.edge_cost + units // 2) // units
    failure = (mdp.failure_cost + units // 2) // units
    step = int(np.abs(cost * units - mdp.edge_cost).max(initial=0))
    error = (mdp.horizon * step + abs(failure * units - mdp.failure_cost)) * mdp.quantum
    return replace(
        mdp,
        edge_cost=cost,
        failure_cost=failure,
        quantum=mdp.quantum * Fraction(units),
        cost_error=mdp.cost_error + error,
    )
