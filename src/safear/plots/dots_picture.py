"""Fifty people like you: a dot for each, over what it costs them; hollow and orange if they are not done in time.

Dot i of n stands for the run at the quantile (i - 1/2) / n, cheapest successes first, failures last. So the number of
dots up to a cost is n times the chance to be done within it, rounded to the nearest whole number (halves up).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from safear.plots.axes import LinearScale, draw_columns, find_ticks
from safear.plots.cost_axis import CostAxis, cumulate, find_axis
from safear.plots.headings import write_heading
from safear.plots.letters import wrap
from safear.plots.picture import Picture, make_picture
from safear.plots.plan_rows import Plans, read_plans
from safear.plots.svg import FAINT, INK, PAPER, WRONG, blue, document, element, group, horizontal, write
from safear.recourse.offer import Offer
from safear.risk.distribution import EPSILON
from safear.texts.names import capital, show_name

PEOPLE = 50
MOST_STACKS = 24  # side by side; if there would be more, dots are bundled
TELLING = (0.5, 1.0, 0.9, 0.96)  # shares of the dots that succeed; costs are told at which they are reached
MOST_TOLD = 3
WIDTH, PAD, COLUMN = 760.0, 20.0, 120.0
LARGEST, SMALLEST, HIGHEST = 18, 7, 190.0  # how far dots are apart, and how high a stack of them may be
TEXT, LINE, SMALL = 15.0, 22.0, 13.0


@dataclass(frozen=True, slots=True)
class DotRow:
    """One of the people: done at `cost` (None if not in time), in the stack of costs above `low` up to `high`."""

    dot: int
    quantile: float
    success: bool
    cost: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class SentenceRow:
    """What the dots say."""

    sentence: str


def dots(offer: Offer, *, title: str | None = None, language: str = "en", heading: bool = True) -> Picture:
    """Draw what a plan costs as fifty people, each of whom stands for 2% of the runs."""
    plans = read_plans([offer], language)
    axis, rows, sentence = *find_dots(offer), describe_dots(offer, language)
    words = show_name(plans.tell("picture.dots.title", people=PEOPLE) if title is None else title)
    svg = _DotsDrawing(plans, axis, rows).svg(words, sentence, heading=heading)
    return make_picture(svg, plans=plans.rows, dots=rows, sentences=[SentenceRow(sentence)])


def find_dots(offer: Offer) -> tuple[CostAxis, list[DotRow]]:
    """The axis of the costs, and a row for each of the people."""
    costs = _find_costs(offer)
    done = [cost for cost in costs if cost is not None]
    axis = find_axis(done, max(done, default=0.0) or 1.0, most=MOST_STACKS, bundles=MOST_STACKS)
    rows = []
    for number, cost in enumerate(costs, start=1):
        stack = (None, None) if cost is None else axis.stretch(cost)
        rows.append(DotRow(number, (number - 0.5) / PEOPLE, cost is not None, cost, *stack))
    return axis, rows


def _find_costs(offer: Offer) -> list[float | None]:
    """What each of the people pays to be done, ascending; None for those who are not done in time."""
    costs, within = cumulate(offer)
    quantiles = (np.arange(PEOPLE) + 0.5) / PEOPLE
    places = np.searchsorted(within, quantiles - EPSILON).tolist()
    return [costs[place] if place < len(costs) else None for place in places]


# ----------------------------------------------------------------------------------------------------------- sentence


def describe_dots(offer: Offer, language: str = "en") -> str:
    """`43 of 50 are done after 5 months, 49 within 8 months, 1 is not done in time.` And what has no dot."""
    costs, plans = _find_costs(offer), read_plans([offer], language)
    say = plans.tell.texts.part("picture.dots")
    counts = Counter(cost for cost in costs if cost is not None)
    reached = dict(zip(counts, accumulate(counts.values()), strict=True))
    done = sum(counts.values())
    told: dict[float, int] = {}
    for share in TELLING if done else ():
        if len(told) < MOST_TOLD:
            told |= dict([next(item for item in reached.items() if item[1] >= share * done)])
    parts: list[str] = []
    for cost, count in sorted(told.items()):
        how = "then" if parts else "after" if cost == costs[0] else "within"
        key = f"{how}_all" if count == PEOPLE else how
        parts.append(say(key, count=count, people=PEOPLE, cost=plans.cost(cost)))
    missed = PEOPLE - done
    if missed:
        parts.append(say("missed", count=missed) if parts else say("nobody", people=PEOPLE))
    rest = _tell_rest(offer, plans, last=max(reached, default=None), missed=missed)
    return capital(", ".join(parts)) + "." + (f" {say('few', what=plans.tell.texts.join(rest))}" if rest else "")


def _tell_rest(offer: Offer, plans: Plans, *, last: float | None, missed: int) -> list[str]:
    """Those who are too few for a dot."""
    (plan,), (costs, within), tell = plans.rows, cumulate(offer), plans.tell
    shown = 0.0 if last is None else within[costs.index(last)]
    parts = []
    if within and within[-1] - shown > EPSILON:
        share = tell.percent(within[-1] - shown)
        parts.append(tell(f"picture.dots.few_{'done' if last is None else 'later'}", share=share))
    if plan.not_in_time > 0 and not missed:
        parts.append(tell("picture.dots.few_missed", share=tell.percent(plan.not_in_time)))
    return parts


# ------------------------------------------------------------------------------------------------------------ drawing


class _DotsDrawing:
    """Places everything, top down."""

    def __init__(self, plans: Plans, axis: CostAxis, dots: list[DotRow]) -> None:
        self.plans, self.axis, self.dots = plans, axis, dots
        self.tell, self.say = plans.tell, plans.tell.texts.part("picture.dots")
        self.failures = any(not dot.success for dot in dots)
        self.right = WIDTH - PAD - (COLUMN if self.failures else 0)
        share = min(1.0, axis.gap / axis.end)
        spare = share * (self.right - PAD) / (1 + share) / 2
        self.x = LinearScale(0, axis.end, PAD + spare, self.right - spare)
        self.stacks = Counter(dot.high for dot in dots)
        self.pitch = next((size for size in range(LARGEST, SMALLEST, -1) if self._height(size) <= HIGHEST), SMALLEST)

    def _columns(self, high: float | None, pitch: float) -> int:
        """How many dots of a stack stand side by side."""
        room = COLUMN if high is None else (self.x(self.axis.gap) - self.x(0))
        return max(1, min(int(0.86 * room / pitch), math.ceil(math.sqrt(self.stacks[high]))))

    def _height(self, pitch: float) -> float:
        return max(pitch * math.ceil(count / self._columns(high, pitch)) for high, count in self.stacks.items())

    def svg(self, title: str, sentence: str, *, heading: bool) -> str:
        (plan,), room = self.plans.rows, WIDTH - 2 * PAD
        body, y = write_heading(title, (), pad=PAD, width=WIDTH, shown=heading)
        y += 4
        for line in wrap(sentence, room, TEXT):
            body.append(write(PAD, y, line, size=TEXT, room=room))
            y += LINE
        what = self.say("note", name=plan.name, start=self.plans.start(plan), people=PEOPLE)
        what += "" if self.axis.step is None else f" {self.say('bundled', step=self.plans.cost(self.axis.gap))}"
        for line in wrap(what, room, SMALL):
            body.append(write(PAD, y, line, size=SMALL, room=room, fill=FAINT))
            y += 18
        bottom = y + 8 + self._height(self.pitch)
        seen: Counter[float | None] = Counter()
        for dot in self.dots:
            body.append(self._dot(dot, seen[dot.high], bottom))
            seen[dot.high] += 1
        body.append(group(self._axis(bottom + 4), class_="axis"))
        return document(WIDTH, bottom + 62, title=title, description=f"{sentence}\n{self._describe()}", body=body)

    def _dot(self, dot: DotRow, place: int, bottom: float) -> str:
        columns, radius = self._columns(dot.high, self.pitch), self.pitch * 0.4
        middle = self.right + COLUMN / 2
        if dot.low is not None and dot.high is not None:
            middle = self.x((dot.low + dot.high) / 2)
        row, column = divmod(place, columns)
        cx = middle + self.pitch * (column - (columns - 1) / 2)
        cy = bottom - self.pitch * (row + 0.5)
        if dot.cost is not None:
            words = self.say("done", number=dot.dot, people=PEOPLE, cost=self.plans.cost(dot.cost))
            sign = element("circle", class_="done", cx=cx, cy=cy, r=radius, fill=blue(0, 1))
        else:
            words = self.say("late", number=dot.dot, people=PEOPLE)
            sign = element(
                "circle", class_="missed", cx=cx, cy=cy, r=radius - 0.75, fill=PAPER,
                stroke=WRONG, stroke_width=1.5, stroke_dasharray="3 1.8",
            )  # fmt: skip
        return group([sign], note=words, class_="dot", data_dot=dot.dot)

    def _axis(self, bottom: float) -> list[str]:
        ticks = find_ticks(self.axis.end, self.x.end - self.x.start, self.tell.number, gap=self.axis.gap)
        parts = [horizontal(PAD, self.right, bottom, INK), *draw_columns(self.x, bottom, ticks, self.tell.number)]
        unit = self.say("axis", unit=self.plans.unit)
        parts.append(write(PAD, bottom + 44, unit, size=SMALL, room=self.right - PAD))
        if self.failures:
            parts.append(horizontal(self.right + 14, WIDTH - PAD - 4, bottom, INK))
            middle, words = self.right + COLUMN / 2, self.tell("ways.key.failure")
            parts.append(write(middle, bottom + 20, words, size=SMALL, room=COLUMN, text_anchor="middle", fill=WRONG))
        return parts

    def _describe(self) -> str:
        """How many are done after what."""
        costs = Counter(dot.cost for dot in self.dots if dot.cost is not None)
        told = [self.say("count", count=count, cost=self.plans.cost(cost)) for cost, count in costs.items()]
        return self.say("told", what="; ".join(told)) if told else ""
