"""The picture of what can happen under each plan: a line for each way things can go.

Length is cost, thickness is chance, orange dashes that end in a cross are tries that fail. One of the worst ways is
always among them. Runs that do not succeed are
drawn at what was spent; what failing costs on top is told in words, so that it does not squeeze the rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from safear.plots.axes import LinearScale, draw_columns
from safear.plots.headings import write_heading, write_key, write_plan_name
from safear.plots.letters import ELLIPSIS, text_width
from safear.plots.picture import Picture, make_picture
from safear.plots.plan_rows import PlanRow, Plans, read_plans
from safear.plots.svg import (
    BLUE,
    FAILING,
    FAINT,
    GRID,
    INK,
    PANEL,
    PAPER,
    WRONG,
    Label,
    PlacedLabel,
    blue,
    cross,
    document,
    element,
    group,
    horizontal,
    nice_ticks,
    place_labels,
    square,
    tick_mark,
    vertical,
    write,
)
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.teller import Teller
from safear.recourse.traces import OtherTraces, Trace, Traces
from safear.texts.names import show_name

WIDTH, PAD = 800.0, 20.0  # no wider than pages show it, so that its letters keep their size
START = 92.0  # where the lines begin; the chances stand before it
RIGHT = WIDTH - PAD
PANEL_HEIGHT, LINE, ROW, REST, GAP = 46.0, 17.0, 44.0, 34.0, 10.0
THINNEST, THICKEST = 1.6, 19.6  # lines, from a chance of 0 to one of 1
LABEL, SMALL = 13.0, 13.5  # sizes of letters
WORST = 12.0  # what a way is higher below which is said that it is one of the worst
END_WIDTH = 230.0  # how wide what stands at a line's end may be


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One way a plan can go. `cost` is `spent` and, for a failure, the failure cost; `worst` if few cost as much."""

    plan: int
    trace: int
    chance: float
    spent: float
    cost: float
    success: bool
    worst: bool
    thickness: float


@dataclass(frozen=True, slots=True)
class TryRow:
    """A step of a trace, from one total cost to the next; `attempt` counts the tries of its action in a row."""

    plan: int
    trace: int
    step: int
    action: str
    works: bool
    attempt: int
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class RestRow:
    """All other ways of a plan together; what those of them that succeed cost at least and at most."""

    plan: int
    chance: float
    success: float
    not_in_time: float
    least_cost: float | None
    largest_cost: float | None


def traces(
    offers: Menu | Sequence[Offer],
    *,
    beside: Menu | Sequence[Offer] = (),
    title: str | None = None,
    language: str = "en",
    heading: bool = True,
) -> Picture:
    """Draw the most probable ways that each plan can go, and one of the worst.

    The plans are in the order given (a menu has the safest first). The axis is the one that plans `beside` them need
    too, so that pictures of plans of one menu can be compared.
    """
    plans, numbered = read_plans(offers, language), list(enumerate(offers, start=1))
    ways = [row for plan, offer in numbered for row in _read_ways(plan, offer.traces)]
    steps = [
        step
        for plan, offer in numbered
        for place, way in enumerate(offer.traces.shown, 1)
        for step in _read_steps(plan, place, way, plans.tell)
    ]
    rests = [_read_rest(plan, offer.traces.rest) for plan, offer in numbered]
    others = [row for offer in beside for row in _read_ways(0, offer.traces)]
    words = show_name(plans.tell("picture.traces.title") if title is None else title)
    svg = _TraceDrawing(plans, ways, steps, rests, others).svg(words, heading=heading)
    return make_picture(svg, plans=plans.rows, traces=ways, steps=steps, rest=rests)


# ------------------------------------------------------------------------------------------------------------- tables


def _read_ways(plan: int, found: Traces) -> Iterator[TraceRow]:
    for place, way in enumerate(found.shown, start=1):
        thickness = THINNEST + (THICKEST - THINNEST) * way.chance
        figures = (way.chance, way.spent, way.cost, way.success)
        yield TraceRow(plan, place, *figures, found.is_worst(way), thickness)


def _read_steps(plan: int, place: int, trace: Trace, tell: Teller) -> list[TryRow]:
    rows: list[TryRow] = []
    for number, step in enumerate(trace.steps, start=1):
        action = tell.action(step.action)
        again = bool(rows) and rows[-1].action == action and not rows[-1].works
        attempt = rows[-1].attempt + 1 if again else 1
        start, end = (math.fsum(done.cost for done in trace.steps[:count]) for count in (number - 1, number))
        rows.append(TryRow(plan, place, number, action, step.works, attempt, start, end))
    return rows


