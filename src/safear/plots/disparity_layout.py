"""What the picture of disparity shows, as tidy tables: groups, and a figure with its interval per group and measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from safear.population.audit import Audit, Cell
from safear.recourse.words import describe_worst, format_chance

MOST_DRAWN = 24  # groups; of more, those with the most rejected people
HELPLESS = "no recourse"


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of the audit, or its share without recourse, in words."""

    name: str  # as in the audit's tables
    heading: str
    detail: str  # what stands below the heading
    phrase: str  # inside a sentence
    is_share: bool = False
    has_unit: bool = False  # whether it is a cost

    @property
    def worse(self) -> Literal[-1, 1]:
        """Whether more of it (1) or less of it (-1) is worse."""
        return -1 if self.name == "success" else 1


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
class Layout:
    """What is to be drawn, as tidy tables, and what it is called."""

    by: tuple[str, ...]
    minimum: int
    measures: tuple[Measure, ...]
    groups: tuple[GroupRow, ...]
    figures: tuple[FigureRow, ...]
    overall: tuple[OverallRow, ...]

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Each table as a list of records."""
        return {
            "groups": [asdict(row) for row in self.groups],
            "figures": [asdict(row) for row in self.figures],
            "overall": [asdict(row) for row in self.overall],
        }

    @property
    def drawn(self) -> tuple[GroupRow, ...]:
        """The groups that are drawn."""
        return tuple(row for row in self.groups if row.drawn)

    def figure(self, number: int, measure: str) -> FigureRow:
        """The figure of a group, by the group's number."""
        place = [item.name for item in self.measures].index(measure)
        return self.figures[(number - 1) * len(self.measures) + place]


def name_measures(audit: Audit) -> tuple[Measure, ...]:
    """The share without recourse and the audit's measures, in its order and in plain words."""
    worst, within, cost = describe_worst(audit.level), format_chance(audit.level), f"cost, {audit.problem.cost_unit}"
    return (
        Measure(HELPLESS, "no recourse", "of the rejected", "share without recourse", is_share=True),
        Measure("success", "success", "chance", "chance of success", is_share=True),
        Measure("mean", "average", cost, "average cost", has_unit=True),
        Measure("variance", "variance", "of the cost", "variance of the cost"),
        Measure("var", f"{within} within", cost, f"cost that {within} of cases stay within", has_unit=True),
        Measure("cvar", worst, f"average {cost}", f"average cost of the {worst} of cases", has_unit=True),
        Measure("sparsity", "features changed", "on average", "number of features to change"),
        Measure("proximity", "levels moved", "on average", "number of levels to move"),
    )


def lay_out(audit: Audit, by: str | Sequence[str] | None = None) -> Layout:
    """The tables behind the picture; `by` as in `Audit.table`."""
    intervals = audit.intervals(by)
    columns = audit.population.groups if by is None else (by,) if isinstance(by, str) else tuple(by)
    measures = name_measures(audit)
    cells = list(audit.cells(columns))
    drawn = set(sorted(range(len(cells)), key=lambda place: (-cells[place].n_rejected, place))[:MOST_DRAWN])
    ends = iter(intervals[["low", "high"]].itertuples(index=False, name=None)) if len(intervals) else iter(())
    groups, figures = [], []
    for number, cell in enumerate(cells, start=1):
        counts = (cell.n, cell.n_rejected, cell.without_recourse, cell.gives_up)
        groups.append(GroupRow(number, cell.name, cell.names, *counts, cell.is_small, number - 1 in drawn))
        figures += [_read(number, cell, measures[0].name, (None, None))]
        for measure in measures[1:]:
            # By place, not by name: a group may be called "(missing)", or have the sign between names in its own.
            figures += [_read(number, cell, measure.name, next(ends) if cell.n_rejected else (None, None))]
    row = audit.overall
    overall = tuple(OverallRow(measure.name, row[measure.name]) for measure in measures)
    return Layout(columns, audit.minimum, measures, tuple(groups), tuple(figures), overall)


def _read(number: int, cell: Cell, measure: str, ends: tuple[float | None, float | None]) -> FigureRow:
    if measure == HELPLESS:
        share = cell.without_recourse / cell.n_rejected if cell.n_rejected else None
        return FigureRow(number, cell.name, measure, cell.n_rejected, share, *ends)
    sample = cell.sample(measure)
    return FigureRow(number, cell.name, measure, sample.n, sample.mean, *ends)
