"""What plans cost, on an axis: how far it reaches, and which costs are drawn together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from safear.plots.svg import nice_step
from safear.recourse.offer import Offer

BEYOND = 0.01  # the axis need not reach successes that are rarer
STRETCH = 1.25  # unless that makes it no longer than so many times


@dataclass(frozen=True, slots=True)
class CostAxis:
    """Costs from 0 to `end`, each drawn for itself and at least `gap` apart, or bundled: `step` together."""

    end: float
    gap: float
    step: float | None

    def stretch(self, cost: float) -> tuple[float, float]:
        """Above what and up to what costs are drawn together with this one; twice this one if none are."""
        if self.step is None:
            return cost, cost
        high = max(_round_up(cost, self.step), self.step)
        return _round_up(high - self.step, self.step), high


def find_axis(costs: Iterable[float], end: float, *, most: int, bundles: int) -> CostAxis:
    """An axis for costs; `bundles` of them if more than `most` could stand side by side."""
    found = sorted({cost for cost in costs if cost <= end})
    gap = min((later - cost for cost, later in pairwise([0.0, *found]) if later > cost), default=end)
    if end <= most * gap:
        return CostAxis(end, gap, None)
    step = nice_step(end / bundles)
    return CostAxis(_round_up(end, step), step, step)


def find_end(offers: Sequence[Offer]) -> float:
    """How far an axis of costs reaches: over all successes, their means and tails; far rare ones are left out."""
    figures = [figure for offer in offers for figure in (offer.mean, offer.tail)]
    largest, needed = 0.0, []
    for offer in offers:
        costs, within = cumulate(offer)
        if costs:
            largest = max(largest, costs[-1])
            needed.append(costs[int(np.searchsorted(within, within[-1] - BEYOND))])
    if not needed:
        return max(figures) or 1.0
    end = max([*needed, *(figure for figure in figures if figure <= largest)])
    return (largest if largest <= STRETCH * end else end) or 1.0


def cumulate(offer: Offer) -> tuple[list[float], list[float]]:
    """The costs of the runs that succeed, ascending, and the chance to have succeeded at each of them."""
    points = offer.cost.points()
    total = math.fsum(chance for _, chance, _ in points)
    good = [(cost, chance) for cost, chance, success in points if success and chance > 0]
    return [cost for cost, _ in good], (np.cumsum([chance for _, chance in good]) / total).tolist()


def _round_up(cost: float, step: float) -> float:
    """The least multiple of a step that is not below a cost."""
    return step * math.ceil(cost / step - 1e-9)