def _read_rest(plan: int, rest: OtherTraces | None) -> RestRow:
    if rest is None:
        return RestRow(plan, 0.0, 0.0, 0.0, None, None)
    return RestRow(plan, rest.chance, rest.success, rest.failure, *rest.success_costs or (None, None))


# -------------------------------------------------------------------------------------------------------------- words


def name_steps(steps: Sequence[TryRow], tell: Teller, *, origin: float = 0.0, scale: float = 1.0) -> list[Label]:
    """One label for all tries of an action up to the one that works, or for steps that work one after another."""
    runs: list[list[TryRow]] = []
    for step in steps:
        last = runs[-1] if runs else []
        same = bool(last) and last[-1].action == step.action
        if same and (step.attempt > 1 or (step.works and all(other.works for other in last) and last[0].attempt == 1)):
            last.append(step)
        else:
            runs.append([step])
    return [
        Label(origin + scale * run[0].start, origin + scale * run[-1].end, *_name_run(run, tell), run[-1].works)
        for run in runs
    ]


def _name_run(run: Sequence[TryRow], tell: Teller) -> tuple[tuple[str, ...], str]:
    """What may stand over tries, ever shorter and at last nothing, and what they are called in full."""
    action, last, count = run[0].action, run[-1], len(run)
    times = f" ×{last.attempt if last.works and last.attempt > 1 else count}"
    short = "" if count == 1 else times
    full = action + short
    if not last.works:
        full = tell("picture.traces.fails", action=action, count=count)
    elif last.attempt > 1:
        full = tell("picture.traces.attempt", action=action, number=last.attempt)
    cut = (action[:length].rstrip() + ELLIPSIS for length in range(len(action) - 1, 1, -1))
    return (full, action + short, *(text + short for text in cut), ""), full


# ------------------------------------------------------------------------------------------------------------ drawing


