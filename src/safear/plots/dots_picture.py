"""Fifty people like you: a dot for each, over what it costs them; hollow and orange if they are not done in time."""

from __future__ import annotations

import math
from collections import Counter

from safear.plots.axes import Scale, draw_columns, find_ticks
from safear.plots.dots_layout import PEOPLE, DotRow, Layout, lay_out
from safear.plots.headings import say_first_step
from safear.plots.picture import Picture
from safear.plots.svg import (
    FAINT,
    INK,
    PAPER,
    WRONG,
    blue,
    clean,
    document,
    element,
    group,
    horizontal,
    wrap,
    write,
)
from safear.recourse.offer import Offer
from safear.recourse.words import format_cost

WIDTH, PAD, COLUMN = 760.0, 20.0, 120.0
LARGEST, SMALLEST, HIGHEST = 18, 7, 190.0  # how far dots are apart, and how high a stack of them may be
TEXT, LINE, SMALL = 15.0, 22.0, 13.0


def dots(offer: Offer, *, title: str = f"{PEOPLE} people like you") -> Picture:
    """Draw what a plan costs as fifty people, each of whom stands for 2% of the runs."""
    layout = lay_out(offer)
    words = clean(title)
    return Picture(_Drawing(layout, words).svg(), layout.tables)


def say_dot(dot: DotRow, unit: str) -> str:
    """`44 of 50: done after 7 months`."""
    end = "not done in time" if dot.cost is None else f"done after {format_cost(dot.cost, unit)}"
    return f"{dot.dot} of {PEOPLE}: {end}"


class _Drawing:
    """Places everything, top down."""

    def __init__(self, layout: Layout, title: str) -> None:
        self.layout, self.title, self.unit = layout, title, layout.plans.unit
        self.failures = any(not dot.success for dot in layout.dots)
        right = WIDTH - PAD - (COLUMN if self.failures else 0)
        spread = min(1.0, layout.gap / layout.end) * (right - PAD) / (1 + min(1.0, layout.gap / layout.end))
        self.x = Scale(0, layout.end, PAD + spread / 2, right - spread / 2)
        self.right = right
        self.stacks = Counter(dot.high for dot in layout.dots)
        self.pitch = next((size for size in range(LARGEST, SMALLEST, -1) if self._height(size) <= HIGHEST), SMALLEST)

    def _columns(self, high: float | None, pitch: float) -> int:
        """How many dots of a stack stand side by side."""
        room = COLUMN if high is None else (self.x(self.layout.gap) - self.x(0))
        return max(1, min(int(0.86 * room / pitch), math.ceil(math.sqrt(self.stacks[high]))))

    def _height(self, pitch: float) -> float:
        return max(pitch * math.ceil(count / self._columns(high, pitch)) for high, count in self.stacks.items())

    def svg(self) -> str:
        room = WIDTH - 2 * PAD
        plan = self.layout.plan
        lines = wrap(clean(self.layout.sentence), room, TEXT)
        body = [write(PAD, 36, self.title, size=21, bold=True, room=room)]
        body += [write(PAD, 62 + LINE * place, line, size=TEXT, room=room) for place, line in enumerate(lines)]
        y = 62 + LINE * len(lines)
        what = f"Plan: {clean(plan.name)} {say_first_step(plan)}. Each dot is one of {PEOPLE}, rounded to whole people"
        bundled = any(dot.low != dot.high for dot in self.layout.dots)
        what += f"; a stack holds {format_cost(self.layout.gap, self.unit)}." if bundled else "."
        body.append(write(PAD, y, what, size=SMALL, room=room, fill=FAINT))
        bottom = y + 26 + self._height(self.pitch)
        body += [self._dot(dot, place, bottom) for dot, place in self._place()]
        body.append(group(self._axis(bottom + 4), class_="axis"))
        return document(WIDTH, bottom + 62, title=self.title, description=self._describe(), body=body)

    def _place(self) -> list[tuple[DotRow, int]]:
        """Each dot with its place in its stack."""
        seen: Counter[float | None] = Counter()
        found = []
        for dot in self.layout.dots:
            found.append((dot, seen[dot.high]))
            seen[dot.high] += 1
        return found

    def _dot(self, dot: DotRow, place: int, bottom: float) -> str:
        columns, radius = self._columns(dot.high, self.pitch), self.pitch * 0.4
        middle = self.right + COLUMN / 2
        if dot.low is not None and dot.high is not None:
            middle = self.x((dot.low + dot.high) / 2)
        row, column = divmod(place, columns)
        cx = middle + self.pitch * (column - (columns - 1) / 2)
        cy = bottom - self.pitch * (row + 0.5)
        if dot.success:
            sign = element("circle", class_="done", cx=cx, cy=cy, r=radius, fill=blue(0, 1))
        else:
            sign = element(
                "circle", class_="missed", cx=cx, cy=cy, r=radius - 0.75, fill=PAPER,
                stroke=WRONG, stroke_width=1.5, stroke_dasharray="3 1.8",
            )  # fmt: skip
        return group([sign], note=say_dot(dot, self.unit), class_="dot", data_dot=dot.dot)

    def _axis(self, bottom: float) -> list[str]:
        ticks = find_ticks(self.layout.end, self.x.end - self.x.start, gap=self.layout.gap)
        parts = [horizontal(PAD, self.right, bottom, INK), *draw_columns(self.x, bottom, ticks)]
        parts.append(write(PAD, bottom + 44, f"done after so many {self.unit}", size=SMALL, room=self.right - PAD))
        if self.failures:
            parts.append(horizontal(self.right + 14, WIDTH - PAD - 4, bottom, INK))
            middle = self.right + COLUMN / 2
            parts.append(write(middle, bottom + 20, "not in time", size=SMALL, text_anchor="middle", fill=WRONG))
        return parts

    def _describe(self) -> str:
        """The whole picture in words: the sentence, and how many are done after what."""
        costs = Counter(dot.cost for dot in self.layout.dots if dot.cost is not None)
        told = "; ".join(f"{count} after {format_cost(cost, self.unit)}" for cost, count in costs.items())
        return f"{self.layout.sentence}\nDone: {told or 'nobody'}."
