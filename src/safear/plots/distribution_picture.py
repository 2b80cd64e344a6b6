"""The picture of what each plan may cost: bars of exact chances, the worst of them framed in orange, failures apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from safear.plots.axes import LinearScale, draw_columns, find_ticks
from safear.plots.cost_axis import CostAxis, cumulate, find_axis, find_end
from safear.plots.headings import write_heading, write_plan_name
from safear.plots.letters import text_width
from safear.plots.picture import Picture, make_picture
from safear.plots.plan_rows import PlanRow, Plans, read_plans, say_worst
from safear.plots.svg import (
    FAINT,
    INK,
    PAPER,
    WRONG,
    WRONG_PANEL,
    Box,
    blue,
    document,
    element,
    group,
    horizontal,
    meets,
    number,
    spread,
    write,
)
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.risk.distribution import EPSILON
from safear.texts.names import show_name

MOST_BARS, BUNDLES = 64, 32  # bars side by side; if there would be more, so many bundles
WIDTH, PAD = 1000.0, 20.0
START = PAD + 12
COLUMN, COLUMN_BAR = 104.0, 40.0  # how wide what is later or not in time is at least, and the bars of that
NAME, OFF, MARKS, BARS, AXIS = 26.0, 17.0, 34.0, 128.0, 40.0  # heights of the parts of a plan's panel
ROOM_ABOVE = 22.0  # for the chance over the highest bar
WIDEST_BAR, THINNEST_BAR, LOWEST_BAR = 44.0, 5.0, 1.5
SIZE = 13.0
DASH = "5 3"
Kind = Literal["cost", "later", "not in time"]


@dataclass(frozen=True, slots=True)
class BarRow:
    """How likely a plan succeeds at costs above `low` up to `high` (equal for a bar of one cost), or fails.

    `worst` is how much of the chance belongs to the worst 1 - level of all runs. "later" are successes beyond the axis.
    Failures ("not in time") have no place on it.
    """

    plan: int
    kind: Kind
    low: float | None
    high: float | None
    chance: float
    worst: float


@dataclass(frozen=True, slots=True)
class MarkRow:
    """A cost of a plan: its average, its tail ("worst"), or what a share of `level` of all runs succeeds within.

    "threshold" is where the worst 1 - level begin: the same as "within", unless failing costs less than succeeding.
    """

    plan: int
    mark: Literal["average", "within", "worst", "threshold"]
    cost: float


@dataclass(frozen=True, slots=True)
class CostBars:
    """What is to be drawn."""

    plans: Plans
    axis: CostAxis
    bars: tuple[BarRow, ...]
    marks: tuple[MarkRow, ...]

    def has(self, kind: Kind) -> bool:
        """Whether some plan has such a bar."""
        return any(bar.kind == kind for bar in self.bars)


def distribution(
    offers: Menu | Sequence[Offer], *, title: str | None = None, language: str = "en", heading: bool = True
) -> Picture:
    """Draw the exact distribution of what each plan costs, in the order given (a menu has the safest first)."""
    found = find_bars(offers, language)
    words = show_name(found.plans.tell("picture.distribution.title") if title is None else title)
    svg = _DistributionDrawing(found, words).svg(heading=heading)
    return make_picture(svg, plans=found.plans.rows, bars=found.bars, marks=found.marks)


# ------------------------------------------------------------------------------------------------------------- tables


def find_bars(offers: Menu | Sequence[Offer], language: str = "en") -> CostBars:
    """The bars and marks of each plan."""
    plans, given = read_plans(offers, language), list(offers)
    costs = [cost for offer in given for cost in cumulate(offer)[0]]
    axis = find_axis(costs, find_end(given), most=MOST_BARS, bundles=BUNDLES)
    numbered = list(enumerate(given, start=1))
    bars = tuple(bar for number, offer in numbered for bar in _read_bars(number, offer, axis))
    return CostBars(plans, axis, bars, tuple(mark for number, offer in numbered for mark in _read_marks(number, offer)))


def _read_bars(plan: int, offer: Offer, axis: CostAxis) -> list[BarRow]:
    """The bars of a plan. Of equal costs, failures are the worse ones."""
    points = sorted(offer.cost.points(), key=lambda point: (point[0], not point[2]))
    total = math.fsum(chance for _, chance, _ in points)
    left = 1 - offer.level
    found: dict[tuple[Kind, float | None, float | None], list[tuple[float, float]]] = {}
    largest = max((cost for cost, _, success in points if success), default=0.0)
    for cost, mass, success in reversed(points):
        chance = mass / total
        worst = min(chance, left)
        left -= worst
        place: tuple[Kind, float | None, float | None] = ("not in time", None, None)
        if success:
            place = ("later", axis.end, largest) if cost > axis.end * (1 + 1e-9) else ("cost", *axis.stretch(cost))
        if chance > 0:
            found.setdefault(place, []).append((chance, worst))
    bars = [
        BarRow(plan, *key, math.fsum(chance for chance, _ in parts), math.fsum(worst for _, worst in parts))
        for key, parts in found.items()
    ]
    return sorted(bars, key=lambda bar: (bar.kind == "not in time", bar.high or 0.0))


def _read_marks(plan: int, offer: Offer) -> list[MarkRow]:
    costs, within = cumulate(offer)
    place = int(np.searchsorted(within, offer.level - EPSILON))
    marks = [MarkRow(plan, "average", offer.mean)]
    marks += [MarkRow(plan, "within", costs[place])] if place < len(costs) else []  # else fewer ever succeed
    threshold = offer.cost.all_runs.var(offer.level)
    return [*marks, MarkRow(plan, "worst", offer.tail), MarkRow(plan, "threshold", threshold)]


# ------------------------------------------------------------------------------------------------------------ drawing


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


class _DistributionDrawing:
    """Places everything, top down."""

    def __init__(self, found: CostBars, title: str) -> None:
        self.found, self.plans, self.axis, self.title = found, found.plans, found.axis, title
        self.tell, self.say = found.plans.tell, found.plans.tell.texts.part("picture.distribution")
        self.columns: list[Kind] = [kind for kind in ("later", "not in time") if found.has(kind)]
        self.names = {
            "later": self.say("over", cost=self.tell.number(self.axis.end)),
            "not in time": self.tell("ways.key.failure"),
        }
        self.column = max(COLUMN, *(text_width(name, SIZE) + 10 for name in self.names.values()))
        right = WIDTH - PAD - self.column * len(self.columns) - (0 if self.columns else 12)
        pitch = min(1.0, self.axis.gap / self.axis.end) * (right - START - WIDEST_BAR)
        # Half a bar more to either side, so that the bars of the first and the last cost have room.
        spare = 0.0 if self.axis.step is not None else max(0.0, pitch / 2 - 6)
        self.x = LinearScale(0, self.axis.end, START + spare, right - spare)
        self.right = right
        self.bar = min(WIDEST_BAR, max(THINNEST_BAR, 0.72 * pitch))
        self.tallest = max(bar.chance for bar in found.bars)
        self.ticks = find_ticks(self.axis.end, right - START, self.tell.number, gap=self.axis.gap)

    def svg(self, *, heading: bool) -> str:
        body, y = write_heading(self.title, self._explain(), pad=PAD, width=WIDTH, shown=heading)
        for plan in self.plans.rows:
            part, y = self._plan(plan, y + 6)
            body.append(part)
        unit = self.tell("picture.cost", unit=self.plans.unit)
        body.append(write(START, y + 8, unit, room=WIDTH - PAD - START))
        return document(WIDTH, y + 24, title=self.title, description=self._describe(), body=body)

    def _explain(self) -> list[str]:
        step, level = self.axis.step, self.plans.level
        worst = self.say("worst") if level is None else say_worst(self.tell, level)
        bars = self.say("single", worst=worst)
        if step is not None:
            bars = self.say("bundled", worst=worst, step=self.plans.cost(step))
        return [bars, *([self.plans.late()] if self.found.has("not in time") else [])]

    def _plan(self, plan: PlanRow, top: float) -> tuple[str, float]:
        rows = [bar for bar in self.found.bars if bar.plan == plan.number]
        marks = [mark for mark in self.found.marks if mark.plan == plan.number]
        off = self.plans.off(plan)
        below = top + NAME + (OFF if off else 0)
        bottom = below + MARKS + BARS
        bars = [self._place(row, bottom) for row in rows]
        colour = blue(plan.number - 1, len(self.plans.rows))
        first, title = self.plans.start(plan), self.plans.title(plan)
        parts = [
            self._shade(bars, marks, below + MARKS - 8, bottom),
            write_plan_name(PAD, top + 18, title, first, room=WIDTH - 2 * PAD),
            *([write(PAD, top + 35, off, size=SIZE, fill=FAINT, room=WIDTH - 2 * PAD)] if off else []),
            *self._marks(plan, marks, below, bottom),
            *(self._bar(bar, bottom, colour, alone=len(bars) == 1) for bar in bars),
            *self._axis(bottom),
            *self._chances(bars, bottom),
        ]
        note = " · ".join(filter(None, (f"{title} {first}", self.plans.figures(plan), off)))
        return group(parts, note=note, class_="plan", data_plan=plan.number), bottom + AXIS

    def _place(self, row: BarRow, bottom: float) -> _Bar:
        height = max(LOWEST_BAR, row.chance / self.tallest * (BARS - ROOM_ABOVE))
        if row.kind != "cost" or row.low is None or row.high is None:
            middle = self.right + self.column * (self.columns.index(row.kind) + 0.5)
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
        return group(parts, note=self._say_bar(row), class_="bar")

    def _shade(self, bars: Sequence[_Bar], marks: Sequence[MarkRow], top: float, bottom: float) -> str:
        """The ground behind the worst: from the least of their costs on, and the columns that have some of them."""
        (start,) = [self.x(mark.cost) for mark in marks if mark.mark == "threshold"]
        kinds = {bar.row.kind for bar in bars if bar.row.worst > 0}
        stretches = [(start, self.right)] if "cost" in kinds and len(bars) > 1 and start < self.right else []
        for place, kind in enumerate(self.columns):
            left = self.right + self.column * place
            stretches += [(left, left + self.column)] if kind in kinds else []
        return "".join(
            element("rect", class_="shade", x=left, y=top, width=right - left, height=bottom - top, fill=WRONG_PANEL)
            for left, right in stretches
        )

    def _axis(self, bottom: float) -> list[str]:
        parts = draw_columns(self.x, bottom, self.ticks, self.tell.number)
        parts.append(horizontal(START, self.right, bottom, INK))
        for place, kind in enumerate(self.columns):
            left = self.right + self.column * place
            ink = WRONG if kind == "not in time" else FAINT
            parts.append(horizontal(left + 16, left + self.column - 16, bottom, INK))
            middle, words = left + self.column / 2, self.names[kind]
            parts.append(write(middle, bottom + 20, words, size=SIZE, room=self.column, text_anchor="middle", fill=ink))
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
        costs = [bar.low for bar in self.found.bars if bar.plan == plan.number]
        certain = plan.success == 1 and len(costs) == 1 and self.axis.step is None
        for cost in (self.plans.cost, self.tell.number):  # the axis says the unit too
            if certain:
                signs = [_Sign(self.say("always", cost=cost(plan.average)), self.x(plan.average), INK, "average")]
            else:
                signs = [self._sign(mark, self._say_mark(mark, plan, cost(mark.cost))) for mark in shown]
                if all(mark.mark != "within" for mark in shown):
                    signs.append(_Sign(self._say_few(plan), self.right, WRONG, None))
            if sum(text_width(sign.text, SIZE, bold=True) + 18 for sign in signs) <= WIDTH - 2 * PAD:
                break
        return signs

    def _sign(self, mark: MarkRow, words: str) -> _Sign:
        ink = {"worst": WRONG, "within": FAINT}.get(mark.mark, INK)
        if mark.cost > self.axis.end * (1 + 1e-9):
            return _Sign(f"{words} →", self.right, ink, None)
        return _Sign(words, self.x(mark.cost), ink, mark.mark)

    def _chances(self, bars: Sequence[_Bar], bottom: float) -> list[str]:
        """The chance over each bar, the likeliest first, as long as there is room between the others."""
        taken: list[Box] = [(bar.left, bar.top, bar.right, bottom) for bar in bars]
        parts = []
        for bar in sorted(bars, key=lambda bar: -bar.row.chance):
            text = self.tell.percent(bar.row.chance)
            width = text_width(text, SIZE)
            box = (bar.middle - width / 2 - 2, bar.top - 15, bar.middle + width / 2 + 2, bar.top - 1)
            own = (bar.left, bar.top, bar.right, bottom)
            if any(meets(box, other) for other in taken if other != own):
                continue
            taken.append(box)
            worst = bar.row.kind == "not in time" or (bar.row.worst > bar.row.chance / 2 and len(bars) > 1)
            words = write(
                bar.middle, bar.top - 4, text, size=SIZE, text_anchor="middle", fill=WRONG if worst else INK,
                halo=True, class_="chance",
            )  # fmt: skip
            parts.append(words)
        return parts

    def _describe(self) -> str:
        """The whole picture as a list in words."""
        lines = []
        for plan in self.plans.rows:
            shown = [mark for mark in self.found.marks if mark.plan == plan.number and mark.mark != "threshold"]
            marks = [self._say_mark(mark, plan, self.plans.cost(mark.cost)) for mark in shown]
            few = [] if any(mark.mark == "within" for mark in shown) else [self._say_few(plan)]
            off = filter(None, [self.plans.off(plan)])
            lines.append(f"{self.plans.title(plan)} {self.plans.start(plan)}: {'; '.join([*marks, *few, *off])}.")
            bars = [self._say_bar(bar) for bar in self.found.bars if bar.plan == plan.number]
            lines.append(f"{'; '.join(bars)}.")
        return "\n".join(lines)

    def _say_bar(self, bar: BarRow) -> str:
        """`2.3%: done after 4 months`."""
        chance = self.tell.percent(bar.chance)
        if bar.low is None or bar.high is None:
            return f"{chance}: {self.tell('ways.key.failure')}"
        most = self.plans.cost(bar.high)
        if bar.low == bar.high:
            return self.say("done", chance=chance, cost=most)
        return self.say("done_between", chance=chance, least=self.tell.number(bar.low), most=most)

    def _say_mark(self, mark: MarkRow, plan: PlanRow, cost: str) -> str:
        """`average 2 months`, `95% are done within 3 months`, `worst 5%: 4 months`."""
        if mark.mark == "worst":
            return f"{self.tell.worst_name(plan.level)}: {cost}"
        return self.say(mark.mark, cost=cost, share=self.tell.percent(plan.level))

    def _say_few(self, plan: PlanRow) -> str:
        """What is said where there is no cost that so many are done within."""
        return self.say("few", share=self.tell.percent(plan.success)) if plan.success else self.say("never")


def _head(mark: str, x: float, y: float) -> str:
    """A triangle for the average, a diamond for the tail."""
    match mark:
        case "average":
            return element("path", d=f"M{number(x - 5)} {number(y - 4)}l10 0l-5 8Z", fill=INK)
        case "worst":
            return element("path", d=f"M{number(x)} {number(y - 5.5)}l5.5 5.5l-5.5 5.5l-5.5 -5.5Z", fill=WRONG)
        case _:
            return ""
