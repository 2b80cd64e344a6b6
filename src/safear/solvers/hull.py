"""The exact optimum of mean and deviation, m + b * sqrt(v), and of mean and variance, m + b * v, for one person.

Both are concave in (m, q), q = v + m^2 the second moment, and do not fall with q. So their minimum over all plans is a
vertex of the lower hull of the pairs (m, q) that plans can have. A vertex is optimal for some target t in

    min E[(C - t)^2] = min (q - 2 t m) + t^2 = U(t)                                            (a target sweep)

which finds a plan on the hull and proves that all plans lie on or above the line q = 2 t m - t^2 + U(t). Between two
targets everything lies above both lines; the objective is at least what it is where they cross. If that is less than
the best plan found, the target for which both plans are equally good is tried, until nothing better can be hidden.

The optimum's own target is m - sqrt(v) / b (or m - 1 / (2 b)), never above m, so targets above the best value found,
or above the largest possible cost, need not be tried.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from safear.core.arrays import PolicyArrays
from safear.mdp.arrays import MDP, once_per_mdp
from safear.mdp.spending import largest_spent
from safear.solvers.success import allowed_rows
from safear.solvers.targets import SQUARE, TargetSweep, sweep_targets

Reals = NDArray[np.float64]
Amount = TypeVar("Amount", float, Reals)  # of one plan, or of many
MAX_TRIES = 1000
ROUNDING = 1e-12  # lines this close, relatively, are one
TINY = 1e-100  # an aversion no larger than this is none


class Line(NamedTuple, Generic[Amount]):
    """What is known for a target t: the mean and variance of the plan that is best for it, and the least E[(C - t)^2].

    All in quanta. No plan lies below the line. For the target minus infinity, the plan has the least mean, and the loss
    is given as 0.
    """

    target: Amount
    mean: Amount
    variance: Amount
    loss: Amount


@dataclass(frozen=True, slots=True)
class Point:
    """A plan, with the line that it is on."""

    line: Line[float]
    policy: PolicyArrays | None  # None: that of a sweep for everybody
    opening: int  # of the account


@dataclass(frozen=True, slots=True)
class Scale:
    """What is made small: mean + aversion * variance, or mean + aversion * deviation, in quanta."""

    aversion: float
    of_deviation: bool = False

    def value(self, mean: Amount, variance: Amount) -> Amount:
        """The objective."""
        spread: Amount = np.sqrt(variance) if self.of_deviation else variance
        return mean + self.aversion * spread

    def own_targets(self, mean: Reals, variance: Reals, value: Reals) -> tuple[Reals, Reals]:
        """Between which targets the optimum's own lies, from the plan with the least mean and a value that is reached.

        The mean of the optimum is at least that `mean` and at most the value; its deviation is no larger.
        """
        inverse = 1 / max(self.aversion, TINY)
        if self.of_deviation:
            return mean - inverse * np.sqrt(variance), value
        return mean - inverse / 2, value - inverse / 2

    def of(self, plan: Point) -> float:
        """The objective of a plan."""
        return float(self.value(plan.line.mean, plan.line.variance))


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best plan, its value, and a bound that no plan is below, in quanta."""

    point: Point
    value: float
    bound: float


class KnownPlans(NamedTuple):
    """The best of the plans that are known, and the neighbours between which a better one may hide."""

    best: Point
    pairs: list[tuple[Point, Point]]


def find_optimum(plans: HullPlans, scale: Scale, known: KnownPlans, *, tolerance: float) -> Optimum:
    """The best plan of a person, to a relative gap of `tolerance`, by a search that begins with what is `known`."""
    best, pairs = known
    order = count()  # so that the heap never compares points
    heap = [(_bound(*pair, scale), next(order), *pair) for pair in pairs]
    heapq.heapify(heap)
    for _ in range(MAX_TRIES):
        if not heap or heap[0][0] >= scale.of(best) * (1 - tolerance):
            break
        bound, _, left, right = heapq.heappop(heap)
        target = equally_good(left.line, right.line)
        if target is None:
            continue
        middle = plans.find(target)
        if middle.line.loss >= (left.line.variance + (left.line.mean - target) ** 2) * (1 - ROUNDING):
            # No plan lies below the line from one to the other, up to rounding, so between them nothing is better.
            continue
        best = min(best, middle, key=scale.of)
        for pair in ((left, middle), (middle, right)):
            heapq.heappush(heap, (max(bound, _bound(*pair, scale)), next(order), *pair))
    value = scale.of(best)
    return Optimum(best, value, min([value, *(bound for bound, *_ in heap[:1])]))


class HullPlans:
    """The plans on the lower hull of the person that an MDP was compiled from, target by target."""

    def __init__(self, mdp: MDP, slack: float | None) -> None:
        self.mdp = mdp
        self.slack = slack
        self.start = mdp.locate()
        self.most = int(largest_spent(mdp)[self.start])

    def find(self, target: float) -> Point:
        """The plan with the least E[(C - target)^2]."""
        targets, last = (target - self.most, self.most + 1), self.most + 1
        sweep = sweep_targets(self.mdp, SQUARE, targets=targets, allowed=allowed_rows(self.mdp, self.slack), last=1)
        figures = (float(table[self.start, last]) for table in (sweep.mean, sweep.variance, sweep.score))
        return Point(Line(target, *figures), sweep.policy, last - 1)

    @property
    def largest(self) -> float:
        """The largest possible total."""
        return float(self.most + self.mdp.failure_cost)


@once_per_mdp
def sweep_least_mean(mdp: MDP, slack: float | None) -> TargetSweep:
    """The plan with the least mean (in column 0), with the variance that it has."""
    return sweep_targets(mdp, SQUARE, targets=(0.0, 0), allowed=allowed_rows(mdp, slack))


def equally_good(left: Line[float], right: Line[float]) -> float | None:
    """The target for which two plans are equally good; None if there is none between theirs."""
    if right.mean <= left.mean:
        return None
    target = (left.mean + right.mean) / 2 + (right.variance - left.variance) / (2 * (right.mean - left.mean))
    return target if left.target < target < right.target else None


def _bound(left: Point, right: Point, scale: Scale) -> float:
    """What no plan between two neighbours can be below."""
    return float(least_between(left.line, right.line, scale))


def least_between(left: Line[Amount], right: Line[Amount], scale: Scale) -> Reals:
    """What no plan between two neighbours can be below: the objective where their lines cross, or meet v = 0 before.

    The line of the least mean, for the target minus infinity, is upright.
    """
    middle = (left.target + right.target) / 2
    mean = middle + (left.loss - right.loss) / (2 * (right.target - left.target))
    mean = np.clip(mean, left.mean, np.maximum(left.mean, right.mean))
    variance = right.loss - (mean - right.target) ** 2
    surely = np.maximum(left.mean, left.target + np.sqrt(left.loss))
    crossing = np.where(variance > 0, scale.value(mean, np.maximum(variance, 0.0)), surely)
    ends = np.minimum(scale.value(left.mean, left.variance), scale.value(right.mean, right.variance))
    least: Reals = np.where(right.mean <= left.mean, ends, np.minimum(crossing, ends))
    return least
