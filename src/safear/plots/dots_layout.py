"""What the dots for recipients show, as tidy tables: fifty people, each at a quantile, and what that says in words.

Dot i of n stands for the run at the quantile (i - 1/2) / n, cheapest successes first, failures last. So the number of
dots up to a cost is n times the chance to be done within it, rounded to the nearest whole number (halves up).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from safear.plots.distribution_layout import cumulate, round_up
from safear.plots.plan_rows import PlanRow, Plans, read_plans
from safear.plots.svg import nice_step
from safear.recourse.offer import Offer
from safear.recourse.words import format_chance, format_cost
from safear.risk.distribution import EPSILON

PEOPLE = 50
MOST_STACKS = 24  # side by side; if there would be more, dots are bundled
TELLING = (0.5, 1.0, 0.9, 0.96)  # shares of the dots that succeed; costs are told at which they are reached
MOST_TOLD = 3


@dataclass(frozen=True, slots=True)
class DotRow:
    """One of the people: done at `cost` (None if not in time), in the stack of costs above `low` up to `high`."""

    dot: int
    quantile: float
    success: bool
    cost: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Layout:
    """What is to be drawn, as tidy tables. Costs reach up to `end`; stacks are at least `gap` apart."""

    plans: Plans
    sentence: str
    end: float
    gap: float
    dots: tuple[DotRow, ...]

    @property
    def plan(self) -> PlanRow:
        """The plan that is drawn."""
        return self.plans.rows[0]

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Each table as a list of records."""
        return {
            "plans": [asdict(self.plan)],
            "dots": [asdict(row) for row in self.dots],
            "sentences": [{"sentence": self.sentence}],
        }


def lay_out(offer: Offer) -> Layout:
    """The tables behind the picture."""
    plans = read_plans([offer])
    costs = find_dots(offer)
    done = sorted({cost for cost in costs if cost is not None})
    end = max(done, default=0.0) or 1.0
    gap = min((later - cost for cost, later in pairwise([0.0, *done]) if later > cost), default=end)
    step = None if end <= MOST_STACKS * gap else nice_step(end / MOST_STACKS)
    if step is not None:
        end, gap = round_up(end, step), step
    dots = []
    for number, cost in enumerate(costs, start=1):
        low, high = cost, cost
        if step is not None and cost is not None:
            high = max(round_up(cost, step), step)
            low = round_up(high - step, step)
        dots.append(DotRow(number, (number - 0.5) / PEOPLE, cost is not None, cost, low, high))
    return Layout(plans, describe_dots(offer), end, gap, tuple(dots))


def find_dots(offer: Offer) -> list[float | None]:
    """What each of the people pays to be done, ascending; None for those who are not done in time."""
    costs, within = cumulate(offer)
    quantiles = (np.arange(PEOPLE) + 0.5) / PEOPLE
    places = np.searchsorted(within, quantiles - EPSILON).tolist()
    return [costs[place] if place < len(costs) else None for place in places]


def describe_dots(offer: Offer) -> str:
    """`43 of 50 are done after 5 months, 49 within 8 months, 1 is not done in time.` And what has no dot."""
    dots, (plan,) = find_dots(offer), read_plans([offer]).rows
    counts = Counter(cost for cost in dots if cost is not None)
    reached = dict(zip(counts, accumulate(counts.values()), strict=True))
    done = sum(counts.values())
    told: dict[float, int] = {}
    for share in TELLING if done else ():
        if len(told) < MOST_TOLD:
            told |= dict([next(item for item in reached.items() if item[1] >= share * done)])
    parts: list[str] = []
    for cost, count in sorted(told.items()):
        who = f"all {PEOPLE}" if count == PEOPLE else f"{count}" if parts else f"{count} of {PEOPLE}"
        verb = "" if parts else " is done" if count == 1 else " are done"
        parts.append(f"{who}{verb} {'after' if cost == dots[0] else 'within'} {format_cost(cost, plan.unit)}")
    missed = PEOPLE - done
    if missed:
        verb = "is" if missed == 1 else "are"
        parts.append(f"{missed} {verb} not done in time" if parts else f"none of {PEOPLE} is done in time")
    words = ", ".join(parts)
    return f"{words[:1].upper()}{words[1:]}.{_tell_rest(offer, plan, last=max(reached, default=None), missed=missed)}"


def _tell_rest(offer: Offer, plan: PlanRow, *, last: float | None, missed: int) -> str:
    """Those who are too few for a dot."""
    costs, within = cumulate(offer)
    shown = 0.0 if last is None else within[costs.index(last)]
    parts = []
    if within and within[-1] - shown > EPSILON:
        parts.append(f"{format_chance(within[-1] - shown)} {'are done' if last is None else 'take longer'}")
    if plan.not_in_time > 0 and not missed:
        parts.append(f"{format_chance(plan.not_in_time)} are not done in time")
    return f" Too few for a dot: {' and '.join(parts)}." if parts else ""
