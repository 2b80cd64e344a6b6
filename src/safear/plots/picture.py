"""A picture: its drawing, the tables that it was drawn from, and the files that it can be saved as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safear.errors import InputError, Place
from safear.files import is_stream, write_bytes, write_text
from safear.plots.rendering import SCALE, render_pdf, render_png

if TYPE_CHECKING:
    import pandas as pd
    from _typeshed import DataclassInstance

ENDINGS = (".svg", ".png", ".pdf")


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing, and the tidy tables that it was drawn from: lists of records, by name."""

    svg: str = field(repr=False)
    tables: Mapping[str, list[dict[str, Any]]]

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:  # noqa: ARG002
        """What a notebook shows."""
        return {"image/svg+xml": self.svg}

    @property
    def data(self) -> dict[str, pd.DataFrame]:
        """The tables as data frames, to draw or to count them another way; what is undefined is None."""
        return {name: _make_frame(rows) for name, rows in self.tables.items()}

    def png(self, *, scale: float = SCALE) -> bytes:
        """The picture as PNG, `scale` pixels per unit of the SVG."""
        return render_png(self.svg, scale=scale)

    def pdf(self) -> bytes:
        """The picture as PDF."""
        return render_pdf(self.svg)

    def save(self, path: str | Path) -> None:
        """Write it to a file whose name ends in `.svg`, `.png` or `.pdf`; a device or pipe gets SVG."""
        target = Path(path)
        match find_ending(target):
            case ".svg":
                write_text(target, self.svg)
            case ".png":
                write_bytes(target, self.png())
            case _:
                write_bytes(target, self.pdf())


def make_picture(svg: str, **tables: Sequence[DataclassInstance]) -> Picture:
    """A picture with the rows that it was drawn from."""
    return Picture(svg, {name: [asdict(row) for row in rows] for name, rows in tables.items()})


def find_ending(path: Path) -> str:
    """Which of the endings a file has; an InputError if none of them. What has no name of its own is SVG."""
    ending = path.suffix.lower() or (".svg" if is_stream(path) else "")
    if ending not in ENDINGS:
        cause = f"pictures are written as .svg, .png or .pdf, not as '{path.suffix or path.name}'"
        raise InputError.at(Place(file=str(path)), cause, f"name it {path.stem}.svg", code="unknown_format")
    return ending


def _make_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415  # takes a while, and drawing needs none

    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    # Pandas would make NaN of None.
    return pd.DataFrame(
        {name: pd.Series(values, dtype=object if None in values else None) for name, values in columns.items()}
    )