class _TraceDrawing:
    """Places everything, top down."""

    def __init__(
        self,
        plans: Plans,
        ways: Sequence[TraceRow],
        steps: Sequence[TryRow],
        rests: Sequence[RestRow],
        beside: Sequence[TraceRow],
    ) -> None:
        self.plans, self.ways, self.steps, self.rests, self.tell = plans, ways, steps, rests, plans.tell
        self.longest = max(trace.spent for trace in [*ways, *beside]) or 1.0
        scales = [
            (RIGHT - START - 16 - self._end_width(trace)) / trace.spent for trace in [*ways, *beside] if trace.spent > 0
        ]
        self.scale = min([*scales, (RIGHT - START - 24) / self.longest])
        about = min(12, int(self.scale * self.longest / (text_width(self.tell.number(self.longest), LABEL) + 18)))
        ticks = nice_ticks(0, self.longest, max(about, 1))
        self.ticks = [tick for tick in ticks if tick <= self.longest * (1 + 1e-9)]

    def x(self, cost: float) -> float:
        return START + self.scale * cost

    def steps_of(self, trace: TraceRow) -> list[TryRow]:
        return [step for step in self.steps if (step.plan, step.trace) == (trace.plan, trace.trace)]

    def rest_of(self, plan: PlanRow) -> Iterator[RestRow]:
        """The row of what is not shown, if anything."""
        return (rest for rest in self.rests if rest.plan == plan.number and rest.chance > 0)

    def svg(self, title: str, *, heading: bool) -> str:
        lines = [self.tell("ways.reading"), f"{self.plans.late()} {self.tell('picture.traces.unfinished')}"]
        body, y = write_heading(title, lines, pad=PAD, width=WIDTH, shown=heading)
        parts, y = self._key(y + 4)
        body += parts
        y += 20
        for plan in self.plans.rows:
            part, y = self._plan(plan, y)
            body.append(part)
        body.append(self._axis(y))
        return document(WIDTH, y + 62, title=title, description=self._describe(), body=body)

    def _key(self, y: float) -> tuple[list[str], float]:
        """What the signs mean."""
        say = self.tell.texts.part("ways.key")
        chance = write(
            START - 16, y + 4.5, self.tell("picture.traces.chance"), size=LABEL, text_anchor="end", fill=FAINT
        )
        signs = [
            (30.0, lambda x, y: horizontal(x, x + 30, y, BLUE, 5), say("works")),
            (34.0, lambda x, y: _failing(x, x + 30, y, 3) + cross(x + 30, y, 4.5), say("fails")),
            (18.0, lambda x, y: tick_mark(x + 9, y, BLUE), self.plans.goal),
            (18.0, lambda x, y: square(x + 9, y), say("failure")),
        ]
        parts, y = write_key(signs, x=START, y=y, right=RIGHT)
        return [chance, *parts], y

    def _plan(self, plan: PlanRow, top: float) -> tuple[str, float]:
        rows = [trace for trace in self.ways if trace.plan == plan.number]
        rests = list(self.rest_of(plan))
        colour = blue(plan.number - 1, len(self.plans.rows))
        first = top + self._panel(plan)
        starts = list(accumulate((self._height(trace) for trace in rows), initial=first))
        end = starts[-1] + 8 + REST * len(rests)
        parts = [group((vertical(self.x(tick), first, end + GAP, GRID) for tick in self.ticks), class_="grid")]
        parts += [self._header(plan, top, colour)]
        parts += [self._trace(trace, start, colour) for trace, start in zip(rows, starts, strict=False)]
        parts += [self._rest(rest, end - REST / 2 + 3) for rest in rests]
        return group(parts, class_="plan", data_plan=plan.number), end + GAP

    def _panel(self, plan: PlanRow) -> float:
        """The height of what is said of a plan."""
        return PANEL_HEIGHT + (LINE if self.plans.off(plan) else 0)

    def _header(self, plan: PlanRow, top: float, colour: str) -> str:
        name = self.plans.title(plan)
        first, figures, words = self.plans.start(plan), self.plans.figures(plan), self._name_risk(plan.number)
        badge = [] if words is None else self._badge(plan.number, words, top + 15)
        off, height = self.plans.off(plan), self._panel(plan)
        room = RIGHT - PAD - 40 - (0 if words is None else text_width(words, 14, bold=True) + 15 * len(badge))
        return group(
            [
                element("rect", x=PAD, y=top, width=RIGHT - PAD, height=height, fill=PANEL),
                element("rect", x=PAD, y=top, width=7, height=height, fill=colour),
                write_plan_name(PAD + 18, top + 20, name, first, room=room),
                write(PAD + 18, top + 38, figures, size=SMALL, fill=FAINT, room=RIGHT - PAD - 30),
                *(
                    [write(PAD + 18, top + 38 + LINE, off, size=SMALL, fill=FAINT, room=RIGHT - PAD - 30)]
                    if off
                    else []
                ),
                *badge,
            ],
            note=" · ".join([f"{name} {first}", figures, *([off] if off else [])]),
        )

    def _name_risk(self, number: int) -> str | None:
        """How risky a plan is beside the others; None unless the plans are in the order of risk."""
        count = len(self.plans.rows)
        if not self.plans.ordered or not 1 < count <= 5:
            return None
        place = {1: "lower", count: "higher"}.get(number, "medium")
        return self.tell(f"picture.traces.risk.{place}")

    def _badge(self, number: int, words: str, y: float) -> list[str]:
        count, x = len(self.plans.rows), RIGHT - 26 - text_width(words, 14, bold=True)
        dots = [
            element("circle", cx=x - 15 * (count - 1 - i), cy=y, r=5, stroke=INK, fill=INK if i < number else PAPER)
            for i in range(count)
        ]
        return [*dots, write(RIGHT - 12, y + 5, words, bold=True, text_anchor="end")]

    def _height(self, trace: TraceRow) -> float:
        """How high a way is with all that is said of it."""
        return ROW + LINE * (len(self._place_labels(trace)) - 1) + WORST * bool(self._say_worst(trace))

    def _trace(self, trace: TraceRow, top: float, colour: str) -> str:
        steps, end, words = self.steps_of(trace), self.x(trace.spent), self._say_end(trace)
        names = self._place_labels(trace)
        y = top + 32 + LINE * (len(names) - 1)
        lines, marks = [], []
        for step in steps:
            x1, x2, width = self.x(step.start), self.x(step.end), trace.thickness
            final = step is steps[-1]
            if not step.works:
                lines.append(_failing(x1, x2, y, width, class_="fails"))
                if not final or trace.success:
                    marks.append(cross(x2, y, min(4.5, max(2.0, (x2 - x1) * 0.3))))
            else:
                lines.append(horizontal(x1, x2, y, colour, width, class_="works"))
                if not final and x2 - x1 > 6:
                    marks.append(vertical(x2, y - width / 2 - 1, y + width / 2 + 1, PAPER, 2))
        marks.append(tick_mark(end, y, colour) if trace.success else square(end, y))
        for line, placed in enumerate(names):
            for label, text, centre in placed:
                ink = INK if label.works else WRONG
                word = write(centre, y - 14 - LINE * line, text, size=LABEL, text_anchor="middle", fill=ink)
                marks.append(group([word], note=label.full, class_="label"))
        ink = INK if trace.success else WRONG
        chance = write(START - 16, y + 5, self.tell.percent(trace.chance), size=15, bold=True, text_anchor="end")
        last = write(end + 16, y + 5, words, size=LABEL + 1, room=END_WIDTH, fill=ink)
        worst = self._say_worst(trace)
        if worst:
            last += write(end + 16, y + 5 + LINE, worst, size=LABEL, room=END_WIDTH, fill=FAINT, class_="worst")
        data: dict[str, str | float] = {"data_plan": trace.plan, "data_trace": trace.trace}
        return group([chance, *lines, *marks, last], note=self._say_trace(trace), class_="trace", **data)

    def _rest(self, rest: RestRow, y: float) -> str:
        chance = write(START - 16, y + 4.5, self.tell.percent(rest.chance), size=SMALL, text_anchor="end", fill=FAINT)
        room = RIGHT - START - 4
        words = write(START + 4, y + 4.5, self._say_rest(rest), size=SMALL, room=room, font_style="italic", fill=FAINT)
        return group([chance, words], class_="rest", data_plan=rest.plan)

    def _axis(self, y: float) -> str:
        parts = draw_columns(LinearScale(0, self.longest, START, self.x(self.longest)), y, self.ticks, self.tell.number)
        parts.append(write(START, y + 44, self.tell("picture.cost", unit=self.plans.unit), room=RIGHT - START))
        return group(parts, class_="axis")

    def _describe(self) -> str:
        """The whole picture as a list in words."""
        parts = []
        for plan in self.plans.rows:
            said = f"{self.plans.title(plan)} {self.plans.start(plan)} · {self.plans.figures(plan)}"
            parts.append(" · ".join(filter(None, (said, self.plans.off(plan)))) + ".")
            parts += [f"{self._say_trace(trace)}." for trace in self.ways if trace.plan == plan.number]
            parts += [f"{self.tell.percent(rest.chance)}: {self._say_rest(rest)}" for rest in self.rest_of(plan)]
        return "\n".join(parts)

    def _place_labels(self, trace: TraceRow) -> list[list[PlacedLabel]]:
        """The names of the steps on one line, or by turns on two where they would be cut off; the lower one first."""
        labels = name_steps(self.steps_of(trace), self.tell, origin=START, scale=self.scale)
        alone = place_labels(labels, LABEL, START - 4, RIGHT)
        if len(alone) == len(labels) and all(text in label.forms[:2] for label, text, _ in alone):
            return [alone]
        return [place_labels(labels[start::2], LABEL, START - 4, RIGHT) for start in (0, 1)]

    def _say_end(self, trace: TraceRow) -> str:
        spent = self.plans.cost(trace.spent)
        return spent if trace.success else self.tell("ways.failed", cost=spent)

    def _say_worst(self, trace: TraceRow) -> str:
        """`worst 5%` of a way that is one of them."""
        return self.tell.worst_name(self.plans.rows[max(trace.plan, 1) - 1].level) if trace.worst else ""

    def _end_width(self, trace: TraceRow) -> float:
        """How wide what stands at the end of a line is."""
        words, worst = text_width(self._say_end(trace), LABEL + 1), text_width(self._say_worst(trace), LABEL)
        return min(END_WIDTH, max(words, worst))

    def _say_trace(self, trace: TraceRow) -> str:
        names = [label.full for label in name_steps(self.steps_of(trace), self.tell)]
        ways = self.tell("ways.then").join(names) or self.tell("picture.nothing")
        ends = " · ".join(filter(None, (self._say_end(trace), self._say_worst(trace))))
        return f"{self.tell.percent(trace.chance)}: {ways}; {ends}"

    def _say_rest(self, rest: RestRow) -> str:
        least, most = rest.least_cost, rest.largest_cost
        costs = None if least is None or most is None else (least, most)
        return self.tell.other_traces(costs, rest.not_in_time, self.plans.unit)


def _failing(x1: float, x2: float, y: float, width: float, **attributes: str | float) -> str:
    """The line of a try that fails."""
    return horizontal(x1, x2, y, WRONG, width, stroke_dasharray=FAILING, **attributes)
