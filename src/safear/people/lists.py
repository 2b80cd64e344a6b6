"""People one by one: records, or the rows of a small CSV file, as level numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
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


def load_people(problem: Problem, path: Path) -> NDArray[np.int16]:
    """People from a CSV file with a column per feature; other columns are ignored."""
    reader = csv.DictReader(io.StringIO(read_text(path, PersonError), newline=""))
    try:
        rows = list(reader)
    except csv.Error as error:
        place = Place(file=str(path), line=reader.line_num)
        raise PersonError([Mistake(place, f"not a CSV table: {error}", "is a quotation mark not closed?")]) from None
    if not rows:
        raise PersonError([Mistake(Place(file=str(path)), "there is nobody in this file", "give a header and rows")])
    missing = [name for name in problem.feature_by_name if name not in rows[0]]
    if missing:
        header = [name for name in reader.fieldnames or () if name]
        cause = f"there is no column for {quote_list(missing)}"
        raise PersonError([Mistake(Place(file=str(path)), cause, f"the columns are {quote_list(header)}")])
    for number, row in enumerate(rows, start=1):
        if None in row or None in row.values():
            place = Place(file=str(path), path=(f"row {number}",))
            fields = len(reader.fieldnames or ())
            raise PersonError([Mistake(place, f"does not have the {fields} fields of the header")])
    people = [{name: row[name] for name in problem.feature_by_name} for row in rows]
    return read_people(problem, people, file=str(path))


def _at_row(mistake: Mistake, number: int, file: str | None) -> Mistake:
    place = Place(file=file, path=(f"row {number}", *mistake.place.path))
    return Mistake(place, mistake.cause, mistake.remedy)
