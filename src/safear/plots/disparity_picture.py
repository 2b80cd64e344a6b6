"""The picture of disparity: a panel per measure, and in it a dot with its interval per group, beside everybody's mean.

Costs begin at 0, so that twice as far is twice as much. Orange bars are people whom nothing helps; hollow dots are
groups that are too small to be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from safear.plots.headings import Sign, write_heading, write_key
from safear.plots.letters import text_width
from safear.plots.picture import Picture, make_picture
from safear.plots.svg import (
    BLUE,
    FAINT,
    GRID,
    INK,
    PAPER,
    WRONG,
    document,
    element,
    group,
    horizontal,
    nice_ticks,
    vertical,
    write,
)
from safear.population.audit import Audit
from safear.population.group_figures import HELPLESS, FigureRow, GroupFigures, GroupRow, Measure, read_groups
from safear.population.groups import BETWEEN
from safear.texts.names import show_name

WIDTH, PAD, GAP = 940.0, 16.0, 22.0
NAMES = 198.0  # how wide the names of groups may be
PER_BLOCK = 4  # panels side by side
HEADING, AXIS = 44.0, 34.0  # above and below the rows of a block
LINE, ROW_PAD, MOST_LINES = 16.0, 14.0, 3  # of a name
TEXT, SMALL, DOT = 14.0, 13.0, 4.5  # sizes of letters and dots
DASH, DOTS = "4 3", "2 3"
LEAST_SUCCESS_SPAN, LEAST_HELPLESS_SPAN = 0.1, 0.04  # so that hardly anything does not look like a lot


def disparity(
    audit: Audit,
    by: str | Sequence[str] | None = None,
    *,
    title: str | None = None,
    language: str = "en",
    heading: bool = True,
) -> Picture:
    """Draw each measure of each group with its interval; `by` as in `Audit.table`: all group columns unless given."""
    return draw_groups(read_groups(audit, by, language), title=title, heading=heading)


def draw_groups(groups: GroupFigures, *, title: str | None = None, heading: bool = True) -> Picture:
    """Draw figures that were read already."""
    columns = groups.columns
    words = groups.texts("picture.disparity.title", columns=columns) if title is None else show_name(title)
    svg = _DisparityDrawing(groups).svg(words, heading=heading)
    return make_picture(svg, groups=groups.groups, figures=groups.figures, overall=groups.overall)


def describe_group(groups: GroupFigures, row: GroupRow) -> str:
    """All that the picture shows of a group, in words."""
    say, name = groups.texts.part("picture.disparity"), groups.label(row.number)
    if not row.rejected:
        return say("nobody", group=name)
    parts = []
    for measure in groups.measures:
        figure = groups.figure(row.number, measure.name)
        ends = "" if figure.low is None else f" ({_span(figure, measure)})"
        parts.append(f"{measure.phrase} {measure.format(figure.value)}{ends}")
    key = "group_small" if row.small else "group"
    return say(key, group=name, rejected=groups.texts.whole(row.rejected), figures="; ".join(parts))


def _span(figure: FigureRow, measure: Measure) -> str:
    ends = {"low": measure.format(figure.low), "high": measure.format(figure.high)}
    return measure.texts("format.span", **ends)


@dataclass(frozen=True, slots=True)
class _Panel:
    """Where a measure is drawn: from `left` to `right`, the values up to `end`, their numbers at the right."""

    measure: Measure
    left: float
    right: float
    end: float
    low: float
    high: float
    ticks: tuple[float, ...]

    def x(self, value: float) -> float:
        return self.left + (value - self.low) / (self.high - self.low) * (self.end - self.left)


class _DisparityDrawing:
    """Places everything, top down."""

    def __init__(self, groups: GroupFigures) -> None:
        self.groups, self.texts, self.rows = groups, groups.texts, groups.drawn
        self.say = groups.texts.part("picture.disparity")
        self.overall = {row.measure: row.value for row in groups.overall}
        self.names = {row.number: _wrap(groups.names(row)) for row in self.rows}
        lines = max((len(name) for name in self.names.values()), default=1)
        self.heights = (lines + 1) * LINE + ROW_PAD, max(lines * LINE, 20.0) + ROW_PAD  # the first tells counts too
        width = (WIDTH - PAD - (PAD + NAMES + GAP) - GAP * (PER_BLOCK - 1)) / PER_BLOCK
        self.panels = [
            self._place(measure, PAD + NAMES + GAP + (width + GAP) * (place % PER_BLOCK), width)
            for place, measure in enumerate(groups.measures)
        ]

    def svg(self, title: str, *, heading: bool) -> str:
        lines, total = self.say("reading"), len(self.groups.groups)
        if len(self.rows) < total:
            lines += f" {self.say('most', shown=self.texts.whole(len(self.rows)), total=self.texts.whole(total))}"
        body, y = write_heading(title, [lines], pad=PAD, width=WIDTH, shown=heading)
        key, y = write_key(self._signs(), x=PAD, y=y + 6, right=WIDTH - PAD)
        body += key
        y += 22
        for start in range(0, len(self.panels), PER_BLOCK):
            part, y = self._block(self.panels[start : start + PER_BLOCK], y, first=not start)
            body.append(part)
        return document(WIDTH, y, title=title, description=self._describe(), body=body)

    def _place(self, measure: Measure, left: float, width: float) -> _Panel:
        """The panel of a measure, with the scale that its figures need."""
        figures = [self.groups.figure(row.number, measure.name) for row in self.rows]
        overall = self.overall[measure.name]
        ends = [end for row in figures for end in (row.value, row.low, row.high) if end is not None]
        ends += [] if overall is None else [overall]
        low, high = 0.0, max(ends, default=0.0) or 1.0
        if measure.name == "success":
            low, high = min(1 - LEAST_SUCCESS_SPAN, *ends), 1.0
        elif measure.name == HELPLESS:
            high = max(LEAST_HELPLESS_SPAN, *ends)
        end = left + width - 12 - max(text_width(measure.format(row.value), TEXT) for row in figures)
        for about in (3, 2, 1):
            ticks = [tick for tick in nice_ticks(low, high, about) if tick <= high * (1 + 1e-9)]
            panel = _Panel(measure, left, left + width, end, min(low, ticks[0]), high, tuple(ticks))
            widest = max(text_width(_tick(tick, measure), SMALL) for tick in ticks)
            if all(panel.x(later) - panel.x(tick) > widest + 8 for tick, later in pairwise(ticks)):
                break
        return panel

    def _signs(self) -> list[Sign]:
        """What the signs mean."""
        signs: list[Sign] = [
            (34, lambda x, y: _dot_and_line(x, x + 17, x + 34, y, small=False), self.say("mean")),
            (34, lambda x, y: _reference(x + 17, y - 9, y + 9), self.say("everybody")),
        ]
        if any(row.without_recourse for row in self.rows):
            signs.append((34, lambda x, y: _bar(x, x + 34, y), self.say("helpless")))
        if any(row.small for row in self.rows):
            words = self.say("small", minimum=self.texts.whole(self.groups.minimum))
            signs.append((34, lambda x, y: _dot_and_line(x, x + 17, x + 34, y, small=True), words))
        return signs

    def _block(self, panels: Sequence[_Panel], top: float, *, first: bool) -> tuple[str, float]:
        """Some panels side by side, with the groups before them; the first block tells how many people there are."""
        height, start = self.heights[0 if first else 1], top + HEADING
        end = start + height * len(self.rows)
        parts = [horizontal(PAD, WIDTH - PAD, start + height * place, GRID) for place in range(len(self.rows) + 1)]
        parts += [self._frame(panel, top, start, end) for panel in panels]
        for place, row in enumerate(self.rows):
            middle = start + height * (place + 0.5)
            cells = [self._name(row, middle, with_counts=first)]
            cells += [self._figure(panel, row, middle) for panel in panels]
            parts.append(group(cells, class_="row", data_group=row.number))
        return group(parts, class_="block"), end + AXIS

    def _frame(self, panel: _Panel, top: float, start: float, end: float) -> str:
        """The heading, the grid and the axis of a panel, and everybody's mean."""
        measure, room = panel.measure, panel.right - panel.left
        parts = [
            write(panel.left, top + 18, measure.heading, size=TEXT, bold=True, room=room),
            write(panel.left, top + 35, measure.detail, size=SMALL, fill=FAINT, room=room),
        ]
        for tick in panel.ticks:
            parts.append(vertical(panel.x(tick), start, end + 4, GRID))
            parts.append(
                write(panel.x(tick), end + 18, _tick(tick, measure), size=SMALL, text_anchor="middle", fill=FAINT)
            )
        overall = self.overall[measure.name]
        parts.append("" if overall is None or measure.name == HELPLESS else _reference(panel.x(overall), start, end))
        return group(parts, class_="panel", data_measure=measure.name)

    def _name(self, row: GroupRow, middle: float, *, with_counts: bool) -> str:
        lines = self.names[row.number]
        y = middle - LINE * (len(lines) + with_counts) / 2 + 12
        parts = [
            write(PAD, y + LINE * place, line, size=TEXT, room=NAMES, bold=True) for place, line in enumerate(lines)
        ]
        if with_counts:
            rejected = self.texts.whole(row.rejected)
            counts = self.say("rejected", rejected=rejected) if row.rejected else self.say("none_rejected")
            parts.append(write(PAD, y + LINE * len(lines), counts, size=SMALL, room=NAMES, fill=FAINT))
        return group(parts, note=describe_group(self.groups, row), class_="name")

    def _figure(self, panel: _Panel, row: GroupRow, y: float) -> str:
        figure, measure = self.groups.figure(row.number, panel.measure.name), panel.measure
        value = "" if not row.rejected else measure.format(figure.value)
        wrong = measure.name == HELPLESS and bool(figure.value)
        ink = WRONG if wrong else FAINT if figure.value is None else INK
        parts = [write(panel.right, y + 5, value, size=TEXT, text_anchor="end", fill=ink)]
        if wrong and figure.value is not None:
            parts.append(_bar(panel.left, panel.x(figure.value), y))
        elif measure.name != HELPLESS and figure.value is not None:
            middle = panel.x(figure.value)
            low, high = (middle if end is None else panel.x(end) for end in (figure.low, figure.high))
            parts.append(_dot_and_line(low, middle, high, y, small=row.small))
        ends = "" if figure.low is None else f" ({_span(figure, measure)})"
        note = f"{self.groups.label(row.number)}, {measure.phrase}: {value}{ends}" if value else ""
        return group(parts, note=note, class_="figure", data_measure=measure.name)

    def _describe(self) -> str:
        """The whole picture as a list in words."""
        everybody = [
            f"{measure.phrase} {measure.format(row.value)}"
            for measure, row in zip(self.groups.measures, self.groups.overall, strict=True)
        ]
        groups = [describe_group(self.groups, row) for row in self.rows]
        return "\n".join([self.say("overall", figures="; ".join(everybody)), *groups])


