"""Learning curves as a Vega-Lite specification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from safear.plots.svg import clean
from safear.plots.vega import Spec, category, hold, make_spec, plan_scales, quantity, tell


def make_chart(points: Sequence[Mapping[str, Any]], title: str, unit: str) -> Spec:
    """A line per curve, with its band of one deviation to either side."""
    rows = [
        {**point, "low": point["mean"] - point["deviation"], "high": point["mean"] + point["deviation"]}
        for point in points
    ]
    names = list(dict.fromkeys(clean(point["curve"]) for point in points))
    colours, dashes = plan_scales(names)
    x = quantity("episode", "episode")
    colour = category("curve", None, scale=colours)
    band = {
        "mark": {"type": "area", "opacity": 0.16},
        "encoding": {"x": x, "y": quantity("low", f"cost in {unit}"), "y2": {"field": "high"}, "color": colour},
    }
    line = {
        "mark": {"type": "line"},
        "encoding": {
            "x": x,
            "y": quantity("mean", f"cost in {unit}"),
            "color": colour,
            "strokeDash": category("curve", None, scale=dashes),
            "tooltip": tell(curve="curve", episode="episode", mean="average", deviation="deviation"),
        },
    }
    return make_spec(title, width=700, height=340, data=hold(rows), layer=[band, line])
