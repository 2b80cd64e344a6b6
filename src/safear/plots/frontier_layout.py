"""What the picture of the frontier shows, as tidy tables: plans as points of average and tail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from safear.errors import InputError
from safear.plots.plan_rows import Plans, read_plans
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer


@dataclass(frozen=True, slots=True)
class PointRow:
    """A plan as a point. `name` is its name in the menu ("offered") or that of its objective.

    `label` is what stands in its mark: a number for a plan that is offered, a letter for a greedy one, else nothing.
    """

    kind: Literal["frontier", "offered", "greedy"]
    label: str
    name: str
    first_action: str | None
    average: float
    tail: float
    success: float


@dataclass(frozen=True, slots=True)
class Layout:
    """What is to be drawn, as tidy tables; `plans` are those of the menu."""

    plans: Plans
    points: tuple[PointRow, ...]

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Each table as a list of records."""
        return {
            "plans": [asdict(row) for row in self.plans.rows],
            "points": [asdict(row) for row in self.points],
        }

    def of(self, *kinds: str) -> list[PointRow]:
        """The points of some kinds."""
        return [point for point in self.points if point.kind in kinds]


def lay_out(menu: Menu, greedy: Menu | Sequence[Offer] = ()) -> Layout:
    """The tables behind the picture."""
    plans = read_plans(menu)
    if not menu.frontier:
        cause = "the menu was not chosen from a frontier: its plans were asked for one by one"
        raise InputError.at((), cause, "use sa.recommend(...) without objectives")
    read_plans([*menu, *greedy])  # costs that cannot be on one axis are refused
    offered = {id(offer.solution): (number, offer) for number, offer in enumerate(menu, start=1)}
    points = []
    for offer in menu.frontier:
        number, named = offered.pop(id(offer.solution), (0, offer))
        points.append(_read_point("offered" if number else "frontier", str(number or ""), named, menu.level))
    points += [_read_point("offered", str(number), offer, menu.level) for number, offer in offered.values()]
    order = {"frontier": 0, "offered": 1}
    points.sort(key=lambda point: (order[point.kind], int(point.label or 0), point.average))
    points += [_read_point("greedy", _letter(place), offer, menu.level) for place, offer in enumerate(greedy)]
    return Layout(plans, tuple(points))


def _read_point(kind: Literal["frontier", "offered", "greedy"], label: str, offer: Offer, level: float) -> PointRow:
    """A plan, its tail at the level of the menu, whatever its own is."""
    tail = offer.cost.all_runs.cvar(level)
    return PointRow(kind, label, offer.name, offer.first_action, offer.mean, tail, offer.cost.success)


def _letter(place: int) -> str:
    """`A`, `B`, ..., `Z`, `AA`, ..."""
    before, place = divmod(place, 26)
    return (_letter(before - 1) if before else "") + chr(ord("A") + place)
