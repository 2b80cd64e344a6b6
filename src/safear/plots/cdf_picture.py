"""The picture of the chance of being done within a given cost: a line of steps per plan."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from safear.plots.axes import DASHES, Scale, draw_columns, draw_line, draw_rows, find_ticks, widest
from safear.plots.cdf_layout import Layout, PointRow, lay_out
from safear.plots.headings import say_first_step, write_heading
from safear.plots.picture import Picture
from safear.plots.svg import FAINT, blue, clean, document, group, horizontal, write
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.words import format_chance, format_cost

WIDTH, PAD, HEIGHT = 1000.0, 24.0, 360.0
NAME_WIDTH, NAME_SIZE, NAME_HEIGHT = 240.0, 14.0, 24.0  # at most, for the names beside the lines
SAMPLE = 38.0  # how long the piece of line before a name is
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def cdf(offers: Menu | Sequence[Offer], *, title: str = "Chance of being done within a given cost") -> Picture:
    """Draw, for each plan, the chance to succeed at a cost of at most so much."""
    layout = lay_out(offers)
    words = clean(title)
    return Picture(_draw(layout, words), layout.tables)


def _draw(layout: Layout, title: str) -> str:
    plans = layout.plans
    names = [f"{clean(plan.name)} ({format_chance(plan.success)})" for plan in plans.rows]
    lines = ["Exact chances. In brackets: the chance to be done in time at all, whatever the cost."]
    body, top = write_heading(title, lines, pad=PAD, room=WIDTH - 2 * PAD)
    top, bottom = top + 6, top + 6 + HEIGHT
    right = WIDTH - PAD - SAMPLE - 34 - min(NAME_WIDTH, widest(names, NAME_SIZE))
    x = Scale(0, layout.end, PAD + 26 + widest(["100%"]), right)
    y = Scale(0, 1, bottom, top)
    ticks = find_ticks(layout.end, right - x.start)
    axes = [*draw_rows(x, y, SHARES, "{:.0%}".format), *draw_columns(x, bottom, ticks)]
    axes.append(
        write((x.start + right) / 2, bottom + 44, f"cost in {plans.unit}", text_anchor="middle", room=right / 2)
    )
    body.append(group([*axes, *_level(plans.level, x, y)], class_="axes"))
    height = min(NAME_HEIGHT, HEIGHT / len(names))
    for place, (plan, name) in enumerate(zip(plans.rows, names, strict=True)):
        points = [point for point in layout.points if point.plan == plan.number]
        colour, dash = blue(place, len(names)), DASHES[place % len(DASHES)]
        middle = top + height * (place + 0.5)
        parts = [
            draw_line(_corners(points, x, y), colour, dash, width=2.8, class_="chances"),
            draw_line([(right + 22, middle), (right + 22 + SAMPLE, middle)], colour, dash, width=2.8, class_="sample"),
            write(right + 30 + SAMPLE, middle + 4.5, name, size=min(NAME_SIZE, height * 0.75), room=NAME_WIDTH),
        ]
        note = f"{plans.title(plan)} {say_first_step(plan)}"
        body.append(group(parts, note=note, class_="plan", data_plan=plan.number))
    return document(WIDTH, bottom + 58, title=title, description=_describe(layout), body=body)


def _corners(points: Sequence[PointRow], x: Scale, y: Scale) -> list[tuple[float, float]]:
    """Each chance lasts until the next cost; the line begins where something can be done."""
    corners: list[tuple[float, float]] = []
    for before, point in pairwise([PointRow(0, 0.0, 0.0), *points]):
        corners += [(x(point.cost), y(before.chance))] if point.chance > 0 else []
        corners += [(x(point.cost), y(point.chance))] if point.chance > before.chance else []
    return corners or [(x(point.cost), y(0)) for point in points]


def _level(level: float | None, x: Scale, y: Scale) -> list[str]:
    """Where all but the worst are done."""
    if level is None or level == 1:
        return []
    text = write(
        x.start + 6, y(level) + 14, format_chance(level), size=13, fill=FAINT,
        halo=True,
    )  # fmt: skip
    return [horizontal(x.start, x.end, y(level), FAINT, 1, stroke_dasharray="5 3"), text]


def _describe(layout: Layout) -> str:
    """The whole picture as a list in words: of many steps, those at which another tenth is reached."""
    unit, lines = layout.plans.unit, []
    for plan in layout.plans.rows:
        told, parts = 0, []
        points = [point for point in layout.points if point.plan == plan.number]
        for point in points:
            if int(10 * point.chance + 1e-9) > told or (point is points[-1] and point.chance > 0):
                told = int(10 * point.chance + 1e-9)
                parts.append(f"{format_chance(point.chance)} within {format_cost(point.cost, unit)}")
        parts.append(f"{format_chance(plan.success)} in time at all")
        lines.append(f"{layout.plans.title(plan)} {say_first_step(plan)}: {', '.join(parts)}.")
    return "\n".join(lines)
