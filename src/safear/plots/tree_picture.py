"""The picture of a contingent plan: what to do, and what then if it works (down) or fails (right, orange dashes).

Steps that follow each other when all goes well stand below each other; where something else happens, a column further
right begins. A step stands once: whatever else leads to it only names it, so that loops are not unrolled. Read line by
line, the numbers of the steps rise: a step whose turn has not come yet is named too, and stands further down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from safear.errors import InputError
from safear.evaluation.extremes import Range
from safear.plots.headings import write_heading
from safear.plots.letters import text_width, wrap
from safear.plots.picture import Picture, make_picture
from safear.plots.svg import (
    BLUE,
    FAILING,
    FAINT,
    INK,
    PANEL,
    PAPER,
    WRONG,
    document,
    element,
    group,
    number,
    square,
    tick_mark,
    write,
)
from safear.recourse.offer import Offer
from safear.recourse.plan import Hope, Plan, PlanStep
from safear.recourse.teller import Teller
from safear.recourse.turns import find_likely
from safear.texts.names import capital, show_name
from safear.texts.numbers import ALWAYS

MOST_COLUMNS = 3  # what is deeper is continued below
PAD, NARROWEST = 20.0, 720.0
BOX, ACROSS = 296.0, 210.0  # how wide a step is, and how far its right neighbour is from it
COLUMN, TEXT = BOX + ACROSS, BOX - 50  # from step to step, and how wide the words in a step may be
SLOT = 44.0  # the height of a way that leads to no other step, and of the first lines of a step
TITLE, SIZE = 14.5, 13.0  # sizes of letters
HEAD, LINE, MOST_LINES = 19.0, 17.0, 3  # of a title, of other words, and how many of a situation or an outcome
DOWN, GAP = 52.0, 14.0  # from a step to the next one below, and between ways
ENDING = 260.0  # how wide what stands at an end may be
Place = Literal["below", "right", "again", "named", "end", "left out"]


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step of the plan as it tells it, and where it stands; `root` if no line leads to it."""

    step: int
    action: str
    situation: str
    cost: float
    chance: float
    low: float
    high: float
    visits: float
    hope: Hope
    column: int
    root: bool


@dataclass(frozen=True, slots=True)
class WayRow:
    """A way on from a step: how likely whoever takes the step goes it, whether the action works, where it leads.

    `low` and `high` are the least and the most that the chance of its outcome may be.
    `kind` is "step" or how the plan ends ("goal", "out of time", "stuck", "lost"), or "not shown". Where it is drawn:
    the next step stands "below" or at the "right"; "again" is a loop; a step that stands elsewhere is "named"; rare
    ways are "left out".
    """

    step: int
    way: int
    works: bool
    chance: float
    low: float
    high: float
    outcome: str
    cost: float
    kind: str
    target: int | None
    place: Place


def tree(offer: Offer, *, title: str | None = None, language: str = "en", heading: bool = True) -> Picture:
    """Draw the contingent plan, its likely steps only; what leads back to a step names it."""
    tell, plan = Teller.of(language, offer.glossary), offer.plan
    placed = place_steps(plan, tell)
    words = tell("picture.tree.title", name=tell.name_plan(offer)) if title is None else show_name(title)
    svg = _TreeDrawing(plan, placed, tell, tell.text(offer.unit)).svg(words, plan.lines(language), heading=heading)
    return make_picture(svg, steps=placed.steps, ways=placed.ways)


# ------------------------------------------------------------------------------------------------------------- tables


def place_steps(plan: Plan, tell: Teller) -> PlacedSteps:
    """Give each of the likely steps its place; steps are in the order in which they are drawn."""
    if not plan.steps:
        raise InputError.at((), "there is no step to draw: the plan ends where it begins", code="nothing_to_draw")
    return PlacedSteps(plan, tell)


