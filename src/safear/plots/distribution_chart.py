"""What each plan may cost, as a Vega-Lite specification: a row per plan."""

from __future__ import annotations

from safear.plots.distribution_layout import BarRow, Layout
from safear.plots.plan_rows import PlanRow
from safear.plots.svg import INK, PAPER, WRONG, WRONG_PANEL, blue
from safear.plots.vega import Spec, category, hold, make_spec, quantity, share, tell
from safear.recourse.words import describe_worst, format_chance

USUAL, WORST, FAILED = "usual", "worst", "not in time"
WIDTH, HEIGHT, COLUMN, BAR = 620, 110, 70, 8


def make_chart(layout: Layout, title: str) -> Spec:
    """Bars over costs, and beside them what is later than the axis reaches or not in time."""
    return make_spec(title, vconcat=[_draw_plan(layout, plan) for plan in layout.plans.rows])


def _draw_plan(layout: Layout, plan: PlanRow) -> Spec:
    bars = [bar for bar in layout.bars if bar.plan == plan.number]
    on_axis = [bar for bar in bars if bar.kind == "cost"]
    apart = [bar for bar in bars if bar.kind != "cost"]
    colour = blue(plan.number - 1, len(layout.plans.rows))
    tallest = max(bar.chance for bar in layout.bars)
    y = share("part", "chance", scale={"domain": [0, tallest]}, stack="zero")
    look: Spec = {
        "y": y,
        "fill": category("fill", None, scale=None),
        "stroke": category("stroke", None, scale=None),
        "order": {"field": "order"},
    }
    unit, scale = f"cost in {layout.plans.unit}", {"domain": [0, layout.end], "nice": False}
    x = quantity("high", unit, scale=scale)
    marks: Spec = {"mark": {"type": "bar", "width": BAR}, "encoding": {"x": x}}
    if layout.step is not None:
        x = quantity("low", unit, scale=scale, bin="binned")
        marks = {"mark": {"type": "bar"}, "encoding": {"x": x, "x2": {"field": "high"}}}
    told = tell(low="from", high="to", chance="chance", kind="part")
    on_costs = {
        "width": WIDTH,
        "height": HEIGHT,
        "title": {"text": layout.plans.title(plan), "anchor": "start", "fontSize": 13},
        "layer": [
            {
                **marks,
                "data": hold(_split(on_axis, colour)),
                "encoding": {**marks["encoding"], **look, "tooltip": told},
            },
            _draw_marks(layout, plan),
        ],
    }
    beside: Spec = {
        "width": COLUMN * len({bar.kind for bar in layout.bars if bar.kind != "cost"}),
        "height": HEIGHT,
        "data": hold(_split(apart, colour)),
        "mark": {"type": "bar", "size": 30, "strokeDash": [4, 2]},
        "encoding": {
            "x": category("place", None, axis={"labelAngle": 0}),
            **look,
            "y": {**y, "axis": None},
            "tooltip": tell(place="when", chance="chance", kind="part"),
        },
    }
    return {"hconcat": [on_costs, *([beside] if beside["width"] else [])], "spacing": 8}


def _draw_marks(layout: Layout, plan: PlanRow) -> Spec:
    within = f"{format_chance(plan.level)} done within"
    names = {"average": "average", "within": within, "worst": f"average of the {describe_worst(plan.level)}"}
    values = [
        {"cost": mark.cost, "mark": names[mark.mark]}
        for mark in layout.marks
        if mark.plan == plan.number and mark.mark in names and mark.cost <= layout.end * (1 + 1e-9)
    ]
    dash = {"domain": list(names.values()), "range": [[1, 0], [5, 3], [1, 0]]}
    paint = {"domain": list(names.values()), "range": [INK, INK, WRONG]}
    return {
        "data": hold(values),
        "mark": {"type": "rule", "size": 1.5},
        "encoding": {
            "x": quantity("cost", f"cost in {layout.plans.unit}"),
            "color": category("mark", None, scale=paint),
            "strokeDash": category("mark", None, scale=dash),
            "tooltip": tell(mark="mark", cost=f"cost in {layout.plans.unit}"),
        },
    }


def _split(bars: list[BarRow], colour: str) -> list[Spec]:
    """Each bar as its usual and its worst part."""
    looks = {USUAL: (colour, colour), WORST: (WRONG_PANEL, WRONG), FAILED: (PAPER, WRONG)}
    rows = []
    for bar in bars:
        parts = {USUAL: bar.chance - bar.worst, WORST: bar.worst}
        if bar.kind == "not in time":
            parts = {FAILED: bar.chance}
        rows += [
            {"place": bar.kind, "low": bar.low, "high": bar.high, "chance": bar.chance, "kind": kind, "part": part,
             "order": order, "fill": looks[kind][0], "stroke": looks[kind][1]}
            for order, (kind, part) in enumerate(parts.items())
            if part > 0
        ]  # fmt: skip
    return rows
