"""The tables of an audit's page, rounded for reading."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from safear.population.audit import Audit
from safear.population.decomposition import Gap
from safear.population.group_figures import FigureRow, GroupRow, Measure, name_measures
from safear.recourse.teller import Teller
from safear.reports.audit_words import MINUS, format_difference, format_p, format_span
from safear.reports.findings import MARKS
from safear.reports.verdicts import Division, GroupTest
from safear.texts.names import show_name

MOST_COMPARED = 84  # rows of a table of comparisons; of more, the widest gap of each measure


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a table: a text, something smaller below it, and what it means ("wrong", "clear", ...)."""

    text: str
    below: str = ""
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table. The first `names` cells of a row name it; all others are figures."""

    caption: str
    headings: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    names: int = 1
    note: str = ""


def people_table(audit: Audit, division: Division | None = None) -> Table:
    """Who is there, who is rejected, and whom nothing helps; of everybody, or by group."""
    headings = ("people", "accepted", "rejected", "no recourse", "plan gives up")
    if division is None:
        first, caption, rows = "", "Everybody", []
    else:
        first, caption, rows = division.name, f"People by {show_name(division.name)}", list(division.groups.groups)
    everybody = audit.overall
    n, rejected = everybody["n"], everybody["rejected"]
    helpless, giving_up = (round(everybody[name] * rejected) for name in ("no recourse", "gives up"))
    total = GroupRow(0, "everybody", (), n, rejected, helpless, giving_up, small=False, drawn=False)
    return Table(
        caption,
        tuple(map(Cell, (show_name(first), *headings))),
        tuple(_people_row(row) for row in [*rows, total]),
        note=_tell_star(rows, audit.minimum),
    )


def _people_row(row: GroupRow) -> tuple[Cell, ...]:
    return (
        _name(row),
        Cell(f"{row.people:,}"),
        Cell(Teller.of().percent(1 - row.rejected / row.people)),
        Cell(f"{row.rejected:,}"),
        _share(row.without_recourse, row.rejected),
        _share(row.gives_up, row.rejected),
    )


def _share(part: int, whole: int) -> Cell:
    if not whole:
        return Cell("n/a")
    return Cell(Teller.of().percent(part / whole), f"{part:,}", "wrong") if part else Cell("0%")


def _name(row: GroupRow) -> Cell:
    return Cell(show_name(row.group) + "*" * row.small)


def _tell_star(rows: Iterable[GroupRow], minimum: int) -> str:
    return f"* fewer than {minimum:,} rejected: neither ranked nor tested." if any(row.small for row in rows) else ""


def figures_table(audit: Audit, division: Division) -> Table:
    """The mean of each measure with its interval, by group; then the largest difference and the smallest ratio."""
    groups, measures = division.groups, division.measures
    rows = [
        (_name(row), *(_figure(groups.figure(row.number, measure.name), measure) for measure in measures))
        for row in groups.groups
    ]
    overall = {row.measure: row.value for row in groups.overall}
    rows.append((Cell("everybody"), *(Cell(item.format(overall[item.name])) for item in measures)))
    if len(division.comparable) > 1:
        gaps = (Cell(format_difference(division.difference[item.name], item, signed=False)) for item in measures)
        rows.append((Cell("largest difference", mark="sum"), *gaps))
        ratios = (division.ratio[item.name] for item in measures)
        rows.append((Cell("smallest ratio", mark="sum"), *(Cell(_plain(ratio)) for ratio in ratios)))
    caption = f"What the rejected can expect, by {show_name(division.name)}: means, and their 95% bootstrap intervals"
    return Table(
        caption,
        _headings(show_name(division.name), measures),
        tuple(rows),
        note=_tell_star(groups.groups, audit.minimum),
    )


def overall_table(audit: Audit) -> Table:
    """The mean of each measure over everybody who is rejected."""
    overall, measures = audit.overall, name_measures(audit)[1:]
    row = (Cell("everybody"), *(Cell(measure.format(overall[measure.name])) for measure in measures))
    return Table("What the rejected can expect: means", _headings("", measures), (row,))


def _headings(first: str, measures: Sequence[Measure]) -> tuple[Cell, ...]:
    return (Cell(first), *(Cell(item.heading, show_name(item.detail)) for item in measures))


def _figure(row: FigureRow, measure: Measure) -> Cell:
    ends = [measure.format(end) for end in (row.low, row.high) if end is not None]
    return Cell(measure.format(row.value), " – ".join(ends))


def _plain(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}"


def comparison_table(division: Division) -> Table | None:
    """All pairs of groups and measures, or the widest gaps of a division with many groups; None without pairs."""
    comparisons = division.comparisons or ()
    if not comparisons:
        return None
    caption, note = f"Comparisons by {show_name(division.name)}: the first group minus the second", ""
    shown: Sequence[GroupTest] = comparisons
    if len(comparisons) > MOST_COMPARED:
        found = (division.find_extremes(measure) for measure in division.measures)
        shown = [extremes.comparison for extremes in found if extremes is not None]
        note = f"The widest gap of each measure; all {len(comparisons):,} comparisons are in the appendix."
    headings = ("measure", "group", "against", "difference", "95% interval", "effect", "p (Holm)", "verdict")
    rows = sorted(shown, key=lambda item: [measure.name for measure in division.measures].index(item.measure.name))
    return Table(caption, tuple(map(Cell, headings)), tuple(map(_comparison_row, rows)), names=3, note=note)


def _comparison_row(item: GroupTest) -> tuple[Cell, ...]:
    return (
        Cell(item.measure.heading),
        Cell(show_name(item.group.group)),
        Cell(show_name(item.other.group)),
        Cell(format_difference(item.difference, item.measure)),
        Cell(format_span(item.low, item.high, item.measure)),
        Cell("n/a" if item.effect is None else f"{item.effect:+.2f}".replace("-", MINUS)),
        Cell(format_p(item.p_holm)),
        Cell(item.verdict.value, mark=MARKS[item.verdict]),
    )


def origin_table(feature: str, division: Division, parts: Iterable[Gap]) -> Table:
    """Where the gaps between the groups of an immutable feature come from; pairs in the order of the comparisons."""
    by_name = {measure.name: measure for measure in division.measures}
    headings = ("measure", "group", "against", "gap", "from where people start", "from the model", "people counted")
    rows = []
    for part in parts:
        measure, sign = by_name[part.measure], 1
        pair = (part.group, part.other)
        if pair != tuple(sorted(pair)):
            pair, sign = (part.other, part.group), -1
        gaps = (format_difference(sign * value, measure) for value in (part.gap, part.start, part.model))
        names = (measure.heading, *map(show_name, pair))
        rows.append(tuple(map(Cell, (*names, *gaps, Teller.of().percent(part.covered)))))
    return Table(
        f"Where the gaps by {show_name(feature)} come from: the first group minus the second",
        tuple(map(Cell, headings)),
        tuple(rows),
        names=3,
    )
