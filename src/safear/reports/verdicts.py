"""What an audit says of one way to divide people: its figures, what differs, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

from safear.population.audit import Audit
from safear.population.group_figures import HELPLESS, FigureRow, GroupFigures, GroupRow, Measure, read_groups

SIGNIFICANT = 0.05
ROUNDING = 1e-9  # a smaller difference of means is none
EFFORT = frozenset({"sparsity", "proximity"})  # how much is to be done; all other measures are of risk


class Verdict(Enum):
    """How sure it is that two groups differ, by code."""

    CLEAR = "clear"  # more than chance: ranks and means agree
    RANKS = "ranks"  # the rank test finds a difference that the means do not show
    MEANS = "means"  # the interval leaves 0 out, but the rank test finds nothing
    CHANCE = "chance"  # within chance
    UNKNOWN = "unknown"  # nobody of a group has the figure

    @property
    def mark(self) -> str:
        """The sign of a page that goes with it; empty if none does."""
        return {"ranks": "unsure", "means": "unsure", "unknown": ""}.get(self.value, self.value)


@dataclass(frozen=True, slots=True)
class GroupTest:
    """Two groups in one measure: `group` less `other`, as in `Audit.tests`."""

    measure: Measure
    group: GroupRow
    other: GroupRow
    difference: float | None
    low: float | None
    high: float | None
    effect: float | None
    test: str | None
    p: float | None
    p_holm: float | None

    @property
    def verdict(self) -> Verdict:
        """More than chance is what the rank test (after Holm) and the interval of the means' difference both say."""
        if self.p_holm is None or self.effect is None or self.low is None or self.high is None:
            return Verdict.UNKNOWN
        if self.p_holm >= SIGNIFICANT:
            return Verdict.MEANS if self.low > ROUNDING or self.high < -ROUNDING else Verdict.CHANCE
        agree = (self.low > 0 and self.effect > 0) or (self.high < 0 and self.effect < 0)
        return Verdict.CLEAR if agree else Verdict.RANKS


@dataclass(frozen=True, slots=True)
class Extremes:
    """The groups, of those that can be compared, with the worst and the best mean of a measure."""

    measure: Measure
    worst: FigureRow
    best: FigureRow
    comparison: GroupTest

    @property
    def gap(self) -> tuple[float | None, float | None, float | None]:
        """By how much the worst is worse than the best, and the interval of that."""
        found = self.comparison
        if (found.group.number == self.worst.number) == (self.measure.worse > 0):
            return found.difference, found.low, found.high
        return _negative(found.difference), _negative(found.high), _negative(found.low)


@dataclass(frozen=True, slots=True)
class Division:
    """People divided by some columns. `comparisons` is None where there are too many groups to compare all pairs."""

    groups: GroupFigures
    difference: Mapping[str, float | None]
    ratio: Mapping[str, float | None]
    comparisons: tuple[GroupTest, ...] | None

    @property
    def name(self) -> str:
        """The columns as people read them: `gender`, or several with a sign between them."""
        return self.groups.columns

    @property
    def comparable(self) -> list[GroupRow]:
        """The groups that are not small."""
        return [row for row in self.groups.groups if not row.small]

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that are compared."""
        return tuple(measure for measure in self.groups.measures if measure.name != HELPLESS)

    def compared(self, measure: Measure) -> list[GroupTest]:
        """All pairs of groups in a measure."""
        return [item for item in self.comparisons or () if item.measure.name == measure.name]

    def find_extremes(self, measure: Measure) -> Extremes | None:
        """Who is worst and who is best off; None unless two groups have the measure and are compared."""
        figures = [self.groups.figure(row.number, measure.name) for row in self.comparable]
        known = [(row.value * measure.worse, row) for row in figures if row.value is not None]
        if len(known) < 2 or self.comparisons is None:
            return None
        best, worst = (choose(known, key=lambda item: item[0])[1] for choose in (min, max))
        if best.number == worst.number:  # all are equal
            best, worst = known[0][1], known[1][1]
        pair = {best.number, worst.number}
        found = next(item for item in self.compared(measure) if {item.group.number, item.other.number} == pair)
        return Extremes(measure, worst, best, found)

    def find_widest(self, measure: Measure) -> Extremes | None:
        """The widest gap that is more than chance: with many groups, that between worst and best need not be."""
        clear = [item for item in self.compared(measure) if item.verdict is Verdict.CLEAR]
        if not clear:
            return None
        widest = max(clear, key=lambda item: abs(item.difference or 0.0))
        one, other = (self.groups.figure(row.number, measure.name) for row in (widest.group, widest.other))
        worse_first = (widest.difference or 0.0) * measure.worse > 0
        return Extremes(measure, *((one, other) if worse_first else (other, one)), widest)


def _negative(value: float | None) -> float | None:
    return None if value is None else -value


def divide(audit: Audit, language: str = "en") -> list[Division]:
    """All divisions of an audit: by each group column, and by all of them if there are several."""
    return [_divide(audit, by, language) for by in audit.columns]


def _divide(audit: Audit, by: tuple[str, ...], language: str) -> Division:
    groups = read_groups(audit, by, language)
    comparisons = tuple(_compare(audit, groups)) if audit.can_test(by) else None
    difference, ratio = audit.difference(by), audit.ratio(by)
    names = [measure.name for measure in groups.measures if measure.name != HELPLESS]
    return Division(
        groups, {name: difference[name] for name in names}, {name: ratio[name] for name in names}, comparisons
    )


def _compare(audit: Audit, groups: GroupFigures) -> Iterable[GroupTest]:
    """The audit's tests with the groups that they are about; as there, measure by measure for each pair."""
    tests = audit.tests(groups.by).to_dict("records")
    measures = [measure for measure in groups.measures if measure.name != HELPLESS]
    pairs = combinations([row for row in groups.groups if not row.small], 2)
    asked = ((measure, *pair) for pair in pairs for measure in measures)
    for (measure, one, other), test in zip(asked, tests, strict=True):
        figures = (test[name] for name in ("difference", "low", "high", "effect", "test", "p", "p (Holm)"))
        yield GroupTest(measure, one, other, *figures)
