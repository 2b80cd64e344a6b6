"""The learning curves of episodic solvers: moving averages with a band that holds most of the episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from safear.errors import InputError
from safear.plots.axes import DASHES, LinearScale, draw_columns, draw_line, draw_path, draw_rows, widest
from safear.plots.headings import write_heading
from safear.plots.picture import Picture, make_picture
from safear.plots.svg import blue, document, element, group, nice_ticks, spread, write
from safear.recourse.teller import Teller
from safear.solvers.solution import LearningCurve
from safear.texts.names import show_name

MAX_POINTS = 600  # per curve; more cannot be seen
WIDTH, HEIGHT, PAD = 1000.0, 326.0, 24.0
BAND = (0.1, 0.9)  # quantiles of the episodes of a window; no normal law is assumed, as a deviation would suggest
NAME_WIDTH, NAME_HEIGHT, NAME_SIZE = 220.0, 19.0, 14.0  # at most, for the names at the line ends


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The mean of the `window` episodes up to this one; a tenth of them lie below `low`, above `high`."""

    curve: str
    episode: int
    mean: float
    low: float
    high: float


def learning_curves(
    curves: Mapping[str, LearningCurve],
    *,
    unit: str,
    window: int = 100,
    title: str | None = None,
    language: str = "en",
    heading: bool = True,
) -> Picture:
    """Draw the moving average of the cost per episode of each curve, with a band that holds 8 of 10 of them."""
    if not curves:
        raise InputError.at((), "there is no learning curve to draw", "give at least one", code="nothing_to_draw")
    tell, unit = Teller.of(language), show_name(unit)
    lines = [average_curve(name, curve, window) for name, curve in curves.items()]
    words = show_name(tell("picture.learning.title") if title is None else title)
    reading = tell("picture.learning.reading", count=window, unit=unit)
    body, top = write_heading(words, [reading], pad=PAD, width=WIDTH, shown=heading)
    high = max(HEIGHT, NAME_HEIGHT * len(lines))  # there is room for all names
    body += _draw(lines, tell, top + 12, top + 12 + high)
    svg = document(
        WIDTH, top + high + 74, title=words, description=" ".join([reading, *_describe(lines, tell, unit)]), body=body
    )
    return make_picture(svg, points=[point for line in lines for point in line])


def average_curve(name: str, curve: LearningCurve, window: int) -> list[CurvePoint]:
    """The moving average from the first full window on; evenly thinned out, the first and the last point kept."""
    episodes = len(curve.costs)
    if not 1 <= window <= episodes:
        cause = f"a window of {window} episodes does not fit the {episodes} of the curve"
        raise InputError.at(
            (name,), cause, f"use a window from 1 to {episodes}" if episodes else None, code="out_of_range"
        )
    if not np.isfinite(curve.costs).all():
        raise InputError.at((name,), "the curve has costs that are not finite", code="not_finite")
    means, _ = curve.moving_average(window)
    kept = np.unique(np.linspace(0, len(means) - 1, min(MAX_POINTS, len(means))).round().astype(np.int64))
    windows = np.lib.stride_tricks.sliding_window_view(curve.costs, window)[kept]
    lows, highs = np.quantile(windows, BAND, axis=1).tolist()
    ends = zip(kept.tolist(), means[kept].tolist(), lows, highs, strict=True)
    return [CurvePoint(show_name(name), place + window, mean, low, high) for place, mean, low, high in ends]


def _draw(lines: Sequence[list[CurvePoint]], tell: Teller, top: float, bottom: float) -> list[str]:
    points = [point for line in lines for point in line]
    ends = [end for point in points for end in (point.low, point.mean, point.high)]
    costs, last = nice_ticks(min(ends), max(ends), 8), max(point.episode for point in points)
    episodes = [tick for tick in nice_ticks(0, last, 8) if tick <= last and tick == int(tick)]
    left = PAD + 26 + widest([*map(tell.number, costs)])
    right = WIDTH - PAD - 20 - min(NAME_WIDTH, widest([line[0].curve for line in lines], NAME_SIZE))
    x, y = LinearScale(0, last, left, right), LinearScale(costs[0], costs[-1], bottom, top)
    middle = write((left + right) / 2, bottom + 44, tell("picture.learning.episode"), text_anchor="middle")
    parts = [group([*draw_rows(x, y, costs, tell.number), *draw_columns(x, bottom, episodes, tell.number), middle])]
    colours = [blue(place, len(lines)) for place in range(len(lines))]
    parts += [_band(line, x, y, colour) for line, colour in zip(lines, colours, strict=True)]
    for place, (line, colour) in enumerate(zip(lines, colours, strict=True)):
        places = [(x(point.episode), y(point.mean)) for point in line]
        parts.append(draw_line(places, colour, DASHES[place % len(DASHES)], class_="average"))
    return parts + _name_ends(lines, colours, x, y)


def _band(line: Sequence[CurvePoint], x: LinearScale, y: LinearScale, colour: str) -> str:
    above = [(x(point.episode), y(point.high)) for point in line]
    below = [(x(point.episode), y(point.low)) for point in reversed(line)]
    return element("path", class_="band", d=draw_path([*above, *below]) + "Z", fill=colour, fill_opacity=0.16)


def _name_ends(
    lines: Sequence[Sequence[CurvePoint]], colours: Sequence[str], x: LinearScale, y: LinearScale
) -> list[str]:
    """The names beside the line ends, moved apart where they would overlap."""
    order = sorted(range(len(lines)), key=lambda place: y(lines[place][-1].mean))
    wanted = [y(lines[place][-1].mean) for place in order]
    found = spread(wanted, [NAME_HEIGHT] * len(lines), y.end - 10, y.start + 1e-6) or wanted
    parts = []
    for place, middle in zip(order, found, strict=True):
        end, colour = lines[place][-1], colours[place]
        parts.append(element("line", x1=x(end.episode) + 3, y1=y(end.mean), x2=x.end + 15, y2=middle, stroke=colour))
        room = WIDTH - PAD - x.end - 18
        parts.append(write(x.end + 18, middle + 4.5, end.curve, size=NAME_SIZE, room=room, fill=colour))
    return parts


def _describe(lines: Sequence[Sequence[CurvePoint]], tell: Teller, unit: str) -> list[str]:
    return [
        tell(
            "picture.learning.curve",
            name=line[0].curve,
            first=tell.cost(line[0].mean, unit),
            last=tell.cost(line[-1].mean, unit),
            low=tell.number(line[-1].low),
            high=tell.number(line[-1].high),
            episodes=tell.number(line[-1].episode),
        )
        for line in lines
    ]
