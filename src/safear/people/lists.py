"""People one by one: records, or the rows of a small CSV file, as filed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from safear.classifier.filed import LEVELS_ONLY, Filed, Sight
from safear.errors import Mistake, PersonError, Place, quote_list
from safear.files import read_text
from safear.people.cells import read_cells
from safear.people.opening import require_delimiter
from safear.problem.model import Person, Problem, Record
from safear.problem.person import read_person


def read_people(
    problem: Problem,
    records: Iterable[Record],
    *,
    sight: Sight = LEVELS_ONLY,
    file: str | None = None,
) -> Filed:
    """People as filed, one row each. All records with mistakes are reported, by row from 1."""
    known: dict[tuple[tuple[str, type, str], ...], Person] = {}
    read, people, mistakes = [], [], []
    for number, record in enumerate(records, start=1):
        key = tuple((str(name), type(value), str(value)) for name, value in record.items())  # True is not "True"
        if key not in known:
            try:
                known[key] = read_person(problem, record, given=sight.given)
            except PersonError as error:
                mistakes += [_at_row(item, number, file) for item in error.mistakes]
                continue
        read.append(record)
        people.append(known[key])
    if mistakes:
        raise PersonError(mistakes)
    return Filed.of(problem, sight, read, people)


def load_people(path: Path, problem: Problem, *, sight: Sight = LEVELS_ONLY) -> Filed:
    """People from a CSV file with a column per feature, and per column that is seen besides."""
    reader = csv.DictReader(io.StringIO(read_text(path, PersonError), newline=""))
    try:
        require_delimiter(list(reader.fieldnames or ()), Place(file=str(path)))
        rows = list(reader)
    except csv.Error as error:
        place = Place(file=str(path), line=reader.line_num)
        raise PersonError.at(place, f"not a CSV table: {error}", "is a quote left open?", code="syntax") from None
    if not rows:
        raise PersonError.at(Place(file=str(path)), "it has no people", "give a header and rows", code="nobody")
    carried = [feature.name for feature in problem.features if feature.hidden and feature.name in rows[0]]
    wanted = (*(feature.name for feature in problem.shown_features), *carried, *sight.given)
    missing = [name for name in wanted if name not in rows[0]]
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
    people = [read_cells({name: row[name] for name in wanted}, problem) for row in rows]
    return read_people(problem, people, sight=sight, file=str(path))


def _at_row(item: Mistake, number: int, file: str | None) -> Mistake:
    return replace(item, place=Place(file=file, path=(f"row {number}", *item.place.path)))
