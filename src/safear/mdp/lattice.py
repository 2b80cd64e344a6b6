"""The cost lattice: all costs are whole multiples of one quantum, so that totals can be added and compared exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from safear.errors import ProblemError
from safear.mdp.arrays import MDP
from safear.problem.model import Problem
from safear.problem.quantity import amounts

MAX_UNITS = 2**62


@dataclass(frozen=True, slots=True)
class Lattice:
    """Costs in units of `quantum`.

    With a resolution r each cost is rounded to the nearest multiple of r first. `error` bounds how far any total can be
    from its true value: horizon * (largest rounding of a step) + (rounding of the failure cost).
    """

    quantum: Fraction
    resolution: Decimal | None = None
    error: Fraction = Fraction(0)
    largest: Fraction = Fraction(0)  # of the costs of a step

    def units(self, cost: Decimal) -> int:
        """A cost as a whole number of quanta."""
        near, quantum = self.rounded(cost), self.quantum
        return near.numerator * quantum.denominator // (near.denominator * quantum.numerator)

    def rounded(self, cost: Decimal) -> Fraction:
        """A cost as it is counted: the nearest multiple of the resolution, if there is one."""
        return _round(cost, self.resolution)


def _step_costs(problem: Problem) -> list[Decimal]:
    """What steps cost, in every case."""
    return [
        amount.nominal
        for action in problem.actions
        for quantity in (action.cost, *(outcome.cost for outcome in action.outcomes))
        if quantity is not None
        for amount in amounts(quantity)
    ]


def rounds_away(problem: Problem) -> bool:
    """Whether the problem's resolution makes a step that costs something cost nothing."""
    return any(cost > 0 and not _round(cost, problem.cost_resolution) for cost in _step_costs(problem))


def find_lattice(problem: Problem) -> Lattice:
    """The coarsest lattice that holds every cost of a problem."""
    steps = _step_costs(problem)
    failure = problem.goal.failure_cost
    resolution = problem.cost_resolution
    rounded = [_round(cost, resolution) for cost in (*steps, failure)]
    quantum = common_quantum(rounded)
    largest = max(rounded[:-1], default=Fraction(0))
    total = largest * problem.horizon + rounded[-1]
    if total / quantum > MAX_UNITS:
        cause = f"costs up to {float(total):g} in steps of {float(quantum):g} are too fine to add up exactly"
        least = min(cost for cost in rounded if cost > 0)
        coarse = Fraction(10) ** math.ceil(math.log10(2 * total / MAX_UNITS))
        remedy = f"round them: 'cost: {{resolution: {float(coarse):g}}}'"
        if coarse > least:  # would make what costs something cost nothing
            remedy = f"the least is {float(least):g}: give costs, and what failing costs, of a more similar size"
        raise ProblemError.at(("cost", "resolution"), cause, remedy, code="too_fine")
    if resolution is None:
        return Lattice(quantum, largest=largest)
    error = problem.horizon * max(
        (abs(near - Fraction(cost)) for near, cost in zip(rounded, steps, strict=False)), default=Fraction(0)
    )
    return Lattice(quantum, resolution, error + abs(rounded[-1] - Fraction(failure)), largest)


def count_decimals(cost: Fraction) -> int:
    """The least k for which 10^k times a decimal number is whole."""
    twos = fives = 0
    rest = cost.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives)


def common_quantum(costs: Sequence[Fraction]) -> Fraction:
    """The greatest common divisor of rational numbers; 1 if they are all zero."""
    denominator = lcm(*(cost.denominator for cost in costs))
    divisor = gcd(*(cost.numerator * (denominator // cost.denominator) for cost in costs))
    return Fraction(divisor, denominator) if divisor else Fraction(1)


def _round(cost: Decimal, resolution: Decimal | None) -> Fraction:
    """The nearest multiple of the resolution; halves go to the even one."""
    if resolution is None:
        return Fraction(cost)
    return round(Fraction(cost) / Fraction(resolution)) * Fraction(resolution)


# ------------------------------------------------------------------------------------------------------- coarser costs


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
