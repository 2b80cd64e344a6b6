"""How a plan may go, as lines with words beside them.

Length is cost, thickness is chance, orange dashes that end in a cross are tries that fail, as in `safear.plots.traces`.
Here all words are text of the page: they wrap on a phone, and they are in its language. Along a line, places are in
percent, so that it is as wide as there is room while its signs keep their size.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from safear.plots.svg import BLUE, PAPER, WRONG, cross, element, horizontal, square, tick_mark
from safear.recourse.offer import Offer
from safear.recourse.traces import OtherTraces, Trace, TraceStep
from safear.texts import Texts
from safear.texts.names import show_name

HEIGHT, MIDDLE = 24.0, 12.0
THINNEST, THICKEST = 1.6, 16.0  # lines, from a chance of 0 to one of 1
DASH = "6 3"
UNLIKELY = 0.05  # ways that together are less likely say little of a plan


@dataclass(frozen=True, slots=True)
class Way:
    """One way in which a plan may go; `line` is markup."""

    chance: str
    line: str
    words: str
    end: str
    success: bool


@dataclass(frozen=True, slots=True)
class Key:
    """What a sign of the lines means; `sign` is markup."""

    sign: str
    words: str


def tell_ways(offer: Offer, longest: float, texts: Texts) -> list[Way]:
    """The likeliest ways of a plan, none if even these are all unlikely; a line of full length costs `longest`."""
    if sum(trace.chance for trace in offer.traces.shown) < UNLIKELY:
        return []
    return [_tell_way(trace, longest, texts, show_name(offer.unit)) for trace in offer.traces.shown]


def find_longest(offers: Iterable[Offer]) -> float:
    """What the costliest way that is shown of any of the plans takes."""
    return max((add_up(trace.steps) for offer in offers for trace in offer.traces.shown), default=0.0)


def add_up(steps: Iterable[TraceStep]) -> float:
    """What steps cost together."""
    return math.fsum(step.cost for step in steps)


def _tell_way(trace: Trace, longest: float, texts: Texts, unit: str) -> Way:
    spent = texts.cost(add_up(trace.steps), unit)
    end = spent if trace.success else texts("ways.failed", cost=spent)
    words = texts("ways.then").join(_tell_steps(trace.steps, texts))
    return Way(texts.percent(trace.chance), draw_line(trace, longest), words, end, trace.success)


def _tell_steps(steps: Sequence[TraceStep], texts: Texts) -> list[str]:
    """Each action with its tries: `study at try number 3`, `change job fails`, `save twice`."""
    say, words = texts.part("ways"), []
    for action, group in groupby(steps, key=lambda step: step.action):
        name = show_name(action)
        runs = [(works, len(list(run))) for works, run in groupby(group, key=lambda step: step.works)]
        failed = 0
        for works, count in runs:
            if not works:
                failed = count
                continue
            if failed:
                words.append(say("attempt", action=name, number=failed + 1))
                failed, count = 0, count - 1  # noqa: PLW2901  # the first of these is the try that worked
            if count:
                words.append(say("repeated", action=name, count=count))
        if failed:
            words.append(say("fails", action=name, count=failed))
    return words


def draw_line(trace: Trace, longest: float) -> str:
    """The line of a trace as SVG that is as wide as it may be."""
    width = THINNEST + (THICKEST - THINNEST) * trace.chance
    lines, marks, done = [], [], 0.0
    for number, step in enumerate(trace.steps, start=1):
        start, done = done, done + step.cost
        last = number == len(trace.steps)
        ends: dict[str, str | float] = {"x1": _percent(start, longest), "x2": _percent(done, longest)}
        style: dict[str, str | float] = {"y1": MIDDLE, "y2": MIDDLE, "stroke_width": width}
        if step.works:
            lines.append(element("line", stroke=BLUE, **ends, **style))
            sign = "" if last else element("line", y1=-width / 2, y2=width / 2, stroke=PAPER, stroke_width=2)
        else:
            lines.append(element("line", stroke=WRONG, stroke_dasharray=DASH, **ends, **style))
            sign = "" if last and not trace.success else cross(0, 0, 4.5)
        marks.append(_at(done, longest, sign))
    marks.append(_at(done, longest, tick_mark(0, 0, BLUE) if trace.success else square(0, 0)))
    return _canvas(*lines, *marks, width="100%")


def _percent(cost: float, longest: float) -> str:
    return f"{100 * cost / longest if longest else 0:.2f}%"


def _at(cost: float, longest: float, sign: str) -> str:
    """A sign around the place of a cost."""
    return element("svg", sign, x=_percent(cost, longest), y=MIDDLE, overflow="visible") if sign else ""


def _canvas(*content: str, width: str | float) -> str:
    more: dict[str, str | float] = {"aria_hidden": "true", "focusable": "false", "overflow": "visible"}
    return element("svg", *content, width=width, height=HEIGHT, **more)


def tell_keys(goal: str, texts: Texts) -> list[Key]:
    """What the signs mean."""
    say = texts.part("ways.key")
    signs = {
        "works": (34.0, horizontal(2, 32, MIDDLE, BLUE, 6)),
        "fails": (40.0, horizontal(2, 32, MIDDLE, WRONG, 3, stroke_dasharray=DASH) + cross(32, MIDDLE, 4.5)),
        "success": (20.0, tick_mark(10, MIDDLE, BLUE)),
        "failure": (20.0, square(10, MIDDLE)),
    }
    return [Key(_canvas(sign, width=width), say(name, goal=goal)) for name, (width, sign) in signs.items()]


def tell_rest(rest: OtherTraces | None, texts: Texts, unit: str) -> tuple[str, str] | None:
    """How likely all other ways are together, and how they end; None if there are none."""
    if rest is None:
        return None
    say, ends = texts.part("ways"), []
    if rest.success_costs is not None:
        low, high = rest.success_costs
        least, most = texts.number(low), texts.cost(high, unit)
        words = say("rest_success", cost=most) if least == texts.number(high) else ""
        ends.append(words or say("rest_success_between", least=least, most=most))
    if rest.failure:
        share = f" ({texts.percent(rest.failure)})" if ends else ""
        ends.append(say("rest_failure") + share)
    return texts.percent(rest.chance), say("rest", ends=texts.join(ends, last="or"))
