"""Two settings side by side: other objectives, with and without an action, more or fewer steps."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from safear.errors import ObjectiveError, suggest
from safear.problem.model import Record
from safear.problem.terms import Terms
from safear.recourse.case import Desk
from safear.recourse.menu import Request, make_menu
from safear.recourse.offer import TAIL
from safear.recourse.teller import Teller
from safear.risk.objectives import Objective, parse_objective
from safear.web.audits import Audits
from safear.web.service import Service
from safear.web.work import Deadline

SAMPLE = 50  # people, for whom the answer comes within a few seconds
MOST_STEPS = 1000


@dataclass(frozen=True, slots=True)
class Setting:
    """What a plan is to make small, without which action, and in how many steps (None: the problem's)."""

    objective: Objective
    without: str | None = None
    horizon: int | None = None

    def __str__(self) -> str:
        parts = [str(self.objective)]
        parts += [f"without “{self.without}”"] if self.without else []
        parts += [f"within {self.horizon} steps"] if self.horizon else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Prospect:
    """A plan in figures, over all runs."""

    success: float
    mean: float
    tail: float
    first: str


@dataclass(frozen=True, slots=True)
class Side:
    """One setting for everybody who is compared; None where there is no way to the goal."""

    setting: Setting
    people: tuple[Prospect | None, ...]

    def average(self, name: str) -> float | None:
        """The mean of a figure over those who have a plan."""
        values = [getattr(figures, name) for figures in self.people if figures is not None]
        return float(np.mean(values)) if values else None

    @property
    def helped(self) -> int:
        """How many have a plan."""
        return sum(figures is not None for figures in self.people)


@dataclass(frozen=True, slots=True)
class SettingComparison:
    """Two settings for the same people, by their names."""

    names: tuple[str, ...]
    sides: tuple[Side, Side]
    unit: str
    note: str

    def rows(self) -> Iterator[tuple[str, ...]]:
        """A table: what, and the figure of each setting; then a row per person for whom they differ."""
        yield "people with a plan", *(f"{side.helped:,} of {len(self.names):,}" for side in self.sides)
        yield "success", *(_show(side.average("success"), Teller.of().percent) for side in self.sides)
        yield "cost on average", *(_show(side.average("mean"), self._cost) for side in self.sides)
        yield "worst 5% of cases", *(_show(side.average("tail"), self._cost) for side in self.sides)
        if len(self.names) == 1:
            yield "first step", *("–" if one is None else one.first for side in self.sides for one in side.people)
        else:
            differ = sum(
                one is not None and other is not None and one.first != other.first
                for one, other in zip(*(side.people for side in self.sides), strict=True)
            )
            yield "another first step", "", f"{differ:,} people"

    def _cost(self, value: float) -> str:
        return Teller.of().cost(value, self.unit)

    def csv(self) -> str:
        """All figures of everybody, with all digits."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["person", "setting", "success", "mean", "cvar", "first step"])
        for side in self.sides:
            for name, figures in zip(self.names, side.people, strict=True):
                known = ("", "", "", "") if figures is None else (*_digits(figures), figures.first)
                writer.writerow([name, str(side.setting), *known])
        return stream.getvalue()


def _digits(figures: Prospect) -> tuple[str, str, str]:
    return repr(figures.success), repr(figures.mean), repr(figures.tail)


def _show(value: float | None, form: object) -> str:
    return "–" if value is None else form(value)  # type: ignore[operator]  # one of the two formats above


def read_setting(service: Service, fields: Mapping[str, str], prefix: str) -> Setting:
    """One side of the form. An ObjectiveError for what cannot be."""
    objective = parse_objective(fields.get(f"{prefix}objective", "mean"))
    without = fields.get(f"{prefix}without") or None
    if without is not None and without not in service.problem.action_by_name:
        raise ObjectiveError.at((), f"there is no action '{without}'", suggest(without, service.problem.action_by_name))
    text = fields.get(f"{prefix}horizon", "").strip()
    if text and not (text.isascii() and text.isdigit() and 1 <= int(text) <= MOST_STEPS):
        raise ObjectiveError.at((), f"'{text}' is not a number of steps", f"from 1 to {MOST_STEPS}, or empty")
    return Setting(objective, without, int(text) if text else None)


def compare_settings(
    service: Service, audits: Audits, settings: tuple[Setting, Setting], *, who: str, deadline: Deadline
) -> SettingComparison:
    """Two settings, for one of the problem's people by name or for a sample of those who are rejected."""
    people, note = _find_people(service, audits, who)
    sides = [Side(setting, _solve(service, setting, list(people.values()), deadline)) for setting in settings]
    return SettingComparison(tuple(people), (sides[0], sides[1]), service.problem.cost_unit, note)


def _find_people(service: Service, audits: Audits, who: str) -> tuple[Mapping[str, Record], str]:
    problem = service.problem
    if who in problem.people:
        return {who: problem.people[who]}, ""
    if not audits.results:
        return dict(problem.people), "the people named in the problem"
    found = audits.results[0].audit
    rejected = np.where(found.people.favourable, 0, found.population.counts)
    count = min(SAMPLE, int((rejected > 0).sum()))
    rng = np.random.default_rng(0)
    drawn = np.sort(rng.choice(len(rejected), count, replace=False, p=rejected / rejected.sum()))
    codes = found.population.codes[drawn].tolist()
    people = {
        f"sample {number}": {f.name: f.levels[c] for f, c in zip(problem.features, row, strict=True)}
        for number, row in enumerate(codes, start=1)
    }
    return people, f"{count} rejected people, drawn at random (seed 0)"


def _solve(
    service: Service, setting: Setting, people: Sequence[Record], deadline: Deadline
) -> tuple[Prospect | None, ...]:
    desk = service.desk if setting.horizon is None else service.desk.with_horizon(setting.horizon)
    terms = None if setting.without is None else Terms(forbid=(setting.without,))
    return tuple(_solve_person(desk, setting.objective, terms, person, deadline) for person in people)


def _solve_person(
    desk: Desk, objective: Objective, terms: Terms | None, person: Record, deadline: Deadline
) -> Prospect | None:
    deadline.check()
    case = desk.open(person, terms=terms)
    if not case.needs_plan:
        return None
    offer = make_menu(case, Request((objective,)), progress=deadline.check_progress)[0]
    return Prospect(offer.cost.success, offer.mean, offer.cost.all_runs.cvar(TAIL), offer.first_action or "nothing")
