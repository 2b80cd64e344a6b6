"""The picture of the chance of being done within a given cost: a line of steps per plan, its name at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from safear.plots.axes import DASHES, LinearScale, draw_columns, draw_line, draw_rows, find_ticks, widest
from safear.plots.cost_axis import cumulate, find_end
from safear.plots.headings import write_heading
from safear.plots.picture import Picture, make_picture
from safear.plots.plan_rows import Plans, read_plans
from safear.plots.svg import FAINT, blue, document, group, horizontal, spread, write
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.texts.names import show_name

MAX_POINTS = 400  # per plan; more cannot be seen
WIDTH, PAD, HEIGHT = 1000.0, 24.0, 360.0
NAME_WIDTH, NAME_SIZE, NAME_HEIGHT = 330.0, 14.0, 24.0  # at most, for the names beside the lines
LEAST_HEIGHT = 19.0  # of a name; where there are more of them, the picture is higher
SAMPLE = 34.0  # how far a name stands from the end of its line
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True, slots=True)
class ChanceRow:
    """The chance that a plan has succeeded at a cost of at most so much; it stays the same up to the next row."""

    plan: int
    cost: float
    chance: float


def cdf(
    offers: Menu | Sequence[Offer], *, title: str | None = None, language: str = "en", heading: bool = True
) -> Picture:
    """Draw, for each plan, the chance to succeed at a cost of at most so much."""
    plans, given = read_plans(offers, language), list(offers)
    end = find_end(given)
    points = [point for number, offer in enumerate(given, 1) for point in _read_points(number, offer, end)]
    words = show_name(plans.tell("picture.cdf.title") if title is None else title)
    return make_picture(_draw(plans, points, end, title=words, heading=heading), plans=plans.rows, points=points)


def _read_points(plan: int, offer: Offer, end: float) -> list[ChanceRow]:
    """From nothing at 0 to the end of the axis. Of costs that would be drawn at one place, the last is kept."""
    costs, within = cumulate(offer)
    kept = {0: ChanceRow(plan, 0.0, 0.0)}
    for cost, chance in zip(costs, within, strict=True):
        if cost <= end * (1 + 1e-9):
            place = round(cost / end * MAX_POINTS) if len(costs) > MAX_POINTS else len(kept)
            kept[0 if cost == 0 else max(place, 1)] = ChanceRow(plan, cost, min(chance, 1.0))
    last = list(kept.values())[-1]
    return [*kept.values(), *([ChanceRow(plan, end, last.chance)] if last.cost < end else [])]


def _draw(plans: Plans, points: Sequence[ChanceRow], end: float, *, title: str, heading: bool) -> str:
    tell = plans.tell
    names = [f"{plan.name} ({tell.percent(plan.success)})" for plan in plans.rows]
    body, top = write_heading(title, [tell("picture.cdf.reading")], pad=PAD, width=WIDTH, shown=heading)
    high = max(HEIGHT, LEAST_HEIGHT * len(names))
    top, bottom = top + 6, top + 6 + high
    right = WIDTH - PAD - SAMPLE - 10 - min(NAME_WIDTH, widest(names, NAME_SIZE))
    x = LinearScale(0, end, PAD + 26 + widest([tell.percent(1)]), right)
    y = LinearScale(0, 1, bottom, top)
    ticks = find_ticks(end, right - x.start, tell.number)
    axes = [*draw_rows(x, y, SHARES, tell.percent), *draw_columns(x, bottom, ticks, tell.number)]
    unit, middle = tell("picture.cost", unit=plans.unit), (x.start + right) / 2
    axes.append(write(middle, bottom + 44, unit, text_anchor="middle", room=right / 2))
    if plans.level is not None and plans.level < 1:  # where all but the worst are done
        axes.append(horizontal(x.start, x.end, y(plans.level), FAINT, 1, stroke_dasharray="5 3"))
        words = tell.percent(plans.level)
        axes.append(write(x.start + 6, y(plans.level) + 14, words, size=13, fill=FAINT, halo=True))
    body.append(group(axes, class_="axes"))
    height = min(NAME_HEIGHT, high / len(names))
    middles = _place_names([plan.success for plan in plans.rows], y, height)
    for place, (plan, name) in enumerate(zip(plans.rows, names, strict=True)):
        mine = [point for point in points if point.plan == plan.number]
        colour, dash = blue(place, len(names)), DASHES[place % len(DASHES)]
        last, middle = (right, y(mine[-1].chance)), middles[place]
        parts = [
            draw_line(_corners(mine, x, y), colour, dash, width=2.8, class_="chances"),
            draw_line([last, (right + SAMPLE, middle)], colour, dash, width=1.6, class_="leader"),
            write(right + SAMPLE + 6, middle + 4.5, name, size=NAME_SIZE, room=NAME_WIDTH),
        ]
        note = f"{plans.title(plan)} {plans.start(plan)}"
        body.append(group(parts, note=note, class_="plan", data_plan=plan.number))
    return document(WIDTH, bottom + 58, title=title, description=_describe(plans, points), body=body)


def _place_names(chances: Sequence[float], y: LinearScale, height: float) -> list[float]:
    """Where the name of each line stands: at its end, moved apart where names would overlap."""
    order = sorted(range(len(chances)), key=lambda place: -chances[place])
    found = spread([y(chances[place]) for place in order], [height] * len(order), y.end - 1, y.start + 1)
    middles = found or [y.end + height * (place + 0.5) for place in range(len(order))]
    return [middles[order.index(place)] for place in range(len(order))]


def _corners(points: Sequence[ChanceRow], x: LinearScale, y: LinearScale) -> list[tuple[float, float]]:
    """Each chance lasts until the next cost; the line begins where something can be done."""
    corners: list[tuple[float, float]] = []
    for before, point in pairwise([ChanceRow(0, 0.0, 0.0), *points]):
        corners += [(x(point.cost), y(before.chance))] if point.chance > 0 else []
        corners += [(x(point.cost), y(point.chance))] if point.chance > before.chance else []
    return corners or [(x(point.cost), y(0)) for point in points]


def _describe(plans: Plans, points: Sequence[ChanceRow]) -> str:
    """The whole picture as a list in words: of many steps, those at which another tenth is reached."""
    tell, lines = plans.tell, []
    for plan in plans.rows:
        told, parts = 0, []
        mine = [point for point in points if point.plan == plan.number]
        for point in mine:
            if int(10 * point.chance + 1e-9) > told or (point is mine[-1] and point.chance > 0):
                told = int(10 * point.chance + 1e-9)
                chance, cost = tell.percent(point.chance), plans.cost(point.cost)
                parts.append(tell("picture.cdf.within", chance=chance, cost=cost))
        parts.append(tell("picture.cdf.ever", chance=tell.percent(plan.success)))
        lines.append(f"{plans.title(plan)} {plans.start(plan)}: {', '.join(parts)}.")
    return "\n".join(lines)
