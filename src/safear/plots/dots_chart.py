"""Fifty people like you, as a Vega-Lite specification."""

from __future__ import annotations

from collections import Counter

from safear.plots.dots_layout import PEOPLE, Layout
from safear.plots.svg import PAPER, WRONG, blue
from safear.plots.vega import Spec, category, hold, make_spec, quantity, tell

HEIGHT, LARGEST = 320, 14.0


def make_chart(layout: Layout, title: str) -> Spec:
    """A stack of dots over each cost, and one of those who are not done in time."""
    unit = layout.plans.unit
    seen: Counter[float | None] = Counter()
    rows = []
    for dot in layout.dots:
        seen[dot.high] += 1
        middle = None if dot.low is None or dot.high is None else (dot.low + dot.high) / 2
        rows.append(
            {"dot": dot.dot, "cost": dot.cost, "middle": middle, "place": seen[dot.high], "when": "not in time"}
        )
    highest = max(seen.values())
    y = quantity("place", None, axis=None, scale={"domain": [0, highest + 1], "nice": False})
    mark = {"type": "point", "filled": True, "size": min(LARGEST, HEIGHT / (highest + 1)) ** 2 * 0.8, "opacity": 1}
    scale = {"domain": [0, layout.end], "nice": False, "padding": 12}
    done: Spec = {
        "width": 560,
        "height": HEIGHT,
        "data": hold(row for row in rows if row["cost"] is not None),
        "mark": {**mark, "color": blue(0, 1)},
        "encoding": {
            "x": quantity("middle", f"done after so many {unit}", scale=scale),
            "y": y,
            "tooltip": tell(dot=f"of {PEOPLE}", cost=f"done after {unit}"),
        },
    }
    missed: Spec = {
        "width": 90,
        "height": HEIGHT,
        "data": hold(row for row in rows if row["cost"] is None),
        "mark": {**mark, "fill": PAPER, "stroke": WRONG, "strokeDash": [3, 2]},
        "encoding": {
            "x": category("when", None, axis={"labelAngle": 0}),
            "y": y,
            "tooltip": tell(dot=f"of {PEOPLE}", when="done"),
        },
    }
    parts = [part for part in (done, missed) if part["data"]["values"]]
    spec = make_spec(title, hconcat=parts)
    spec["title"]["subtitle"] = layout.sentence
    return spec
