"""A large population, reduced to how many people there are of each kind."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from safear.arguments import ArgumentKind, opens
from safear.classifier.filed import LEVELS_ONLY, Filed, Sight
from safear.errors import PersonError, Place, TooLargeError, closest, mistake, quote_list
from safear.people.bad_rows import breaks, complain, require_free, write_bad_rows
from safear.people.cells import Codes, code_names
from safear.people.file_counts import Files
from safear.people.frame_counts import Frame
from safear.people.opening import connect, find_tables
from safear.problem.model import Problem, Record
from safear.problem.person import as_record
from safear.problem.tree import refuse_halves

logger = logging.getLogger("safear")

People = str | os.PathLike[str] | pd.DataFrame | Sequence[Record]  # files, or who is in them
MAX_COMBINATIONS = 5_000_000  # of levels and group values; more are too many to solve


@dataclass(frozen=True, eq=False)
class Population:
    """How many people there are of each kind: row i of `filed` with value i of each group."""

    filed: Filed
    groups: tuple[str, ...]
    group_values: tuple[tuple[str, ...], ...]
    counts: NDArray[np.int64]
    rows: int
    skipped: int

    @property
    def codes(self) -> Codes:
        """Level numbers, a row per kind."""
        return self.filed.codes


PEOPLE = ArgumentKind(
    "a table of people",
    "give a CSV or Parquet file, a data frame, or a list of records",
    (Iterable,),
    (bytes, Mapping),
    error=PersonError,
    test=opens,
)


def read_population(
    problem: Problem,
    source: People,
    *,
    groups: Sequence[str] = (),
    sight: Sight = LEVELS_ONLY,
    skip_bad: str | Path | None = None,
    threads: int = 2,
) -> Population:
    """The people of a CSV or Parquet file, of all files that a pattern matches, of a data frame or records, as counts.

    A group is a feature (its levels are the groups) or any other column (its values are, as text; '' if missing).
    `sight` is what is seen of records besides levels, and tells people apart. Rows that cannot be used are an error or,
    with `skip_bad`, written to that CSV file and left out.
    """
    groups = tuple(dict.fromkeys(groups))
    source = os.fspath(source) if isinstance(source, os.PathLike) else source
    if not isinstance(source, str | pd.DataFrame):
        PEOPLE.require(source, "people")
        records = [as_record(record) for record in source]
        refuse_halves(dict.fromkeys(name for record in records for name in record), PersonError)  # as names of columns
        source = pd.DataFrame(records, columns=None if records else list(problem.feature_by_name), dtype=object)
    if isinstance(source, pd.DataFrame):
        return _read(Frame(problem, groups, source, sight), Place(), skip_bad)
    place = Place(file=source)
    with connect(place, threads, "1GB") as connection:
        tables, limit = find_tables(connection, place, but=skip_bad), MAX_COMBINATIONS + 1
        files = Files(problem, groups, tables, connection, limit=limit, sight=sight, counts_records=True)
        return _read(files, place, skip_bad)


def _read(people: Frame | Files, place: Place, skip_bad: str | Path | None) -> Population:
    problem, groups = people.problem, people.groups
    for file, names in people.headers():
        _warn_of_terms(problem, names)
        check_columns(name_columns(problem, people.sight) | dict.fromkeys(groups, "group"), names, file)
    examined = examine(people, place, skip_bad)
    if len(examined.table) > MAX_COMBINATIONS:
        cause = f"more than {MAX_COMBINATIONS} combinations of levels and groups"
        raise TooLargeError.at(place, cause, "group by columns with few values")
    table = examined.table[~examined.bad]
    filed = make_filed(problem, people.sight, table)
    texts = {name: table[f"g{i}"].astype(str) for i, name in enumerate(groups) if name not in problem.feature_by_name}
    # Parts of the files and other spellings of the same level come together here.
    keys: list[NDArray[Any]] = [filed.codes, filed.kinds]
    keys += [np.unique(text.to_numpy(), return_inverse=True)[1] for text in texts.values()]
    _, first, kind = np.unique(np.column_stack(keys), axis=0, return_index=True, return_inverse=True)
    counts = np.zeros(len(first), dtype=np.int64)
    np.add.at(counts, kind.reshape(-1), table["people"].to_numpy(np.int64))
    filed, values = filed.take(first), []
    for group in groups:
        if group in problem.feature_by_name:
            position = list(problem.feature_by_name).index(group)
            values.append(tuple(problem.features[position].levels[code] for code in filed.codes[:, position].tolist()))
        else:
            values.append(tuple(texts[group].to_numpy()[first].tolist()))
    return Population(filed, tuple(groups), tuple(values), counts, examined.rows, examined.skipped)


def make_filed(problem: Problem, sight: Sight, table: pd.DataFrame) -> Filed:
    """The people of a table with level numbers c0 ..., numbers n0 ... and given columns r0 ...."""
    codes = np.ascontiguousarray(table[code_names(problem)].to_numpy(np.int16))
    numbers = {name: table[f"n{i}"].to_numpy(np.float64) for i, name in enumerate(sight.numbers)}
    columns = {name: _plain(table[f"r{i}"]) for i, name in enumerate(sight.given)}
    given = pd.DataFrame(columns, index=range(len(table)))
    return Filed.of_columns(problem, sight, codes, numbers, given)


def _plain(column: pd.Series[Any]) -> Any:
    """A column with the type that the same values have in records: nothing special for what may be missing."""
    types = pd.api.types
    if (
        types.is_extension_array_dtype(column.dtype)
        and types.is_numeric_dtype(column.dtype)
        and column.dtype != "boolean"
    ):
        # Missing whole numbers are NaN among floats, which models can take; few can take pandas.NA.
        has_gaps = bool(column.isna().any())
        return pd.Series(column.to_numpy(np.float64, na_value=np.nan) if has_gaps else column.to_numpy()).array
    if str(column.dtype) not in {"object", "boolean"}:
        return column.array
    return pd.Series(column.astype(object).where(column.notna(), None).tolist()).array


def name_columns(problem: Problem, sight: Sight) -> dict[str, str]:
    """The columns that people need, and what for."""
    features = [feature.name for feature in problem.shown_features]
    return dict.fromkeys(features, "feature") | dict.fromkeys(sight.given, "column of the classifier")


def _warn_of_terms(problem: Problem, names: Sequence[str]) -> None:
    """What a batch would read as costs, chances and limits of each person is not looked at when people are counted."""
    terms = [name for name in names if ":" in name and name.partition(":")[2].strip() in problem.action_by_name]
    if terms:
        logger.warning("ignored, because an audit uses the problem's own terms: %s", quote_list(terms))


def require_somebody(found: Population | Examined, skip_bad: str | Path | None) -> None:
    """Refuse to go on with nobody, where all rows were set aside."""
    if found.skipped == found.rows:
        cause = f"none of the {found.rows} rows can be used"
        raise PersonError.at((), cause, f"{skip_bad} says why", code="nobody")


@dataclass(frozen=True, eq=False)
class Examined:
    """How many rows of each combination there are, which of these are bad, and the level numbers that are broken.

    Of `rows` rows in all, `skipped` cannot be used; `rejected` of these cannot even be read.
    """

    table: pd.DataFrame
    bad: NDArray[np.bool_]
    broken: Codes
    rows: int
    skipped: int
    rejected: int


def examine(people: Frame | Files, place: Place, skip_bad: str | Path | None) -> Examined:
    """Count the rows; bad ones are an error or, with `skip_bad`, written to that file."""
    problem = people.problem
    if skip_bad is not None:
        require_free(Path(skip_bad))
    table, rejected = people.count()
    rows = int(table["people"].sum()) + rejected
    if not rows:
        raise PersonError.at(place, "it has no people", "give a header and rows", code="nobody")
    codes = table[code_names(problem)].to_numpy(np.int16)
    unread = (codes < 0).any(axis=1)
    broken = ~unread & breaks(problem, np.maximum(codes, 0))
    bad = unread | broken | table["wrong"].to_numpy(np.bool_)
    skipped = int(table["people"][bad].sum()) + rejected
    if skipped:
        bad_rows = people.bad_rows(codes[broken], rejected=rejected > 0, first=skip_bad is None)
        if skip_bad is None:
            complain(next(bad_rows), place, f"{skipped} of {rows} rows cannot be used")
        else:
            write_bad_rows(Path(skip_bad), bad_rows)
    return Examined(table, bad, codes[broken], rows, skipped, rejected)


def check_columns(wanted: Mapping[str, str], names: Sequence[str], file: str | None) -> None:
    """Refuse a file without one of the columns that are wanted for something: 'feature', 'group' and the like."""
    features = [name for name, role in wanted.items() if role == "feature"]
    listed = ", ".join(f"'{column}'" for column in names)
    mistakes = []
    for name, role in wanted.items():
        place = Place((name,), file)
        if name not in names:
            close = closest(name, [column for column in names if role != "feature" or column not in features])
            cause = f"there is no column '{name}' for this {role}; the columns are {listed}"
            remedy = "name a column of the file" if close is None else f"did you mean '{close}'?"
            mistakes.append(mistake(place, cause, remedy, code="missing_column", column=name))
        elif list(names).count(name) > 1:
            cause, remedy = f"there are two columns '{name}'", "rename one of the two"
            mistakes.append(mistake(place, cause, remedy, code="twice", name=name))
    if mistakes:
        raise PersonError(mistakes)
