"""Rows that cannot be used: what is wrong with them, as an error or set aside in a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.errors import Mistake, PersonError, Place, mistake
from safear.files import is_stream, require_output, write_pieces
from safear.mdp.expand import allowed
from safear.people.cells import Codes
from safear.problem.model import Problem
from safear.problem.person import person_mistakes

_COLUMNS = ("file", "row", "column", "value")
_HEAD = ",".join(_COLUMNS).encode()


class BadRow(NamedTuple):
    """A row that cannot be used: its number in its file, its cells, and what is wrong with it."""

    file: str | None
    row: int
    cells: Mapping[str, object]
    wrong: Sequence[Mistake]


def breaks(problem: Problem, codes: Codes) -> NDArray[np.bool_]:
    """Which people break a constraint."""
    by_name = {feature.name: codes[:, i] for i, feature in enumerate(problem.features)}
    return ~allowed(problem, by_name, len(codes))


def wrong_cells(problem: Problem, cells: Mapping[str, object]) -> list[Mistake]:
    """What is wrong with a bad row."""
    known = {name: cells[name] for name in problem.feature_by_name if name in cells}  # what is hidden need not be there
    return person_mistakes(problem, known | dict.fromkeys(problem.given))  # columns that are given may hold anything


def complain(bad: BadRow, place: Place, summary: str) -> None:
    """The error about the first bad row of a source."""
    mistakes = [replace(item, place=Place((f"row {bad.row}", *item.place.path), bad.file)) for item in bad.wrong]
    remedy = "correct them, or write them to a file of their own (skip_bad, --skip-bad)"
    raise PersonError([*mistakes, mistake(place, summary, remedy, code="bad_rows")])


def require_free(path: Path) -> None:
    """Refuse to write over anything but bad rows of an earlier time, before anything is read."""
    require_output(path)
    if is_stream(path) or not path.exists():
        return
    with path.open("rb") as stream:
        if stream.read(len(_HEAD)) != _HEAD:
            cause, remedy = "exists and is not a file of bad rows", "name a new file"
            raise PersonError.at(Place(file=str(path)), cause, remedy, code="unwritable")


def write_bad_rows(path: Path, rows: Iterable[BadRow]) -> None:
    """A CSV file of rows."""
    write_pieces(path, _as_csv(rows))


def _as_csv(rows: Iterable[BadRow]) -> Iterator[bytes]:
    """The lines of the file, some at a time."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    header: list[str] = []
    for row in rows:
        if header != (header := list(row.cells)):  # files with other columns get their own header
            writer.writerow([*_COLUMNS, *header])
        first = row.wrong[0]
        column = "".join(map(str, first.place.path))
        about = [row.cells[column]] if column else first.values.values()  # a whole row or a constraint
        writer.writerow([row.file, row.row, column, *about, *row.cells.values()])
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()
