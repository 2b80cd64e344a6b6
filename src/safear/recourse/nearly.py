"""What "nearly as good as the best plan" means.

With t the tolerance, v the objective of a plan, and C its total cost, a plan is nearly as good if

    v <= (1 + t) * bound      the bound that no plan is below, not the best plan found; of a chance (`Budget`): + 0.001
    E[C] and CVaR(C) are at most (1 + t) times those of the best plan; at the level of the objective, if it has one
    success is at most 0.001 lower, where it comes first no lower than its tolerance allows, and nobody gives up

A best plan that is itself further from the bound allows what is no worse than itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from safear.recourse.failure import gives_up, least_success
from safear.recourse.offer import Offer
from safear.risk.distribution import CostDistribution
from safear.risk.objectives import Budget, CostObjective, CVaR, MeanCVaR, Objective, SuccessFirst
from safear.solvers.success import highest_success

NEARLY = 0.02  # the tolerance: a plan may cost so much more, relatively
SAME_CHANCE = 0.001  # chances that differ by no more are nearly the same: a tenth of a percentage point
ROUNDING = 1e-12
GRAIN = 1e-12  # the share of the value below which differences are rounding


@dataclass(frozen=True, slots=True)
class Limits:
    """What a plan may be at most (value, mean, tail at a level), and how often it must succeed at least."""

    objective: Objective
    level: float
    value: float
    mean: float
    tail: float
    success: float

    @classmethod
    def of(cls, best: Offer, tolerance: float = NEARLY) -> Limits:
        """Beside the best plan, whose solution must have a bound."""
        more, objective, costs = 1 + tolerance, best.solution.objective, best.cost.all_runs
        aim = aim_of(objective)
        level = aim.level if isinstance(aim, CVaR | MeanCVaR) else best.level
        bound = best.solution.bound_of(best.start)
        value = bound + SAME_CHANCE if is_chance(objective) else bound * more
        return cls(
            objective=objective,
            level=level,
            value=max(value, objective.of(best.cost)),
            mean=costs.mean * more,
            tail=costs.cvar(level) * more,
            success=_find_least_success(best),
        )

    @property
    def grain(self) -> float:
        """Values that differ by less are equal, so that no rounding error decides between plans."""
        return max(GRAIN * self.value, ROUNDING)

    def allow(self, cost: CostDistribution) -> bool:
        """Whether a plan with this distribution is nearly as good."""
        runs = cost.all_runs
        pairs = (
            (self.objective.of(cost), self.value),
            (runs.mean, self.mean),
            (runs.cvar(self.level), self.tail),
        )
        return cost.success >= self.success - ROUNDING and all(
            own <= most * (1 + ROUNDING) + ROUNDING for own, most in pairs
        )


def _find_least_success(best: Offer) -> float:
    """How often a plan must succeed that is nearly as good."""
    mdp, objective, own = best.solution.mdp, best.solution.objective, best.cost.success
    least, highest = own - SAME_CHANCE, highest_success(mdp, best.start)
    if isinstance(objective, SuccessFirst):
        least = max(least, highest * (1 - mdp.horizon * objective.tolerance))
    if not gives_up(own, highest):
        least = max(least, least_success(highest))
    return min(least, own)


def aim_of(objective: Objective) -> CostObjective:
    """What is made small, after success or at once."""
    return objective.then if isinstance(objective, SuccessFirst) else objective


def is_chance(objective: Objective) -> bool:
    """Whether the value of an objective is a chance, not a cost."""
    return isinstance(aim_of(objective), Budget)
