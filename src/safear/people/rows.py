"""One person out of a table of people: a row of a CSV or Parquet file, or a data frame of one row."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from safear.errors import PersonError, Place
from safear.files import AS_UTF8, HEAD, explain, refuse_encoding
from safear.people.cells import as_given, as_read, find_kinds, read_cells
from safear.people.opening import connect, find_table, open_file, refuse_delimiter, require_undamaged
from safear.people.quoting import Quotes
from safear.problem.model import Problem, Record

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import TypeIs

_DELIMITERS = {".csv": ",", ".tsv": "\t"}

Row = TypeVar("Row")


def is_table(path: Path | str) -> bool:
    """Whether a file holds people as rows, by its name."""
    return _ending(path) in {*_DELIMITERS, ".parquet"}


def require_table(path: Path | str) -> Place:
    """The place of a file that holds people as rows; others are refused."""
    place = Place(file=str(path))
    if is_table(path):
        return place
    if Path(path).is_dir():
        raise PersonError.at(place, "is a directory", "name a file", code="unreadable")
    remedy = "name it .csv, .csv.gz, .tsv or .parquet"
    raise PersonError.at(place, "is neither CSV nor Parquet", remedy, code="unknown_format")


def is_person_file(name: str) -> bool:
    """Whether this names a file, not a person: 'Dr. Who' has no ending."""
    return is_table(name) or _ending(name) in {".yaml", ".yml", ".json"}


def load_row(path: Path | str, problem: Problem, *, row: int | None = None, given: Collection[str] = ()) -> Record:
    """The person in a row of a CSV or Parquet file, counted from 1; None: its only row.

    A `given` column of a CSV file is of one type, which all of its cells say.
    """
    place = require_table(path)
    if _is_parquet(path):
        return _pick(_parquet_rows(place, given), row, place)
    found = _pick(_csv_rows(place), row, place)
    kinds = find_kinds(_csv_rows(place, passes_over=True), given) if given else {}
    return read_cells(found, problem, kinds)


def load_rows(path: Path | str, problem: Problem, *, given: Collection[str] = ()) -> list[Record]:
    """The people in all rows of a CSV or Parquet file, `given` columns as in `load_row`."""
    place = require_table(path)
    if _is_parquet(path):
        return list(_parquet_rows(place, given))
    rows = list(_csv_rows(place))
    kinds = find_kinds(rows, given)
    return [read_cells(row, problem, kinds) for row in rows]


def _pick(rows: Iterator[Row], row: int | None, place: Place) -> Row:
    """The row of a number, or the only one."""
    found = next(rows if row is None else islice(rows, max(row, 1) - 1, None), None)
    if found is None or (row is not None and row < 1):
        cause = "it has no people" if row is None else f"it has no row {row}"
        raise PersonError.at(place, cause, "rows are counted from 1, without the header", code="nobody")
    if row is None and next(rows, None) is not None:
        raise PersonError.at(place, "it has more than one row", "say which: --row 1", code="several_people")
    return found


def is_frame(person: object) -> TypeIs[pd.DataFrame]:
    """Whether this is a data frame, told without loading pandas."""
    return hasattr(person, "iloc") and hasattr(person, "columns")


def only_row(frame: pd.DataFrame) -> Record:
    """The person in a data frame of one row, each cell with the type of its column."""
    if len(frame) != 1:
        cause, remedy = f"the data frame has {len(frame)} rows, not one", "take one: frame.iloc[[0]]"
        raise PersonError.at((), cause, remedy, code="several_people")
    return {str(name): frame[name].iloc[0] for name in frame.columns}


def table_rows(path: Path | str) -> Iterator[dict[str, object]]:
    """The rows of a CSV file as texts, or those of a Parquet file with the types of its columns."""
    place = require_table(path)
    return _parquet_rows(place) if _is_parquet(path) else iter(map(dict, _csv_rows(place)))


def _is_parquet(path: Path | str) -> bool:
    return _ending(path) == ".parquet"


def _ending(path: Path | str) -> str:
    return Path(str(path).lower().removesuffix(".gz")).suffix


def _csv_rows(place: Place, *, passes_over: bool = False) -> Iterator[dict[str, str]]:
    """The rows of a CSV file one by one, as texts."""
    rows = csv_cells(place, passes_over=passes_over)
    names = next(rows, [])
    _refuse_doubled(names, place)
    for cells in rows:
        yield dict(zip(names, cells, strict=True))


def _refuse_doubled(names: Iterable[str], place: Place) -> None:
    doubled = next((name for name, count in Counter(names).items() if count > 1), None)
    if doubled is not None:
        raise PersonError.at(place, f"there are two columns '{doubled}'", "rename one", code="twice")


def csv_cells(place: Place, *, passes_over: bool = False) -> Iterator[list[str]]:
    """The header of a CSV file, and then its rows one by one; those that are not proper are refused or passed over."""
    file = str(place.file)
    try:
        require_undamaged(file)
        with open_file(file) as stream:
            refuse_encoding(stream.read(HEAD), place, PersonError)
        quotes = Quotes(_DELIMITERS[_ending(file)])
        refuse_delimiter(file, quotes.delimiter)
        with io.TextIOWrapper(open_file(file), encoding="utf-8-sig", newline="") as text:
            reader = csv.reader(quotes.watch(text), delimiter=quotes.delimiter, strict=True)
            names = next(reader, [])
            yield names
            for number, cells in enumerate(filter(None, reader), start=1):
                is_short, is_spaced, quotes.is_spaced = len(cells) != len(names), quotes.is_spaced, False
                if not (is_short or is_spaced):
                    yield cells
                elif not passes_over:
                    where = Place(file=file, path=(f"row {number}",))
                    if is_spaced:
                        raise PersonError.at(where, "has a quote after a space", "remove the space", code="syntax")
                    cause = f"does not have the {len(names)} fields of the header"
                    raise PersonError.at(where, cause, code="wrong_length")
    except FileNotFoundError:
        raise PersonError.at(place, "no such file", code="no_file") from None
    except UnicodeDecodeError as cause:
        raise PersonError.at(place, "is not UTF-8 text", AS_UTF8, code="not_utf8") from cause
    except (OSError, EOFError, ValueError, csv.Error) as cause:
        raise PersonError.at(place, f"cannot be read: {explain(cause)}", code="unreadable") from cause


def _parquet_rows(place: Place, given: Collection[str] = ()) -> Iterator[dict[str, object]]:
    """The rows of a Parquet file one by one, each cell with the type of its column; `given` ones as models see them."""
    with connect(place, 1, "1GB") as connection:
        table = find_table(connection, place)
        _refuse_doubled(table.names, place)
        cells, kinds = zip(*map(table.cell_at, range(len(table.names))), strict=True)
        scan = table.scan(table.files)
        numbers = [name for name in given if name in table.names]
        gaps = dict.fromkeys(numbers, False)
        if numbers:
            tests = ", ".join(f"count(*) > count({table.cell(name)[0]})" for name in numbers)
            (found,) = connection.execute(f"SELECT {tests} FROM ({scan})").fetchall()  # noqa: S608  # names made there
            gaps = dict(zip(numbers, found, strict=True))
        rows = connection.execute(f"SELECT {', '.join(cells)} FROM ({scan})")  # noqa: S608  # names made there
        while (row := rows.fetchone()) is not None:
            record = dict(zip(table.names, map(as_read, row, kinds), strict=True))
            yield record | {name: as_given(record[name], has_gaps=has) for name, has in gaps.items()}
