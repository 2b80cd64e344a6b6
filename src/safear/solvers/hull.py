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
import math
from dataclasses import dataclass
from itertools import count

from safear.evaluation.policy import Pieces
from safear.mdp.arrays import MDP, once_per_mdp
from safear.mdp.spending import largest_spent
from safear.solvers.success import allowed_rows
from safear.solvers.targets import SQUARE, TargetSweep, sweep_targets

MAX_TRIES = 1000
ROUNDING = 1e-12  # lines this close, relatively, are one


@dataclass(frozen=True, slots=True)
class Point:
    """A plan: its mean and variance in quanta, the target it is best for, and the least E[(C - t)^2] there."""

    mean: float
    variance: float
    target: float
    loss: float
    pieces: Pieces
    opening: int  # of the account


@dataclass(frozen=True, slots=True)
class Scale:
    """What is made small: mean + aversion * variance, or mean + aversion * deviation, in quanta."""

    aversion: float
    of_deviation: bool = False

    def value(self, mean: float, variance: float) -> float:
        """The objective."""
        return mean + self.aversion * (math.sqrt(variance) if self.of_deviation else variance)

    def of(self, plan: Point) -> float:
        """The objective of a plan."""
        return self.value(plan.mean, plan.variance)


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best plan, its value, a bound that no plan is below, and the most that can be spent, in quanta."""

    point: Point
    value: float
    bound: float
    most: int


def find_optimum(mdp: MDP, scale: Scale, *, tolerance: float, slack: float | None = None) -> Optimum:
    """The best plan for the person that the MDP was compiled from, to a relative gap of `tolerance`."""
    plans = _Plans(mdp, slack)
    cheapest = plans.find(-math.inf)
    dearest = plans.find(min(scale.of(cheapest), float(plans.most + mdp.failure_cost)))
    best = min(cheapest, dearest, key=scale.of)
    order = count()  # so that the heap never compares points
    heap = [(_least_between(cheapest, dearest, scale), next(order), cheapest, dearest)]
    for _ in range(MAX_TRIES):
        if not heap or heap[0][0] >= scale.of(best) * (1 - tolerance):
            break
        bound, _, left, right = heapq.heappop(heap)
        target = _equally_good(left, right)
        if target is None:
            continue
        middle = plans.find(target)
        if middle.loss >= (left.variance + (left.mean - target) ** 2) * (1 - ROUNDING):
            # No plan lies below the line from one to the other, up to rounding, so between them nothing is better.
            continue
        best = min(best, middle, key=scale.of)
        for pair in ((left, middle), (middle, right)):
            heapq.heappush(heap, (max(bound, _least_between(*pair, scale)), next(order), *pair))
    value = scale.of(best)
    return Optimum(best, value, min([value, *(bound for bound, *_ in heap[:1])]), plans.most)


class _Plans:
    """The plans on the lower hull of one person, target by target."""

    def __init__(self, mdp: MDP, slack: float | None) -> None:
        self.mdp = mdp
        self.slack = slack
        self.start = mdp.locate()
        self.most = int(largest_spent(mdp)[self.start])

    def find(self, target: float) -> Point:
        """The plan with the least E[(C - target)^2]; for minus infinity that with the least mean."""
        if math.isinf(target):
            sweep, columns = sweep_least_mean(self.mdp, self.slack), 0
        else:
            targets, columns = (target - self.most, self.most + 1), self.most + 1
            allowed = allowed_rows(self.mdp, self.slack)
            sweep = sweep_targets(self.mdp, SQUARE, targets=targets, allowed=allowed, last_only=True)
        mean, variance = float(sweep.mean[self.start, columns]), float(sweep.variance[self.start, columns])
        return Point(mean, variance, target, float(sweep.score[self.start, columns]), sweep.pieces, columns - 1)


@once_per_mdp
def sweep_least_mean(mdp: MDP, slack: float | None) -> TargetSweep:
    """The plan with the least mean (in column 0), with the variance that it has."""
    return sweep_targets(mdp, SQUARE, targets=(0.0, 0), allowed=allowed_rows(mdp, slack))


def _equally_good(left: Point, right: Point) -> float | None:
    """The target for which two plans are equally good; None if there is none between theirs."""
    if right.mean <= left.mean:
        return None
    target = (left.mean + right.mean) / 2 + (right.variance - left.variance) / (2 * (right.mean - left.mean))
    return target if left.target < target < right.target else None


def _least_between(left: Point, right: Point, scale: Scale) -> float:
    """What no plan between two neighbours can be below: the objective where their lines cross, or meet v = 0 before."""
    if right.mean <= left.mean:
        return min(scale.of(left), scale.of(right))
    if math.isinf(left.target):
        mean = left.mean
    else:
        slope = 2 * (right.target - left.target)
        mean = (left.loss - left.target**2 - right.loss + right.target**2) / slope
        mean = min(max(mean, left.mean), right.mean)
    variance = right.loss - (mean - right.target) ** 2
    if variance > 0:
        crossing = scale.value(mean, variance)
    elif math.isinf(left.target):
        crossing = left.mean
    else:
        crossing = max(left.mean, left.target + math.sqrt(left.loss))
    return min(scale.of(left), crossing, scale.of(right))
