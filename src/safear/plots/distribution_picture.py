"""The picture of what each plan may cost: bars of exact chances, the worst of them framed in orange, failures apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from safear.plots.axes import Scale, draw_columns, find_ticks
from safear.plots.distribution_layout import BarRow, Kind, Layout, MarkRow, lay_out
from safear.plots.headings import say_figures, say_first_step, say_worst, write_heading, write_plan_name
from safear.plots.picture import Picture
from safear.plots.plan_rows import PlanRow
from safear.plots.svg import (
    FAINT,
    INK,
    PAPER,
    WRONG,
    WRONG_PANEL,
    Box,
    blue,
    clean,
    document,
    element,
    group,
    horizontal,
    meets,
    number,
    spread,
    text_width,
    write,
)
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.words import describe_worst, format_chance, format_cost, format_number

WIDTH, PAD = 1000.0, 20.0
START = PAD + 12
COLUMN, COLUMN_BAR = 104.0, 40.0  # the columns of what is later or not in time, and the bars in them
NAME, MARKS, BARS, AXIS = 26.0, 34.0, 128.0, 40.0  # heights of the parts of a plan's panel
ROOM_ABOVE = 22.0  # for the chance over the highest bar
WIDEST_BAR, THINNEST_BAR, LOWEST_BAR = 44.0, 5.0, 1.5
SIZE, SMALL = 13.0, 12.0
DASH = "5 3"


def distribution(offers: Menu | Sequence[Offer], *, title: str = "What each plan may cost") -> Picture:
    """Draw the exact distribution of what each plan costs, in the order given (a menu has the safest first)."""
    layout = lay_out(offers)
    words = clean(title)
    return Picture(_Drawing(layout, words).svg(), layout.tables)


def say_bar(bar: BarRow, unit: str) -> str:
    """`2.3%: done after 4 months`."""
    chance = format_chance(bar.chance)
    if bar.low is None or bar.high is None:
        return f"{chance}: not in time"
    if bar.low == bar.high:
        return f"{chance}: done after {format_cost(bar.high, unit)}"
    return f"{chance}: done after {format_number(bar.low)} to {format_cost(bar.high, unit)}"


def say_mark(mark: MarkRow, plan: PlanRow, unit: str) -> str:
    """`average 2 months`, `95% are done within 3 months`, `worst 5%: 4 months`."""
    cost = format_cost(mark.cost, unit)
    match mark.mark:
        case "average":
            return f"average {cost}"
        case "within":
            return f"{format_chance(plan.level)} are done within {cost}"
        case _:
            return f"{describe_worst(plan.level)}: {cost}"


def say_few(plan: PlanRow) -> str:
    """What is said where there is no cost that so many are done within."""
    return f"only {format_chance(plan.success)} are ever done in time" if plan.success else "never done in time"


@dataclass(frozen=True, slots=True)
class _Bar:
    """A bar and where it stands."""

    row: BarRow
    left: float
    right: float
    top: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


@dataclass(frozen=True, slots=True)
class _Sign:
    """What is said at a place of the axis; `mark` is what is drawn there, None if that lies beyond the axis."""

    text: str
    x: float
    ink: str
    mark: str | None


class _Drawing:
    """Places everything, top down."""

    def __init__(self, layout: Layout, title: str) -> None:
        self.layout, self.plans, self.title = layout, layout.plans, title
        self.columns: list[Kind] = [kind for kind in ("later", "not in time") if layout.has(kind)]
        right = WIDTH - PAD - COLUMN * len(self.columns) - (0 if self.columns else 12)
        pitch = min(1.0, layout.gap / layout.end) * (right - START - WIDEST_BAR)
        # Half a bar more to either side, so that the bars of the first and the last cost have room.
        spare = 0.0 if layout.step is not None else max(0.0, pitch / 2 - 6)
        self.x = Scale(0, layout.end, START + spare, right - spare)
        self.right = right
        self.bar = min(WIDEST_BAR, max(THINNEST_BAR, 0.72 * pitch))
        self.tallest = max(bar.chance for bar in layout.bars)
        self.ticks = find_ticks(layout.end, right - START, gap=layout.gap)

    def svg(self) -> str:
        body, y = write_heading(self.title, self._explain(), pad=PAD, room=WIDTH - 2 * PAD)
        for plan in self.plans.rows:
            part, y = self._plan(plan, y + 6)
            body.append(part)
        body.append(write(START, y + 8, f"cost in {self.plans.unit}", room=WIDTH - PAD - START))
        return document(WIDTH, y + 24, title=self.title, description=self._describe(), body=body)

    def _explain(self) -> list[str]:
        step, unit = self.layout.step, self.plans.unit
        what = "each bar is one cost" if step is None else f"each bar holds costs of {format_cost(step, unit)} together"
        lines = [f"Exact chances; {what}. Framed in orange: {say_worst(self.plans)}."]
        if self.layout.has("not in time"):
            lines.append(f"Not in time: no success within {self.plans.deadline}{self.plans.surcharge}.")
        return lines

    def _plan(self, plan: PlanRow, top: float) -> tuple[str, float]:
        rows = [bar for bar in self.layout.bars if bar.plan == plan.number]
        marks = [mark for mark in self.layout.marks if mark.plan == plan.number]
        bottom = top + NAME + MARKS + BARS
        bars = [self._place(row, bottom) for row in rows]
        colour = blue(plan.number - 1, len(self.plans.rows))
        first, title = say_first_step(plan), self.plans.title(plan)
        parts = [
            self._shade(bars, marks, top + NAME + MARKS - 8, bottom),
            write_plan_name(PAD, top + 18, title, first, room=WIDTH - 2 * PAD),
            *self._marks(plan, marks, top + NAME, bottom),
            *(self._bar(bar, bottom, colour, alone=len(bars) == 1) for bar in bars),
            *self._axis(bottom),
            *self._chances(bars, bottom),
        ]
        note = f"{title} {first} · {say_figures(plan)}"
        return group(parts, note=note, class_="plan", data_plan=plan.number), bottom + AXIS

    def _place(self, row: BarRow, bottom: float) -> _Bar:
        height = max(LOWEST_BAR, row.chance / self.tallest * (BARS - ROOM_ABOVE))
        if row.kind != "cost" or row.low is None or row.high is None:
            middle = self.right + COLUMN * (self.columns.index(row.kind) + 0.5)
            left, right = middle - COLUMN_BAR / 2, middle + COLUMN_BAR / 2
        elif row.low == row.high:
            left, right = self.x(row.high) - self.bar / 2, self.x(row.high) + self.bar / 2
        else:
            left, right = self.x(row.low) + 1, self.x(row.high) - 1
        return _Bar(row, left, right, bottom - height)

    def _bar(self, bar: _Bar, bottom: float, colour: str, *, alone: bool) -> str:
        """A bar, its worst part framed; a failure is only a broken frame."""
        row, height = bar.row, bottom - bar.top
        failed, worst = row.kind == "not in time", 0.0 if alone else row.worst
        framed = height if failed or worst >= row.chance * (1 - 1e-9) else height * worst / row.chance
        parts = []
        if framed < height:
            parts.append(
                element(
                    "rect", class_="usual", x=bar.left, y=bar.top + framed, width=bar.right - bar.left,
                    height=height - framed, fill=colour,
                )
            )  # fmt: skip
        if framed > 0:
            inset = min(0.75, framed / 2)
            dash: dict[str, str | float] = {"stroke_dasharray": "4 2.5"} if failed else {}
            parts.append(
                element(
                    "rect", class_="failed" if failed else "worst", x=bar.left + 0.75, y=bar.top + inset,
                    width=bar.right - bar.left - 1.5, height=max(framed - 2 * inset, 0.01),
                    fill=PAPER if failed else WRONG_PANEL, stroke=WRONG, stroke_width=1.5, **dash,
                )
            )  # fmt: skip
        return group(parts, note=say_bar(row, self.plans.unit), class_="bar")

    def _shade(self, bars: Sequence[_Bar], marks: Sequence[MarkRow], top: float, bottom: float) -> str:
        """The ground behind the worst: from the least of their costs on, and the columns that have some of them."""
        (start,) = [self.x(mark.cost) for mark in marks if mark.mark == "threshold"]
        kinds = {bar.row.kind for bar in bars if bar.row.worst > 0}
        stretches = [(start, self.right)] if "cost" in kinds and len(bars) > 1 and start < self.right else []
        for place, kind in enumerate(self.columns):
            left = self.right + COLUMN * place
            stretches += [(left, left + COLUMN)] if kind in kinds else []
        return "".join(
            element("rect", class_="shade", x=left, y=top, width=right - left, height=bottom - top, fill=WRONG_PANEL)
            for left, right in stretches
        )

    def _axis(self, bottom: float) -> list[str]:
        ends = {"later": f"over {format_number(self.layout.end)}", "not in time": "not in time"}
        parts = draw_columns(self.x, bottom, self.ticks)
        parts.append(horizontal(START, self.right, bottom, INK))
        for place, kind in enumerate(self.columns):
            left = self.right + COLUMN * place
            ink = WRONG if kind == "not in time" else FAINT
            parts.append(horizontal(left + 16, left + COLUMN - 16, bottom, INK))
            parts.append(write(left + COLUMN / 2, bottom + 20, ends[kind], size=SIZE, text_anchor="middle", fill=ink))
        return parts

    def _marks(self, plan: PlanRow, marks: Sequence[MarkRow], top: float, bottom: float) -> list[str]:
        """Lines at the average, at what most are done within, and at the tail, their names side by side above them."""
        signs = self._name_marks(plan, marks)
        widths = [text_width(sign.text, SIZE, bold=True) + 18 for sign in signs]
        centres = spread([sign.x for sign in signs], widths, PAD, WIDTH - PAD) or [sign.x for sign in signs]
        lines, texts, level = [], [], top + 26
        for sign, centre, width in zip(signs, centres, widths, strict=True):
            texts.append(write(centre, top + 12, sign.text, size=SIZE, bold=True, text_anchor="middle", fill=sign.ink))
            if sign.mark is None:
                continue
            near = min(max(sign.x, centre - width / 2 + 9), centre + width / 2 - 9)
            leader = element("line", x1=near, y1=top + 16, x2=sign.x, y2=level, stroke=sign.ink, stroke_width=1)
            dash: dict[str, str | float] = {"stroke_dasharray": DASH} if sign.mark == "within" else {}
            stem = element("line", x1=sign.x, x2=sign.x, y1=level, y2=bottom, stroke=sign.ink, stroke_width=1.5, **dash)
            head = _head(sign.mark, sign.x, level)
            lines.append(element("g", leader, stem, head, class_="mark", data_mark=sign.mark))
        return [*lines, *texts]

    def _name_marks(self, plan: PlanRow, marks: Sequence[MarkRow]) -> list[_Sign]:
        """The marks in the order of their costs, with as many words as fit side by side."""
        shown = sorted((mark for mark in marks if mark.mark != "threshold"), key=lambda mark: mark.cost)
        costs = [bar.low for bar in self.layout.bars if bar.plan == plan.number]
        certain = plan.success == 1 and len(costs) == 1 and self.layout.step is None
        for unit in (self.plans.unit, ""):  # the axis says it too
            if certain:
                signs = [_Sign(f"always {format_cost(plan.average, unit)}", self.x(plan.average), INK, "average")]
            else:
                signs = [self._sign(mark, plan, unit) for mark in shown]
                if all(mark.mark != "within" for mark in shown):
                    signs.append(_Sign(say_few(plan), self.right, WRONG, None))
            if sum(text_width(sign.text, SIZE, bold=True) + 18 for sign in signs) <= WIDTH - 2 * PAD:
                break
        return signs

    def _sign(self, mark: MarkRow, plan: PlanRow, unit: str) -> _Sign:
        ink = {"worst": WRONG, "within": FAINT}.get(mark.mark, INK)
        words = say_mark(mark, plan, unit).rstrip()
        if mark.cost > self.layout.end * (1 + 1e-9):
            return _Sign(f"{words} →", self.right, ink, None)
        return _Sign(words, self.x(mark.cost), ink, mark.mark)

    def _chances(self, bars: Sequence[_Bar], bottom: float) -> list[str]:
        """The chance over each bar, the likeliest first, as long as there is room between the others."""
        taken: list[Box] = [(bar.left, bar.top, bar.right, bottom) for bar in bars]
        parts = []
        for bar in sorted(bars, key=lambda bar: -bar.row.chance):
            text = format_chance(bar.row.chance)
            width = text_width(text, SMALL)
            box = (bar.middle - width / 2 - 2, bar.top - 15, bar.middle + width / 2 + 2, bar.top - 1)
            own = (bar.left, bar.top, bar.right, bottom)
            if any(meets(box, other) for other in taken if other != own):
                continue
            taken.append(box)
            worst = bar.row.kind == "not in time" or (bar.row.worst > bar.row.chance / 2 and len(bars) > 1)
            words = write(
                bar.middle, bar.top - 4, text, size=SMALL, text_anchor="middle", fill=WRONG if worst else INK,
                halo=True, class_="chance",
            )  # fmt: skip
            parts.append(words)
        return parts

    def _describe(self) -> str:
        """The whole picture as a list in words."""
        lines = []
        for plan in self.plans.rows:
            shown = [mark for mark in self.layout.marks if mark.plan == plan.number and mark.mark != "threshold"]
            marks = [say_mark(mark, plan, self.plans.unit) for mark in shown]
            few = [] if any(mark.mark == "within" for mark in shown) else [say_few(plan)]
            lines.append(f"{self.plans.title(plan)} {say_first_step(plan)}: {'; '.join([*marks, *few])}.")
            bars = [say_bar(bar, self.plans.unit) for bar in self.layout.bars if bar.plan == plan.number]
            lines.append(f"{'; '.join(bars)}.")
        return "\n".join(lines)


def _head(mark: str, x: float, y: float) -> str:
    """A triangle for the average, a diamond for the tail."""
    match mark:
        case "average":
            return element("path", d=f"M{number(x - 5)} {number(y - 4)}l10 0l-5 8Z", fill=INK)
        case "worst":
            return element("path", d=f"M{number(x)} {number(y - 5.5)}l5.5 5.5l-5.5 5.5l-5.5 -5.5Z", fill=WRONG)
        case _:
            return ""
