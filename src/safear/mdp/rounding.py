"""Coarser costs: the same MDP with costs in larger units, and a bound on what that does to totals."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from safear.mdp.arrays import MDP


def advise_resolution(mdp: MDP, times: float, otherwise: str) -> str:
    """What to do where totals are so many `times` too fine: round costs, as long as no step comes to cost nothing."""
    costs = mdp.edge_cost[mdp.edge_cost > 0]
    least, units = int(costs.min(initial=np.iinfo(np.int64).max)), 10 ** math.ceil(math.log10(max(times, 2)))
    if units <= least:
        return f"round costs: 'cost: {{resolution: {float(mdp.quantum * units):g}}}' would fit"
    dear = mdp.failure_cost > mdp.horizon * int(costs.max(initial=0))
    lower = f"lower the failure cost ({float(mdp.failure_cost * mdp.quantum):g}), " if dear else ""
    finest = f"costs cannot be rounded so far, the least is {float(least * mdp.quantum):g}" if len(costs) else ""
    return f"{finest + ': ' if finest else ''}{lower}{otherwise}"


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
