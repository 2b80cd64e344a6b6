"""The files that hold people: which there are, what columns they have, and how they are opened."""

# ruff: noqa: S608  # queries are put together from names made here and from text that quote_sql has quoted

from __future__ import annotations

import csv
import glob
import gzip
import io
import logging
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING, cast

from safear.errors import MissingExtraError, PersonError, Place, TooLargeError
from safear.files import AS_UTF8, HEAD, explain, refuse_encoding, scratch_folder
from safear.people.cells import BITS, quote_sql

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

logger = logging.getLogger("safear")

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".parquet": None}
_ENDINGS = ".csv, .csv.gz, .tsv or .parquet"

_CHUNK = 2**20  # bytes
_WIDE = 4_000  # columns, of each of which every thread of DuckDB holds 32 kB a few times

_Columns = tuple[tuple[str, ...], tuple[str, ...], str | None]  # names, types and the delimiter of a CSV file


@dataclass(frozen=True)
class FileTable:
    """Files with the same columns; `delimiter` is None for Parquet."""

    number: int
    files: Sequence[str]
    names: Sequence[str]
    types: Sequence[str]
    delimiter: str | None

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where the columns are, by name; of two with the same name, the first."""
        return {name: place for place, name in reversed(list(enumerate(self.names)))}

    def cell(self, name: str) -> tuple[str, str]:
        """The expression and the type of a column; what is neither a number nor a truth value is read as text."""
        return self.cell_at(self._places[name])

    def cell_at(self, position: int) -> tuple[str, str]:
        """The same by its place."""
        kind = self.types[position]
        if kind in BITS or kind in {"FLOAT", "DOUBLE", "BOOLEAN", "VARCHAR"} or kind.startswith("DECIMAL"):
            return f"x{position}", kind
        return f"CAST(x{position} AS VARCHAR)", "VARCHAR"

    def scan(self, files: Sequence[str], *, numbered: bool = False) -> str:
        """The rows of some of the files, with columns x0, x1 ... and, if asked for, the row number n from 1."""
        paths = ", ".join(map(_quote_path, files))
        if self.delimiter is None:
            # By their places: to DuckDB, names that differ in case are the same, and it makes up others for them.
            names = ", ".join([*(f"x{i}" for i in range(len(self.names))), *(["row_from_0"] if numbered else [])])
            options = f"file_row_number = {numbered}, hive_partitioning = false, binary_as_string = true"
            rows = f"read_parquet([{paths}], {options}) AS rows({names})"
            return f"SELECT *{', row_from_0 + 1 AS n' if numbered else ''} FROM {rows}"
        types = ", ".join(f"'x{i}': 'VARCHAR'" for i in range(len(self.names)))
        options = f"columns = {{{types}}}, delim = '{self.delimiter}', auto_detect = false, header = true"
        options += f""", quote = '"', escape = '"', compression = '{"gzip" if _is_packed(files[0]) else "none"}'"""
        # DuckDB decodes only the columns that a query looks at. So each looks at all of them, or a row that is not
        # UTF-8 would be there in one query and missing from the next.
        decoded = f"coalesce({', '.join(f'x{i}' for i in range(len(self.names)))}, '') IS NOT NULL"
        if len(self.names) == 1:  # where an empty line would be a row, but only one that is written as "" is
            options, decoded = f"{options}, allow_quoted_nulls = false", "x0 IS NOT NULL"
        # Never with parallel = false, which drops a last row with an open quote without a word (DuckDB 2.0.0).
        rows = f"read_csv([{paths}], {options}, store_rejects = true, rejects_limit = 0)"
        return f"SELECT *{', row_number() OVER () AS n' if numbered else ''} FROM {rows} WHERE {decoded}"


@contextmanager
def connect(place: Place, threads: int, memory: str, *, failed: str = "cannot be read") -> Iterator[DuckDBPyConnection]:
    """A DuckDB of its own, within limits; its errors become ours, about `place`."""
    duckdb = _duckdb()
    with scratch_folder() as overflow:
        config = {
            "threads": threads,
            "memory_limit": memory,
            "temp_directory": str(overflow),
            "autoinstall_known_extensions": "false",  # nothing is ever fetched from the network
            "autoload_known_extensions": "false",
            "preserve_insertion_order": "false",
        }
        try:
            with duckdb.connect(config=config) as connection:
                yield connection
        except duckdb.OutOfMemoryException as cause:
            raise TooLargeError.at(
                place, "needs too much memory", "drop columns that nobody needs", code="too_large"
            ) from cause
        except RuntimeError as cause:
            if str(cause) == "Query interrupted":  # which is what DuckDB makes of Ctrl+C
                raise KeyboardInterrupt from cause
            raise
        except duckdb.Error as cause:
            raise PersonError.at(place, f"{failed}: {explain(cause)}", code="unreadable") from cause


def find_tables(connection: DuckDBPyConnection, place: Place, *, but: str | Path | None = None) -> list[FileTable]:
    """The files that a path or pattern names, each once, those with the same columns together; one may be left out."""
    source = str(place.file)
    if Path(source).is_dir():
        remedy = f"name its files: {Path(source) / '*.parquet'}"
        raise PersonError.at(place, "is a directory", remedy, code="unreadable")
    files = [source] if Path(source).exists() else _match(source, but)
    if not files:
        raise PersonError.at(place, "no such file, and none that matches", code="no_file")
    alike: dict[tuple[_Columns, bool], list[str]] = {}
    for file in files:
        alike.setdefault((_describe(connection, file), _is_packed(file)), []).append(file)
    tables = [FileTable(i, tuple(found), *columns) for i, ((columns, _), found) in enumerate(alike.items())]
    if max(len(table.names) for table in tables) > _WIDE:
        connection.execute("SET threads = 1; SET memory_limit = '4GB'")
    return tables


def find_table(connection: DuckDBPyConnection, place: Place) -> FileTable:
    """The files that a path or pattern names, if all have the same columns."""
    table, *others = find_tables(connection, place)
    if others:
        cause = f"its files have different columns: '{table.files[0]}' and '{others[0].files[0]}'"
        raise PersonError.at(place, cause, "name one of them", code="several_tables")
    return table


def _match(pattern: str, but: str | Path | None) -> list[str]:
    """The files that a pattern matches. Links, and `**` more than once, may come to the same file in several ways."""
    found = {os.path.realpath(file): file for file in sorted(glob.glob(pattern, recursive=True), reverse=True)}  # noqa: PTH207
    own = "" if but is None else os.path.realpath(but)
    if own in found:
        logger.warning("not read, because bad rows are written there: %s", found.pop(own))
    return sorted(file for file in found.values() if Path(file).is_file())


def _read_names(connection: DuckDBPyConnection, file: str) -> tuple[str, ...]:
    """The names of the columns of a Parquet file, as they are written there."""
    schema = connection.execute(f"SELECT name, num_children FROM parquet_schema({_quote_path(file)})").fetchall()
    names, inside = [], 0  # how many of the next entries are parts of a column
    for name, children in schema[1:]:  # the first is the table
        if not inside:
            names.append(name)
        inside = max(inside - 1, 0) + (children or 0)
    return tuple(names)


def _quote_path(file: str) -> str:
    return quote_sql(glob.escape(os.path.abspath(file)))  # noqa: PTH100  # keeps links


def _describe(connection: DuckDBPyConnection, file: str) -> _Columns:
    """The names and types of a file's columns and, of a CSV file, its delimiter."""
    form = next((end for end in _DELIMITERS if file.lower().removesuffix(".gz").endswith(end)), None)
    try:
        require_undamaged(file)
        with open_file(file) as stream:
            start = stream.read(HEAD)
            if not start:
                raise PersonError.at(Place(file=file), "the file is empty", "give a header and rows", code="nobody")
            if form != ".parquet":
                refuse_encoding(start, Place(file=file), PersonError)
                _refuse_packed(start, Place(file=file))
        if form is None or (form == ".parquet" and _is_packed(file)):
            raise PersonError.at(
                Place(file=file), "is neither CSV nor Parquet", f"name it {_ENDINGS}", code="unknown_format"
            )
        delimiter = _DELIMITERS[form]
        if delimiter is None:
            names = _read_names(connection, file)
            rows = connection.execute(f"DESCRIBE {FileTable(0, (), names, (), None).scan([file])}").fetchall()
            return names, tuple(row[1] for row in rows), None
        refuse_delimiter(file, delimiter)
        with io.TextIOWrapper(open_file(file), encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
            reader = csv.reader(text, delimiter=delimiter, strict=True)
            names = tuple(next(reader, ()))
            if any("\udc80" <= letter <= "\udcff" for letter in "".join(names)):  # a byte that is not UTF-8
                raise PersonError.at(Place(file=file), "its header is not UTF-8 text", AS_UTF8, code="not_utf8")
            if reader.line_num > 1 or not names:
                raise PersonError.at(Place(file=file), "the header is not one line of column names", code="syntax")
            return names, ("VARCHAR",) * len(names), delimiter
    except (OSError, EOFError, ValueError, csv.Error, _duckdb().Error) as cause:
        raise PersonError.at(Place(file=file), f"cannot be read: {explain(cause)}", code="unreadable") from cause


def _refuse_packed(start: bytes, place: Place) -> None:
    """Refuse a file that is still packed once it was unpacked, or whose name does not say that it is."""
    if start.startswith(b"\x1f\x8b"):
        remedy = "unpack it once" if _is_packed(str(place.file)) else f"name it {place.file}.gz"
        raise PersonError.at(place, "is packed by gzip", remedy, code="unknown_format")


def refuse_delimiter(file: str, delimiter: str) -> None:
    """Refuse a file whose columns are separated otherwise."""
    with io.TextIOWrapper(open_file(file), encoding="utf-8-sig", errors="replace") as text:
        line = text.readline(_CHUNK)
    # Not strictly: `"age";"job"` has something behind its quotes if commas are looked for.
    require_delimiter(next(csv.reader([line], delimiter=delimiter), []), Place(file=file), delimiter)


def require_delimiter(names: Sequence[str], place: Place, delimiter: str = ",") -> None:
    """Refuse a header that is one name only because its columns are separated otherwise."""
    others = {";": "semicolons", "\t": "tabs", "|": "bars"} | ({",": "commas"} if delimiter == "\t" else {})
    found = next((word for sign, word in others.items() if len(names) == 1 and sign in names[0]), None)
    if found is not None:
        remedy = "name it .csv" if found == "commas" else "save it with commas"
        remedy += ", or name it .tsv" if found == "tabs" else ""
        raise PersonError.at(place, f"its columns are separated by {found}", remedy, code="wrong_delimiter")


def require_undamaged(file: str) -> None:
    """Refuse a packed file whose checksum or length is not that of what is in it: DuckDB looks at neither."""
    if not _is_packed(file):
        return
    try:
        with open_file(file) as stream:
            while stream.read(_CHUNK):
                pass
    except (gzip.BadGzipFile, EOFError, zlib.error) as cause:
        remedy = "copy it here again, or pack it again"
        raise PersonError.at(Place(file=file), f"is damaged: {explain(cause)}", remedy, code="damaged") from cause


def open_file(file: str) -> IO[bytes]:
    """The bytes of a file, unpacked."""
    return cast("IO[bytes]", gzip.open(file, "rb")) if _is_packed(file) else Path(file).open("rb")


def _is_packed(file: str) -> bool:
    return file.lower().endswith(".gz")


def _duckdb() -> ModuleType:
    try:
        import duckdb  # noqa: PLC0415  # an optional dependency
    except ImportError:
        raise MissingExtraError("DuckDB", "audit") from None
    return duckdb
