"""The tornado: how far each chance and cost can move before the first step changes, and what it does to the average.

A row per amount, that whose flip is nearest first. The bar is how far it can move with the advice as it is, down to the
left and up to the right: in points of a chance, or in per cent of a cost. It is dark if the advice changes at its end,
and light if it does not, however far the amount moves. What is longer than the axis ends in an arrow there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from safear.evaluation.adjoint import Derivatives
from safear.plots.axes import LinearScale, draw_path
from safear.plots.headings import Sign, write_heading, write_key
from safear.plots.letters import wrap
from safear.plots.picture import Picture, make_picture
from safear.plots.svg import (
    BLUE,
    FAINT,
    GRID,
    INK,
    PANEL,
    WRONG,
    document,
    element,
    group,
    horizontal,
    nice_ticks,
    vertical,
    write,
)
from safear.recourse.march import Direction, Leeway, scale_of
from safear.recourse.sensitivity import DIRECTIONS, PlanSensitivity
from safear.recourse.sensitivity_teller import SensitivityTeller, step_of
from safear.texts.names import capital, show_name

WIDTH, PAD, GAP = 940.0, 16.0, 24.0
NAMES, EFFECT = 236.0, 212.0  # how wide the names and the column of effects are
ROW, BAR = 60.0, 12.0
LINE, MOST_LINES = 16.0, 3  # of a name; rows have room for two and what the amount is now
TEXT, SMALL = 14.0, 13.0
BEYOND = 7.0  # how long the arrow of what is longer than the axis is
MOST_ROWS = 12
LEAST_SPAN = 0.1  # so that a hair does not look like a lot
DASH = "4 3"
UNITS = {True: ("chances", "points"), False: ("costs", "percent")}  # of the axis
FADED = "#bcd0e6"


@dataclass(frozen=True, slots=True)
class TornadoRow:
    """An amount: what it is, where the advice changes if it falls or rises, what is done first then, and its effects.

    Effects are per ten percentage points of a chance and per unit of a cost.
    """

    number: int
    place: str
    text: str
    value: float
    down: float | None
    down_action: str | None
    up: float | None
    up_action: str | None
    success: float
    mean: float
    tail: float


def tornado(plan: PlanSensitivity, *, title: str | None = None, language: str = "en", heading: bool = True) -> Picture:
    """Draw what a plan hangs on, as `sa.sensitivity(...)["safest"]` has it."""
    drawing = _TornadoDrawing(plan, SensitivityTeller.of(language, plan.offer.glossary))
    words = drawing.say("title") if title is None else show_name(title)
    return make_picture(drawing.svg(words, heading=heading), rows=drawing.table())


class _TornadoDrawing:
    """Places everything, top down."""

    def __init__(self, plan: PlanSensitivity, tell: SensitivityTeller) -> None:
        self.plan, self.tell, self.unit = plan, tell, plan.offer.unit
        self.say = tell.teller.texts.part("picture.tornado")
        self.items = sorted(plan.derivatives, key=self._order)
        self.shown = self.items[:MOST_ROWS]
        self.names = {item.parameter.path: self._wrap(item) for item in self.shown}
        self.middle = PAD + NAMES + GAP + (WIDTH - 2 * PAD - NAMES - EFFECT - 2 * GAP) / 2
        sides = [self._tell_side(self._leeway(item, direction)) for item in self.shown for direction in DIRECTIONS]
        has_long_names = any(len(lines) == MOST_LINES for lines in self.names.values())
        is_high = has_long_names or any(len(lines) > 1 for lines in sides)
        self.row = ROW + LINE * is_high
        half = self.middle - (PAD + NAMES + GAP)
        flips = [flip.distance for flip in plan.flips[: 2 * MOST_ROWS] if flip.distance <= 1]
        self.ticks = [tick for tick in nice_ticks(0, max(LEAST_SPAN, *flips, 0.0) * 1.05, 2) if tick <= 1] or [1.0]
        self.span = self.ticks[-1]
        self.x = LinearScale(-self.span, self.span, self.middle - half, self.middle + half)
        largest = max((abs(self._effect(item)) for item in self.shown), default=0.0) or 1.0
        left = WIDTH - PAD - EFFECT
        self.zero = left + EFFECT / 2
        self.effect = LinearScale(-largest, largest, left + 4, WIDTH - PAD - 4)

    def _order(self, item: Derivatives) -> tuple[float, float]:
        """The nearest flip first, then the largest effect."""
        found = [self._leeway(item, direction).flip for direction in DIRECTIONS]
        return min((flip.distance for flip in found if flip is not None), default=inf), -abs(self._effect(item))

    def _wrap(self, item: Derivatives) -> list[str]:
        """The name of an amount on as many lines as there are; the last is cut off where that is not enough."""
        lines = wrap(capital(self.tell.parameter(item.parameter, self.plan.problem)), NAMES, SMALL)
        return [*lines[: MOST_LINES - 1], *([" ".join(lines[MOST_LINES - 1 :])] if len(lines) >= MOST_LINES else [])]

    def _tell_side(self, leeway: Leeway) -> list[str]:
        """Where the advice changes in one direction, on one line or two."""
        flip, words = leeway.flip, self.say("no_change")
        if flip is not None:
            value = self.tell.value(flip.parameter, flip.value, self.unit)
            words = self.say("flip", value=value, action=self.tell.teller.action(flip.action))
        first, *rest = wrap(words, self._side_room, SMALL)
        return [first, *([" ".join(rest)] if rest else [])]

    @property
    def _side_room(self) -> float:
        return self.middle - PAD - NAMES - GAP - 12

    def _leeway(self, item: Derivatives, direction: Direction) -> Leeway:
        return self.plan.leeway(item.parameter, direction)

    def _effect(self, item: Derivatives) -> float:
        """On the mean."""
        return item.mean * step_of(item.parameter)

    def table(self) -> list[TornadoRow]:
        """All that is drawn, and what there was no room for."""
        rows = []
        for count, item in enumerate(self.items, start=1):
            parameter, step = item.parameter, step_of(item.parameter)
            down, up = (self._leeway(item, direction).flip for direction in DIRECTIONS)
            rows.append(
                TornadoRow(
                    number=count,
                    place=".".join(map(str, parameter.path)),
                    text=self.tell.parameter(parameter, self.plan.problem),
                    value=float(parameter.value),
                    down=None if down is None else down.value,
                    down_action=None if down is None else down.action,
                    up=None if up is None else up.value,
                    up_action=None if up is None else up.action,
                    success=item.success * step,
                    mean=item.mean * step,
                    tail=item.tail.up * step,
                )
            )
        return rows

    def svg(self, title: str, *, heading: bool) -> str:
        lines = [" ".join([f"{self.tell.head(self.plan)}.", self.say("reading")]), *self.tell.notes(self.plan)]
        if len(self.shown) < len(self.items):
            whole = self.tell.teller.texts.whole
            lines.append(self.say("most", shown=whole(len(self.shown)), total=whole(len(self.items))))
        body, y = write_heading(title, lines, pad=PAD, width=WIDTH, shown=heading)
        key, y = write_key(self._signs(), x=PAD, y=y + 6, right=WIDTH - PAD)
        body += key
        top = y + 36
        body += self._headings(top)
        start = top + 34
        end = start + self.row * len(self.shown)
        body += self._frame(start, end)
        body += [self._row(item, start + self.row * place) for place, item in enumerate(self.shown)]
        description = "\n".join(self.tell.lines(self.plan))
        bottom = end + 16 + LINE * len(self._units())
        return document(WIDTH, bottom, title=title, description=description, body=body)

    def _signs(self) -> list[Sign]:
        """What the signs mean."""
        leeways = [self._leeway(item, direction) for item in self.shown for direction in DIRECTIONS]
        shown: list[tuple[bool, Sign]] = [
            (
                any(leeway.flip is not None for leeway in leeways),
                (34, lambda x, y: _bar(x, x + 30, y) + _edge(x + 30, y), self.say("stays")),
            ),
            (
                any(leeway.flip is None for leeway in leeways),
                (34, lambda x, y: _bar(x, x + 34, y, FADED), self.say("never")),
            ),
            (
                any(not leeway.is_certain for leeway in leeways),
                (34, lambda x, y: _sampled(x, x + 34, y), self.say("sampled")),
            ),
            (
                any(item.parameter.amount.is_interval for item in self.shown),
                (34, lambda x, y: _interval(x, x + 34, y), self.say("interval")),
            ),
            (
                any(self._is_beyond(item) for item in self.shown),
                (34, lambda x, y: _bar(x, x + 27, y, FADED) + _tip(x + 27, y, 1, FADED), self.say("beyond")),
            ),
        ]
        return [sign for is_met, sign in shown if is_met]

    def _is_beyond(self, item: Derivatives) -> bool:
        """Whether something of an amount is longer than the axis."""
        amount, leeways = item.parameter.amount, (self._leeway(item, direction) for direction in DIRECTIONS)
        ends = [leeway.end if leeway.flip is None else leeway.flip.value for leeway in leeways]
        ends += [float(amount.low), float(amount.high)] if amount.is_interval else []
        return any(abs(self._moved(item, end)) > self.span * (1 + 1e-9) for end in ends)

    def _headings(self, y: float) -> list[str]:
        room = 2 * (self.middle - PAD - NAMES - GAP)
        left = PAD + NAMES + GAP
        return [
            write(left, y, self.say("leeway"), size=TEXT, bold=True, room=room),
            write(left, y + 17, self.say("leeway_detail"), size=SMALL, fill=FAINT, room=room),
            write(WIDTH - PAD - EFFECT, y, self.say("effect"), size=TEXT, bold=True, room=EFFECT),
            write(WIDTH - PAD - EFFECT, y + 17, self.say("effect_detail"), size=SMALL, fill=FAINT, room=EFFECT),
        ]

    def _frame(self, start: float, end: float) -> list[str]:
        """Lines between rows, where nothing has moved, and the scale below."""
        parts = [horizontal(PAD, WIDTH - PAD, start + self.row * place, GRID) for place in range(len(self.shown) + 1)]
        ticks = [-tick for tick in self.ticks if tick] + self.ticks
        parts += [vertical(self.x(tick), start, end + 4, GRID) for tick in ticks]
        for line, (name, unit) in enumerate(self._units(), start=1):
            y = end + 4 + LINE * line
            parts.append(write(PAD, y, self.say(name), size=SMALL, fill=FAINT, room=NAMES))
            for tick in ticks:
                told = self.tell.teller(f"format.{unit}", number=self.tell.teller.number(100 * tick))
                told = f"+{told}" if tick > 0 else told
                parts.append(write(self.x(tick), y, told, size=SMALL, fill=FAINT, text_anchor="middle"))
        return [*parts, vertical(self.zero, start, end, GRID), vertical(self.middle, start, end, INK)]

    def _units(self) -> list[tuple[str, str]]:
        """What the axis counts in: points of chances, and per cent of costs."""
        kinds = {item.parameter.is_chance for item in self.shown}
        return [unit for is_chance, unit in UNITS.items() if is_chance in kinds]

    def _row(self, item: Derivatives, top: float) -> str:
        parameter, y = item.parameter, top + 19
        name = self.tell.parameter(parameter, self.plan.problem)
        lines = self.names[parameter.path]
        now = self.say("now", value=self.tell.value(parameter, float(parameter.value), self.unit))
        words = [write(PAD, top + 17 + LINE * place, line, size=SMALL, room=NAMES) for place, line in enumerate(lines)]
        words.append(write(PAD, top + 17 + LINE * len(lines), now, size=SMALL, fill=FAINT, room=NAMES))
        sides = [self._side(self._leeway(item, direction), y) for direction in DIRECTIONS]
        note = name
        flips = [flip for flip in self.plan.flips if flip.parameter is parameter]
        if flips:
            note = "\n".join(self.tell.flip(flip, self.plan) for flip in flips)
        amount, parts = parameter.amount, [*words, *sides]
        if amount.is_interval:
            low, high = (self._moved(item, float(end)) for end in (amount.low, amount.high))
            cut = (low < -self.span * (1 + 1e-9), high > self.span * (1 + 1e-9))
            parts.append(_interval(self.x(max(low, -self.span)), self.x(min(high, self.span)), y + 10, cut=cut))
        return group([*parts, self._effects(item, y)], note=note, class_="row")

    def _moved(self, item: Derivatives, value: float) -> float:
        """How far a value is from what the amount is: in chance, or in relation to the cost."""
        moved = value - float(item.parameter.value)
        return moved if item.parameter.is_chance else moved / scale_of(item.parameter)

    def _side(self, leeway: Leeway, y: float) -> str:
        """The bar in one direction, and below it where the advice changes."""
        item = next(item for item in self.shown if item.parameter is leeway.parameter)
        sign = 1 if leeway.direction == "up" else -1

        def place(value: float) -> float:
            return self.x(sign * min(abs(self._moved(item, value)), self.span))

        flip, parts = leeway.flip, []
        end = leeway.end if flip is None else flip.value
        last, beyond = place(end), abs(self._moved(item, end)) > self.span * (1 + 1e-9)
        certain = last if leeway.is_certain else place(leeway.certain_to)
        shade = BLUE if flip is not None else FADED
        parts.append(_bar(self.middle, certain, y, shade))
        if not leeway.is_certain:
            parts.append(_sampled(certain, last, y))
        fill = FAINT if flip is None else INK
        if beyond:
            parts.append(_tip(last, y, sign, shade))
        elif flip is not None:
            parts.append(_edge(last, y))
        x, room, anchor = self.middle + 8 * sign, self._side_room, "start" if sign > 0 else "end"
        for number, line in enumerate(self._tell_side(leeway)):
            below = y + 26 + LINE * number
            parts.append(write(x, below, line, size=SMALL, room=room, halo=True, fill=fill, text_anchor=anchor))
        return group(parts, class_=leeway.direction)

    def _effects(self, item: Derivatives, y: float) -> str:
        """What a rise does to the average, and in words to the worst cases."""
        effect, step = self._effect(item), step_of(item.parameter)
        rise = self.tell.points(step) if item.parameter.is_chance else self.tell.signed(step, self.unit)
        words = self.say("moves", rise=rise, mean=self.tell.signed(effect, self.unit))
        end = self.effect(effect)
        bar = element(
            "rect",
            class_="effect",
            x=min(self.zero, end),
            y=y - BAR / 2,
            width=abs(end - self.zero),
            height=BAR,
            fill=WRONG if effect > 0 else BLUE,
        )
        told = write(self.zero, y + 26, words, size=SMALL, room=EFFECT, halo=True, fill=FAINT, text_anchor="middle")
        return group([bar if abs(end - self.zero) >= 0.05 else "", told], class_="effects")


def _bar(start: float, end: float, y: float, fill: str = BLUE) -> str:
    """How far an amount can move."""
    left, width = min(start, end), abs(end - start)
    return element("rect", class_="leeway", x=left, y=y - BAR / 2, width=width, height=BAR, fill=fill)


def _edge(x: float, y: float) -> str:
    """Where the advice changes."""
    return vertical(x, y - BAR / 2 - 4, y + BAR / 2 + 4, INK, 2)


def _sampled(start: float, end: float, y: float) -> str:
    """How far an amount can move as far as some values tell."""
    left, width = min(start, end), abs(end - start)
    return element(
        "rect",
        class_="sampled",
        x=left,
        y=y - BAR / 2,
        width=width,
        height=BAR,
        fill=PANEL,
        stroke=BLUE,
        stroke_dasharray=DASH,
    )


def _tip(x: float, y: float, sign: int, fill: str) -> str:
    """The end of a bar that is longer than the axis."""
    corners = [(x, y - BAR / 2), (x + BEYOND * sign, y), (x, y + BAR / 2)]
    return element("path", class_="beyond", d=f"{draw_path(corners)}Z", fill=fill)


def _interval(start: float, end: float, y: float, *, cut: Sequence[bool] = (False, False)) -> str:
    """What the file says that the amount may be: a cap at either end, or an arrow where it is cut at the axis."""
    ends = "".join(
        _arrow(x, y, sign) if is_cut else vertical(x, y - 3, y + 3, INK)
        for x, sign, is_cut in zip((start, end), (-1, 1), cut, strict=True)
    )
    return element("g", horizontal(start, end, y, INK) + ends, class_="interval")


def _arrow(x: float, y: float, sign: int) -> str:
    """The end of an interval that is longer than the axis."""
    tip, back = x + BEYOND * sign, x + (BEYOND - 4) * sign
    path = draw_path([(back, y - 3), (tip, y), (back, y + 3)])
    return element(
        "g",
        horizontal(x, tip, y, INK),
        element("path", d=path, fill="none", stroke=INK),
        class_="beyond",
    )
