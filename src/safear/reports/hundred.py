"""What happens to 100 people who follow a plan, as dots and in words.

They are the people of `safear.plots.dots`: whoever is counted there as done within a cost is so here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safear.plots.cost_axis import cumulate
from safear.plots.dots_picture import PEOPLE, find_costs
from safear.plots.svg import BLUE, PAPER, WRONG, element
from safear.recourse.offer import Offer
from safear.recourse.teller import Teller

HALF = 0.5  # so many, or more, are told of first
HARDLY_ANYBODY = 0.005  # less than half a person in 100 is not told of
PER_ROW, STEP, RADIUS = 20, 12.0, 4.4


@dataclass(frozen=True, slots=True)
class Hundred:
    """100 people: dots as markup, and what they mean, each with its sign."""

    dots: str
    parts: tuple[tuple[str, str], ...]


def tell_hundred(offer: Offer, teller: Teller) -> Hundred:
    """Who gets there soon, who later, and who not in time."""
    say, cost, people = teller.texts.part("hundred"), offer.cost, find_costs(offer)
    costs, reached = cumulate(offer)
    success = reached[-1] if reached else 0.0
    quick = int(np.searchsorted(reached, min(HALF, success * (1 - 1e-9)))) if success else -1
    done = [person for person in people if person is not None]
    soon = sum(person <= costs[quick] for person in done)
    counts = (soon, len(done) - soon, PEOPLE - len(done))
    parts = []
    if counts[0]:
        parts.append(("quick", say("quick", count=counts[0], cost=teller.exact_cost(costs[quick], offer.unit))))
    if counts[1]:
        last = int(np.searchsorted(reached, success - HARDLY_ANYBODY))
        parts.append(("later", say("later", count=counts[1], cost=teller.exact_cost(costs[last], offer.unit))))
    if counts[2]:
        parts.append(("never", say("never", count=counts[2])))
    elif cost.failed_chances.sum() > 0:
        parts.append(("", say("hardly")))
    return Hundred(_draw_dots(counts), tuple((_draw_sign(kind), words) for kind, words in parts))


def _draw_dots(counts: Sequence[int]) -> str:
    kinds = [kind for kind, count in zip(("quick", "later", "never"), counts, strict=True) for _ in range(count)]
    dots = [_draw_dot(kind, *divmod(place, PER_ROW)) for place, kind in enumerate(kinds)]
    return _frame(dots, STEP * PER_ROW, STEP * (len(kinds) // PER_ROW))


def _draw_sign(kind: str) -> str:
    return _frame([_draw_dot(kind, 0, 0)], STEP, STEP) if kind else ""


def _frame(dots: Sequence[str], width: float, height: float) -> str:
    more: dict[str, str | float] = {"viewBox": f"0 0 {width:g} {height:g}", "aria_hidden": "true", "focusable": "false"}
    return element("svg", *dots, width=width, height=height, **more)


def _draw_dot(kind: str, row: int, column: int) -> str:
    """A full circle, a ring, or a cross: they can be told apart without colour."""
    x, y = STEP * (column + 0.5), STEP * (row + 0.5)
    if kind == "never":
        arms = f"M{x - 3.6:g} {y - 3.6:g}l7.2 7.2m0 -7.2l-7.2 7.2"
        return element("path", d=arms, stroke=WRONG, stroke_width=2.2)
    if kind == "later":
        return element("circle", cx=x, cy=y, r=RADIUS - 0.8, fill=PAPER, stroke=BLUE, stroke_width=1.6)
    return element("circle", cx=x, cy=y, r=RADIUS, fill=BLUE)
