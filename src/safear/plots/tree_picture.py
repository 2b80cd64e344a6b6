"""The picture of a contingent plan: what to do, and what then if it works (down) or fails (right, orange dashes)."""

from __future__ import annotations

from collections.abc import Sequence

from safear.plots.picture import Picture
from safear.plots.svg import (
    ELLIPSIS,
    FAINT,
    INK,
    PANEL,
    PAPER,
    WRONG,
    blue,
    clean,
    document,
    element,
    group,
    number,
    square,
    text_width,
    tick_mark,
    wrap,
    write,
)
from safear.plots.tree_layout import Layout, StepRow, WayRow, lay_out
from safear.recourse.offer import Offer
from safear.recourse.teller import Teller
from safear.recourse.words import format_chance, format_cost, times_in

PAD, TOP, NARROWEST = 20.0, 92.0, 720.0
BOX, ACROSS = 276.0, 148.0  # how wide a step is, and how far its right neighbour is from it
COLUMN, TEXT = BOX + ACROSS, BOX - 50  # from step to step, and how wide the words in a step may be
SLOT = 44.0  # the height of a way that leads to no other step, and of the first lines of a step
LINE, MOST_LINES = 15.0, 3  # of the situation
DOWN, GAP = 52.0, 14.0  # from a step to the next one below, and between ways
ENDING = 240.0  # how wide what stands at an end may be
BLUE = blue(1, 3)
ENDINGS = {"out of time": "the time is up", "stuck": "no step is left", "not shown": "a rarer step, not shown"}


def tree(offer: Offer, *, title: str | None = None) -> Picture:
    """Draw the contingent plan, its likely steps only; what leads back to a step names it."""
    layout = lay_out(offer)
    words = clean(f"The plan step by step: {offer.name}" if title is None else title)
    told = "\n".join(clean(line) for line in offer.plan.lines())
    return Picture(_Drawing(layout, words).svg(told), layout.tables)


