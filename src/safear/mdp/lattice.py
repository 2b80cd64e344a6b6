"""The cost lattice: all costs are whole multiples of one quantum, so that totals can be added and compared exactly."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from math import gcd

from safear.errors import ProblemError
from safear.spec.model import Problem
from safear.spec.quantity import amounts

MAX_UNITS = 2**62


@dataclass(frozen=True, slots=True)
class Lattice:
    """Costs in units of `quantum`.

    With a resolution r each cost is rounded to the nearest multiple of r first. `error` bounds how far any total can be
    from its true value: horizon * (largest rounding of a step) + (rounding of the failure cost).
    """

    quantum: Decimal
    resolution: Decimal | None = None
    error: Decimal = Decimal(0)

    def units(self, cost: Decimal) -> int:
        """A cost as a whole number of quanta."""
        return int(_round(cost, self.resolution) / self.quantum)


def find_lattice(problem: Problem) -> Lattice:
    """The coarsest lattice that holds every cost of a problem."""
    steps = [
        amount.nominal
        for action in problem.actions
        for quantity in (action.cost, *(outcome.cost for outcome in action.outcomes))
        if quantity is not None
        for amount in amounts(quantity)
    ]
    failure = problem.goal.failure_cost
    resolution = problem.cost_resolution
    rounded = [_round(cost, resolution) for cost in (*steps, failure)]
    quantum = common_quantum(rounded)
    largest = max(rounded[:-1], default=Decimal(0)) * problem.horizon + rounded[-1]
    if largest / quantum > MAX_UNITS:
        cause = f"costs up to {largest} in steps of {quantum} are too fine to add up exactly"
        raise ProblemError.at(("cost", "resolution"), cause, "round them: 'cost: {resolution: 0.01}'")
    error = problem.horizon * max((abs(_round(cost, resolution) - cost) for cost in steps), default=Decimal(0))
    return Lattice(quantum, resolution, error + abs(rounded[-1] - failure))


def common_quantum(costs: list[Decimal]) -> Decimal:
    """The greatest common divisor of decimal numbers; 1 if they are all zero."""
    exponents = [int(cost.normalize().as_tuple().exponent) for cost in costs]  # finite, so a number
    exponent: int = min([*exponents, 0])
    divisor = gcd(*(int(cost.scaleb(-exponent)) for cost in costs))
    return Decimal(divisor or 1).scaleb(exponent) if divisor else Decimal(1)


def _round(cost: Decimal, resolution: Decimal | None) -> Decimal:
    if resolution is None:
        return cost
    return (cost / resolution).quantize(Decimal(1), rounding=ROUND_HALF_EVEN) * resolution
