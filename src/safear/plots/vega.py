"""Vega-Lite specifications: what all of them have in common. They hold their data and load nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from safear.plots.axes import DASHES
from safear.plots.svg import FAINT, FONTS, GRID, INK, PAPER, blue, clean

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
Spec = dict[str, Any]


def make_spec(title: str, **content: Any) -> Spec:
    """A whole specification in the colours and fonts of the pictures."""
    return {
        "$schema": SCHEMA,
        "title": {"text": title, "anchor": "start", "color": INK, "fontSize": 18},
        "config": {
            "font": FONTS,
            "background": PAPER,
            "view": {"stroke": None},
            "axis": {"labelColor": FAINT, "titleColor": INK, "gridColor": GRID, "titleFontWeight": "normal"},
            "header": {"labelColor": INK, "labelFontWeight": "bold", "labelAnchor": "start"},
            "legend": {"labelColor": INK, "labelLimit": 0, "title": None},
        },
        **content,
    }


def hold(records: Iterable[Mapping[str, Any]]) -> Spec:
    """Data inside a specification; texts without what no file can hold."""
    return {
        "values": [
            {name: clean(value) if isinstance(value, str) else value for name, value in record.items()}
            for record in records
        ]
    }


def quantity(field: str, title: str | None, **more: Any) -> Spec:
    """A number on an axis."""
    return {"field": field, "type": "quantitative", "title": title, **more}


def category(field: str, title: str | None, **more: Any) -> Spec:
    """A name on an axis or in a key."""
    return {"field": field, "type": "nominal", "title": title, **more}


def share(field: str, title: str | None, **more: Any) -> Spec:
    """A probability on an axis, in per cent."""
    return quantity(field, title, **{"axis": {"format": ".0%"}, **more})


def tell(**fields: str) -> list[Spec]:
    """What is told of a mark to those who point at it: `tell(cost="cost in months", chance="chance")`."""
    formats = {"chance": ".3~%", "success": ".3~%"}
    return [
        {"field": field, "title": title, **({"format": formats[field]} if field in formats else {})}
        for field, title in fields.items()
    ]


def plan_scales(names: Sequence[str]) -> tuple[Spec, Spec]:
    """Colours and dashes of lines by their names, as in the pictures."""
    colours = [blue(place, len(names)) for place in range(len(names))]
    dashes = [_read_dash(DASHES[place % len(DASHES)]) for place in range(len(names))]
    return {"domain": list(names), "range": colours}, {"domain": list(names), "range": dashes}


def _read_dash(dash: str) -> list[float]:
    return [1, 0] if dash == "none" else [float(part) for part in dash.split()]
