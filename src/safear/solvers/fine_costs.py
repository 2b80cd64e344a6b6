"""Fine costs: the optimal plan of a person whose costs have too many possible totals.

A sweep over targets takes a column per possible total cost. Where costs are so fine that this would take too long, the
plan is found with costs rounded to larger units and then followed with the real ones: an account that holds x real
quanta counts as the nearest number of units. So its figures are exact and so is its value; only the bound gives way, by
what the rounding can change.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.extremes import evaluate_worst
from safear.evaluation.forward import evaluate
from safear.evaluation.policy import Policy, SpentPolicy
from safear.mdp.arrays import MDP
from safear.mdp.ground import restrict
from safear.mdp.lattice import round_costs
from safear.progress import Progress
from safear.risk.objectives import Objective, rounding_error
from safear.solvers.optimal import Certified, count_columns, find_optimal, needs_targets
from safear.solvers.targets import fits

MAX_WORK = 10_000_000  # edges times columns times steps of a sweep: some hundredths of a second
FINE = 4  # the least cost of a step stays at least so many units


def find_rounded(
    mdp: MDP,
    objective: Objective,
    units: int,
    *,
    tolerance: float,
    robust: bool = False,
    progress: Progress | None = None,
) -> Certified:
    """The plan that is best with costs rounded to so many quanta, with its exact value, robust in its worst case."""
    rounded = round_costs(mdp, units)
    found = find_optimal(rounded, objective, tolerance=tolerance, robust=robust, progress=progress)
    policy, start = _lift(found.policy, mdp, units), mdp.locate()
    # What is added is the rounding done here; what the problem's own resolution does is in `Solution.value_error`.
    added = float(rounded.cost_error - mdp.cost_error)
    error = rounding_error(objective.cost_objective, added, float(found.values[start]))
    is_robust = robust and mdp.has_intervals
    value = evaluate_worst(policy, objective, start) if is_robust else objective.of(evaluate(policy, start))
    values, bounds = np.zeros(mdp.n_states), np.zeros(mdp.n_states)
    values[start], bounds[start] = value, min(value, max(float(found.bounds[start]) - error, 0.0))
    return Certified(policy, values, bounds)


def choose_unit(mdp: MDP, objective: Objective, *, robust: bool = False) -> int:
    """How many quanta make one unit of the search; 1 if nothing need be rounded.

    Only the plan of one person is looked for with rounded costs: they differ in how much rounding they need.
    """
    if len(mdp.starts) != 1 or not needs_targets(objective) or _coarsest(mdp) <= 1:
        return 1
    return unit_for(mdp, count_columns(mdp, objective, robust=robust))


def unit_for(mdp: MDP, columns: int) -> int:
    """The same for a sweep with so many columns."""
    work = -(-mdp.n_edges * mdp.horizon * columns // MAX_WORK)  # in multiples of what is done without, rounded up
    return max(1, min(work, _coarsest(mdp)))


def _coarsest(mdp: MDP) -> int:
    """The largest unit that the steps allow."""
    steps = mdp.edge_cost[mdp.edge_cost > 0]
    return int(steps.min()) // FINE if len(steps) else 1


def needs_rounding(mdp: MDP, objective: Objective, starts: NDArray[np.int64]) -> bool:
    """Whether the optimal plans from some of these states must be looked for with rounded costs, each on its own.

    So that everybody has the plan that they would have alone. What does not fit memory for all states is meant, too.
    """
    if not needs_targets(objective):
        return False
    columns = count_columns(mdp, objective)
    if not fits(mdp, columns):
        return True
    if mdp.edge_cost.max(initial=0) < 2 * FINE:
        return False
    # A person's own MDP is part of this one, and has no more columns; where they begin, a cheap step forbids rounding.
    starts = starts[_cheapest_step(mdp)[starts] >= 2 * FINE]
    suspects = starts[count_edges_ahead(mdp, starts) * mdp.horizon * columns > MAX_WORK]
    return any(choose_unit(restrict(mdp, int(start)).mdp, objective) > 1 for start in suspects)


def _cheapest_step(mdp: MDP) -> NDArray[np.int64]:
    """The least cost above 0 of an outcome that each state offers, in quanta."""
    least = np.full(mdp.n_states, np.iinfo(np.int64).max)
    costs = mdp.edge_cost > 0
    np.minimum.at(least, mdp.row_state[mdp.edge_row][costs], mdp.edge_cost[costs])
    return least


def count_edges_ahead(mdp: MDP, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many edges a run from each of these states can meet within the horizon; 64 starts at a time, a bit each."""
    found = np.zeros(len(starts), dtype=np.int64)
    if not mdp.n_edges:
        return found
    order = np.argsort(mdp.edge_next, kind="stable")
    targets, first = np.unique(mdp.edge_next[order], return_index=True)
    source, edges = mdp.row_state[mdp.edge_row[order]], np.diff(mdp.edge_start[mdp.row_start])
    for begin in range(0, len(starts), 64):
        some = starts[begin : begin + 64]
        bits = np.uint64(1) << np.arange(len(some), dtype=np.uint64)
        met = np.zeros(mdp.n_states, dtype=np.uint64)
        np.bitwise_or.at(met, some, bits)
        for _ in range(mdp.horizon - 1):
            met[targets] |= np.bitwise_or.reduceat(met[source], first)
        found[begin : begin + 64] = edges @ ((met[:, None] & bits) > 0)
    return found


def _lift(policy: Policy, mdp: MDP, units: int) -> Policy:
    """A policy for rounded costs as one for the real costs, whose account is in real quanta."""
    if not isinstance(policy, SpentPolicy):
        raise TypeError(policy)  # what needs no targets is not rounded
    return SpentPolicy(
        mdp, policy.opening * units, policy.piece_start, policy.first * units - units // 2, policy.choice
    )
