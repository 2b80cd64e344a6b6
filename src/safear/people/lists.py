"""People one by one: records, or the rows of a small CSV file, as level numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from safear.errors import Mistake, PersonError, Place, quote_list
from safear.files import read_text
from safear.mdp.space import person_codes
from safear.problem.model import Problem, Record
from safear.problem.person import read_person


def read_people(problem: Problem, records: Iterable[Record], *, file: str | None = None) -> NDArray[np.int16]:
    """The level numbers of people, one row each. All records with mistakes are reported, by row from 1."""
    known: dict[tuple[tuple[str, type, str], ...], NDArray[np.int16]] = {}
    rows, mistakes = [], []
    for number, record in enumerate(records, start=1):
        key = tuple((str(name), type(value), str(value)) for name, value in record.items())  # True is not "True"
        if key not in known:
            try:
                known[key] = person_codes(problem.features, read_person(problem, record))
            except PersonError as error:
                mistakes += [_at_row(item, number, file) for item in error.mistakes]
                continue
        rows.append(known[key])
    if mistakes:
        raise PersonError(mistakes)
    return np.array(rows, dtype=np.int16).reshape(len(rows), len(problem.features))


def load_people(path: Path, problem: Problem) -> NDArray[np.int16]:
    """People from a CSV file with a column per feature; other columns are ignored."""
    reader = csv.DictReader(io.StringIO(read_text(path, PersonError), newline=""))
    try:
        rows = list(reader)
    except csv.Error as error:
        place = Place(file=str(path), line=reader.line_num)
        raise PersonError.at(place, f"not a CSV table: {error}", "is a quote left open?", code="syntax") from None
    if not rows:
        raise PersonError.at(Place(file=str(path)), "it has no people", "give a header and rows", code="nobody")
    missing = [name for name in problem.feature_by_name if name not in rows[0]]
    if missing:
        header = [name for name in reader.fieldnames or () if name]
        cause = f"there is no column for {quote_list(missing)}"
        remedy = f"the columns are {quote_list(header)}"
        raise PersonError.at(Place(file=str(path)), cause, remedy, code="missing_column", columns=missing)
    for number, row in enumerate(rows, start=1):
        if None in row or None in row.values():
            place = Place(file=str(path), path=(f"row {number}",))
            cause = f"does not have the {len(reader.fieldnames or ())} fields of the header"
            raise PersonError.at(place, cause, code="wrong_length")
    people = [{name: row[name] for name in problem.feature_by_name} for row in rows]
    return read_people(problem, people, file=str(path))


def _at_row(item: Mistake, number: int, file: str | None) -> Mistake:
    return replace(item, place=Place(file=file, path=(f"row {number}", *item.place.path)))
