"""The picture of the frontier: what a plan costs on average against what its worst cases cost, lower left is better."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Literal

from safear.errors import InputError
from safear.evaluation.extremes import Range
from safear.plots.axes import LinearScale, draw_columns, draw_path, draw_rows, widest
from safear.plots.headings import write_heading
from safear.plots.letters import text_width, wrap
from safear.plots.picture import Picture, make_picture
from safear.plots.plan_rows import Plans, read_plans, say_worst
from safear.plots.svg import (
    BLUE,
    FAINT,
    GRID,
    INK,
    PAPER,
    blue,
    document,
    element,
    group,
    horizontal,
    nice_ticks,
    number,
    vertical,
    write,
)
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.teller import Teller
from safear.texts.names import show_name

WIDTH, PAD, HEIGHT, LIST = 1000.0, 24.0, 400.0, 520.0
MARK, DIAMOND, DOT = 10.0, 13.0, 4.0  # how large marks are, from their middle
ENTRY, FIGURE = 38.0, 68.0  # the height of a plan in the list, and how wide each of its figures is at least
RANGED, WIDER = 8.0, 44.0  # how much higher and wider they are with ranges
SIZE = 13.0  # of letters
NEAR = 8.0  # marks that are nearer to each other hide each other
LEAST_SPAN = 0.1  # of the largest figure; so that hardly any difference does not look like a large one
Kind = Literal["frontier", "offered", "greedy"]


@dataclass(frozen=True, slots=True)
class PointRow:
    """A plan as a point. `name` is its name in the menu ("offered") or that of its objective.

    `label` is what stands in its mark: a number for a plan that is offered, a letter for a greedy one, else nothing.
    The last six are how far its figures can be off; None if it meets no interval, or has no name.
    """

    kind: Kind
    label: str
    name: str
    first_action: str | None
    average: float
    tail: float
    success: float
    average_low: float | None = None
    average_high: float | None = None
    tail_low: float | None = None
    tail_high: float | None = None
    success_low: float | None = None
    success_high: float | None = None

    def ends(self, name: str) -> Range | None:
        """How far a figure can be off."""
        low, high = getattr(self, f"{name}_low"), getattr(self, f"{name}_high")
        return None if low is None else Range(low, high)


def frontier(
    menu: Menu,
    greedy: Menu | Sequence[Offer] = (),
    *,
    title: str | None = None,
    language: str = "en",
    heading: bool = True,
) -> Picture:
    """Draw all plans that a menu was chosen from by mean and CVaR; `greedy` are plans of another method beside them."""
    plans = read_plans(menu, language)
    points = find_points(menu, greedy, plans.tell)
    words = show_name(plans.tell("picture.frontier.title") if title is None else title)
    claim = _claim(menu, plans.tell, ranged=any(point.ends("average") for point in points))
    drawing = _FrontierDrawing(plans, points, words, heading=heading, claim=claim)
    return make_picture(drawing.svg(), plans=plans.rows, points=points)


def find_points(menu: Menu, greedy: Menu | Sequence[Offer], tell: Teller) -> list[PointRow]:
    """The plans that were not chosen by their average, those that were by their number, then greedy ones."""
    if not menu.frontier:
        cause = "this menu has no frontier: its plans are for given objectives"
        raise InputError.at((), cause, "use sa.recommend(...) without objectives", code="nothing_to_draw")
    read_plans([*menu, *greedy])  # costs that cannot be on one axis are refused
    offered = {id(offer.best.solution): (number, offer) for number, offer in enumerate(menu, start=1)}
    points = []
    for offer in menu.frontier:
        number, named = offered.pop(id(offer.solution), (0, offer))
        points.append(_read_point("offered" if number else "frontier", str(number or ""), named, menu.level, tell))
    points += [_read_point("offered", str(number), offer, menu.level, tell) for number, offer in offered.values()]
    points.sort(key=lambda point: (point.kind == "offered", int(point.label or 0), point.average))
    return points + [
        _read_point("greedy", _letter(place), offer, menu.level, tell) for place, offer in enumerate(greedy)
    ]


def _read_point(kind: Kind, label: str, offer: Offer, level: float, tell: Teller) -> PointRow:
    """A plan, its tail at the level of the menu, whatever its own is."""
    figures = (offer.mean, offer.cost.all_runs.cvar(level), offer.cost.success)
    found = offer.ranges if kind != "frontier" and offer.level == level else None  # the others are too many to show
    ends = () if found is None else (*astuple(found.mean), *astuple(found.tail), *astuple(found.success))
    first = offer.first_action and tell.action(offer.first_action)
    return PointRow(kind, label, tell.name_plan(offer), first, *figures, *ends)


def _claim(menu: Menu, tell: Teller, *, ranged: bool) -> list[str]:
    """How to read it, and in what the plans are the best ones."""
    say = tell.texts.part("picture.frontier")
    if ranged and any(offer.solution.robust for offer in menu):
        return [say("reading"), say("robust")]
    off = [offer.simplified.tolerance for offer in menu if offer.simplified is not None]
    if off:
        return [say("reading"), say("simplified", share=tell.percent(max(off)))]
    return [f"{say('reading')} {say('unbeaten')}"]


def _letter(place: int) -> str:
    """`A`, `B`, ..., `Z`, `AA`, ..."""
    before, place = divmod(place, 26)
    return (_letter(before - 1) if before else "") + chr(ord("A") + place)


class _FrontierDrawing:
    """Places everything: the chart, and the list of the plans that have a name at its right."""

    def __init__(
        self, plans: Plans, points: Sequence[PointRow], title: str, *, heading: bool, claim: Sequence[str]
    ) -> None:
        self.plans, self.points, self.title, self.tell = plans, points, title, plans.tell
        self.say = plans.tell.texts.part("picture.frontier")
        self.level = plans.rows[0].level
        self.named = self._of("offered", "greedy")
        self.is_ranged = any(point.ends("average") for point in points)
        self.list = LIST + (WIDER if self.is_ranged else 0)
        notes = (("diamonds", bool(self._of("greedy"))), ("whiskers", self.is_ranged))
        lines = [*claim, *(self.say(name) for name, is_true in notes if is_true)]
        self.head, top = write_heading(title, lines, pad=PAD, width=WIDTH, shown=heading)
        self.top, self.bottom = top + 28, top + 28 + HEIGHT
        averages, tails = (_ticks(points, name) for name in ("average", "tail"))
        self.x = LinearScale(
            averages[0], averages[-1], PAD + 30 + widest([*map(self.tell.number, tails)]), WIDTH - self.list
        )
        self.y = LinearScale(tails[0], tails[-1], self.bottom, self.top)
        self.averages, self.tails = averages, tails

    def _of(self, *kinds: Kind) -> list[PointRow]:
        return [point for point in self.points if point.kind in kinds]

    def svg(self) -> str:
        say = self.tell.number
        axes = [*draw_rows(self.x, self.y, self.tails, say), *draw_columns(self.x, self.bottom, self.averages, say)]
        unit = self.plans.unit
        words = f"{say_worst(self.tell, self.level)}, {unit}"
        axes.append(write(PAD, self.top - 14, words, size=SIZE, room=self.x.end - PAD))
        words, room = self.say("average", unit=unit), self.x.end - self.x.start
        axes.append(write(self.x.start, self.bottom + 44, words, size=SIZE, room=room))
        body = [*self.head, group(axes, class_="axes"), self._line(), *map(self._whiskers, self.named)]
        # Diamonds first: where a greedy plan is an optimal one, its diamond frames that.
        order: tuple[Kind, ...] = ("greedy", "frontier", "offered")
        body += [self._mark(point) for kind in order for point in self._of(kind)]
        body += self._letters()
        body += self._list()
        bottom = max(self.bottom + 58, self.top + self.entry * len(self.named) + 12)
        return document(WIDTH, bottom, title=self.title, description=self._describe(), body=body)

    def _line(self) -> str:
        """Through the plans that are not beaten in average and tail."""
        points, least = [], math.inf
        for point in sorted(self._of("frontier", "offered"), key=lambda point: (point.average, point.tail)):
            if point.tail < least:
                points.append((self.x(point.average), self.y(point.tail)))
                least = point.tail
        return element("path", d=draw_path(points), fill="none", stroke=GRID, stroke_width=3) if len(points) > 1 else ""

    def _whiskers(self, point: PointRow) -> str:
        """How far average and tail can be off: a line across and one up and down."""
        (x, y), parts, half = self._at(point), [], MARK / 2
        colour = blue(int(point.label) - 1, len(self.plans.rows)) if point.kind == "offered" else INK
        for name, scale in (("average", self.x), ("tail", self.y)):
            ends = point.ends(name)
            if ends is None:
                continue
            first, last = caps = (scale(ends.low), scale(ends.high))
            if name == "average":
                parts += [
                    horizontal(first, last, y, colour),
                    *(vertical(cap, y - half, y + half, colour) for cap in caps),
                ]
            else:
                parts += [
                    vertical(x, first, last, colour),
                    *(horizontal(x - half, x + half, cap, colour) for cap in caps),
                ]
        return group(parts, class_="whiskers", data_label=point.label) if parts else ""

    def _at(self, point: PointRow) -> tuple[float, float]:
        return self.x(point.average), self.y(point.tail)

    def _mark(self, point: PointRow) -> str:
        x, y = self._at(point)
        note = f"{point.name}: {self._figures(point)}"
        return group([self._sign(point, x, y)], note=note, class_=point.kind, data_label=point.label)

    def _sign(self, point: PointRow, x: float, y: float) -> str:
        match point.kind:
            case "frontier":
                return element("circle", cx=x, cy=y, r=DOT, fill=PAPER, stroke=BLUE, stroke_width=1.5)
            case "offered":
                colour = blue(int(point.label) - 1, len(self.plans.rows))
                mark = element("circle", cx=x, cy=y, r=MARK, fill=colour, stroke=PAPER, stroke_width=1.5)
                return mark + write(x, y + 4.5, point.label, size=SIZE, bold=True, text_anchor="middle", fill=PAPER)
            case _:
                size = number(DIAMOND)
                corners = f"M{number(x)} {number(y - DIAMOND)}l{size} {size}l-{size} {size}l-{size} -{size}Z"
                return element("path", d=corners, fill=PAPER, stroke=INK, stroke_width=1.5)

    def _letters(self) -> list[str]:
        """The letters of the diamonds: inside, or at the right of marks that hide each other."""
        parts, left = [], self._of("greedy")
        while left:
            (x, y), first = self._at(left[0]), left[0]
            near = [point for point in left if math.dist(self._at(point), (x, y)) < NEAR]
            left = [point for point in left if point not in near]
            letters = ", ".join(point.label for point in near)
            hidden = any(math.dist(self._at(point), (x, y)) < DIAMOND + MARK for point in self._of("offered"))
            if hidden or letters != first.label or len(letters) > 1:
                parts.append(write(x + DIAMOND + 5, y + 4.5, letters, size=SIZE, bold=True, halo=True))
            else:
                parts.append(write(x, y + 4.5, letters, size=SIZE, bold=True, text_anchor="middle"))
        return parts

    def _list(self) -> list[str]:
        """Each plan that has a name, with its mark and its figures."""
        left, right = WIDTH - self.list + 34, WIDTH - PAD
        heads = (self.say("mean"), self.tell.worst_name(self.level), self.say("success"))
        spans = [self._spans(point) for point in self.named]
        widths = [
            max(FIGURE, text_width(head, SIZE) + 16, *(text_width(span[column], SIZE) + 14 for span in spans))
            for column, head in enumerate(heads)
        ]
        ends = [right - widths[1] - widths[2], right - widths[2], right]
        parts = [
            write(end, self.top - 26, head, size=SIZE, text_anchor="end", fill=FAINT)
            for end, head in zip(ends, heads, strict=True)
        ]
        room = right - sum(widths) - left - 36
        for place, (point, span) in enumerate(zip(self.named, spans, strict=True)):
            y = self.top + self.entry * place
            first, *rest = wrap(point.name, room, 14, bold=True)
            lines = [first, *([" ".join(rest)] if rest else [])]
            letter = [write(left + DIAMOND, y + 4.5, point.label, size=SIZE, bold=True, text_anchor="middle")]
            costs = (self.tell.number(cost) for cost in (point.average, point.tail))
            figures = (*costs, self.tell.percent(point.success))
            entry = [
                self._sign(point, left + DIAMOND, y),
                *(letter if point.kind == "greedy" else []),
                *(
                    write(left + 36, y + 14 - 9 * len(lines) + 17 * row, line, size=14, bold=True, room=room)
                    for row, line in enumerate(lines)
                ),
                *(
                    write(end, y + 5, figure, size=SIZE, text_anchor="end")
                    for end, figure in zip(ends, figures, strict=True)
                ),
                *(
                    write(end, y + 21, words, size=SIZE, text_anchor="end", fill=FAINT)
                    for end, words in zip(ends, span, strict=True)
                    if words
                ),
            ]
            parts.append(group(entry, note=self._start(point), class_="entry"))
        return parts

    @property
    def entry(self) -> float:
        """The height of a plan in the list."""
        return ENTRY + (RANGED if self.is_ranged else 0)

    def _spans(self, point: PointRow) -> tuple[str, str, str]:
        """How far average, tail and success can be off, in words."""
        found = []
        for name in ("average", "tail", "success"):
            ends, write_it = point.ends(name), self.tell.percent if name == "success" else self.tell.number
            found.append("" if ends is None else self.tell.span(ends, getattr(point, name), write=write_it))
        return found[0], found[1], found[2]

    def _start(self, point: PointRow) -> str:
        return self.tell("picture.starts", action=point.first_action or self.tell("picture.nothing"))

    def _figures(self, point: PointRow) -> str:
        """`average 2 months · worst 5%: 3 months · succeeds 99%`."""
        costs = {"mean": self.plans.cost(point.average), "tail": self.plans.cost(point.tail)}
        worst, success = self.tell.worst_name(self.level), self.tell.percent(point.success)
        return self.say("figures", **costs, worst=worst, success=success)

    def _describe(self) -> str:
        """The whole picture as a list in words."""
        kinds: tuple[Kind, ...] = ("offered", "greedy", "frontier")
        return "\n".join(
            f"{self.say(f'kind.{kind}')}: {point.name}, {self._start(point)}; {self._figures(point)}."
            for kind in kinds
            for point in self._of(kind)
        )


def _ticks(points: Sequence[PointRow], name: str) -> list[float]:
    """Round numbers around figures and how far they can be off."""
    figures = [getattr(point, name) for point in points]
    low, high = min(figures), max(figures)
    missing = max(0.0, LEAST_SPAN * high - (high - low))
    low, high = low - missing / 2, high + missing / 2
    ranges = [ends for point in points if (ends := point.ends(name)) is not None]
    least, most = min([low, *(ends.low for ends in ranges)]), max([high, *(ends.high for ends in ranges)])
    pad = 0.04 * (most - least)
    return nice_ticks(max(0.0, least - pad), most + pad, 6)
