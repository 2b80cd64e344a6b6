"""The picture of what can happen under each plan: a line for each way things can go.

Length is cost, thickness is chance, orange dashes that end in a cross are tries that fail. Runs that do not succeed are
drawn at what was spent; what failing costs on top is told in words, so that it does not squeeze the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from safear.plots.headings import say_figures, say_first_step, write_plan_name
from safear.plots.picture import Picture
from safear.plots.plan_rows import PlanRow
from safear.plots.svg import (
    FAINT,
    GRID,
    INK,
    PANEL,
    PAPER,
    WRONG,
    blue,
    clean,
    cross,
    document,
    element,
    group,
    horizontal,
    nice_ticks,
    place_labels,
    square,
    text_width,
    tick_mark,
    vertical,
    write,
)
from safear.plots.trace_layout import Layout, RestRow, StepRow, TraceRow, lay_out, name_steps
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.words import format_chance, format_cost, format_number

WIDTH, PAD = 1100.0, 20.0
START = 92.0  # where the lines begin; the chances stand before it
RIGHT = WIDTH - PAD
HEAD, PANEL_HEIGHT, ROW, REST, GAP = 124.0, 46.0, 44.0, 34.0, 10.0
LABEL, SMALL = 13.0, 13.5  # sizes of letters
END_WIDTH = 230.0  # how wide what stands at a line's end may be
DASH = "6 3"


def traces(offers: Menu | Sequence[Offer], *, title: str = "What can happen under each plan") -> Picture:
    """Draw the most probable ways that each plan can go, the plans in the order given (a menu has the safest first)."""
    layout = lay_out(offers)
    return Picture(_Drawing(layout, clean(title)).svg(), layout.tables)


class _Drawing:
    """Places everything, top down."""

    def __init__(self, layout: Layout, title: str) -> None:
        self.layout, self.plans, self.title = layout, layout.plans, title
        self.longest = max(trace.spent for trace in layout.traces) or 1.0
        scales = [
            (RIGHT - START - 16 - min(END_WIDTH, text_width(self._say_end(trace), LABEL + 1))) / trace.spent
            for trace in layout.traces
            if trace.spent > 0
        ]
        self.scale = min([*scales, (RIGHT - START - 24) / self.longest])
        about = min(12, int(self.scale * self.longest / (text_width(format_number(self.longest), LABEL) + 18)))
        ticks = nice_ticks(0, self.longest, max(about, 1))
        self.ticks = [tick for tick in ticks if tick <= self.longest * (1 + 1e-9)]

    def x(self, cost: float) -> float:
        return START + self.scale * cost

    def steps_of(self, trace: TraceRow) -> list[StepRow]:
        return [step for step in self.layout.steps if (step.plan, step.trace) == (trace.plan, trace.trace)]

    def svg(self) -> str:
        body, y = self._heading(), HEAD
        for plan in self.plans.rows:
            part, y = self._plan(plan, y)
            body.append(part)
        body.append(self._axis(y))
        return document(WIDTH, y + 62, title=self.title, description=self._describe(), body=body)

    def _heading(self) -> list[str]:
        how = "Each line is one way things can go: the longer, the costlier; the thicker, the likelier."
        note = f"Not in time: no success within {self.plans.deadline}; such a line is as long as what was spent"
        note += f"{self.plans.surcharge}."
        return [
            write(PAD, 36, self.title, size=21, bold=True, room=RIGHT - PAD),
            write(PAD, 60, how, size=SMALL, fill=FAINT),
            write(PAD, 80, note, size=SMALL, fill=FAINT, room=RIGHT - PAD),
            self._key(104),
        ]

    def _key(self, y: float) -> str:
        """What the signs mean."""
        works, goal, x = blue(1, 3), clean(self.plans.goal), START
        parts = [write(START - 16, y + 4.5, "chance", size=LABEL, text_anchor="end", fill=FAINT)]
        for width, text in ((30, "a step that works"), (34, "a try that fails"), (18, goal), (18, "not in time")):
            signs = {
                "a step that works": horizontal(x, x + 30, y, works, 5),
                "a try that fails": horizontal(x, x + 30, y, WRONG, 3, stroke_dasharray=DASH) + cross(x + 30, y, 4.5),
                "not in time": square(x + 9, y),
            }
            room = min(320.0, text_width(text, LABEL))
            parts += [signs.get(text) or tick_mark(x + 9, y, works)]
            parts += [write(x + width + 8, y + 4.5, text, size=LABEL, room=room)]
            x += width + 34 + room
        return group(parts, class_="key")

    def _plan(self, plan: PlanRow, top: float) -> tuple[str, float]:
        rows = [trace for trace in self.layout.traces if trace.plan == plan.number]
        rests = [rest for rest in self.layout.rests if rest.plan == plan.number]
        colour = blue(plan.number - 1, len(self.plans.rows))
        first, end = top + PANEL_HEIGHT, top + PANEL_HEIGHT + 8 + ROW * len(rows) + REST * len(rests)
        parts = [group((vertical(self.x(tick), first, end + GAP, GRID) for tick in self.ticks), class_="grid")]
        parts += [self._header(plan, top, colour)]
        parts += [self._trace(trace, first + 32 + ROW * place, colour) for place, trace in enumerate(rows)]
        parts += [self._rest(rest, end - REST / 2 + 3) for rest in rests]
        return group(parts, class_="plan", data_plan=plan.number), end + GAP

    def _header(self, plan: PlanRow, top: float, colour: str) -> str:
        name = self.plans.title(plan)
        first, figures, words = say_first_step(plan), say_figures(plan), self._name_risk(plan.number)
        badge = [] if words is None else self._badge(plan.number, words, top + 15)
        room = RIGHT - PAD - 40 - (0 if words is None else text_width(words, 14, bold=True) + 15 * len(badge))
        return group(
            [
                element("rect", x=PAD, y=top, width=RIGHT - PAD, height=PANEL_HEIGHT, fill=PANEL),
                element("rect", x=PAD, y=top, width=7, height=PANEL_HEIGHT, fill=colour),
                write_plan_name(PAD + 18, top + 20, name, first, room=room),
                write(PAD + 18, top + 38, figures, size=SMALL, fill=FAINT, room=RIGHT - PAD - 30),
                *badge,
            ],
            note=f"{name} {first} · {figures}",
        )

    def _name_risk(self, number: int) -> str | None:
        """How risky a plan is beside the others; None unless the plans are in the order of risk."""
        count = len(self.plans.rows)
        if not self.plans.ordered or not 1 < count <= 5:
            return None
        return {1: "lower risk", count: "higher risk"}.get(number, "medium risk")

    def _badge(self, number: int, words: str, y: float) -> list[str]:
        count, x = len(self.plans.rows), RIGHT - 26 - text_width(words, 14, bold=True)
        dots = [
            element("circle", cx=x - 15 * (count - 1 - i), cy=y, r=5, stroke=INK, fill=INK if i < number else PAPER)
            for i in range(count)
        ]
        return [*dots, write(RIGHT - 12, y + 5, words, bold=True, text_anchor="end")]

    def _trace(self, trace: TraceRow, y: float, colour: str) -> str:
        steps, end, words = self.steps_of(trace), self.x(trace.spent), self._say_end(trace)
        lines, marks = [], []
        for step in steps:
            x1, x2, width = self.x(step.start), self.x(step.end), trace.thickness
            final = step is steps[-1]
            if not step.works:
                lines.append(horizontal(x1, x2, y, WRONG, width, stroke_dasharray=DASH, class_="fails"))
                if not final or trace.success:
                    marks.append(cross(x2, y, min(4.5, max(2.0, (x2 - x1) * 0.3))))
            else:
                lines.append(horizontal(x1, x2, y, colour, width, class_="works"))
                if not final and x2 - x1 > 6:
                    marks.append(vertical(x2, y - width / 2 - 1, y + width / 2 + 1, PAPER, 2))
        marks.append(tick_mark(end, y, colour) if trace.success else square(end, y))
        for label, text, centre in place_labels(name_steps(steps, START, self.scale), LABEL, START - 4, RIGHT):
            ink = INK if label.works else WRONG
            word = write(centre, y - 14, text, size=LABEL, text_anchor="middle", fill=ink)
            marks.append(group([word], note=label.full, class_="label"))
        ink = INK if trace.success else WRONG
        chance = write(START - 16, y + 5, format_chance(trace.chance), size=15, bold=True, text_anchor="end")
        last = write(end + 16, y + 5, words, size=LABEL + 1, room=END_WIDTH, fill=ink)
        data: dict[str, str | float] = {"data_plan": trace.plan, "data_trace": trace.trace}
        return group([chance, *lines, *marks, last], note=self._say_trace(trace), class_="trace", **data)

    def _rest(self, rest: RestRow, y: float) -> str:
        chance = write(START - 16, y + 4.5, format_chance(rest.chance), size=SMALL, text_anchor="end", fill=FAINT)
        room = RIGHT - START - 4
        words = write(START + 4, y + 4.5, self._say_rest(rest), size=SMALL, room=room, font_style="italic", fill=FAINT)
        return group([chance, words], class_="rest", data_plan=rest.plan)

    def _axis(self, y: float) -> str:
        parts = [horizontal(START, self.x(self.longest), y, INK)]
        for tick in self.ticks:
            parts.append(vertical(self.x(tick), y, y + 5, INK))
            parts.append(write(self.x(tick), y + 20, format_number(tick), size=LABEL, text_anchor="middle", fill=FAINT))
        parts.append(write(START, y + 44, f"cost in {self.plans.unit}", room=RIGHT - START))
        return group(parts, class_="axis")

    def _describe(self) -> str:
        """The whole picture as a list in words."""
        parts = []
        for plan in self.plans.rows:
            parts.append(f"Plan {plan.number}, {clean(plan.name)}: {say_figures(plan)}.")
            parts += [f"{self._say_trace(trace)}." for trace in self.layout.traces if trace.plan == plan.number]
            rests = [rest for rest in self.layout.rests if rest.plan == plan.number]
            parts += [f"{format_chance(rest.chance)}: {self._say_rest(rest)}." for rest in rests]
        return "\n".join(parts)

    def _say_end(self, trace: TraceRow) -> str:
        spent = format_cost(trace.spent, self.plans.unit)
        return spent if trace.success else f"not in time, {spent} spent"

    def _say_trace(self, trace: TraceRow) -> str:
        ways = ", then ".join(label.full for label in name_steps(self.steps_of(trace))) or "nothing"
        return f"{format_chance(trace.chance)}: {ways}; {self._say_end(trace)}"

    def _say_rest(self, rest: RestRow) -> str:
        ends = []
        if rest.least_cost is not None and rest.largest_cost is not None:
            low, high = format_number(rest.least_cost), format_number(rest.largest_cost)
            end = format_cost(rest.largest_cost, self.plans.unit)
            ends.append(f"success after {end if low == high else f'{low}–{end}'}")
        if rest.not_in_time:
            ends.append(f"not in time ({format_chance(rest.not_in_time)})" if ends else "not in time")
        return f"all other ways together: {', or '.join(ends)}"
