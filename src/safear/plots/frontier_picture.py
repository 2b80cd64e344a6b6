"""The picture of the frontier: what a plan costs on average against what its worst cases cost, lower left is better."""

from __future__ import annotations

import math
from collections.abc import Sequence

from safear.plots.axes import Scale, draw_columns, draw_path, draw_rows, widest
from safear.plots.frontier_layout import Layout, PointRow, lay_out
from safear.plots.headings import write_heading
from safear.plots.picture import Picture
from safear.plots.svg import (
    FAINT,
    GRID,
    INK,
    PAPER,
    blue,
    clean,
    document,
    element,
    group,
    nice_ticks,
    number,
    write,
)
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.words import describe_worst, format_chance, format_cost, format_number

WIDTH, PAD, HEIGHT, LIST = 1000.0, 24.0, 400.0, 480.0
MARK, DIAMOND, DOT = 10.0, 13.0, 4.0  # how large marks are, from their middle
ENTRY, FIGURE = 34.0, 68.0  # the height of a plan in the list, and the width of each of its figures
NEAR = 8.0  # marks that are nearer to each other hide each other
LEAST_SPAN = 0.1  # of the largest figure; so that hardly any difference does not look like a large one


def frontier(menu: Menu, greedy: Menu | Sequence[Offer] = (), *, title: str = "Average against risk") -> Picture:
    """Draw all plans that a menu was chosen from by mean and CVaR; `greedy` are plans of another method beside them."""
    layout = lay_out(menu, greedy)
    words = clean(title)
    return Picture(_Drawing(layout, words).svg(), layout.tables)


def say_point(point: PointRow, unit: str, level: float) -> str:
    """`average 2 months · worst 5%: 3 months · succeeds 99%`."""
    average, tail = (format_cost(cost, unit) for cost in (point.average, point.tail))
    return f"average {average} · {describe_worst(level)}: {tail} · succeeds {format_chance(point.success)}"


