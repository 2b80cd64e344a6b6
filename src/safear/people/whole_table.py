"""A whole file of people as a data frame, each column with the type that its cells have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from safear.errors import PersonError
from safear.people.cells import fitting
from safear.people.opening import connect, find_table
from safear.people.rows import csv_cells, require_table
from safear.problem.person import read_value

SPELLED = "spelled"  # in the `attrs` of a frame: how the cells of columns of truth values are written, by name


def load_table(path: str) -> pd.DataFrame:
    """The rows of a CSV or Parquet file. A CSV column has numbers or truth values if all its cells are; '' is missing.

    That is how files of people are read everywhere: 007 is a text.
    """
    place = require_table(path)
    if path.lower().endswith(".parquet"):
        with connect(place, 1, "2GB") as connection:
            table = find_table(connection, place)
            found = connection.execute(table.scan(table.files)).df()
        return found.set_axis(list(table.names), axis=1)
    names, *rows = csv_cells(place)
    if not rows or not names:
        raise PersonError.at(place, "it has no people", "give a header and rows", code="nobody")
    columns, spelled = [], {}
    for name, cells in zip(names, zip(*rows, strict=True), strict=True):
        known = {cell: read_value(cell) for cell in dict.fromkeys(cells) if cell}
        columns.append(pd.Series(_type_cells(cells, known)))
        if sorted(map(str.lower, known)) == ["false", "true"]:
            spelled[name] = tuple(sorted(known, key=str.lower))
    frame = pd.concat(columns, axis=1, keys=range(len(names))).set_axis(names, axis=1)
    frame.attrs[SPELLED] = spelled
    return frame


def _type_cells(cells: Sequence[str], known: Mapping[str, Any]) -> Any:
    """Texts as numbers or truth values, if all of them are; None (NaN among numbers) for those that are empty."""
    kind = next(iter(fitting(known)), "VARCHAR") if known else "VARCHAR"
    if kind in {"BIGINT", "DOUBLE"}:
        is_whole = kind == "BIGINT" and "" not in cells
        return pd.array([known.get(cell, np.nan) for cell in cells], dtype="int64" if is_whole else "float64")
    if kind == "BOOLEAN":
        return pd.array([known.get(cell) for cell in cells], dtype=object if "" in cells else bool)
    return pd.array([cell or None for cell in cells], dtype=object)
