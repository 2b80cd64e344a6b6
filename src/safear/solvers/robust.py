"""Robust plans: the best against the worst chances within their intervals, chosen anew in each step.

An adversary who sees the step that is taken, and all that has happened, chooses the chances p of its outcomes, with
low <= p <= high and sum p = 1. Against him

    U_h(s, w) = min over a of max over p of sum p U_{h+1}(s', w - c)

is exact for every loss of the total cost (`targets`), for the mean and for entropic risk (`sweep`): the inner maximum
gives every outcome its least, and what is left to the worst outcomes first. One unknown chance that stays the same is
one of his choices, so what is promised here holds for it too: it is exact for him, conservative for it.

**CVaR.** What he can bring about against a plan is a set of laws of the whole run. It is compact, and convex: a mixture
of two of them is the law in which the chances at every point are the mixture of his two choices there, weighed by how
likely each was to come there, and an interval (with sum p = 1) holds that mixture. So he gains nothing by drawing lots.
E[loss(C - t)] is linear in the law, and t + E[max(C - t, 0)] / (1 - a) convex in t, so (Sion)

    max over laws of CVaR = max over laws of min over t = min over t of max over laws of t + E[max(C - t, 0)] / (1 - a)

and the least over plans is the least over t of t + U_0(s, t) / (1 - a). The same holds for the mean and CVaR together,
with one adversary for both, and VaR is the smallest t whose worst chance to be exceeded is small enough.

**Which t.** With given chances only possible totals need be tried: between two of them everything is linear in t. Here
it is, per plan, the maximum of such lines, and its least may lie between. So the value found at possible totals is what
the plan never exceeds (for a single person its exact worst case is worked out instead, as in `extremes`), and the bound
is what no plan is below, from two sides:

- U falls with t, by at most 1 per unit. Between t and t' it is at least max(U(t) - (x - t), U(t')) at x.
- An adversary who commits himself beforehand to chances per step, state and action can do no more. The optimum against
  his chances is that of an ordinary problem. Tried are those that are worst for the mean: they are the worst for
  everything wherever one outcome is what everybody hopes for.

Mean-deviation has no such recursion: the worst chances of a later step depend on what happens in all others.
"""

from __future__ import annotations

import numpy as np

from safear.core.sweeps import NO_BYTES, NO_REALS, Backward
from safear.errors import ObjectiveError
from safear.mdp.arrays import MDP, once_per_mdp
from safear.memory import MAX_BYTES, require_room
from safear.risk.objectives import MeanLowerStd, MeanStd, MeanVariance, Objective
from safear.solvers.success import allowed_rows
from safear.solvers.sweep import Reals, basis, list_final_costs, sweep_back


def require_robust(objective: Objective, method: object) -> None:
    """Refuse what has no robust form: objectives with a deviation, and the solvers of the paper."""
    aim = objective.cost_objective
    if isinstance(aim, MeanStd | MeanVariance | MeanLowerStd):
        cause = f"'{aim}' has no robust optimum: the worst chances of a step depend on what happens in all others"
        raise ObjectiveError.at((), cause, "use 'cvar:0.95' or 'mean-cvar:0.5:0.95'", code="not_robust")
    if method != "optimal":
        remedy = "use method 'optimal'"
        raise ObjectiveError.at((), "only method 'optimal' knows intervals", remedy, code="not_robust")


@once_per_mdp
def find_worst_means(mdp: MDP, slack: float | None) -> Reals:
    """The least mean of each state at the worst chances, in quanta."""
    return _sweep_worst(mdp, slack, NO_REALS)


def find_worst_chances(mdp: MDP, slack: float | None) -> Reals:
    """The chances [step, edge] that are the worst for the least mean. They take much room and are not kept."""
    what = f"the worst chances of {mdp.n_edges:,} outcomes in {mdp.horizon:,} steps"
    require_room(8 * mdp.horizon * mdp.n_edges, what, max_bytes=MAX_BYTES)
    chances = np.repeat(mdp.edge_chance[None], mdp.horizon, axis=0)
    _sweep_worst(mdp, slack, chances)
    return chances


def _sweep_worst(mdp: MDP, slack: float | None, chances: Reals) -> Reals:
    rows = allowed_rows(mdp, slack, robust=True)
    allowed = NO_BYTES if rows is None else rows.view(np.uint8)
    aim = Backward(*basis(mdp, robust=True), allowed=allowed, chances=chances)
    return sweep_back(mdp, list_final_costs(mdp), aim)


def bound_between(targets: Reals, scores: Reals, *, of_target: float, of_loss: float) -> Reals:
    """The least over all t between the targets of of_target * t + S(t), per row; S is `scores` at the targets.

    S falls with t, by at most `of_loss` per unit; see above.
    """
    if len(targets) < 2:
        return np.full(len(scores), np.inf)
    meet = targets[:-1] + (scores[:, :-1] - scores[:, 1:]) / of_loss
    least: Reals = (of_target * meet + scores[:, 1:]).min(axis=1)
    return least
