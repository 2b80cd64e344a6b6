"""What failing must cost for trying to be worth it.

The plan with the least mean makes E[spent] + failure_cost * P(failure) small. The dearer a failure, the more often that
plan succeeds, so the least failure cost (a multiple of the quantum) from which on it succeeds about as often as
anything can is found by bisection.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.forward import evaluate
from safear.mdp.arrays import MDP
from safear.recourse.check_teller import CheckTeller
from safear.risk.objectives import Mean
from safear.solvers.solve import solve
from safear.solvers.success import highest_success

GIVES_UP = 0.05  # a plan whose success is further below the best possible one gives up too early
HOPELESS = 0.5  # and one that has less than this share of it is no way to the goal
MAX_DOUBLINGS = 60
ROUNDING = 1e-12  # the same chance, added up in another order


@dataclass(frozen=True, slots=True)
class GivingUp:
    """A person for whom the cheapest plan gives up.

    `success` is that of the cheapest plan, `possible` the highest. At a failure cost of `enough` or more, the cheapest
    plan no longer gives up; None if no reasonable failure cost achieves that.
    """

    success: float
    possible: float
    failure_cost: float
    enough: float | None
    unit: str

    def __str__(self) -> str:
        return CheckTeller.of().giving_up(self)


def gives_up(success: float, possible: float) -> bool:
    """Whether a plan succeeds far less often than is possible: more than 0.05 below it, or less than half as often."""
    return bool(give_up(np.array(success), np.array(possible)))


def least_success(possible: float) -> float:
    """How often a plan must succeed at least that does not give up."""
    return max(possible - GIVES_UP, HOPELESS * possible)


def give_up(success: NDArray[np.float64], possible: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The same of many plans."""
    return np.asarray(success < np.maximum(possible - GIVES_UP, HOPELESS * possible) - ROUNDING)


def find_giving_up(mdp: MDP) -> GivingUp | None:
    """Whether the plan with the least mean succeeds far less often than the person could; None if not."""
    possible = highest_success(mdp)
    success = _success_at(mdp, mdp.failure_cost)
    if not gives_up(success, possible):
        return None
    low, high = mdp.failure_cost, max(2 * mdp.failure_cost, 1)
    for _ in range(MAX_DOUBLINGS):
        if not gives_up(_success_at(mdp, high), possible):
            break
        low, high = high, 2 * high
    else:
        return GivingUp(success, possible, mdp.to_cost(mdp.failure_cost), None, mdp.unit)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if gives_up(_success_at(mdp, middle), possible) else (low, middle)
    return GivingUp(success, possible, mdp.to_cost(mdp.failure_cost), mdp.to_cost(high), mdp.unit)


def _success_at(mdp: MDP, failure_cost: int) -> float:
    """The success of the plan with the least mean, if a failure costs so many quanta."""
    return evaluate(solve(replace(mdp, failure_cost=failure_cost), Mean())).success
