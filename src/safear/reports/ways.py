"""How a plan may go, as lines with words beside them.

Length is cost, thickness is chance, orange dashes that end in a cross are tries that fail, as in `safear.plots.traces`.
Here all words are text of the page: they wrap on a phone, and they are in its language. Along a line, places are in
percent, so that it is as wide as there is room while its signs keep their size.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from safear.plots.svg import BLUE, PAPER, WRONG, cross, element, horizontal, square, tick_mark
from safear.recourse.offer import Offer
from safear.recourse.teller import Teller
from safear.recourse.traces import Trace

HEIGHT, MIDDLE = 24.0, 12.0
THINNEST, THICKEST = 1.6, 16.0  # lines, from a chance of 0 to one of 1
DASH = "6 3"
UNLIKELY = 0.05  # ways that together are less likely say little of a plan


@dataclass(frozen=True, slots=True)
class WayText:
    """One way in which a plan may go; `line` is markup."""

    chance: str
    line: str
    words: str
    end: str
    success: bool


@dataclass(frozen=True, slots=True)
class LineKey:
    """What a sign of the lines means; `sign` is markup."""

    sign: str
    words: str


def tell_ways(offer: Offer, longest: float, teller: Teller) -> list[WayText]:
    """The likeliest ways of a plan and one of the worst, none if even the likeliest are all unlikely.

    A line of full length costs `longest`.
    """
    if sum(trace.chance for trace in offer.traces.shown) < UNLIKELY:
        return []
    return [
        WayText(
            teller.percent(trace.chance),
            draw_way(trace, longest),
            teller.trace(trace),
            teller.trace_end(trace, offer),
            trace.success,
        )
        for trace in offer.traces.shown
    ]


def find_longest(offers: Iterable[Offer]) -> float:
    """What the costliest way that is shown of any of the plans takes."""
    return max((trace.spent for offer in offers for trace in offer.traces.shown), default=0.0)


def draw_way(trace: Trace, longest: float) -> str:
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


def tell_keys(goal: str, teller: Teller) -> list[LineKey]:
    """What the signs mean."""
    say = teller.texts.part("ways.key")
    signs = {
        "works": (34.0, horizontal(2, 32, MIDDLE, BLUE, 6)),
        "fails": (40.0, horizontal(2, 32, MIDDLE, WRONG, 3, stroke_dasharray=DASH) + cross(32, MIDDLE, 4.5)),
        "success": (20.0, tick_mark(10, MIDDLE, BLUE)),
        "failure": (20.0, square(10, MIDDLE)),
    }
    return [LineKey(_canvas(sign, width=width), say(name, goal=goal)) for name, (width, sign) in signs.items()]


def tell_rest(offer: Offer, teller: Teller) -> tuple[str, str] | None:
    """How likely all other ways are together, and how they end; None if there are none."""
    rest = offer.traces.rest
    return (
        None
        if rest is None
        else (teller.percent(rest.chance), teller.other_traces(rest.success_costs, rest.failure, offer.unit))
    )
