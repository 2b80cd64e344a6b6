"""Rows that cannot be used: what is wrong with them, as an error or set aside in a file."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.errors import InputError, Mistake, PersonError, Place, suggest
from safear.people.cells import Codes, is_missing, level_number
from safear.problem.model import Problem
from safear.problem.vector import holds

_COLUMNS = ("file", "row", "column", "value")
_HEAD = ",".join(_COLUMNS).encode()


class BadRow(NamedTuple):
    """A row that cannot be used: its number in its file, its cells, and what is wrong: column, value, cause, remedy."""

    file: str | None
    row: int
    cells: Mapping[str, object]
    wrong: Sequence[tuple[str, object, str, str | None]]


def breaks(problem: Problem, codes: Codes) -> NDArray[np.bool_]:
    """Which people break a constraint."""
    by_name = {feature.name: codes[:, i] for i, feature in enumerate(problem.features)}
    broken = np.zeros(len(codes), dtype=np.bool_)
    for constraint in problem.constraints:
        broken |= ~holds(constraint, by_name, problem.feature_by_name)
    return broken


def wrong_cells(problem: Problem, cells: Mapping[str, object]) -> list[tuple[str, object, str, str | None]]:
    """What is wrong with a bad row: column, value, cause and remedy of each mistake."""
    wrong: list[tuple[str, object, str, str | None]] = []
    codes = []
    for feature in problem.features:
        value = cells[feature.name]
        codes.append(level_number(feature, value))
        if is_missing(value):
            wrong.append((feature.name, value, "the value is missing", f"one of: {', '.join(feature.levels[:12])}"))
        elif codes[-1] is None:
            what = "a number or a level" if feature.kind == "numeric" else "a level"
            cause = f"'{value}' is not {what} of '{feature.name}'"
            wrong.append((feature.name, value, cause, suggest(str(value), feature.levels)))
    if not wrong:
        by_name = {f.name: np.array([code], np.int16) for f, code in zip(problem.features, codes, strict=True)}
        wrong += [
            ("", str(constraint), f"breaks the constraint '{constraint}'", None)
            for constraint in problem.constraints
            if not holds(constraint, by_name, problem.feature_by_name)[0]
        ]
    return wrong


def complain(bad: BadRow, place: Place, summary: str) -> None:
    """The error about the first bad row of a source."""
    mistakes = [
        Mistake(Place((f"row {bad.row}", *([column] if column else [])), bad.file), cause, remedy)
        for column, _, cause, remedy in bad.wrong
    ]
    raise PersonError(
        [*mistakes, Mistake(place, summary, "correct them, or have them set aside in a file: skip_bad, --skip-bad")]
    )


def require_free(path: Path) -> None:
    """Refuse to write over anything but bad rows of an earlier time, before anything is read."""
    if not path.absolute().parent.is_dir():
        raise PersonError([Mistake(Place(file=str(path)), "cannot be written: there is no such folder")])
    if not path.exists():
        return
    with path.open("rb") as stream:
        if stream.read(len(_HEAD)) != _HEAD:
            cause, remedy = "is there already, and is no file of bad rows", "name a file that is not there yet"
            raise PersonError([Mistake(Place(file=str(path)), cause, remedy)])


def write_bad_rows(path: Path, rows: Iterable[BadRow]) -> None:
    """A CSV file of rows, made beside `path` first so that nobody sees half of it."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            header: list[str] = []
            for row in rows:
                if header != (header := list(row.cells)):  # files with other columns get their own header
                    writer.writerow([*_COLUMNS, *header])
                column, value = row.wrong[0][:2]
                writer.writerow([row.file, row.row, column, value, *row.cells.values()])
        part.replace(path)
    except OSError as cause:
        raise InputError([Mistake(Place(file=str(path)), f"cannot be written: {cause.strerror}")]) from cause
    finally:
        part.unlink(missing_ok=True)
