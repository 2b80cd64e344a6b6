"""A picture: its drawing, the tables that it was drawn from, and the files that it can be saved as."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safear.errors import InputError, Mistake, Place
from safear.files import write_bytes, write_text
from safear.plots.rendering import SCALE, render_pdf, render_png

ENDINGS = (".svg", ".png", ".pdf", ".vl.json")


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing, and the tidy tables that it was drawn from: lists of records, by name.

    `chart` makes the same picture as a Vega-Lite specification, where there is one.
    """

    svg: str = field(repr=False)
    tables: Mapping[str, list[dict[str, Any]]]
    chart: Callable[[], dict[str, Any]] | None = field(default=None, repr=False, compare=False)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:  # noqa: ARG002
        """What a notebook shows."""
        return {"image/svg+xml": self.svg}

    def vega(self) -> dict[str, Any]:
        """The picture as a Vega-Lite (v5) specification that holds its data, for pages that let people look closer."""
        if self.chart is None:
            cause = "this picture is no chart of numbers on axes, so it has no Vega-Lite form"
            raise InputError.at((), cause, "save it as .svg, .png or .pdf")
        return self.chart()

    def png(self, *, scale: float = SCALE) -> bytes:
        """The picture as PNG, `scale` pixels per unit of the SVG."""
        return render_png(self.svg, scale=scale)

    def pdf(self) -> bytes:
        """The picture as PDF."""
        return render_pdf(self.svg)

    def save(self, path: str | Path) -> None:
        """Write it to a file whose name ends in `.svg`, `.png`, `.pdf` or `.vl.json` (Vega-Lite)."""
        target = Path(path)
        match find_ending(target):
            case ".svg":
                write_text(target, self.svg)
            case ".vl.json":
                write_text(target, json.dumps(self.vega(), indent=1, ensure_ascii=False, allow_nan=False) + "\n")
            case ".png":
                write_bytes(target, self.png())
            case _:
                write_bytes(target, self.pdf())


def find_ending(path: Path) -> str:
    """Which of the endings a file has; an InputError if none of them."""
    ending = next((ending for ending in ENDINGS if path.name.lower().endswith(ending)), None)
    if ending is None:
        cause = (
            f"pictures are written as {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, not as '{path.suffix or path.name}'"
        )
        raise InputError([Mistake(Place(file=str(path)), cause, f"name it {path.stem}.svg")])
    return ending
