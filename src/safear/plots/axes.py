"""What charts with two axes have in common: scales, lines of points, axes with their numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from safear.plots.letters import text_width
from safear.plots.svg import FAINT, GRID, INK, element, horizontal, nice_ticks, number, vertical, write

DASHES = ("none", "9 4", "2 4", "9 4 2 4")  # so that lines can be told apart in grey
TICK_SIZE, MOST_TICKS = 13.0, 12


@dataclass(frozen=True, slots=True)
class LinearScale:
    """From data to the drawing, linearly."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Where a value is drawn."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def draw_path(points: Sequence[tuple[float, float]]) -> str:
    """The path through points."""
    return "M" + "L".join(f"{number(across)} {number(down)}" for across, down in points)


def draw_line(points: Sequence[tuple[float, float]], colour: str, dash: str, *, width: float = 2.2, class_: str) -> str:
    """A line through points; a single point is drawn as a dot by its round cap."""
    return element(
        "path",
        class_=class_,
        d=draw_path(points if len(points) > 1 else [points[0], points[0]]),
        fill="none",
        stroke=colour,
        stroke_width=width,
        stroke_dasharray=dash,
        stroke_linejoin="round",
        stroke_linecap="round" if dash == "none" else "butt",
    )


def draw_rows(x: LinearScale, y: LinearScale, ticks: Sequence[float], say: Callable[[float], str]) -> list[str]:
    """A line across for each tick of the upright axis, its number before it."""
    parts = []
    for tick in ticks:
        parts.append(horizontal(x.start, x.end, y(tick), GRID))
        parts.append(write(x.start - 8, y(tick) + 4.5, say(tick), size=TICK_SIZE, text_anchor="end", fill=FAINT))
    return parts


def draw_columns(x: LinearScale, bottom: float, ticks: Sequence[float], say: Callable[[float], str]) -> list[str]:
    """The lower axis, with a small line and a number for each tick."""
    parts = [horizontal(x.start, x.end, bottom, INK)]
    for tick in ticks:
        parts.append(vertical(x(tick), bottom, bottom + 5, INK))
        parts.append(write(x(tick), bottom + 20, say(tick), size=TICK_SIZE, text_anchor="middle", fill=FAINT))
    return parts


def find_ticks(end: float, room: float, say: Callable[[float], str], *, gap: float = 0.0) -> list[float]:
    """Round numbers from 0 up to an end, as many as fit side by side, and none between costs that are `gap` apart."""
    most = room / (widest([say(end)]) + 20)
    about = int(min(MOST_TICKS, most, end / gap + 1e-9 if gap else MOST_TICKS))
    ticks = [tick for tick in nice_ticks(0, end, max(about, 1)) if tick <= end * (1 + 1e-9)]
    return ticks if len(ticks) > 1 else [0.0, end]  # the next round number lay beyond


def widest(texts: Sequence[str], size: float = TICK_SIZE) -> float:
    """How wide the widest of some texts is."""
    return max(text_width(text, size) for text in texts)
