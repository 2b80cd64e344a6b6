"""What pictures begin with: a title, what is to be seen, what the signs mean, and before each plan its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from safear.plots.letters import shorten, text_width, wrap
from safear.plots.svg import FAINT, element, escape, group, write

LINE, SMALL = 20.0, 13.5
TOP = 12.0  # where a picture begins that has no heading
LEAST_ROOM = 200.0  # less than that says too little of a first step
KEY_SIZE, KEY_LINE, KEY_ROOM = 13.0, 24.0, 320.0  # of what signs mean: letters, lines, and how wide words may be

Sign = tuple[float, Callable[[float, float], str], str]  # how wide, how it is drawn at (x, y), and what it means


def write_heading(
    title: str, lines: Sequence[str], *, pad: float, width: float, shown: bool
) -> tuple[list[str], float]:
    """The title and the lines below it, unless whoever shows the picture says that; and where the rest may begin."""
    if not shown:
        return [], TOP
    room = width - 2 * pad
    told = [part for line in lines for part in wrap(line, room, SMALL)]
    parts = [write(pad, 36, title, size=21, bold=True, room=room)]
    parts += [write(pad, 60 + LINE * place, line, size=SMALL, room=room, fill=FAINT) for place, line in enumerate(told)]
    return parts, 60 + LINE * len(told)


def write_key(signs: Sequence[Sign], *, x: float, y: float, right: float) -> tuple[list[str], float]:
    """Signs and what they mean, side by side on as many lines as they need; and where the last line is."""
    parts, left = [], x
    for width, draw, text in signs:
        room = min(KEY_ROOM, text_width(text, KEY_SIZE))
        if left > x and left + width + 8 + room > right:
            left, y = x, y + KEY_LINE
        parts += [draw(left, y), write(left + width + 8, y + 4.5, text, size=KEY_SIZE, room=room)]
        left += width + 34 + room
    return [group(parts, class_="key")], y


def write_plan_name(x: float, y: float, name: str, first: str, *, room: float) -> str:
    """The name of a plan, and as much of its first step as there is room for."""
    short = shorten(name, room, 16, bold=True)
    left = room - text_width(short, 16, bold=True)
    spans = element("tspan", escape(short), font_weight="bold", font_size=16)
    if left > LEAST_ROOM:
        spans += element("tspan", escape(shorten(first, left - 8, 14)), font_size=14, dx=7)
    return element("text", spans, x=x, y=y)
