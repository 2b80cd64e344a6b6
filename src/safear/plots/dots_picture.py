"""100 people in your place: a dot for each, over what it costs them; hollow and orange if they are not done in time.

Dot i of n stands for the run at the quantile (i - 1/2) / n, cheapest successes first, failures last. So the number of
dots up to a cost is n times the chance to be done within it, rounded to the nearest whole number (halves up). Dots of
one cost stand together around it; where those of another come too near, they stand above them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from safear.plots.axes import LinearScale, draw_columns, find_ticks
from safear.plots.cost_axis import cumulate
from safear.plots.headings import write_heading
from safear.plots.letters import wrap
from safear.plots.picture import Picture, make_picture
from safear.plots.plan_rows import Plans, read_plans
from safear.plots.svg import FAINT, INK, PAPER, WRONG, blue, document, element, group, horizontal, write
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.risk.distribution import EPSILON
from safear.texts.names import capital, show_name

PEOPLE = 100  # wherever people are counted in words or dots
TELLING = (0.5, 1.0, 0.9, 0.96)  # shares of the dots that succeed; costs are told at which they are reached
MOST_TOLD = 3
WIDTH, PAD, COLUMN = 760.0, 20.0, 120.0
LARGEST, SMALLEST, HIGHEST = 18, 7, 200.0  # how far dots are apart, and how high they may stand
ROOM, NEAR = 0.86, 0.84  # how much of the way to the next cost dots may take; what part of a dot's room keeps it apart
TEXT, LINE, SMALL = 15.0, 22.0, 13.0


@dataclass(frozen=True, slots=True)
class DotRow:
    """One of the people: done at `cost`, None if not in time."""

    dot: int
    quantile: float
    success: bool
    cost: float | None


@dataclass(frozen=True, slots=True)
class SentenceRow:
    """What the dots say."""

    sentence: str


def dots(
    offer: Offer,
    *,
    beside: Menu | Sequence[Offer] = (),
    title: str | None = None,
    language: str = "en",
    heading: bool = True,
) -> Picture:
    """Draw what a plan costs as 100 people, each of whom stands for 1% of the runs.

    The axis is the one that plans `beside` it need too, so that pictures of plans of one menu can be compared.
    """
    plans = read_plans([offer], language)
    rows, sentence = find_dots(offer), describe_dots(offer, language)
    words = show_name(plans.tell("hundred.title") if title is None else title)
    svg = _DotsDrawing(plans, rows, [cost for other in beside for cost in find_costs(other)]).svg(
        words, sentence, heading=heading
    )
    return make_picture(svg, plans=plans.rows, dots=rows, sentences=[SentenceRow(sentence)])


def find_dots(offer: Offer) -> list[DotRow]:
    """A row for each of the people."""
    costs = enumerate(find_costs(offer), start=1)
    return [DotRow(number, (number - 0.5) / PEOPLE, cost is not None, cost) for number, cost in costs]


def find_costs(offer: Offer) -> list[float | None]:
    """What each of the people pays to be done, ascending; None for those who are not done in time."""
    costs, within = cumulate(offer)
    quantiles = (np.arange(PEOPLE) + 0.5) / PEOPLE
    places = np.searchsorted(within, quantiles - EPSILON).tolist()
    return [costs[place] if place < len(costs) else None for place in places]


# ----------------------------------------------------------------------------------------------------------- sentence


def describe_dots(offer: Offer, language: str = "en") -> str:
    """`86 of 100 are done after 5 months, 99 within 8 months, 1 is not done in time.` And what has no dot."""
    costs, plans = find_costs(offer), read_plans([offer], language)
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

    def __init__(self, plans: Plans, dots: list[DotRow], beside: Sequence[float | None]) -> None:
        self.plans, self.dots = plans, dots
        self.tell, self.say = plans.tell, plans.tell.texts.part("picture.dots")
        self.stacks = Counter(dot.cost for dot in dots)
        every = {*self.stacks, *beside}
        along = sorted(cost for cost in every if cost is not None)
        self.end = max(along, default=0.0) or 1.0
        self.gap = min((later - cost for cost, later in pairwise([0.0, *along]) if later > cost), default=self.end)
        self.has_failures = None in every
        self.right = WIDTH - PAD - (COLUMN if self.has_failures else 0)
        share = self.gap / self.end
        spare = max(LARGEST, share * (self.right - PAD) / (1 + share) / 2)
        self.x = LinearScale(0, self.end, PAD + spare, self.right - spare)
        costs = sorted(cost for cost in self.stacks if cost is not None)
        edges = [2 * PAD - self.x(costs[0]), *map(self.x, costs), 2 * self.right - self.x(costs[-1])] if costs else []
        self.rooms = {
            cost: min(at - before, after - at)
            for cost, before, at, after in zip(costs, edges, edges[1:], edges[2:], strict=False)
        }
        self.pitch, self.places = self._fit()

    def _fit(self) -> tuple[int, list[tuple[float, int]]]:
        """The largest dots that do not stand too high, and where they stand."""
        for pitch in range(LARGEST, SMALLEST, -1):
            places = self._place(pitch)
            if max(row for _, row in places) < int(HIGHEST / pitch):
                return pitch, places
        return SMALLEST, self._place(SMALLEST)

    def _place(self, pitch: int) -> list[tuple[float, int]]:
        """Where each dot stands from left to right, and in which row from below: the lowest in which it has room."""
        rows: list[list[float]] = []
        seen: Counter[float | None] = Counter()
        found = []
        for dot in self.dots:
            columns = self._columns(dot.cost, pitch)
            middle = self.right + COLUMN / 2 if dot.cost is None else self.x(dot.cost)
            x = middle + pitch * (seen[dot.cost] % columns - (columns - 1) / 2)
            seen[dot.cost] += 1
            row = next(
                (n for n, taken in enumerate(rows) if all(abs(x - at) > NEAR * pitch for at in taken)), len(rows)
            )
            rows += [[]] if row == len(rows) else []
            rows[row].append(x)
            found.append((x, row))
        return found

    def _columns(self, cost: float | None, pitch: int) -> int:
        """How many dots of one cost stand side by side: as the next cost is away, or else as many as must."""
        room, count = COLUMN if cost is None else self.rooms[cost], self.stacks[cost]
        columns = min(int(ROOM * room / pitch), math.ceil(math.sqrt(count)))
        return max(1, columns, math.ceil(count * pitch / HIGHEST) if pitch == SMALLEST else 1)

    def svg(self, title: str, sentence: str, *, heading: bool) -> str:
        (plan,), room = self.plans.rows, WIDTH - 2 * PAD
        body, y = write_heading(title, (), pad=PAD, width=WIDTH, shown=heading)
        y += 4
        for line in wrap(sentence, room, TEXT):
            body.append(write(PAD, y, line, size=TEXT, room=room))
            y += LINE
        what = self.say("note", name=plan.name, start=self.plans.start(plan), people=PEOPLE)
        for line in wrap(what, room, SMALL):
            body.append(write(PAD, y, line, size=SMALL, room=room, fill=FAINT))
            y += 18
        bottom = y + 8 + self.pitch * (1 + max(row for _, row in self.places))
        body += [self._stack(cost, bottom) for cost in self.stacks]
        body.append(group(self._axis(bottom + 4), class_="axis"))
        return document(WIDTH, bottom + 62, title=title, description=f"{sentence}\n{self._describe()}", body=body)

    def _stack(self, cost: float | None, bottom: float) -> str:
        """The dots of a cost, or of those who are not done in time."""
        places = [(dot, *place) for dot, place in zip(self.dots, self.places, strict=True) if dot.cost == cost]
        look: dict[str, str | float] = {"class_": "done", "fill": blue(0, 1)}
        radius, count = self.pitch * 0.4, len(places)
        if cost is None:
            look = {
                "class_": "missed",
                "fill": PAPER,
                "stroke": WRONG,
                "stroke_width": 1.5,
                "stroke_dasharray": "3 1.8",
            }
            radius -= 0.75
        words = self.say("missed", count=count) if cost is None else self._say_count(count, cost)
        signs = [
            element("circle", cx=x, cy=bottom - self.pitch * (row + 0.5), r=radius, data_dot=dot.dot)
            for dot, x, row in places
        ]
        return group(signs, note=words, **look)

    def _say_count(self, count: int, cost: float) -> str:
        """`83 after 2 months`."""
        return self.say("count", count=count, cost=self.plans.cost(cost))

    def _axis(self, bottom: float) -> list[str]:
        ticks = find_ticks(self.end, self.x.end - self.x.start, self.tell.number, gap=self.gap)
        parts = [horizontal(PAD, self.right, bottom, INK), *draw_columns(self.x, bottom, ticks, self.tell.number)]
        unit = self.say("axis", unit=self.plans.unit)
        parts.append(write(PAD, bottom + 44, unit, size=SMALL, room=self.right - PAD))
        if self.has_failures:
            parts.append(horizontal(self.right + 14, WIDTH - PAD - 4, bottom, INK))
            middle, words = self.right + COLUMN / 2, self.tell("ways.key.failure")
            parts.append(write(middle, bottom + 20, words, size=SMALL, room=COLUMN, text_anchor="middle", fill=WRONG))
        return parts

    def _describe(self) -> str:
        """How many are done after what."""
        told = [self._say_count(count, cost) for cost, count in self.stacks.items() if cost is not None]
        return self.say("told", what="; ".join(told)) if told else ""