class PlacedSteps:
    """Walks a plan and gives each step its place, in the order of their numbers: what is aside before what is below."""

    def __init__(self, plan: Plan, tell: Teller) -> None:
        self.tell = tell
        self.plan = {step.number: step for step in plan.steps}
        self.steps: list[StepRow] = []
        self.ways: list[WayRow] = []
        self.next = 1  # steps before it have their place
        self.kept: set[int] = set()  # that will stand below a step that has its place
        while self.next in self.plan:
            self._place(self.next, column=0, root=True)

    def _place(self, number: int, *, column: int, root: bool) -> None:
        self.next += 1
        self.steps.append(_read_step(self.plan[number], self.tell, column, root=root))
        ways = list(_read_ways(self.plan[number], self.tell))
        main = self._find_main(ways)
        kept = set() if main is None or main.target is None else {main.target}
        self.kept |= kept
        for way in ways:
            if main is None or way.way != main.way:
                self._draw_way(way, column)
        self.kept -= kept
        if main is None:
            return
        is_next = main.target in {None, self.next}
        self.ways.append(replace(main, place="below" if is_next else "named"))
        if is_next and main.target is not None:
            self._place(main.target, column=column, root=False)

    def _find_main(self, ways: Sequence[WayRow]) -> WayRow | None:
        """The likeliest way on if the action works, to the goal or to a step that stands nowhere yet."""
        found = [
            way
            for way in ways
            if way.works and way.place != "left out" and (way.kind == "goal" or self._is_free(way.target))
        ]
        return max(found, key=lambda way: (way.chance, way.high), default=None)

    def _is_free(self, target: int | None) -> bool:
        return target is not None and target >= self.next and target not in self.kept

    def _draw_way(self, way: WayRow, column: int) -> None:
        """Decide how a way aside is drawn; the next step at its end is placed at once."""
        if way.place == "left out":
            self.ways.append(way)
        elif way.target is None:
            self.ways.append(replace(way, place="end"))
        elif way.target == way.step:
            self.ways.append(replace(way, place="again"))
        elif way.target == self.next and way.target not in self.kept and column + 1 < MOST_COLUMNS:
            self.ways.append(replace(way, place="right"))
            self._place(way.target, column=column + 1, root=False)
        else:
            self.ways.append(replace(way, place="named"))


def _read_step(step: PlanStep, tell: Teller, column: int, *, root: bool) -> StepRow:
    words = (step.number, tell.action(step.action), tell.situation(step))
    chances = (step.chance, step.within.low, step.within.high)
    return StepRow(*words, step.cost, *chances, step.visits, step.hope, column, root)


def _read_ways(step: PlanStep, tell: Teller) -> Iterator[WayRow]:
    """The ways on: what works first, then as the plan tells them. What is rare is not drawn, unless it is all."""
    number = 0
    for branch in sorted(step.branches, key=lambda branch: not branch.works):
        likely = find_likely(branch)
        for follow_up in branch.follow_ups:
            number += 1
            place: Place = "end" if follow_up in likely else "left out"
            chance = branch.chance * follow_up.share
            outcome = (branch.works, chance, branch.low, branch.high, tell.outcome(branch), branch.cost)
            yield WayRow(step.number, number, *outcome, follow_up.kind, follow_up.step, place)


# ------------------------------------------------------------------------------------------------------------ drawing


