"""Two settings side by side: other objectives, with and without an action, more or fewer steps."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np

from safear.errors import ObjectiveError, suggest
from safear.evaluation.extremes import FigureRanges, Range
from safear.problem.model import Record
from safear.problem.terms import Terms
from safear.recourse.advice_teller import AdviceTeller
from safear.recourse.case import Desk
from safear.recourse.menu import Menu, Request, make_menu
from safear.recourse.offer import TAIL
from safear.recourse.teller import Teller
from safear.risk.objectives import Objective, parse_objective
from safear.web.asked import read_whole_number
from safear.web.audits import Audits
from safear.web.schemas import MOST_STEPS
from safear.web.service import Service
from safear.web.spreadsheets import defuse
from safear.web.work import Deadline

SAMPLE = 50  # people, for whom the answer comes within a few seconds


@dataclass(frozen=True, slots=True)
class Setting:
    """What a plan is to make small, without which action, and in how many steps (None: the problem's)."""

    objective: Objective
    without: str | None = None
    horizon: int | None = None

    def tell(self, tell: Teller) -> str:
        """The setting in words."""
        parts = [str(self.objective)]
        if self.without:
            parts.append(tell("analyst.compare.without_action", action=tell.quote_action(self.without)))
        if self.horizon:
            parts.append(tell("within", count=self.horizon))
        return ", ".join(parts)

    def __str__(self) -> str:
        return self.tell(Teller.of())


@dataclass(frozen=True, slots=True)
class Prospect:
    """A plan in figures, over all runs, and its first action if there is one."""

    success: float
    mean: float
    tail: float
    first: str | None
    ranges: FigureRanges | None


@dataclass(frozen=True, slots=True)
class Side:
    """One setting for everybody who is compared; None where there is no way to the goal."""

    setting: Setting
    people: tuple[Prospect | None, ...]
    menu: Menu | None = None  # of a single person whom no plan helps

    def advise(self, tell: Teller) -> list[str]:
        """Why no plan helps a single person, and what would."""
        if self.menu is None or self.menu.no_recourse is None:
            return []
        advice = self.menu.advice
        lines = [] if advice is None else AdviceTeller(advice, tell).lines(to_person=False)
        return [tell.no_recourse(self.menu.no_recourse), *lines]

    def average(self, name: str) -> float | None:
        """The mean of a figure over those who have a plan."""
        values = [getattr(figures, name) for figures in self.people if figures is not None]
        return float(np.mean(values)) if values else None

    def average_range(self, name: str) -> Range | None:
        """The means of both ends of a figure over those who have a plan; None if nobody meets an interval."""
        plans = [figures for figures in self.people if figures is not None]
        if all(one.ranges is None for one in plans):
            return None
        ends = [
            (getattr(one, name),) * 2 if one.ranges is None else astuple(getattr(one.ranges, name)) for one in plans
        ]
        return Range(*np.mean(ends, axis=0).tolist())

    @property
    def helped(self) -> int:
        """How many have a plan."""
        return sum(figures is not None for figures in self.people)


@dataclass(frozen=True, slots=True)
class SettingComparison:
    """Two settings for the same people, by their names; `drawn` if they were drawn from those who are rejected."""

    names: tuple[str, ...]
    sides: tuple[Side, Side]
    unit: str
    drawn: bool = False

    def tell_who(self, tell: Teller) -> str:
        """For whom the settings are compared."""
        if self.drawn:
            return tell("analyst.compare.drawn", count=len(self.names))
        return self.names[0] if len(self.names) == 1 else tell("analyst.compare.named")

    def rows(self, tell: Teller) -> Iterator[tuple[str, ...]]:
        """A table: what, and the figure of each setting; then with which step, or for how many it is another."""
        say, whole, none = tell.texts.part("analyst.compare"), tell.texts.whole, tell("format.none")
        helped, success, mean, first, another = say("rows").split("|")
        people = whole(len(self.names))
        yield helped, *(say("helped", helped=whole(side.helped), people=people) for side in self.sides)
        worst = tell("picture.worst.share", share=tell.percent(1 - TAIL))
        for heading, name in ((success, "success"), (mean, "mean"), (worst, "tail")):
            yield heading, *(self._figure(side, name, tell) for side in self.sides)
        if len(self.names) == 1:
            plans = [one for side in self.sides for one in side.people]
            yield first, *(none if one is None else one.first or tell("picture.nothing") for one in plans)
        else:
            pairs = zip(*(side.people for side in self.sides), strict=True)
            differ = sum(one is not None and other is not None and one.first != other.first for one, other in pairs)
            yield another, "", say("differ", count=differ)

    def _figure(self, side: Side, name: str, tell: Teller) -> str:
        """`2.2 months, 1.9 to 3.1 if our estimates are off`."""
        figure, ends = side.average(name), side.average_range(name)
        if figure is None:
            return tell("format.none")
        write = tell.percent if name == "success" else tell.number
        said = tell.percent(figure) if name == "success" else tell.cost(figure, self.unit)
        off = "" if ends is None else tell.if_off(tell.span(ends, figure, write=write))
        return f"{said}, {off}" if off else said

    def csv(self) -> str:
        """All figures of everybody, with all digits."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        names = ("success", "mean", "tail")
        columns = [name.replace("tail", "cvar") for name in names]
        ends = [f"{column} {end}" for column in columns for end in ("low", "high")]
        writer.writerow(["person", "setting", *columns, "first step", *ends])
        for side in self.sides:
            for name, figures in zip(self.names, side.people, strict=True):
                known = ("",) * (len(names) + 1 + len(ends)) if figures is None else _digits(figures, names)
                writer.writerow(map(defuse, [name, str(side.setting), *known]))
        return stream.getvalue()


def _digits(figures: Prospect, names: Sequence[str]) -> tuple[str | float, ...]:
    """The figures, the first step, and how far each figure can be off, if it can."""
    plain: list[float] = [getattr(figures, name) for name in names]
    ends = [None if figures.ranges is None else getattr(figures.ranges, name) for name in names]
    told = [end for both in ends for end in (("", "") if both is None else (both.low, both.high))]
    return (*plain, figures.first or "", *told)


def read_setting(service: Service, fields: Mapping[str, str], prefix: str) -> Setting:
    """One side of the form. An ObjectiveError for what cannot be."""
    objective = parse_objective(fields.get(f"{prefix}objective", "mean"))
    without = fields.get(f"{prefix}without") or None
    if without is not None and without not in service.problem.action_by_name:
        known = suggest(without, service.problem.action_by_name)
        raise ObjectiveError.at((), f"there is no action '{without}'", known, code="unknown_action", action=without)
    text = fields.get(f"{prefix}horizon", "").strip()
    horizon = read_whole_number(text)
    if text and (horizon is None or not 1 <= horizon <= MOST_STEPS):
        values = {"value": text, "most": MOST_STEPS}
        remedy = f"from 1 to {MOST_STEPS}, or empty"
        raise ObjectiveError.at((), f"'{text}' is not a number of steps", remedy, code="not_a_horizon", **values)
    return Setting(objective, without, horizon)


def compare_settings(
    service: Service, audits: Audits, settings: tuple[Setting, Setting], *, who: str, deadline: Deadline
) -> SettingComparison:
    """Two settings, for one of the problem's people by name or for a sample of those who are rejected."""
    people, drawn = _find_people(service, audits, who)
    sides = [_make_side(service, setting, list(people.values()), deadline) for setting in settings]
    return SettingComparison(tuple(people), (sides[0], sides[1]), service.problem.cost_unit, drawn)


def _find_people(service: Service, audits: Audits, who: str) -> tuple[Mapping[str, Record], bool]:
    problem = service.problem
    if who in problem.people:
        return {who: problem.people[who]}, False
    if not audits.results:
        return dict(problem.people), False
    found = audits.results[0].audit
    rejected = np.where(found.people.favourable, 0, found.population.counts)
    count = min(SAMPLE, int((rejected > 0).sum()))
    rng = np.random.default_rng(0)
    drawn = np.sort(rng.choice(len(rejected), count, replace=False, p=rejected / rejected.sum()))
    filed = found.population.filed
    people = {f"sample {n}": filed.record(problem, person) for n, person in enumerate(drawn.tolist(), start=1)}
    return people, True


def _make_side(service: Service, setting: Setting, people: Sequence[Record], deadline: Deadline) -> Side:
    desk = service.desk if setting.horizon is None else service.desk.with_horizon(setting.horizon)
    terms = None if setting.without is None else Terms(forbid=(setting.without,))
    found = [_solve_person(desk, setting.objective, terms, person, deadline) for person in people]
    alone = found[0][0] if len(found) == 1 and found[0][1] is None else None
    return Side(setting, tuple(prospect for _, prospect in found), alone)


def _solve_person(
    desk: Desk, objective: Objective, terms: Terms | None, person: Record, deadline: Deadline
) -> tuple[Menu, Prospect | None]:
    deadline.check()
    case = desk.open(person, terms=terms)
    menu = make_menu(case, Request((objective,)), progress=deadline.check_progress)
    if not menu.offers:
        return menu, None
    offer = menu[0]
    return menu, Prospect(offer.cost.success, offer.mean, offer.tail, offer.first_action, offer.ranges)
