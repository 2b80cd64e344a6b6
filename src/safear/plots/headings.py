"""What pictures begin with: a title, what is to be seen, and before each plan its name and first step."""

from __future__ import annotations

from collections.abc import Sequence

from safear.plots.plan_rows import PlanRow, Plans
from safear.plots.svg import FAINT, clean, element, escape, shorten, text_width, write
from safear.recourse.words import describe_worst, format_chance, format_cost

LINE = 20.0
LEAST_ROOM = 200.0  # less than that says too little of a first step


def write_heading(title: str, lines: Sequence[str], *, pad: float, room: float) -> tuple[list[str], float]:
    """The title and the lines below it; and where the rest may begin."""
    parts = [write(pad, 36, title, size=21, bold=True, room=room)]
    parts += [write(pad, 60 + LINE * place, line, size=13.5, room=room, fill=FAINT) for place, line in enumerate(lines)]
    return parts, 60 + LINE * len(lines)


def write_plan_name(x: float, y: float, name: str, first: str, *, room: float) -> str:
    """The name of a plan, and as much of its first step as there is room for."""
    short = shorten(name, room, 16, bold=True)
    left = room - text_width(short, 16, bold=True)
    spans = element("tspan", escape(short), font_weight="bold", font_size=16)
    if left > LEAST_ROOM:
        spans += element("tspan", escape(shorten(first, left - 8, 14)), font_size=14, dx=7)
    return element("text", spans, x=x, y=y)


def say_first_step(plan: PlanRow) -> str:
    """`· starts with: change job`."""
    return f"· starts with: {clean(plan.first_action or 'nothing')}"


def say_figures(plan: PlanRow) -> str:
    """`average 2 months · worst 5% of cases: 3 months · not in time: 1%`."""
    average, worst = (format_cost(cost, plan.unit) for cost in (plan.average, plan.tail))
    late = format_chance(plan.not_in_time)
    return f"average {average} · {describe_worst(plan.level)} of cases: {worst} · not in time: {late}"


def say_worst(plans: Plans) -> str:
    """`the worst 5% of cases`, for all plans of a picture."""
    return "the worst cases" if plans.level is None else f"the {describe_worst(plans.level)} of cases"
