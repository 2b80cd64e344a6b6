"""What the picture of a contingent plan shows, as tidy tables: steps, and the ways on from them.

Steps that follow each other when all goes well stand below each other; where something else happens, a column further
right begins. A step stands once: whatever else leads to it only names it, so that loops are not unrolled.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from safear.errors import InputError
from safear.plots.svg import clean
from safear.recourse.offer import Offer
from safear.recourse.plan import Branch, FollowUp, Hope, Plan, PlanStep
from safear.recourse.plan_teller import RARE
from safear.recourse.teller import Teller

MOST_COLUMNS = 3  # what is deeper is continued below
Place = Literal["below", "right", "again", "named", "end", "left out"]


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step of the plan as it tells it, and where it stands; `root` if no line leads to it."""

    step: int
    action: str
    situation: str
    cost: float
    chance: float
    visits: float
    hope: Hope
    column: int
    root: bool


@dataclass(frozen=True, slots=True)
class WayRow:
    """A way on from a step: how likely whoever takes the step goes it, whether the action works, where it leads.

    `kind` is "step" or how the plan ends ("goal", "out of time", "stuck"), or "not shown". Where it is drawn: the next
    step stands "below" or at the "right"; "again" is a loop; a step that stands elsewhere is "named"; rare ways are
    "left out".
    """

    step: int
    way: int
    works: bool
    chance: float
    outcome: str
    cost: float
    kind: str
    target: int | None
    place: Place


@dataclass(frozen=True, slots=True)
class Layout:
    """What is to be drawn, as tidy tables; steps in the order in which they are drawn."""

    name: str
    goal: str
    unit: str
    hidden_steps: int
    steps: tuple[StepRow, ...]
    ways: tuple[WayRow, ...]

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Each table as a list of records."""
        return {"steps": [asdict(row) for row in self.steps], "ways": [asdict(row) for row in self.ways]}

    def step(self, number: int) -> StepRow:
        """A step by its number."""
        return next(row for row in self.steps if row.step == number)

    def ways_from(self, number: int) -> list[WayRow]:
        """The ways on from a step that are drawn."""
        return [row for row in self.ways if row.step == number and row.place != "left out"]


def lay_out(offer: Offer) -> Layout:
    """The tables behind the picture: the likely steps, as `offer.plan` has them."""
    plan = offer.plan
    if not plan.steps:
        raise InputError.at((), "there is no step to draw: the plan ends where it begins")
    placed = _Placing(plan)
    return Layout(
        offer.name,
        Teller.of().goal(offer.solution.mdp.goal_name),
        clean(offer.unit),
        plan.hidden_steps,
        tuple(placed.steps),
        tuple(placed.ways),
    )


class _Placing:
    """Walks a plan and gives each step its place: down the line of what works, then to the right."""

    def __init__(self, plan: Plan) -> None:
        self.plan = {step.number: step for step in plan.steps}
        self.steps: list[StepRow] = []
        self.ways: list[WayRow] = []
        self.taken: set[int] = set()
        self.roots = deque([plan.steps[0].number])
        for step in plan.steps:  # all of them, also those that only rare ways lead to
            while self.roots:
                self._place_root(self.roots.popleft())
            self._place_root(step.number)

    def _place_root(self, number: int) -> None:
        if number not in self.taken:
            self._place(number, column=0, root=True)

    def _place(self, start: int, *, column: int, root: bool) -> None:
        line: list[tuple[int, WayRow | None]] = []
        number: int | None = start
        while number is not None:
            self.taken.add(number)
            main = self._find_main(number)
            line.append((number, main))
            number = None if main is None else main.target
        for number, main in line:
            self.steps.append(_read_step(self.plan[number], column, root=root and number == start))
            for way in _read_ways(self.plan[number]):
                self._draw_way(way, column, is_main=main is not None and way.way == main.way)

    def _find_main(self, number: int) -> WayRow | None:
        """The likeliest way on if the action works, to the goal or to a step that stands nowhere yet."""
        ways = [
            way
            for way in _read_ways(self.plan[number])
            if way.works and way.place != "left out" and (way.kind == "goal" or self._is_free(way.target))
        ]
        return max(ways, key=lambda way: way.chance, default=None)

    def _is_free(self, target: int | None) -> bool:
        return target is not None and target not in self.taken

    def _draw_way(self, way: WayRow, column: int, *, is_main: bool) -> None:
        """Decide how a way is drawn; a new step at its end is placed at once."""
        if way.place == "left out" or is_main:
            self.ways.append(way if way.place == "left out" else replace(way, place="below"))
        elif way.target is None:
            self.ways.append(replace(way, place="end"))
        elif way.target == way.step:
            self.ways.append(replace(way, place="again"))
        elif self._is_free(way.target) and column + 1 < MOST_COLUMNS:
            self.ways.append(replace(way, place="right"))
            self._place(way.target, column=column + 1, root=False)
        else:
            self.ways.append(replace(way, place="named"))
            self.roots.append(way.target)


def _read_step(step: PlanStep, column: int, *, root: bool) -> StepRow:
    words = (step.number, step.action, Teller.of().situation(step))
    return StepRow(*words, step.cost, step.chance, step.visits, step.hope, column, root)


def _read_ways(step: PlanStep) -> Iterator[WayRow]:
    """The ways on: what works first, then as the plan tells them. What is rare is not drawn, unless it is all."""
    number = 0
    for branch in sorted(step.branches, key=lambda branch: not branch.works):
        likely = _find_likely(branch)
        for follow_up in branch.follow_ups:
            number += 1
            place: Place = "end" if follow_up in likely else "left out"
            chance = branch.chance * follow_up.share
            outcome = (branch.works, chance, Teller.of().outcome(branch), branch.cost)
            yield WayRow(step.number, number, *outcome, follow_up.kind, follow_up.step, place)


def _find_likely(branch: Branch) -> Sequence[FollowUp]:
    likely = [follow_up for follow_up in branch.follow_ups if follow_up.share >= RARE]
    return likely[:1] if all(follow_up.kind == "not shown" for follow_up in likely) else likely
