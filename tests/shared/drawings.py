"""Reading pictures back: what is drawn, and how far it reaches."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from itertools import combinations

from doors import text_width

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
    """The corners of a path; of a curve also its control points, between which it stays."""
    x = y = 0.0
    for command, numbers in re.findall(r"([MLCml])([^MLCmlZ]*)", path):
        parts = [float(part) for part in numbers.split()]
        for across, down in zip(parts[::2], parts[1::2], strict=True):
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


def check_texts_apart(svg: str) -> None:
    """No two texts are over each other."""
    texts = [node for node in read(svg).iter(f"{SVG}text") if shown_text(node)]
    boxes = [text_box(node) for node in texts]
    for (one, text), (other, another) in combinations(zip(boxes, texts, strict=True), 2):
        assert not overlap(one, other), (shown_text(text), shown_text(another))


def texts_of(svg: str) -> list[str]:
    return [shown_text(node) for node in read(svg).iter(f"{SVG}text")]


def described(svg: str) -> str:
    """What a screen reader is told."""
    root = read(svg)
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert root.get("role") == "img"
    assert title is not None
    assert description is not None
    assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    return description.text or ""


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
