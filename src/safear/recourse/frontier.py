"""The frontier: every plan that is best for some weight between the mean and the tail (CVaR), found without a grid.

A plan is a point (mean, CVaR). For a weight k the plan with the least (1 - k) * mean + k * CVaR lies on the lower hull
of all points, and no plan lies below the line through it. Between two neighbours the weight for which both are equally
good is tried: either a plan turns up below the line that joins them, or there is none and they are neighbours for good.

Where such plans succeed noticeably less often than the person could, giving up is cheap under the problem's costs. Then
the same is done among the plans that succeed as often as possible.

Robust plans are judged by the worst of their figures over the intervals of chances. These have no such hull: the least
over plans of the worst over chances is not concave in the weight, and a plan's worst mean and worst tail need not come
from the same chances. So weights are halved between plans that differ noticeably, a bounded number of times; the plans
found are optimal for their weights, but one that is optimal only for a weight between may be missed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from safear.mdp.arrays import MDP
from safear.progress import Progress
from safear.recourse.offer import TAIL, Offer, OfferFigures, make_offer
from safear.solvers.solve import solve
from safear.solvers.success import highest_success
from safear.solvers.weighed import WeighedPlan, Weigher, aim_between

SAME_SUCCESS = 0.01  # chances of success that differ by less are the same to a person
CHEAPEST = 1e-6  # a weight so small that the tail only decides between plans of the same mean
EQUAL = 1e-9  # relative differences below this are rounding
DIGITS = 10  # of a weight, so that rounding on the way to it does not show; EQUAL is ten times as coarse
MAX_PLANS = 200
MAX_ROBUST = 24  # weights that are tried for robust plans
GRAIN = 0.01  # a fifth of what a person notices


@dataclass(frozen=True, eq=False)
class Frontier:
    """Plans none of which is beaten in success, mean and tail at once, cheapest on average first.

    `best_success` is the highest probability of success that any plan has, of robust plans at the worst chances, which
    are also what their figures are compared at.
    """

    offers: tuple[Offer, ...]
    best_success: float
    level: float


def find_frontier(
    mdp: MDP,
    *,
    level: float = TAIL,
    grain: float = GRAIN,
    robust: bool = False,
    progress: Progress | None = None,
) -> Frontier:
    """The frontier for the person that the MDP was compiled from.

    Between two plans whose mean and tail differ by less than the share `grain`, no other is looked for.
    """
    best = highest_success(mdp, robust=robust)
    is_robust = robust and mdp.has_intervals
    trace = _halve_weights if is_robust else _trace_hull

    def find(slack: float | None) -> list[_Plan]:
        weigher = None if is_robust else Weigher.of(mdp, level, slack)

        def best_at(weight: float) -> _Plan:
            if weigher is not None:
                return _Plan.of_weighed(weigher.find(weight), level, robust=robust)
            solution = solve(mdp, aim_between(weight, level, slack), robust=robust)
            return _Plan.of_offer(make_offer(solution, level=level))

        return trace(best_at, grain, progress)

    plans = find(None)
    if min(plan.figures.success for plan in plans) < best * (1 - SAME_SUCCESS):
        plans += find(SAME_SUCCESS / mdp.horizon)
    kept = [
        plan
        for number, plan in enumerate(plans)
        if not any(_beats(other, plan) for other in plans) and not any(_equals(other, plan) for other in plans[:number])
    ]
    kept.sort(key=lambda plan: (float(f"{plan.figures.mean:.{DIGITS}g}"), plan.figures.tail))  # no rounding decides
    return Frontier(tuple(plan.make_offer() for plan in kept), best, level)


@dataclass(frozen=True, eq=False, slots=True)
class _Plan:
    """A plan with the figures that it is compared by. It becomes an offer only if it is not beaten."""

    figures: OfferFigures
    make_offer: Callable[[], Offer]

    @classmethod
    def of_offer(cls, offer: Offer) -> _Plan:
        return cls(offer.judged, lambda: offer)

    @classmethod
    def of_weighed(cls, plan: WeighedPlan, level: float, *, robust: bool) -> _Plan:
        def offer() -> Offer:
            solution = replace(plan.solution, robust=True) if robust else plan.solution
            return Offer("asked", (plan.objective,), solution, plan.runs, level)

        return cls(OfferFigures(plan.success, plan.mean, plan.tail), offer)


def _find_cheapest(best_at: Callable[[float], _Plan]) -> _Plan:
    """The plan with the least mean and, of several, the least tail."""
    cheapest = best_at(0.0)
    mean, tail = cheapest.figures.mean, cheapest.figures.tail
    # Weighed so that all of the tail is still little beside the mean.
    return best_at(_round_weight(CHEAPEST * mean / tail)) if tail > 0 else cheapest


def _round_weight(weight: float) -> float:
    """Without the last digits, which hang on how figures were added up."""
    return float(f"{weight:.{DIGITS}g}")


def _halve_weights(best_at: Callable[[float], _Plan], grain: float, progress: Progress | None) -> list[_Plan]:
    """Plans that are best for weights between 0 and 1, as far as those for neighbouring weights differ noticeably."""
    found = [_find_cheapest(best_at), best_at(1.0)]
    pairs = [(0.0, found[0], 1.0, found[1])]
    while pairs and len(found) < MAX_ROBUST:
        low, left, high, right = pairs.pop(0)  # the widest first
        if max(abs(gain) for gain in left.figures.gains_over(right.figures)) < grain:
            continue
        weight = (low + high) / 2
        middle = best_at(weight)
        found.append(middle)
        pairs += [(low, left, weight, middle), (weight, middle, high, right)]
        if progress is not None:
            progress(len(found), min(len(found) + len(pairs), MAX_ROBUST))
    return found


def _trace_hull(best_at: Callable[[float], _Plan], grain: float, progress: Progress | None) -> list[_Plan]:
    """All plans that are best for some weight."""
    cheapest, safest = _find_cheapest(best_at), best_at(1.0)
    found, pairs = [cheapest, safest], [(cheapest, safest)]
    while pairs and len(found) < MAX_PLANS:
        left, right = pairs.pop()
        (_, low, high), (_, more, less) = left.figures, right.figures
        dearer, safer = more - low, high - less
        if min(dearer, safer) <= EQUAL * max(high, EQUAL):
            continue
        if max(dearer / more, safer / high) < grain:  # what lies between is too alike to be worth the time
            continue
        weight = _round_weight(dearer / (dearer + safer))
        middle = best_at(weight)
        line, value = ((1 - weight) * plan.figures.mean + weight * plan.figures.tail for plan in (left, middle))
        if value < line * (1 - EQUAL):
            found.append(middle)
            pairs += [(left, middle), (middle, right)]
        if progress is not None:
            progress(len(found), len(found) + len(pairs))
    return found


def _beats(one: _Plan, other: _Plan) -> bool:
    """Whether a plan is better in success, mean or tail and worse in none."""
    gains = one.figures.gains_over(other.figures)
    return min(gains) >= -EQUAL and max(gains) > EQUAL


def _equals(one: _Plan, other: _Plan) -> bool:
    """Whether two plans do not differ in success, mean and tail."""
    return max(abs(gain) for gain in one.figures.gains_over(other.figures)) <= EQUAL
