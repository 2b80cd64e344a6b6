"""Risk by group as a Vega-Lite specification: a panel per measure."""

from __future__ import annotations

from safear.plots.disparity_layout import HELPLESS, Layout, Measure
from safear.plots.svg import FAINT, PAPER, WRONG, blue, clean
from safear.plots.vega import Spec, category, hold, make_spec, quantity, share, tell

BLUE = blue(1, 3)


def make_chart(layout: Layout, title: str) -> Spec:
    """A dot with its interval per group, beside everybody's mean."""
    panels = [_draw_measure(layout, measure) for measure in layout.measures]
    return make_spec(title, columns=4, concat=panels)


def _draw_measure(layout: Layout, measure: Measure) -> Spec:
    rows = []
    for group in layout.drawn:
        figure = layout.figure(group.number, measure.name)
        if figure.value is not None:
            # The number tells apart groups that are called alike.
            name = f"{group.number}. {clean(group.group)}"
            size = "too few to compare" if group.small else "mean"
            ends = {"low": figure.low, "high": figure.high}
            rows.append({"group": name, "value": figure.value, **ends, "people": figure.people, "size": size})
    title = f"{measure.heading}, {measure.detail}"
    scale = {"zero": measure.name != "success"}
    axis = share if measure.is_share else quantity
    names = [f"{group.number}. {clean(group.group)}" for group in layout.drawn]
    y = category("group", None, sort=names, scale={"domain": names})
    x = axis("value", title, scale=scale)
    told = tell(group="group", value=measure.phrase, low="from", high="to", people="people")
    if measure.name == HELPLESS:
        marks: list[Spec] = [
            {"mark": {"type": "bar", "color": WRONG, "size": 10}, "encoding": {"x": x, "y": y, "tooltip": told}}
        ]
    else:
        line = {"x": axis("low", title, scale=scale), "x2": {"field": "high"}, "y": y}
        fill = {"domain": ["mean", "too few to compare"], "range": [BLUE, PAPER]}
        marks = [
            {"mark": {"type": "rule", "color": BLUE, "size": 2.5}, "encoding": line},
            {
                "mark": {"type": "point", "filled": True, "stroke": BLUE, "size": 60, "opacity": 1},
                "encoding": {"x": x, "y": y, "fill": category("size", None, scale=fill, legend=None), "tooltip": told},
            },
        ]
    everybody = next(row.value for row in layout.overall if row.measure == measure.name)
    if everybody is not None:
        marks.append(
            {
                "data": hold([{"value": everybody}]),
                "mark": {"type": "rule", "color": FAINT, "strokeDash": [2, 3]},
                "encoding": {"x": x, "tooltip": tell(value=f"everybody: {measure.phrase}")},
            }
        )
    return {"width": 150, "height": {"step": 34}, "data": hold(rows), "layer": marks}
