"""Reading pictures back: what is drawn, and how far it reaches."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from safear.plots.svg import text_width

SVG = "{http://www.w3.org/2000/svg}"
Box = tuple[float, float, float, float]  # left, top, right, bottom


def read(svg: str) -> ET.Element:
    return ET.fromstring(svg.encode())


def of_class(root: ET.Element, name: str) -> list[ET.Element]:
    return [node for node in root.iter() if node.get("class") == name]


def shown_text(node: ET.Element) -> str:
    """The text of a text element without its title."""
    parts = [node.text or ""]
    for child in node:
        parts += [child.text or "" if child.tag != f"{SVG}title" else "", child.tail or ""]
    return "".join(parts)


def get(node: ET.Element, name: str) -> float:
    return float(node.get(name, "0"))


def text_box(node: ET.Element) -> Box:
    spans = node.findall(f"{SVG}tspan") or [node]
    size = max(get(span, "font-size") for span in spans)
    width = sum(
        text_width(shown_text(span), get(span, "font-size"), bold=span.get("font-weight") == "bold") + get(span, "dx")
        for span in spans
    )
    anchor = node.get("text-anchor", "start")
    left = get(node, "x") - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return left, get(node, "y") - 0.8 * size, left + width, get(node, "y") + 0.25 * size


def path_points(path: str) -> Iterator[tuple[float, float]]:
    x = y = 0.0
    for command, numbers in re.findall(r"([MLml])([^MLmlZ]*)", path):
        across, down = (float(part) for part in numbers.split())
        x, y = (across, down) if command.isupper() else (x + across, y + down)
        yield x, y


def box(node: ET.Element) -> Box | None:
    half = get(node, "stroke-width") / 2
    match node.tag.removeprefix(SVG):
        case "line":
            xs, ys = [get(node, "x1"), get(node, "x2")], [get(node, "y1"), get(node, "y2")]
            half_x, half_y = (0.0, half) if ys[0] == ys[1] else (half, 0.0)
            return min(xs) - half_x, min(ys) - half_y, max(xs) + half_x, max(ys) + half_y
        case "rect":
            x, y = get(node, "x"), get(node, "y")
            return x - half, y - half, x + get(node, "width") + half, y + get(node, "height") + half
        case "circle":
            x, y, r = get(node, "cx"), get(node, "cy"), get(node, "r") + half
            return x - r, y - r, x + r, y + r
        case "path":
            points = list(path_points(node.get("d", "")))
            xs, ys = [x for x, _ in points], [y for _, y in points]
            return min(xs) - half, min(ys) - half, max(xs) + half, max(ys) + half
        case "text":
            return text_box(node)
    return None


def check_inside(svg: str) -> None:
    """Nothing is drawn outside the viewBox; nothing is loaded or run."""
    root = read(svg)
    _, _, width, height = (float(part) for part in root.get("viewBox", "").split())
    for node in root.iter():
        found = box(node)
        if found is not None:
            left, top, right, bottom = found
            assert left >= -1e-6, ET.tostring(node)
            assert top >= -1e-6, ET.tostring(node)
            assert right <= width + 1e-6, ET.tostring(node)
            assert bottom <= height + 1e-6, ET.tostring(node)
        assert node.tag.removeprefix(SVG) in {
            "svg", "g", "title", "desc", "rect", "line", "circle", "path", "text", "tspan",
        }  # fmt: skip
        assert not [name for name in node.attrib if "href" in name or name.startswith("on")]


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