class _Drawing:
    """Places everything, top down; what is drawn is collected in `parts`."""

    def __init__(self, layout: Layout, title: str) -> None:
        self.layout, self.title = layout, title
        self.before = {way.target: way.step for way in layout.ways if way.place in {"below", "right"}}
        self.parts: list[str] = []
        self.right = NARROWEST

    def svg(self, description: str) -> str:
        y = TOP
        for step in self.layout.steps:
            if step.root:
                y = self._step(step, y) + 30
        hidden = self.layout.hidden_steps
        if hidden:
            verb = "situation is" if hidden == 1 else "situations are"
            self.parts.append(write(PAD, y + 4, f"{hidden} rarer {verb} not shown.", size=13, fill=FAINT))
            y += 20
        width = self.right + PAD
        what = "Solid lines: it works. Orange dashes: it fails. Per cent: how often, of those who take the step."
        head = [
            write(PAD, 36, self.title, size=21, bold=True, room=width - 2 * PAD),
            write(PAD, 60, what, size=13.5, room=width - 2 * PAD, fill=FAINT),
        ]
        return document(width, y, title=self.title, description=description, body=[*head, *self.parts])

    def _step(self, step: StepRow, y: float) -> float:
        """Draw a step and all that hangs on it; where that ends."""
        x = PAD + COLUMN * step.column
        foot = y + self._box(step, x, y)
        self.right = max(self.right, x + BOX)
        ways, end, at = self.layout.ways_from(step.step), foot, y
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
        lines = _cut(f"when {clean(step.situation)}") if step.situation else []
        lines += _cut(Teller.of()(f"step.hope.{step.hope}", goal=self.layout.goal)) if step.hope != "yes" else []
        height = SLOT + 4 + LINE * len(lines) + (4 if lines else 0)
        action = clean(step.action)
        figures = f"{format_cost(step.cost, self.layout.unit)}, works {times_in(step.chance)}"
        parts = [
            element("rect", x=x, y=y, width=BOX, height=height, rx=6, fill=PANEL, stroke=BLUE, stroke_width=1.5),
            element("circle", cx=x + 21, cy=y + 22, r=11, fill=BLUE),
            write(x + 21, y + 26.5, str(step.step), size=12, bold=True, text_anchor="middle", fill=PAPER),
            write(x + 40, y + 19, f"{action[:1].upper()}{action[1:]}", size=14.5, bold=True, room=TEXT),
            write(x + 40, y + 37, figures, size=12.5, room=TEXT + 4),
            *(write(x + 40, y + 55 + LINE * i, line, size=12, room=TEXT, fill=FAINT) for i, line in enumerate(lines)),
        ]
        note = f"{step.step}. {action}" + (f", when {clean(step.situation)}" if step.situation else "")
        self.parts.append(group(parts, note=note, class_="step", data_step=step.step))
        return height

    def _below(self, way: WayRow, x: float, foot: float, bottom: float) -> float:
        """The way down from the foot of a step to the next one, or to the end."""
        end = max(foot + DOWN, bottom + 22)
        line = element("line", x1=x, x2=x, y1=foot, y2=end - 6, **_stroke(way))
        self._add(way, [line, _arrow(way, x, end - 1, "down"), *self._words(way, x + 13, foot + 18, room=BOX - 40)])
        if way.target is not None:
            return self._step(self.layout.step(way.target), end)
        return self._end(way, x, end + 10)

    def _aside(self, way: WayRow, start: tuple[float, float], y: float) -> float:
        """A way to the right: to a step, to the name of one, or to an end; where that is done."""
        (x, from_y), middle = start, y + SLOT / 2
        end = x + ACROSS
        path = f"M{number(x)} {number(from_y)}L{number(x + 14)} {number(from_y)}L{number(x + 14)} {number(middle)}"
        line = element("path", d=f"{path}L{number(end - 7)} {number(middle)}", fill="none", **_stroke(way))
        words = self._words(way, x + 20, middle - 6, room=ACROSS - 28, below=21)
        self._add(way, [line, _arrow(way, end - 1, middle, "right"), *words])
        if way.target is None:
            return self._end(way, end + 10, middle)
        return self._step(self.layout.step(way.target), y) if way.place == "right" else self._name(way, end, middle)

    def _loop(self, way: WayRow, x: float, y: float) -> float:
        """A way back to the same step; where that is done."""
        upper, lower, out = number(y + 12), number(y + 32), x + 34
        bend = f"C{number(out + 14)} {upper} {number(out + 14)} {lower} {number(out)} {lower}"
        path = f"M{number(x)} {upper}L{number(out)} {upper}{bend}L{number(x + 7)} {lower}"
        line = element("path", class_="loop", d=path, fill="none", **_stroke(way))
        words = self._words(way, x + 54, y + 26, room=ENDING, more=": try again")
        self._add(way, [line, _arrow(way, x + 1, y + 32, "left"), *words])
        widths = [text_width(self._say_outcome(way), 11.5), text_width(f"{_say(way)}: try again", 12.5)]
        self.right = max(self.right, x + 54 + min(ENDING, max(widths)))
        return y + (SLOT + 6 if self._say_outcome(way) else SLOT - 8)

    def _name(self, way: WayRow, x: float, y: float) -> float:
        """The name of a step that stands elsewhere."""
        words = f"{'back to' if self._is_loop(way) else 'go on with'} step {way.target}"
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
        words = clean(self.layout.goal) if good else ENDINGS[way.kind]
        sign = tick_mark(x, y, BLUE) if good else "" if way.kind == "not shown" else square(x, y)
        left, ink = (x + 16, INK if good else WRONG) if sign else (x - 4, FAINT)
        self.parts.append(
            group([sign, write(left, y + 5, words, size=13.5, bold=good, room=ENDING, fill=ink)], class_="end")
        )
        self.right = max(self.right, left + min(ENDING, text_width(words, 13.5, bold=good)))
        return y + SLOT / 2

    def _words(self, way: WayRow, x: float, y: float, *, room: float, below: float = 16, more: str = "") -> list[str]:
        """How likely a way is, and on a line below it what changes then."""
        words = [write(x, y, _say(way) + more, size=12.5, room=room, fill=INK if way.works else WRONG)]
        outcome = self._say_outcome(way)
        return words + ([write(x, y + below, outcome, size=11.5, room=room, fill=FAINT)] if outcome else [])

    def _say_outcome(self, way: WayRow) -> str:
        """What changes, and what it costs if that is not what the step costs."""
        other = way.cost != self.layout.step(way.step).cost
        return ", ".join(
            part
            for part in (f"costs {format_cost(way.cost, self.layout.unit)}" if other else "", clean(way.outcome))
            if part
        )

    def _add(self, way: WayRow, parts: Sequence[str]) -> None:
        kind = "works" if way.works else "fails"
        self.parts.append(group(parts, class_=kind, data_step=way.step, data_way=way.way))


def _say(way: WayRow) -> str:
    """`works 90%`."""
    if way.chance > 1 - 1e-9:
        return "then"
    return f"{'works' if way.works else 'fails'} {format_chance(way.chance)}"


def _stroke(way: WayRow) -> dict[str, str | float]:
    if way.works:
        return {"stroke": BLUE, "stroke_width": 2.2}
    return {"stroke": WRONG, "stroke_width": 2, "stroke_dasharray": "6 3"}


def _cut(text: str) -> list[str]:
    """A text on a few lines; what is too much is cut off."""
    lines = wrap(text, TEXT, 12)
    return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], f"{lines[MOST_LINES - 1]}{ELLIPSIS}"]


def _arrow(way: WayRow, x: float, y: float, towards: str) -> str:
    """A small triangle whose tip is there."""
    sides = {"down": "l-5 -8l10 0Z", "right": "l-8 -5l0 10Z", "left": "l8 -5l0 10Z"}[towards]
    return element("path", d=f"M{number(x)} {number(y)}{sides}", fill=BLUE if way.works else WRONG)
