"""The optimal plan of one person, whatever their costs are like.

A sweep over targets takes a column per possible total cost. Where costs are so fine that this would take too long, the
plan is found with costs rounded to larger units and then followed with the real ones: an account that holds x real
quanta counts as the nearest number of units. So its figures are exact and so is its value; only the bound gives way, by
what the rounding can change.
"""

from __future__ import annotations

import numpy as np

from safear.evaluation.forward import evaluate
from safear.evaluation.policy import Policy, SpentPolicy
from safear.mdp.arrays import MDP
from safear.mdp.rounding import round_costs
from safear.progress import Progress
from safear.risk.objectives import Objective, SuccessFirst, rounding_error
from safear.solvers.optimal import count_columns, needs_targets
from safear.solvers.solution import Solution
from safear.solvers.solve import solve

MAX_WORK = 10_000_000  # edges times columns times steps of a sweep: some hundredths of a second
FINE = 4  # the least cost of a step stays at least so many units


def find_plan(mdp: MDP, objective: Objective, *, progress: Progress | None = None) -> Solution:
    """The optimum for the person that the MDP was compiled from; see above for costs that are too fine."""
    units = count_units(mdp, objective)
    if units == 1:
        return solve(mdp, objective, progress=progress)
    rounded = solve(round_costs(mdp, units), objective, progress=progress)
    policy = _lift(rounded.policy, mdp, units)
    start = mdp.locate()
    value = objective.of(evaluate(policy, start))
    aim = objective.then if isinstance(objective, SuccessFirst) else objective
    # What is added is the rounding done here; what the problem's own resolution does is in `Solution.value_error`.
    error = rounding_error(aim, float(rounded.mdp.cost_error - mdp.cost_error), rounded.value)
    values, bounds = np.zeros(mdp.n_states), np.zeros(mdp.n_states)
    values[start], bounds[start] = value, min(value, max(rounded.bound - error, 0.0))
    return Solution(mdp, objective, "optimal", policy, values, certificate=bounds)


def count_units(mdp: MDP, objective: Objective) -> int:
    """How many quanta make one unit of the sweep; 1 if nothing need be rounded."""
    if not needs_targets(objective):
        return 1
    work = mdp.n_edges * mdp.horizon * count_columns(mdp, objective)
    steps = mdp.edge_cost[mdp.edge_cost > 0]
    if work <= MAX_WORK or not len(steps):
        return 1
    return max(1, min(-(-work // MAX_WORK), int(steps.min()) // FINE))


def _lift(policy: Policy, mdp: MDP, units: int) -> Policy:
    """A policy for rounded costs as one for the real costs, whose account is in real quanta."""
    if not isinstance(policy, SpentPolicy):
        raise TypeError(policy)  # what needs no targets is not rounded
    return SpentPolicy(
        mdp, policy.opening * units, policy.piece_start, policy.first * units - units // 2, policy.choice
    )
