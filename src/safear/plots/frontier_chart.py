"""Average against risk, as a Vega-Lite specification."""

from __future__ import annotations

from dataclasses import asdict

from safear.plots.frontier_layout import Layout
from safear.plots.svg import INK, PAPER, blue
from safear.plots.vega import Spec, category, hold, make_spec, quantity, tell
from safear.recourse.words import describe_worst


def make_chart(layout: Layout, title: str) -> Spec:
    """A mark per plan, and the names of those that are offered or greedy."""
    unit, worst = layout.plans.unit, describe_worst(layout.plans.rows[0].level)
    names = {"frontier": "not offered", "offered": "offered", "greedy": "greedy"}
    sizes = {"frontier": 40, "offered": 160, "greedy": 200}
    rows = [{**asdict(point), "kind": names[point.kind], "size": sizes[point.kind]} for point in layout.points]
    place = {
        "x": quantity("average", f"average cost in {unit}", scale={"zero": False}),
        "y": quantity("tail", f"{worst}, {unit}", scale={"zero": False}),
    }
    kinds = list(names.values())
    marks = {
        "mark": {"type": "point", "filled": True, "opacity": 1, "stroke": INK, "strokeWidth": 1},
        "encoding": {
            **place,
            "shape": category("kind", None, scale={"domain": kinds, "range": ["circle", "circle", "diamond"]}),
            "fill": category("kind", None, scale={"domain": kinds, "range": [PAPER, blue(0, 1), PAPER]}),
            "size": quantity("size", None, scale=None),
            "tooltip": tell(
                name="plan", kind="is", first_action="starts with", average="average", tail=worst, success="succeeds"
            ),
        },
    }
    words = {
        "data": hold(_name_places(layout)),
        "mark": {"type": "text", "align": "left", "dx": 12, "color": INK},
        "encoding": {**place, "text": {"field": "names"}},
    }
    return make_spec(title, width=520, height=400, data=hold(rows), layer=[marks, words])


def _name_places(layout: Layout) -> list[Spec]:
    """The names of the plans at each place; those that are all but equal share one."""
    found: dict[tuple[str, str], Spec] = {}
    for point in layout.of("offered", "greedy"):
        place = found.setdefault(
            (f"{point.average:.3g}", f"{point.tail:.3g}"), {"average": point.average, "tail": point.tail, "names": []}
        )
        place["names"].append(point.name)
    return [{**place, "names": ", ".join(place["names"])} for place in found.values()]
