"""The chance of being done within a given cost, as a Vega-Lite specification."""

from __future__ import annotations

from safear.plots.cdf_layout import Layout
from safear.plots.svg import FAINT
from safear.plots.vega import Spec, category, hold, make_spec, plan_scales, quantity, share, tell


def make_chart(layout: Layout, title: str) -> Spec:
    """A line of steps per plan."""
    plans, unit = layout.plans, layout.plans.unit
    names = [plans.title(plan) for plan in plans.rows]
    colours, dashes = plan_scales(names)
    points = [{"name": names[point.plan - 1], "cost": point.cost, "chance": point.chance} for point in layout.points]
    lines = {
        "data": hold(points),
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2.5},
        "encoding": {
            "x": quantity("cost", f"cost in {unit}", scale={"domain": [0, layout.end], "nice": False}),
            "y": share("chance", "chance of being done", scale={"domain": [0, 1]}),
            "color": category("name", None, scale=colours),
            "strokeDash": category("name", None, scale=dashes),
            "tooltip": tell(name="plan", cost=f"cost in {unit}", chance="chance"),
        },
    }
    level = {
        "data": hold([{"level": plans.level}]),
        "mark": {"type": "rule", "strokeDash": [5, 3], "color": FAINT},
        "encoding": {"y": share("level", "chance of being done"), "tooltip": tell(level="level")},
    }
    return make_spec(title, width=700, height=360, layer=[lines, *([] if plans.level is None else [level])])
