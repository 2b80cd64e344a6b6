"""A small writer of SVG: escaped text, numbers of fixed format (so the same picture has the same bytes), no fonts."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from safear.plots.letters import shorten, text_width
from safear.texts.names import replace_unseen

# What texts are laid out for comes first, by the name that our pages serve it under; of the others, the narrow ones.
FONTS = "'SafeAR Sans', Inter, 'Helvetica Neue', Arial, 'Liberation Sans', Roboto, 'Segoe UI', system-ui, sans-serif"
INK, FAINT, GRID, PAPER, PANEL = "#1f2933", "#5f6b7a", "#e3e7ec", "#ffffff", "#f1f5f9"
WRONG, WRONG_PANEL = "#c2410c", "#fdf1ea"  # only for what goes wrong
RAMP = ((0x4A, 0x90, 0xCC), (0x2E, 0x5F, 0xA6), (0x1A, 0x27, 0x58))  # from the safest plan to the riskiest
FAILING = "6 3"  # dashes of a try that fails

LABEL_GAP = 12.0  # at least, between two labels


def escape(text: str) -> str:
    """Text for an element or an attribute."""
    text = replace_unseen(text)
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(character, entity)
    return text


def number(value: float) -> str:
    """At most two decimals, none that are zero."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in {"", "-0"} else text


def element(tag: str, *children: str, **attributes: str | float) -> str:
    """`element("line", x1=0, stroke_width=2)`: `_` in a name stands for `-`, one at its end is dropped.

    Children are markup already; text goes through `escape`.
    """
    parts = [tag]
    for name, value in attributes.items():
        content = escape(value) if isinstance(value, str) else number(value)
        parts.append(f'{name.removesuffix("_").replace("_", "-")}="{content}"')
    opening = " ".join(parts)
    return f"<{opening}>{''.join(children)}</{tag}>" if children else f"<{opening}/>"


def write(
    x: float,
    y: float,
    text: str,
    *,
    size: float = 14,
    room: float = math.inf,
    bold: bool = False,
    halo: bool = False,
    **more: str | float,
) -> str:
    """Text at its baseline, shortened to the room that there is; all of it is told to those who ask.

    A halo parts it from lines that it stands on.
    """
    short = shorten(text, room, size, bold=bold)
    note = element("title", escape(text)) if short != text else ""
    weight: dict[str, str | float] = {"font_weight": "bold"} if bold else {}
    if halo:
        weight |= {"stroke": PAPER, "stroke_width": 3, "paint_order": "stroke"}
    return element("text", note + escape(short), x=x, y=y, font_size=size, **weight, **more)


def group(children: Iterable[str], *, note: str = "", **attributes: str | float) -> str:
    """Elements that belong together, with what is told of them to those who ask."""
    title = element("title", escape(note)) if note else ""
    return element("g", title + "\n", *(f"{child}\n" for child in children if child), **attributes)


def horizontal(x1: float, x2: float, y: float, stroke: str, width: float = 1, **attributes: str | float) -> str:
    """A line from left to right."""
    return element("line", x1=x1, x2=x2, y1=y, y2=y, stroke=stroke, stroke_width=width, **attributes)


def vertical(x: float, y1: float, y2: float, stroke: str, width: float = 1) -> str:
    """A line from the top down."""
    return element("line", x1=x, x2=x, y1=y1, y2=y2, stroke=stroke, stroke_width=width)


def cross(x: float, y: float, half: float) -> str:
    """The end of a try that fails."""
    side, back = number(2 * half), number(-2 * half)
    arms = f"M{number(x - half)} {number(y - half)}l{side} {side}m0 {back}l{back} {side}"
    halo = element("path", d=arms, stroke=PAPER, stroke_width=6, stroke_linecap="round")
    return element("g", halo, element("path", d=arms, stroke=WRONG, stroke_width=2), class_="cross")


def tick_mark(x: float, y: float, colour: str) -> str:
    """The end of a run that succeeds."""
    circle = element("circle", cx=x, cy=y, r=9, fill=colour, stroke=PAPER, stroke_width=2)
    check = f"M{number(x - 4)} {number(y)}l2.8 3l5 -5.6"
    return element("g", circle, element("path", d=check, fill="none", stroke=PAPER, stroke_width=2), class_="success")


def square(x: float, y: float) -> str:
    """The end of a run that does not."""
    box = element("rect", x=x - 8, y=y - 8, width=16, height=16, fill=WRONG, stroke=PAPER, stroke_width=2)
    arms = f"M{number(x - 4)} {number(y - 4)}l8 8m0 -8l-8 8"
    return element("g", box, element("path", d=arms, fill="none", stroke=PAPER, stroke_width=2), class_="failure")


