"""The figures of an audit by group, as pictures and reports show them, and what they are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from safear.population.audit import Audit
from safear.population.groups import BETWEEN, Group
from safear.recourse.teller import Teller
from safear.texts import Texts

MOST_DRAWN = 24  # groups; of more, those with the most rejected people
HELPLESS = "no recourse"


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of the audit, or its share without recourse, in the words of a language."""

    name: str  # as in the audit's tables
    heading: str
    detail: str  # what stands below the heading
    phrase: str  # inside a sentence
    texts: Texts
    is_share: bool = False
    has_unit: bool = False  # whether it is a cost

    @property
    def worse(self) -> Literal[-1, 1]:
        """Whether more of it (1) or less of it (-1) is worse."""
        return -1 if self.name == "success" else 1

    def format(self, value: float | None) -> str:
        """A share as `99.2%`, anything else with two decimals; `n/a` if undefined."""
        texts = self.texts
        if value is None:
            return texts("format.none")
        if self.is_share:
            tenths = texts.localise(f"{100 * value:.1f}")
            return texts("format.percent", number=tenths) if 0.1 <= value <= 0.999 else texts.percent(value)
        digits = 0 if abs(value) >= 1000 else 2
        return texts.localise(f"{value:.{digits}f}") if abs(value) >= 0.1 else texts.number(value)


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group and its people; `number` counts from 1 in the order of the audit's table."""

    number: int
    group: str
    names: tuple[str, ...]
    people: int
    rejected: int
    without_recourse: int
    gives_up: int
    small: bool
    drawn: bool


@dataclass(frozen=True, slots=True)
class FigureRow:
    """The mean of a measure over the `people` of a group who have it, with its bootstrap interval (95%).

    What is undefined is None. The share without recourse has no interval.
    """

    number: int
    group: str
    measure: str
    people: int
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class OverallRow:
    """The mean of a measure over everybody who is rejected."""

    measure: str
    value: float | None


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """All groups that some columns make, their figures, and what these are called."""

    by: tuple[str, ...]
    minimum: int
    measures: tuple[Measure, ...]
    groups: tuple[GroupRow, ...]
    figures: tuple[FigureRow, ...]
    overall: tuple[OverallRow, ...]
    tell: Teller
    levels: tuple[tuple[str, ...], ...] = ()  # of each column, in their order; none of one that is no feature

    @property
    def texts(self) -> Texts:
        """The language of the words."""
        return self.tell.texts

    @property
    def drawn(self) -> tuple[GroupRow, ...]:
        """The groups that are drawn, in the order of the levels of their features."""
        return tuple(sorted((row for row in self.groups if row.drawn), key=self._place))

    def _place(self, row: GroupRow) -> list[int]:
        """Where a group stands in each column: at its level; those without one last."""
        named = zip(row.names, self.levels, strict=False)
        return [levels.index(name) if name in levels else len(levels) for name, levels in named]

    def names(self, row: GroupRow) -> list[str]:
        """The group's value in each column, as people read it."""
        named = zip(self.by, row.names, strict=True)
        return [self.tell.level(column, name) if name else self.texts("audit.missing") for column, name in named]

    @property
    def columns(self) -> str:
        """The columns as people read them: `gender`, or several with a sign between them."""
        return BETWEEN.join(map(self.tell.feature, self.by))

    def label(self, number: int) -> str:
        """A group as people read it, by its number."""
        return BETWEEN.join(self.names(self.groups[number - 1]))

    def figure(self, number: int, measure: str) -> FigureRow:
        """The figure of a group, by the group's number."""
        place = [item.name for item in self.measures].index(measure)
        return self.figures[(number - 1) * len(self.measures) + place]


def name_measures(audit: Audit, language: str = "en") -> tuple[Measure, ...]:
    """The share without recourse and the audit's measures, in its order and in plain words."""
    tell = Teller.of(language, audit.problem.glossary)
    unit = tell.text(audit.problem.cost_unit)
    worst = {"worst": tell.worst_name(audit.level), "in_worst": tell.worst(audit.level)}
    values = {**worst, "within": tell.percent(audit.level), "unit": unit}

    def name(key: str, *, is_share: bool = False, has_unit: bool = False) -> Measure:
        heading, detail, phrase = (tell(f"measure.{key}.{part}", **values) for part in ("heading", "detail", "phrase"))
        return Measure(key, heading, detail, phrase, tell.texts, is_share, has_unit)

    return (
        name(HELPLESS, is_share=True),
        name("success", is_share=True),
        name("mean", has_unit=True),
        name("variance"),
        name("var", has_unit=True),
        name("cvar", has_unit=True),
        name("sparsity"),
        name("proximity"),
    )


def read_groups(audit: Audit, by: str | Sequence[str] | None = None, language: str = "en") -> GroupFigures:
    """The figures of each group; `by` as in `Audit.table`."""
    intervals = audit.intervals(by)
    columns = audit.population.groups if by is None else (by,) if isinstance(by, str) else tuple(by)
    measures, tell = name_measures(audit, language), Teller.of(language, audit.problem.glossary)
    cells = list(audit.groups(columns))
    drawn = set(sorted(range(len(cells)), key=lambda place: (-cells[place].n_rejected, place))[:MOST_DRAWN])
    ends = iter(intervals[["low", "high"]].itertuples(index=False, name=None)) if len(intervals) else iter(())
    groups, figures = [], []
    for number, group in enumerate(cells, start=1):
        counts = (group.n, group.n_rejected, group.without_recourse, group.gives_up)
        groups.append(GroupRow(number, group.name, group.names, *counts, group.is_small, number - 1 in drawn))
        figures += [_read(number, group, measures[0].name, (None, None))]
        for measure in measures[1:]:
            # By place, not by name: a group may be called "(missing)", or have the sign between names in its own.
            figures += [_read(number, group, measure.name, next(ends) if group.n_rejected else (None, None))]
    row = audit.overall
    overall = tuple(OverallRow(measure.name, row[measure.name]) for measure in measures)
    known = {feature.name: tuple(map(str, feature.levels)) for feature in audit.problem.features}
    levels = tuple(known.get(column, ()) for column in columns)
    return GroupFigures(columns, audit.minimum, measures, tuple(groups), tuple(figures), overall, tell, levels)


def _read(number: int, group: Group, measure: str, ends: tuple[float | None, float | None]) -> FigureRow:
    if measure == HELPLESS:
        share = group.without_recourse / group.n_rejected if group.n_rejected else None
        return FigureRow(number, group.name, measure, group.n_rejected, share, *ends)
    sample = group.sample(measure)
    return FigureRow(number, group.name, measure, sample.n, sample.mean, *ends)