def _wrap(parts: Sequence[str]) -> list[str]:
    """A group's name on one line, or else a line per column, or its words on several lines; the last one cut off."""
    name = BETWEEN.join(parts)
    if text_width(name, TEXT, bold=True) <= NAMES:
        return [name]
    between = BETWEEN.rstrip()
    pieces = [part + between * (place < len(parts)) for place, part in enumerate(parts, start=1)]
    if len(pieces) == 1 or len(pieces) > MOST_LINES:
        pieces = " ".join(pieces).split(" ")
        lines = [""]
        for piece in pieces:
            longer = f"{lines[-1]} {piece}".strip()
            if text_width(longer, TEXT, bold=True) <= NAMES or len(lines) == MOST_LINES or not lines[-1]:
                lines[-1] = longer
            else:
                lines.append(piece)
        pieces = lines
    return pieces


def _tick(value: float, measure: Measure) -> str:
    texts = measure.texts
    return texts("format.percent", number=texts.number(100 * value)) if measure.is_share else texts.number(value)


def _dot_and_line(low: float, middle: float, high: float, y: float, *, small: bool) -> str:
    """A mean and its interval; hollow and broken where it says little."""
    dash: dict[str, str | float] = {"stroke_dasharray": DASH} if small else {}
    line = horizontal(low, high, y, BLUE, 2.5, class_="interval", **dash)
    caps = "".join(vertical(end, y - 5, y + 5, BLUE, 1.5) for end in (low, high) if abs(end - middle) > DOT + 1)
    dot = element(
        "circle", class_="dot", cx=middle, cy=y, r=DOT, fill=PAPER if small else BLUE, stroke=BLUE, stroke_width=1.8
    )
    return line + caps + dot


def _bar(left: float, right: float, y: float) -> str:
    """How many there are whom nothing helps."""
    return element("rect", class_="helpless", x=left, y=y - 5, width=max(right - left, 1.5), height=10, fill=WRONG)


def _reference(x: float, y1: float, y2: float) -> str:
    """Everybody's mean."""
    return element("line", class_="everybody", x1=x, x2=x, y1=y1, y2=y2, stroke=FAINT, stroke_dasharray=DOTS)