def document(width: float, height: float, *, title: str, description: str, body: Sequence[str]) -> str:
    """A whole picture. The ids hold a checksum, so that several pictures can stand in one page."""
    content = "\n".join(part for part in body if part)
    key = f"{zlib.crc32(f'{title}{description}{content}'.encode()):08x}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}" '
        f'width="{number(width)}" height="{number(height)}" role="img" aria-labelledby="title-{key} desc-{key}" '
        f'font-family="{escape(FONTS)}" fill="{INK}">'
    )
    names = [element("title", escape(title), id=f"title-{key}"), element("desc", escape(description), id=f"desc-{key}")]
    paper = element("rect", x=0, y=0, width=width, height=height, fill=PAPER)
    return "\n".join([head, *names, paper, content, "</svg>\n"])


def nice_step(least: float) -> float:
    """The least of 1, 2, 5, 10, 20, ..., 0.5, ... that is at least so large."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def nice_ticks(low: float, high: float, about: int) -> list[float]:
    """Round numbers from at most `low` up to at least `high`, some `about` of them and never twice as many."""
    if high <= low:
        high = low + 1.0
    step = nice_step((high - low) / max(about, 1))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [place * step for place in range(first, last + 1)]


def blue(place: int, count: int) -> str:
    """The colour of a plan: one ramp, lighter for the first, dark for the last."""
    position = (len(RAMP) - 1) * (place / (count - 1) if count > 1 else 0.5)
    lower = min(int(position), len(RAMP) - 2)
    share = position - lower
    mixed = (round(a + share * (b - a)) for a, b in zip(RAMP[lower], RAMP[lower + 1], strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


BLUE = blue(1, 3)  # of what is no plan among others
Box = tuple[float, float, float, float]  # left, top, right, bottom


def meets(one: Box, other: Box) -> bool:
    """Whether two boxes have more than an edge in common."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def spread(centres: Sequence[float], widths: Sequence[float], low: float, high: float) -> list[float] | None:
    """Centres as near as can be to those wanted, in their order, without overlaps and between two bounds.

    With t_i = centre_i less what stands before it, "no overlaps" is "t never falls": isotonic regression by pooling.
    None if there is not enough room.
    """
    before = [sum(widths[:place]) + width / 2 for place, width in enumerate(widths)]
    room = high - low - sum(widths)
    if room < 0:
        return None
    pools: list[tuple[float, int]] = []
    for centre, offset in zip(centres, before, strict=True):
        mean, count = centre - offset, 1
        while pools and pools[-1][0] > mean:
            other, others = pools.pop()
            mean, count = (mean * count + other * others) / (count + others), count + others
        pools.append((mean, count))
    shifts = [min(max(mean, low), low + room) for mean, count in pools for _ in range(count)]
    return [shift + offset for shift, offset in zip(shifts, before, strict=True)]


@dataclass(frozen=True, slots=True)
class Label:
    """What is said of the stretch of a line from `start` to `end`: forms of it, the longest first, the last empty."""

    start: float
    end: float
    forms: tuple[str, ...]
    full: str
    works: bool = True


PlacedLabel = tuple[Label, str, float]  # what is said of it, and where its middle is


def place_labels(labels: Sequence[Label], size: float, low: float, high: float) -> list[PlacedLabel]:
    """Each label that has room, its text and its centre: never two over each other, each over its own stretch.

    A label stands over the middle of its stretch, or beside it where a neighbour leaves room. While they do not fit,
    the one that is too wide by most takes its next shorter form.
    """
    left = [(label, 0) for label in labels]
    while True:
        left = [(label, form) for label, form in left if label.forms[form]]
        widths = [text_width(label.forms[form], size) + LABEL_GAP for label, form in left]
        centres = spread([(label.start + label.end) / 2 for label, _ in left], widths, low, high)
        if centres is not None:
            placed = [(label, label.forms[form], centre) for (label, form), centre in zip(left, centres, strict=True)]
            if all(_stands_over(label, at, width) for (label, _, at), width in zip(placed, widths, strict=True)):
                return placed
        excess = [width - (label.end - label.start) for (label, _), width in zip(left, widths, strict=True)]
        widest = excess.index(max(excess))
        left[widest] = (left[widest][0], left[widest][1] + 1)


def _stands_over(label: Label, centre: float, width: float) -> bool:
    """Whether half of a label, or of its stretch, is where the other is."""
    common = min(label.end, centre + width / 2) - max(label.start, centre - width / 2)
    return common >= min(label.end - label.start, width) / 2 - 1e-9
