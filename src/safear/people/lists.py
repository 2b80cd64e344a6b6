"""People one by one: records, or the rows of a small file, as filed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from safear.classifier.filed import LEVELS_ONLY, Filed, Sight
from safear.errors import Mistake, PersonError, Place, quote_list
from safear.people.rows import load_rows
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
    """People from a CSV or Parquet file with a column per feature, and per column that is seen besides."""
    rows = load_rows(path, problem, given=sight.given)
    if not rows:
        raise PersonError.at(Place(file=str(path)), "it has no people", "give a header and rows", code="nobody")
    carried = [feature.name for feature in problem.features if feature.hidden and feature.name in rows[0]]
    wanted = (*(feature.name for feature in problem.shown_features), *carried, *sight.given)
    missing = [name for name in wanted if name not in rows[0]]
    if missing:
        cause = f"there is no column for {quote_list(missing)}"
        remedy = f"the columns are {quote_list(list(filter(None, rows[0])))}"
        raise PersonError.at(Place(file=str(path)), cause, remedy, code="missing_column", columns=missing)
    people = [{name: row[name] for name in wanted} for row in rows]
    return read_people(problem, people, sight=sight, file=str(path))


def _at_row(item: Mistake, number: int, file: str | None) -> Mistake:
    return replace(item, place=Place(file=file, path=(f"row {number}", *item.place.path)))
