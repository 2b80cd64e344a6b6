"""What is saved for spreadsheets: no text in it is taken for a formula."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import pandas as pd

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how texts begin that spreadsheets run, or read on after

Cell = TypeVar("Cell")


def defuse(cell: Cell) -> Cell | str:
    """A cell as it can be opened: a text that would be a formula gets an apostrophe, all else stays as it is."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def write_frame(frame: pd.DataFrame) -> str:
    """A table with its index as CSV; headings come from files of people too, and may be the same twice."""
    return frame.reset_index(allow_duplicates=True).rename(columns=defuse).map(defuse).to_csv(index=False)