class _TreeDrawing:
    """Places everything, top down; what is drawn is collected in `parts`."""

    def __init__(self, plan: Plan, placed: PlacedSteps, tell: Teller, unit: str) -> None:
        self.hidden, self.goal = plan.hidden_steps, tell.goal(plan.goal)
        self.tell, self.say, self.unit = tell, tell.texts.part("picture.tree"), unit
        self.steps, self.ways = {row.step: row for row in placed.steps}, placed.ways
        self.before = {way.target: way.step for way in placed.ways if way.place in {"below", "right"}}
        self.parts: list[str] = []
        self.right = NARROWEST

    def svg(self, title: str, told: Sequence[str], *, heading: bool) -> str:
        self._draw(0.0)  # how wide all is decides on how many lines the heading stands
        width = self.right + PAD
        head, top = write_heading(title, [self.say("reading")], pad=PAD, width=width, shown=heading)
        self.parts = []
        y = self._draw(top + 12)
        return document(
            width, y, title=title, description="\n".join(line.strip() for line in told), body=[*head, *self.parts]
        )

    def _draw(self, y: float) -> float:
        for step in self.steps.values():
            if step.root:
                y = self._step(step, y) + 30
        if self.hidden:
            words = self.tell("plan_notes.hidden", count=self.hidden)
            self.parts.append(write(PAD, y + 4, words, size=13, fill=FAINT))
            y += 20
        return y

    def _step(self, step: StepRow, y: float) -> float:
        """Draw a step and all that hangs on it; where that ends."""
        x = PAD + COLUMN * step.column
        foot = y + self._box(step, x, y)
        self.right = max(self.right, x + BOX)
        ways, end, at = [way for way in self.ways if way.step == step.step and way.place != "left out"], foot, y
        for way in ways:
            if way.place == "again":
                end = at = self._loop(way, x + BOX, at)
        start = min(at + SLOT / 2, foot - 7)
        for way in ways:
            if way.place in {"right", "named", "end"}:
                end = self._aside(way, (x + BOX, start), at)
                at = end + GAP
        end = max(foot, end)
        for way in ways:
            if way.place == "below":
                end = self._below(way, x + 21, foot, end)
        return end

    def _box(self, step: StepRow, x: float, y: float) -> float:
        """Draw a step; its height."""
        times = self.tell.times_within(step.chance, Range(step.low, step.high))
        title = wrap(capital(step.action), TEXT, TITLE, bold=True)
        figures = wrap(self.say("facts", cost=self._cost(step.cost), times=times), TEXT, SIZE)
        when = self.tell("step.when", situation=step.situation) if step.situation else ""
        lines = _wrap(when, TEXT) if when else []
        if step.hope != "yes":
            lines += wrap(self.tell(f"step.hope.{step.hope}", goal=self.goal), TEXT, SIZE)
        facts = y + 21 + HEAD * len(title)
        below = facts + LINE * len(figures) + 1
        height = SLOT + 6 + HEAD * (len(title) - 1) + LINE * (len(figures) - 1 + len(lines)) + (3 if lines else 0)
        parts = [
            element("rect", x=x, y=y, width=BOX, height=height, rx=6, fill=PANEL, stroke=BLUE, stroke_width=1.5),
            element("circle", cx=x + 21, cy=y + 22, r=11, fill=BLUE),
            write(x + 21, y + 26.5, str(step.step), size=SIZE, bold=True, text_anchor="middle", fill=PAPER),
            *(write(x + 40, y + 20 + HEAD * i, line, size=TITLE, bold=True) for i, line in enumerate(title)),
            *(write(x + 40, facts + LINE * i, line, size=SIZE, room=TEXT) for i, line in enumerate(figures)),
            *(write(x + 40, below + LINE * i, line, size=SIZE, room=TEXT, fill=FAINT) for i, line in enumerate(lines)),
        ]
        note = ", ".join(part for part in (f"{step.step}. {step.action}", when) if part)
        self.parts.append(group(parts, note=note, class_="step", data_step=step.step))
        return height

    def _below(self, way: WayRow, x: float, foot: float, bottom: float) -> float:
        """The way down from the foot of a step to the next one, or to the end."""
        words, height = self._words(way, x + 13, foot + 18, room=BOX - 40)
        end = max(foot + DOWN, foot + 18 + height + 10, bottom + 22)
        line = element("line", x1=x, x2=x, y1=foot, y2=end - 6, **_stroke(way))
        self._add(way, [line, _arrow(way, x, end - 1, "down"), *words])
        if way.target is not None:
            return self._step(self.steps[way.target], end)
        return self._end(way, x, end + 10)

    def _aside(self, way: WayRow, start: tuple[float, float], y: float) -> float:
        """A way to the right: to a step, to the name of one, or to an end; where that is done."""
        (x, from_y), middle = start, y + SLOT / 2
        end = x + ACROSS
        path = f"M{number(x)} {number(from_y)}L{number(x + 14)} {number(from_y)}L{number(x + 14)} {number(middle)}"
        line = element("path", d=f"{path}L{number(end - 7)} {number(middle)}", fill="none", **_stroke(way))
        words, height = self._words(way, x + 20, middle - 6, room=ACROSS - 28, below=21)
        self._add(way, [line, _arrow(way, end - 1, middle, "right"), *words])
        least = middle - 6 + height
        if way.target is None:
            return max(least, self._end(way, end + 10, middle))
        if way.place == "right":
            return max(least, self._step(self.steps[way.target], y))
        return max(least, self._name(way, end, middle))

    def _loop(self, way: WayRow, x: float, y: float) -> float:
        """A way back to the same step; where that is done."""
        upper, lower, out = number(y + 12), number(y + 32), x + 34
        bend = f"C{number(out + 14)} {upper} {number(out + 14)} {lower} {number(out)} {lower}"
        path = f"M{number(x)} {upper}L{number(out)} {upper}{bend}L{number(x + 7)} {lower}"
        line = element("path", class_="loop", d=path, fill="none", **_stroke(way))
        again = self.say("again", what=self._say(way))
        words, height = self._words(way, x + 54, y + 26, room=ENDING, text=again)
        self._add(way, [line, _arrow(way, x + 1, y + 32, "left"), *words])
        widths = [text_width(self._say_outcome(way), SIZE), text_width(again, SIZE)]
        self.right = max(self.right, x + 54 + min(ENDING, max(widths)))
        return y + max(SLOT - 8, 26 + height + 4)

    def _name(self, way: WayRow, x: float, y: float) -> float:
        """The name of a step that stands elsewhere."""
        words = self.say("back" if self._is_loop(way) else "on", step=way.target)
        width = text_width(words, 13) + 24
        frame: dict[str, str | float] = {"rx": 14, "fill": PAPER, "stroke": BLUE, "stroke_width": 1.5}
        rect = element("rect", x=x, y=y - 14, width=width, height=28, **frame)
        self.parts.append(group([rect, write(x + 12, y + 4.5, words, size=13)], class_="named"))
        self.right = max(self.right, x + width)
        return y + SLOT / 2

    def _is_loop(self, way: WayRow) -> bool:
        """Whether a way leads back to a step on the line that leads here."""
        step: int | None = way.step
        while step is not None and step != way.target:
            step = self.before.get(step)
        return step is not None

    def _end(self, way: WayRow, x: float, y: float) -> float:
        """How the plan ends there."""
        good = way.kind == "goal"
        kind = way.kind.replace(" ", "_")
        key = f"picture.tree.{kind}" if kind in {"not_shown", "given_up"} else f"step.{kind}"
        words = self.goal if good else self.tell(key, goal=self.goal)
        sign = tick_mark(x, y, BLUE) if good else "" if way.kind == "not shown" else square(x, y)
        left, ink = (x + 16, INK if good else WRONG) if sign else (x - 4, FAINT)
        self.parts.append(
            group([sign, write(left, y + 5, words, size=13.5, bold=good, room=ENDING, fill=ink)], class_="end")
        )
        self.right = max(self.right, left + min(ENDING, text_width(words, 13.5, bold=good)))
        return y + SLOT / 2

    def _words(
        self, way: WayRow, x: float, y: float, *, room: float, below: float = LINE, text: str = ""
    ) -> tuple[list[str], float]:
        """How likely a way is, and on lines below it what changes then; and how far below that reaches."""
        words = [write(x, y, text or self._say(way), size=SIZE, room=room, fill=INK if way.works else WRONG)]
        outcome = self._say_outcome(way)
        lines = _wrap(outcome, room) if outcome else []
        starts = [y + below + LINE * place for place in range(len(lines))]
        words += [write(x, at, line, size=SIZE, room=room, fill=FAINT) for at, line in zip(starts, lines, strict=True)]
        return words, max([y, *starts]) - y + 4

    def _say(self, way: WayRow) -> str:
        """`works 90%`; `fails up to 52%` of what has the chance 0."""
        kind, percent = "works" if way.works else "fails", self.tell.percent
        if way.chance > ALWAYS:
            if way.low > ALWAYS:
                return self.say("then")
            return self.say(kind, chance=self.tell("ranges.span", low=percent(way.low), high=percent(1.0)))
        if not way.chance:
            return self.say(f"{kind}_at_most", chance=percent(way.high))
        return self.say(kind, chance=percent(way.chance))

    def _say_outcome(self, way: WayRow) -> str:
        """What changes, and what it costs if that is not what the step costs."""
        other = way.cost != self.steps[way.step].cost
        costs = self.say("costs", cost=self._cost(way.cost)) if other else ""
        return ", ".join(part for part in (costs, way.outcome) if part)

    def _cost(self, value: float) -> str:
        return self.tell.cost(value, self.unit)

    def _add(self, way: WayRow, parts: Sequence[str]) -> None:
        kind = "works" if way.works else "fails"
        self.parts.append(group(parts, class_=kind, data_step=way.step, data_way=way.way))


def _stroke(way: WayRow) -> dict[str, str | float]:
    if way.works:
        return {"stroke": BLUE, "stroke_width": 2.2}
    return {"stroke": WRONG, "stroke_width": 2, "stroke_dasharray": FAILING}


def _wrap(text: str, room: float) -> list[str]:
    """A text on a few lines; what is too much is left to the last one, which is cut off."""
    lines = wrap(text, room, SIZE)
    return [*lines[: MOST_LINES - 1], " ".join(lines[MOST_LINES - 1 :])] if len(lines) > MOST_LINES else lines


def _arrow(way: WayRow, x: float, y: float, towards: str) -> str:
    """A small triangle whose tip is there."""
    sides = {"down": "l-5 -8l10 0Z", "right": "l-8 -5l0 10Z", "left": "l8 -5l0 10Z"}[towards]
    return element("path", d=f"M{number(x)} {number(y)}{sides}", fill=BLUE if way.works else WRONG)