class _Drawing:
    """Places everything: the chart, and the list of the plans that have a name at its right."""

    def __init__(self, layout: Layout, title: str) -> None:
        self.layout, self.title = layout, title
        self.unit, self.level = layout.plans.unit, layout.plans.rows[0].level
        self.named = layout.of("offered", "greedy")
        what = "Each mark is a plan; further left is cheaper on average, further down is safer."
        lines = [f"{what} No plan is better in both and as likely to succeed."]
        if layout.of("greedy"):
            lines.append("Diamonds are plans of the greedy method; the others are optimal.")
        self.head, top = write_heading(title, lines, pad=PAD, room=WIDTH - 2 * PAD)
        self.top, self.bottom = top + 28, top + 28 + HEIGHT
        averages, tails = (_ticks([getattr(point, name) for point in layout.points]) for name in ("average", "tail"))
        self.x = Scale(
            averages[0], averages[-1], PAD + 30 + widest([format_number(tick) for tick in tails]), WIDTH - LIST
        )
        self.y = Scale(tails[0], tails[-1], self.bottom, self.top)
        self.averages, self.tails = averages, tails

    def svg(self) -> str:
        axes = [*draw_rows(self.x, self.y, self.tails), *draw_columns(self.x, self.bottom, self.averages)]
        worst = f"{describe_worst(self.level)} of cases" if self.level < 1 else "worst case"
        axes.append(write(PAD, self.top - 14, f"{worst}, {self.unit}", size=13, room=self.x.end - PAD))
        room = self.x.end - self.x.start
        axes.append(write(self.x.start, self.bottom + 44, f"average cost in {self.unit}", size=13, room=room))
        body = [*self.head, group(axes, class_="axes"), self._line()]
        # Diamonds first: where a greedy plan is an optimal one, its diamond frames that.
        order = ("greedy", "frontier", "offered")
        body += [self._mark(point) for kind in order for point in self.layout.of(kind)]
        body += self._letters()
        body += self._list()
        bottom = max(self.bottom + 58, self.top + ENTRY * len(self.named) + 12)
        return document(WIDTH, bottom, title=self.title, description=self._describe(), body=body)

    def _line(self) -> str:
        """Through the plans that are not beaten in average and tail."""
        points, least = [], math.inf
        for point in sorted(self.layout.of("frontier", "offered"), key=lambda point: (point.average, point.tail)):
            if point.tail < least:
                points.append((self.x(point.average), self.y(point.tail)))
                least = point.tail
        return element("path", d=draw_path(points), fill="none", stroke=GRID, stroke_width=3) if len(points) > 1 else ""

    def _at(self, point: PointRow) -> tuple[float, float]:
        return self.x(point.average), self.y(point.tail)

    def _mark(self, point: PointRow) -> str:
        x, y = self._at(point)
        note = f"{clean(point.name)}: {say_point(point, self.unit, self.level)}"
        return group([self._sign(point, x, y)], note=note, class_=point.kind, data_label=point.label)

    def _sign(self, point: PointRow, x: float, y: float) -> str:
        match point.kind:
            case "frontier":
                return element("circle", cx=x, cy=y, r=DOT, fill=PAPER, stroke=blue(1, 3), stroke_width=1.5)
            case "offered":
                colour = blue(int(point.label) - 1, len(self.layout.plans.rows))
                mark = element("circle", cx=x, cy=y, r=MARK, fill=colour, stroke=PAPER, stroke_width=1.5)
                return mark + write(x, y + 4.5, point.label, size=13, bold=True, text_anchor="middle", fill=PAPER)
            case _:
                size = number(DIAMOND)
                corners = f"M{number(x)} {number(y - DIAMOND)}l{size} {size}l-{size} {size}l-{size} -{size}Z"
                return element("path", d=corners, fill=PAPER, stroke=INK, stroke_width=1.5)

    def _letters(self) -> list[str]:
        """The letters of the diamonds: inside, or at the right of marks that hide each other."""
        parts, left = [], self.layout.of("greedy")
        while left:
            (x, y), first = self._at(left[0]), left[0]
            near = [point for point in left if math.dist(self._at(point), (x, y)) < NEAR]
            left = [point for point in left if point not in near]
            letters = ", ".join(point.label for point in near)
            hidden = any(math.dist(self._at(point), (x, y)) < DIAMOND + MARK for point in self.layout.of("offered"))
            if hidden or letters != first.label or len(letters) > 1:
                parts.append(write(x + DIAMOND + 5, y + 4.5, letters, size=13, bold=True, halo=True))
            else:
                parts.append(write(x, y + 4.5, letters, size=12, bold=True, text_anchor="middle"))
        return parts

    def _list(self) -> list[str]:
        """Each plan that has a name, with its mark and its figures."""
        left, right = WIDTH - LIST + 34, WIDTH - PAD
        room = right - 3 * FIGURE - left - 36
        heads = ("average", describe_worst(self.level), "succeeds")
        parts = [
            write(right - FIGURE * place, self.top - 26, head, size=12, text_anchor="end", fill=FAINT)
            for place, head in zip((2, 1, 0), heads, strict=True)
        ]
        for place, point in enumerate(self.named):
            y = self.top + ENTRY * place
            letter = [write(left + DIAMOND, y + 4.5, point.label, size=12, bold=True, text_anchor="middle")]
            figures = (format_number(point.average), format_number(point.tail), format_chance(point.success))
            entry = [
                self._sign(point, left + DIAMOND, y),
                *(letter if point.kind == "greedy" else []),
                write(left + 36, y + 5, clean(point.name), size=14, bold=True, room=room),
                *(
                    write(right - FIGURE * column, y + 5, figure, size=13, text_anchor="end")
                    for column, figure in zip((2, 1, 0), figures, strict=True)
                ),
            ]
            note = f"starts with: {clean(point.first_action or 'nothing')}"
            parts.append(group(entry, note=note, class_="entry"))
        return parts

    def _describe(self) -> str:
        """The whole picture as a list in words."""
        kinds = {"offered": "Offered", "greedy": "Greedy", "frontier": "Not offered"}
        return "\n".join(
            f"{kinds[point.kind]}: {clean(point.name)}, starts with {clean(point.first_action or 'nothing')}; "
            f"{say_point(point, self.unit, self.level)}."
            for kind in kinds
            for point in self.layout.of(kind)
        )


def _ticks(figures: Sequence[float]) -> list[float]:
    """Round numbers around figures."""
    low, high = min(figures), max(figures)
    missing = max(0.0, LEAST_SPAN * high - (high - low))
    pad = 0.04 * (high - low + missing)
    return nice_ticks(max(0.0, low - missing / 2 - pad), high + missing / 2 + pad, 6)
