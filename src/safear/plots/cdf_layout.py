"""What the picture of chances by cost shows, as tidy tables: plans, and the chance to be done within each cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from safear.plots.distribution_layout import cumulate, find_end
from safear.plots.plan_rows import Plans, read_plans
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer

MAX_POINTS = 400  # per plan; more cannot be seen


@dataclass(frozen=True, slots=True)
class PointRow:
    """The chance that a plan has succeeded at a cost of at most so much; it stays the same up to the next point."""

    plan: int
    cost: float
    chance: float


@dataclass(frozen=True, slots=True)
class Layout:
    """What is to be drawn, as tidy tables; costs reach up to `end`."""

    plans: Plans
    end: float
    points: tuple[PointRow, ...]

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Each table as a list of records."""
        return {
            "plans": [asdict(row) for row in self.plans.rows],
            "points": [asdict(row) for row in self.points],
        }


def lay_out(offers: Menu | Sequence[Offer]) -> Layout:
    """The tables behind the picture."""
    plans, given = read_plans(offers), list(offers)
    end = find_end(given)
    points = tuple(point for number, offer in enumerate(given, 1) for point in _read_points(number, offer, end))
    return Layout(plans, end, points)


def _read_points(plan: int, offer: Offer, end: float) -> list[PointRow]:
    """From nothing at 0 to the end of the axis. Of costs that would be drawn at one place, the last is kept."""
    costs, within = cumulate(offer)
    kept = {0: PointRow(plan, 0.0, 0.0)}
    for cost, chance in zip(costs, within, strict=True):
        if cost <= end * (1 + 1e-9):
            place = round(cost / end * MAX_POINTS) if len(costs) > MAX_POINTS else len(kept)
            kept[0 if cost == 0 else max(place, 1)] = PointRow(plan, cost, min(chance, 1.0))
    last = list(kept.values())[-1]
    return [*kept.values(), *([PointRow(plan, end, last.chance)] if last.cost < end else [])]
