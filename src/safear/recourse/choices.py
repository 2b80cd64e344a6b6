"""How far a chance or a cost can move, alone, before another of the offered plans is better for what a plan is for.

Both plans are held fixed, as decisions by history. The march is that of `flips`; a stretch is passed over if the plan,
with whatever chances of the stretch are worst for it (or at the dear end of a cost), is better than each of the others
with whatever are best for that (or at the cheap end).
"""

from __future__ import annotations

from collections.abc import Sequence

from safear.evaluation.forward import run_moved
from safear.mdp.parameters import Parameter
from safear.recourse.march import SURE, TOLERANCE, Direction, Leeway, March
from safear.recourse.offer import Offer
from safear.risk.distribution import EPSILON, CostDistribution
from safear.risk.objectives import MeanLowerStd, MeanStd, MeanVariance, SuccessFirst, VaR
from safear.solvers.first_step import PlanBounds


def find_plan_leeway(
    offer: Offer, others: Sequence[Offer], parameter: Parameter, direction: Direction, *, tolerance: float = TOLERANCE
) -> Leeway:
    """How far a parameter can move before one of the other plans is better for the objective of a plan."""
    return _ChoiceMarch(offer, others, parameter, direction, tolerance=tolerance).leeway()


class _ChoiceMarch(March):
    """A plan beside the others of its menu, each as it is; those that are better already do not count."""

    def __init__(
        self, offer: Offer, others: Sequence[Offer], parameter: Parameter, direction: Direction, *, tolerance: float
    ) -> None:
        solution = offer.solution
        super().__init__(solution.mdp, solution.objective, parameter, direction, tolerance=tolerance)
        self.offer = offer
        self.runs: dict[tuple[int, int], CostDistribution] = {}
        self.bounds: dict[int, PlanBounds] = {}
        self.others = [other for other in others if other is not offer and not self._beats(other, 0)]

    def better(self, step: int) -> tuple[str | None, CostDistribution, Offer | None]:
        """The best of the plans that are better there."""
        best = min(
            (other for other in self.others if self._beats(other, step)),
            key=lambda other: self._value(other, step),
        )
        return best.first_action, self._cost(best, step), best

    @property
    def has_bounds(self) -> bool:
        """Neither of objectives that look at success first, nor of those that may fall when a cost rises."""
        rough = (SuccessFirst, VaR) if self.parameter.is_chance else (SuccessFirst,)
        return not isinstance(self.objective, (*rough, MeanStd, MeanVariance, MeanLowerStd))

    def is_tied(self, step: int) -> bool:
        """Whether another plan is as good."""
        return any(self._value(other, step) <= self._value(self.offer, step) * (1 + SURE) for other in self.others)

    def is_as_good(self, step: int) -> bool:
        """Whether no other plan is better."""
        return not any(self._beats(other, step) for other in self.others)

    def is_certain(self, near: int, far: int) -> bool:
        """Whether no other plan is better anywhere in between."""
        if not self.parameter.is_chance:
            dear, cheap = (far, near) if self.direction == "up" else (near, far)
            own = self._value(self.offer, dear)
            return all(own < self._value(other, cheap) * (1 - SURE) for other in self.others)
        self.left -= 1
        chances = [self.parameter.chances(self.mdp, self.value(step)) for step in (near, far)]
        most = self._bounds(self.offer).at_most(self._cost(self.offer, near).all_runs, chances)
        if most is None:
            return not self.others
        least = (self._bounds(other).at_least(chances) for other in self.others)
        return all(value is not None and most < value * (1 - SURE) for value in least)

    def _beats(self, other: Offer, step: int) -> bool:
        """Whether another plan is better: by its success, where that comes first, and then by its value."""
        own, its = self._value(self.offer, step), self._value(other, step)
        if isinstance(self.objective, SuccessFirst):
            success, others = (self._cost(plan, step).success for plan in (self.offer, other))
            slack = self.objective.tolerance * self.mdp.horizon
            if abs(success - others) > max(EPSILON, slack * max(success, others)):
                return others > success
        return its < own * (1 - SURE)

    def _value(self, offer: Offer, step: int) -> float:
        return self.objective.of(self._cost(offer, step))

    def _cost(self, offer: Offer, step: int) -> CostDistribution:
        key = id(offer), step
        if key not in self.runs:
            self.runs[key] = run_moved(offer.solution.policy, self.moved(step)).distribution
        return self.runs[key]

    def _bounds(self, offer: Offer) -> PlanBounds:
        if id(offer) not in self.bounds:
            self.bounds[id(offer)] = PlanBounds(offer.solution.policy, self.objective)
        return self.bounds[id(offer)]
