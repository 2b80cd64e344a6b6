"""The tables of an audit's page, rounded for reading."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from safear.population.audit import Audit
from safear.population.audit_teller import AuditTeller
from safear.population.decomposition import Gap
from safear.population.group_figures import FigureRow, GroupRow, Measure, name_measures
from safear.reports.verdicts import Division, GroupTest
from safear.texts.names import show_name

MOST_COMPARED = 84  # rows of a table of comparisons; of more, the widest gap of each measure


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a table: a text, something smaller below it, and what it means ("wrong", "everybody", ...)."""

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


def people_table(audit: Audit, tell: AuditTeller, division: Division | None = None) -> Table:
    """Who is there, who is rejected, and whom nothing helps; of everybody, or by group."""
    everybody, say = audit.overall, tell.part("audit.table")
    n, rejected = everybody["n"], everybody["rejected"]
    helpless, giving_up = (round(everybody[name] * rejected) for name in ("no recourse", "gives up"))
    total = GroupRow(0, "everybody", (), n, rejected, helpless, giving_up, small=False, drawn=False)
    rows = [] if division is None else [_people_row(_name(row, division), row, tell) for row in division.groups.groups]
    return Table(
        say("people") if division is None else say("people_by", column=division.name),
        _cells("" if division is None else division.name, *tell.headings("audit.table.people_headings")),
        (*rows, _people_row(_everybody(tell), total, tell)),
        note="" if division is None else _tell_star(division, tell),
    )


def _people_row(name: Cell, row: GroupRow, tell: AuditTeller) -> tuple[Cell, ...]:
    return (
        name,
        Cell(tell.texts.whole(row.people)),
        Cell(tell.percent(1 - row.rejected / row.people)),
        Cell(tell.texts.whole(row.rejected)),
        _share(row.without_recourse, row.rejected, tell),
        _share(row.gives_up, row.rejected, tell),
    )


def _share(part: int, whole: int, tell: AuditTeller) -> Cell:
    if not whole:
        return Cell(tell("format.none"))
    share = tell.percent(part / whole)
    return Cell(share, tell.texts.whole(part), "wrong") if part else Cell(share)


def _cells(*texts: str) -> tuple[Cell, ...]:
    return tuple(map(Cell, texts))


def _name(row: GroupRow, division: Division) -> Cell:
    return Cell(division.groups.label(row.number) + "*" * row.small)


def _everybody(tell: AuditTeller) -> Cell:
    return Cell(tell("audit.everybody"), mark="everybody")


def _tell_star(division: Division, tell: AuditTeller) -> str:
    small = any(row.small for row in division.groups.groups)
    return tell("audit.small.star", minimum=division.groups.minimum) if small else ""


def figures_table(division: Division, tell: AuditTeller) -> Table:
    """The mean of each measure with its interval, by group; then the largest difference and the smallest ratio."""
    groups, measures, say = division.groups, division.measures, tell.part("audit.table")
    rows = [
        (_name(row, division), *(_figure(groups.figure(row.number, measure.name), measure) for measure in measures))
        for row in groups.groups
    ]
    overall = {row.measure: row.value for row in groups.overall}
    rows.append((_everybody(tell), *_cells(*(item.format(overall[item.name]) for item in measures))))
    if len(division.comparable) > 1:
        gaps = (tell.difference(division.difference[item.name], item, signed=False) for item in measures)
        rows.append((Cell(say("difference"), mark="sum"), *_cells(*gaps)))
        ratios = (tell.fixed(division.ratio[item.name], 3) for item in measures)
        rows.append((Cell(say("ratio"), mark="sum"), *_cells(*ratios)))
    caption, note = say("figures_by", column=division.name), _tell_star(division, tell)
    return Table(caption, _headings(division.name, measures), tuple(rows), note=note)


def overall_table(audit: Audit, tell: AuditTeller) -> Table:
    """The mean of each measure over everybody who is rejected."""
    overall, measures = audit.overall, name_measures(audit, tell.texts.language)[1:]
    row = (_everybody(tell), *_cells(*(measure.format(overall[measure.name]) for measure in measures)))
    return Table(tell("audit.table.figures"), _headings("", measures), (row,))


def _headings(first: str, measures: Sequence[Measure]) -> tuple[Cell, ...]:
    return (Cell(first), *(Cell(item.heading, show_name(item.detail)) for item in measures))


def _figure(row: FigureRow, measure: Measure) -> Cell:
    ends = [measure.format(end) for end in (row.low, row.high) if end is not None]
    return Cell(measure.format(row.value), " – ".join(ends))


def comparison_table(division: Division, tell: AuditTeller) -> Table | None:
    """All pairs of groups and measures, or the widest gaps of a division with many groups; None without pairs."""
    comparisons, say = division.comparisons or (), tell.part("audit.table")
    if not comparisons:
        return None
    note, shown = "", list(comparisons)
    if len(comparisons) > MOST_COMPARED:
        found = (division.find_extremes(measure) for measure in division.measures)
        shown = [extremes.comparison for extremes in found if extremes is not None]
        note = say("widest", number=len(comparisons))
    *headings, verdict = tell.headings("audit.table.compared_headings")
    order = [measure.name for measure in division.measures]
    rows = sorted(shown, key=lambda item: order.index(item.measure.name))
    return Table(
        say("compared", column=division.name),
        (*_cells(*headings), Cell(verdict, mark="verdict")),
        tuple(_comparison_row(item, division, tell) for item in rows),
        names=3,
        note=note,
    )


def _comparison_row(item: GroupTest, division: Division, tell: AuditTeller) -> tuple[Cell, ...]:
    cells = _cells(
        item.measure.heading,
        division.groups.label(item.group.number),
        division.groups.label(item.other.number),
        tell.difference(item.difference, item.measure),
        tell.span(item.low, item.high, item.measure),
        tell.fixed(item.effect, 2, signed=True),
        tell.p_value(item.p_holm),
    )
    return (*cells, Cell(tell(f"audit.verdict.{item.verdict.value}"), mark=item.verdict.mark))


def origin_table(feature: str, division: Division, parts: Iterable[Gap], tell: AuditTeller) -> Table:
    """Where the gaps between the groups of an immutable feature come from; pairs in the order of the comparisons."""
    by_name = {measure.name: measure for measure in division.measures}
    rows = []
    for part in parts:
        measure, sign = by_name[part.measure], 1
        pair = (part.group, part.other)
        if pair != tuple(sorted(pair)):
            pair, sign = (part.other, part.group), -1
        gaps = (tell.difference(sign * value, measure) for value in (part.gap, part.start, part.model))
        rows.append(
            _cells(
                measure.heading, *(tell.teller.level(feature, one) for one in pair), *gaps, tell.percent(part.covered)
            )
        )
    caption = tell("audit.origin.table", column=tell.teller.feature(feature))
    return Table(caption, _cells(*tell.headings("audit.origin.headings")), tuple(rows), names=3)
