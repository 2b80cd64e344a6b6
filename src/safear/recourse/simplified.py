"""An offer with the simplest plan that is nearly as good as the best one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from safear.evaluation.forward import run_exactly
from safear.evaluation.policy import Policy
from safear.recourse.nearly import NEARLY, Limits, is_chance
from safear.recourse.offer import Offer
from safear.recourse.simplest import find_simplest
from safear.recourse.teller import Teller
from safear.risk.distribution import CostDistribution
from safear.solvers.solution import Solution

MOST_STATES = 2_000_000  # states times steps up to which simpler plans are looked for


@dataclass(frozen=True, slots=True, repr=False)
class Simplified:
    """What a simple plan is beside the best one, `best`.

    `rules` is how many steps it tells, `rules_before` how many the best plan does. `loss` is by how much its objective
    is at most above that of any plan (certified: beside the bound), relatively or, if it is a chance, absolutely.
    `mean` and `tail` are how much higher these are, relatively, and `success` how much lower, absolutely, than those of
    the best plan; negative where it is better. None of them exceeds what `tolerance` allows: see `nearly`, which also
    says at which level the tail is.
    """

    best: Offer
    rules: int
    rules_before: int
    tolerance: float
    loss: float
    mean: float
    tail: float
    success: float

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return Teller.of().simplified(self)

    @property
    def dearer(self) -> float:
        """The most that its costs are higher by, relatively: its mean, its tail and, if it is a cost, its objective."""
        own = 0.0 if is_chance(self.best.objective) else self.loss
        return max(own, self.mean, self.tail, 0.0)

    @property
    def rarer(self) -> float:
        """The most that its chances are lower by: that of success and, if that is its objective, within a budget."""
        own = self.loss if is_chance(self.best.objective) else 0.0
        return max(own, self.success, 0.0)


def simplify_offer(best: Offer, *, tolerance: float = NEARLY) -> Offer:
    """The offer with the simplest plan that is nearly as good; as it is if none with fewer rules is found.

    Robust plans stay as they are: they are the best in the worst case, and simple plans are judged by nominal chances.
    So do those of methods that know no bound, and those of a kind that the core does not know.
    """
    solution, start = best.solution, best.start
    mdp = solution.mdp
    if solution.certificate is None or best.is_guarded or mdp.n_states * mdp.horizon > MOST_STATES:
        return best
    if best.policy.arrays is None or best.rules <= 1:
        return best
    limits = Limits.of(best, tolerance)
    found = find_simplest(best.policy, start, limits, best.rules)
    if found is None:
        return best
    runs = run_exactly(found.policy, start)
    simple = replace(best, solution=_replace_policy(solution, start, found.policy, runs.distribution), runs=runs)
    bound, gap = simple.solution.bound_of(start), simple.solution.value_of(start) - simple.solution.bound_of(start)
    tail, best_tail = (offer.cost.all_runs.cvar(limits.level) for offer in (simple, best))
    told = Simplified(
        best,
        found.rules,
        best.rules,
        tolerance,
        loss=gap if is_chance(best.objective) else _relative(gap, bound),
        mean=_relative(simple.mean - best.mean, best.mean),
        tail=_relative(tail - best_tail, best_tail),
        success=best.cost.success - simple.cost.success,
    )
    return replace(simple, simplified=told)


def _replace_policy(solution: Solution, start: int, policy: Policy, cost: CostDistribution) -> Solution:
    """The solution with another policy: its value is that of the policy, and the bound still one."""
    value, bound = solution.objective.of(cost), solution.bound_of(start)
    planned, certificate = solution.planned.copy(), np.array(solution.certificate)
    # A plan that success first would not allow, though it succeeds as often, may be better than all that it allows.
    planned[start], certificate[start] = value, min(bound, value)
    return replace(solution, policy=policy, planned=planned, certificate=certificate)


def _relative(more: float, than: float) -> float:
    return more / than if than > 0 else 0.0
