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
from dataclasses import dataclass

from safear.mdp.arrays import MDP
from safear.progress import Progress
from safear.recourse.offer import TAIL, Offer, make_offer
from safear.risk.objectives import MeanCVaR, Objective, SuccessFirst
from safear.solvers.solve import solve
from safear.solvers.success import highest_success

SAME_SUCCESS = 0.01  # chances of success that differ by less are the same to a person
CHEAPEST = 1e-6  # a weight so small that the tail only decides between plans of the same mean
EQUAL = 1e-9  # relative differences below this are rounding
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
    trace = _halve_weights if robust and mdp.has_intervals else _trace_hull

    def find(objective: Callable[[float], Objective]) -> list[Offer]:
        def best_at(weight: float) -> Offer:
            return make_offer(solve(mdp, objective(weight), robust=robust), level=level)

        return trace(best_at, grain, progress)

    offers = find(lambda weight: MeanCVaR(weight, level))
    if min(offer.judged.success for offer in offers) < best * (1 - SAME_SUCCESS):
        slack = SAME_SUCCESS / mdp.horizon
        offers += find(lambda weight: SuccessFirst(MeanCVaR(weight, level), slack))
    kept = [
        offer
        for number, offer in enumerate(offers)
        if not any(_beats(other, offer) for other in offers)
        and not any(_equals(other, offer) for other in offers[:number])
    ]
    return Frontier(tuple(sorted(kept, key=lambda offer: offer.judged.mean)), best, level)


def _find_cheapest(best_at: Callable[[float], Offer]) -> Offer:
    """The plan with the least mean and, of several, the least tail."""
    cheapest = best_at(0.0)
    mean, tail = cheapest.judged.mean, cheapest.judged.tail
    # Weighed so that all of the tail is still little beside the mean.
    return best_at(CHEAPEST * mean / tail) if tail > 0 else cheapest


def _halve_weights(best_at: Callable[[float], Offer], grain: float, progress: Progress | None) -> list[Offer]:
    """Plans that are best for weights between 0 and 1, as far as those for neighbouring weights differ noticeably."""
    found = [_find_cheapest(best_at), best_at(1.0)]
    pairs = [(0.0, found[0], 1.0, found[1])]
    while pairs and len(found) < MAX_ROBUST:
        low, left, high, right = pairs.pop(0)  # the widest first
        if max(abs(gain) for gain in left.judged.gains_over(right.judged)) < grain:
            continue
        weight = (low + high) / 2
        middle = best_at(weight)
        found.append(middle)
        pairs += [(low, left, weight, middle), (weight, middle, high, right)]
        if progress is not None:
            progress(len(found), min(len(found) + len(pairs), MAX_ROBUST))
    return found


def _trace_hull(best_at: Callable[[float], Offer], grain: float, progress: Progress | None) -> list[Offer]:
    """All plans that are best for some weight."""
    cheapest, safest = _find_cheapest(best_at), best_at(1.0)
    found, pairs = [cheapest, safest], [(cheapest, safest)]
    while pairs and len(found) < MAX_PLANS:
        left, right = pairs.pop()
        dearer, safer = right.mean - left.mean, left.tail - right.tail
        if min(dearer, safer) <= EQUAL * max(left.tail, EQUAL):
            continue
        if max(dearer / right.mean, safer / left.tail) < grain:  # what lies between is too alike to be worth the time
            continue
        weight = dearer / (dearer + safer)
        middle = best_at(weight)
        line, value = ((1 - weight) * offer.mean + weight * offer.tail for offer in (left, middle))
        if value < line * (1 - EQUAL):
            found.append(middle)
            pairs += [(left, middle), (middle, right)]
        if progress is not None:
            progress(len(found), len(found) + len(pairs))
    return found


def _beats(one: Offer, other: Offer) -> bool:
    """Whether a plan is better in success, mean or tail and worse in none."""
    gains = one.judged.gains_over(other.judged)
    return min(gains) >= -EQUAL and max(gains) > EQUAL


def _equals(one: Offer, other: Offer) -> bool:
    """Whether two plans do not differ in success, mean and tail."""
    return max(abs(gain) for gain in one.judged.gains_over(other.judged)) <= EQUAL
