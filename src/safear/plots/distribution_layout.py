"""What the picture of distributions shows, as tidy tables: plans, bars of chances, and marks on the axis of costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from safear.plots.plan_rows import Plans, read_plans
from safear.plots.svg import nice_step
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.risk.distribution import EPSILON

MOST_BARS, BUNDLES = 64, 32  # bars side by side; if there would be more, so many bundles
BEYOND = 0.01  # the axis need not reach successes that are rarer
STRETCH = 1.25  # unless that makes it no longer than so many times
Kind = Literal["cost", "later", "not in time"]


@dataclass(frozen=True, slots=True)
class BarRow:
    """How likely a plan succeeds at costs above `low` up to `high` (equal for a bar of one cost), or fails.

    `worst` is how much of the chance belongs to the worst 1 - level of all runs. "later" are successes beyond the axis.
    Failures ("not in time") have no place on it.
    """

    plan: int
    kind: Kind
    low: float | None
    high: float | None
    chance: float
    worst: float


@dataclass(frozen=True, slots=True)
class MarkRow:
    """A cost of a plan: its average, its tail ("worst"), or what a share of `level` of all runs succeeds within.

    "threshold" is where the worst 1 - level begin: the same as "within", unless failing costs less than succeeding.
    """

    plan: int
    mark: Literal["average", "within", "worst", "threshold"]
    cost: float


@dataclass(frozen=True, slots=True)
class Layout:
    """What is to be drawn, as tidy tables. Costs reach up to `end`.

    Bars are `step` wide, or of one cost each, at least `gap` apart.
    """

    plans: Plans
    end: float
    step: float | None
    gap: float
    bars: tuple[BarRow, ...]
    marks: tuple[MarkRow, ...]

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Each table as a list of records."""
        return {
            "plans": [asdict(row) for row in self.plans.rows],
            "bars": [asdict(row) for row in self.bars],
            "marks": [asdict(row) for row in self.marks],
        }

    def has(self, kind: Kind) -> bool:
        """Whether some plan has such a bar."""
        return any(bar.kind == kind for bar in self.bars)


def lay_out(offers: Menu | Sequence[Offer]) -> Layout:
    """The tables behind the picture."""
    plans, given = read_plans(offers), list(offers)
    end = find_end(given)
    gap = _find_gap(given, end)
    step = None if end <= MOST_BARS * gap else nice_step(end / BUNDLES)
    if step is not None:
        end, gap = round_up(end, step), step
    numbered = list(enumerate(given, start=1))
    bars = tuple(bar for number, offer in numbered for bar in _read_bars(number, offer, end, step))
    marks = tuple(mark for number, offer in numbered for mark in _mark(number, offer))
    return Layout(plans, end, step, gap, bars, marks)


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


def round_up(cost: float, step: float) -> float:
    """The least multiple of a step that is not below a cost."""
    return step * math.ceil(cost / step - 1e-9)


def cumulate(offer: Offer) -> tuple[list[float], list[float]]:
    """The costs of the runs that succeed, ascending, and the chance to have succeeded at each of them."""
    points = offer.cost.points()
    total = math.fsum(chance for _, chance, _ in points)
    good = [(cost, chance) for cost, chance, success in points if success and chance > 0]
    return [cost for cost, _ in good], (np.cumsum([chance for _, chance in good]) / total).tolist()


def _find_gap(offers: Sequence[Offer], end: float) -> float:
    """How far apart the costs on the axis are at least."""
    costs = sorted({cost for offer in offers for cost in cumulate(offer)[0] if cost <= end})
    return min((later - cost for cost, later in pairwise([0.0, *costs]) if later > cost), default=end)


def _read_bars(plan: int, offer: Offer, end: float, step: float | None) -> list[BarRow]:
    """The bars of a plan. Of equal costs, failures are the worse ones."""
    points = sorted(offer.cost.points(), key=lambda point: (point[0], not point[2]))
    total = math.fsum(chance for _, chance, _ in points)
    left = 1 - offer.level
    found: dict[tuple[Kind, float | None, float | None], list[tuple[float, float]]] = {}
    largest = max((cost for cost, _, success in points if success), default=0.0)
    for cost, mass, success in reversed(points):
        chance = mass / total
        worst = min(chance, left)
        left -= worst
        place: tuple[Kind, float | None, float | None]
        if not success:
            place = ("not in time", None, None)
        elif cost > end * (1 + 1e-9):
            place = ("later", end, largest)
        elif step is None:
            place = ("cost", cost, cost)
        else:
            high = max(round_up(cost, step), step)
            place = ("cost", round_up(high - step, step), high)
        if chance > 0:
            found.setdefault(place, []).append((chance, worst))
    bars = [
        BarRow(plan, *key, math.fsum(chance for chance, _ in parts), math.fsum(worst for _, worst in parts))
        for key, parts in found.items()
    ]
    return sorted(bars, key=lambda bar: (bar.kind == "not in time", bar.high or 0.0))


def _mark(plan: int, offer: Offer) -> list[MarkRow]:
    within = find_within(offer)
    marks = [MarkRow(plan, "average", offer.mean)]
    marks += [] if within is None else [MarkRow(plan, "within", within)]
    threshold = offer.cost.all_runs.var(offer.level)
    return [*marks, MarkRow(plan, "worst", offer.tail), MarkRow(plan, "threshold", threshold)]


def find_within(offer: Offer) -> float | None:
    """What a share of `level` of all runs succeeds within; None if fewer ever succeed."""
    costs, within = cumulate(offer)
    place = int(np.searchsorted(within, offer.level - EPSILON))
    return costs[place] if place < len(costs) else None
