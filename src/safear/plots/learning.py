"""The learning curves of episodic solvers: moving averages with a band of one standard deviation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from safear.errors import InputError
from safear.plots.axes import DASHES, Scale, draw_columns, draw_line, draw_path, draw_rows, widest
from safear.plots.picture import Picture
from safear.plots.svg import (
    FAINT,
    blue,
    clean,
    document,
    element,
    group,
    nice_ticks,
    spread,
    write,
)
from safear.recourse.words import count_of, format_cost, format_number
from safear.solvers.solution import LearningCurve

MAX_POINTS = 600  # per curve; more cannot be seen
WIDTH, HEIGHT, PAD = 1000.0, 480.0, 24.0
TOP, BOTTOM = 92.0, 418.0
NAME_WIDTH = 220.0  # at most, for the names at the line ends


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A curve's mean and standard deviation over the `window` episodes up to this one (counted from 1)."""

    curve: str
    episode: int
    mean: float
    deviation: float


def learning_curves(
    curves: Mapping[str, LearningCurve],
    *,
    window: int = 100,
    title: str,
    unit: str,
) -> Picture:
    """Draw the moving average of the cost per episode of each curve, with a band of one deviation to either side."""
    if not curves:
        raise InputError.at((), "there is no learning curve to draw", "give at least one")
    lines = [average_curve(name, curve, window) for name, curve in curves.items()]
    table = [asdict(point) for line in lines for point in line]
    words = clean(title), clean(unit)
    return Picture(_draw(lines, window, *words), {"points": table})


def average_curve(name: str, curve: LearningCurve, window: int) -> list[CurvePoint]:
    """The moving average from the first full window on; evenly thinned out, the first and the last point kept."""
    episodes = len(curve.costs)
    if not 1 <= window <= episodes:
        cause = f"a window of {window} episodes does not fit the {episodes} of the curve"
        raise InputError.at((name,), cause, f"use a window from 1 to {episodes}" if episodes else None)
    if not np.isfinite(curve.costs).all():
        raise InputError.at((name,), "the curve has costs that are not finite numbers")
    means, deviations = curve.moving_average(window)
    kept = np.unique(np.linspace(0, len(means) - 1, min(MAX_POINTS, len(means))).round().astype(np.int64))
    return [CurvePoint(name, int(i) + window, float(means[i]), float(deviations[i])) for i in kept]


def _draw(lines: Sequence[list[CurvePoint]], window: int, title: str, unit: str) -> str:
    points = [point for line in lines for point in line]
    costs = nice_ticks(
        min(point.mean - point.deviation for point in points), max(point.mean + point.deviation for point in points), 8
    )
    last = max(point.episode for point in points)
    episodes = [tick for tick in nice_ticks(0, last, 8) if tick <= last and tick == int(tick)]
    names = [clean(line[0].curve) for line in lines]
    left = PAD + 26 + widest([format_number(tick) for tick in costs])
    right = WIDTH - PAD - 20 - min(NAME_WIDTH, widest(names, 14))
    x, y = Scale(0, last, left, right), Scale(costs[0], costs[-1], BOTTOM, TOP)
    span = count_of(window, "episode")
    subtitle = f"Average cost in {unit} of the last {span}; the band is one standard deviation to either side."
    room = WIDTH - 2 * PAD
    body = [
        write(PAD, 40, title, size=21, room=room, bold=True),
        write(PAD, 64, subtitle, room=room, fill=FAINT),
        group(
            [
                *draw_rows(x, y, costs),
                *draw_columns(x, BOTTOM, episodes, "{:,.0f}".format),
                write((left + right) / 2, BOTTOM + 44, "episode", text_anchor="middle"),
            ]
        ),
    ]
    colours = [blue(place, len(lines)) for place in range(len(lines))]
    body += [_band(line, x, y, colour) for line, colour in zip(lines, colours, strict=True)]
    for place, (line, colour) in enumerate(zip(lines, colours, strict=True)):
        places = [(x(point.episode), y(point.mean)) for point in line]
        body.append(draw_line(places, colour, DASHES[place % len(DASHES)], class_="average"))
    body += _name_ends(lines, names, colours, x=x, y=y)
    return document(WIDTH, HEIGHT, title=title, description=_describe(lines, subtitle, unit), body=body)


def _band(line: Sequence[CurvePoint], x: Scale, y: Scale, colour: str) -> str:
    above = [(x(point.episode), y(point.mean + point.deviation)) for point in line]
    below = [(x(point.episode), y(point.mean - point.deviation)) for point in reversed(line)]
    return element("path", class_="band", d=draw_path([*above, *below]) + "Z", fill=colour, fill_opacity=0.16)


def _name_ends(
    lines: Sequence[Sequence[CurvePoint]], names: Sequence[str], colours: Sequence[str], *, x: Scale, y: Scale
) -> list[str]:
    """The names beside the line ends, moved apart where they would overlap."""
    order = sorted(range(len(lines)), key=lambda place: y(lines[place][-1].mean))
    wanted = [y(lines[place][-1].mean) for place in order]
    height = min(19.0, (BOTTOM - TOP + 10) / len(lines))
    found = spread(wanted, [height] * len(lines), TOP - 10, BOTTOM + 1e-6) or wanted
    parts = []
    for place, middle in zip(order, found, strict=True):
        end = lines[place][-1]
        parts.append(
            element("line", x1=x(end.episode) + 3, y1=y(end.mean), x2=x.end + 15, y2=middle, stroke=colours[place])
        )
        size = min(14.0, height * 0.75)
        parts.append(
            write(x.end + 18, middle + 4.5, names[place], size=size, room=WIDTH - PAD - x.end - 18, fill=colours[place])
        )
    return parts


def _describe(lines: Sequence[Sequence[CurvePoint]], subtitle: str, unit: str) -> str:
    ways = [
        f"{clean(line[0].curve)}: {format_cost(line[0].mean, unit)} at first, {format_cost(line[-1].mean, unit)} "
        f"(deviation {format_number(line[-1].deviation)}) after {line[-1].episode:,} episodes."
        for line in lines
    ]
    return " ".join([subtitle, *ways])
