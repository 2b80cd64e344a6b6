"""The files that hold people: which there are, what columns they have, and how they are opened."""

# ruff: noqa: S608  # queries are put together from names made here and from text that quote_sql has quoted

from __future__ import annotations

import csv
import glob
import gzip
import io
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
from safear.files import HEAD, explain, refuse_encoding, scratch_folder
from safear.people.cells import BITS, quote_sql

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".parquet": None}
_ENDINGS = ".csv, .csv.gz, .tsv or .parquet"

_CHUNK = 2**20  # bytes

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
        position = self._places[name]
        kind = self.types[position]
        if kind in BITS or kind in {"FLOAT", "DOUBLE", "BOOLEAN", "VARCHAR"} or kind.startswith("DECIMAL"):
            return f"x{position}", kind
        return f"CAST(x{position} AS VARCHAR)", "VARCHAR"

    def scan(self, files: Sequence[str], *, numbered: bool = False) -> str:
        """The rows of some of the files, with columns x0, x1 ... and, if asked for, the row number n from 1."""
        paths = ", ".join(quote_sql(glob.escape(os.path.abspath(name))) for name in files)  # noqa: PTH100  # keeps links
        if self.delimiter is None:
            columns = [f'"{name.replace(chr(34), chr(34) * 2)}" AS x{i}' for i, name in enumerate(self.names)]
            columns = columns or ["*"]  # not yet known
            columns += ["file_row_number + 1 AS n"] if numbered else []
            options = f"file_row_number = {numbered}, hive_partitioning = false, binary_as_string = true"
            return f"SELECT {', '.join(columns)} FROM read_parquet([{paths}], {options})"
        types = ", ".join(f"'x{i}': 'VARCHAR'" for i in range(len(self.names)))
        options = f"columns = {{{types}}}, delim = '{self.delimiter}', auto_detect = false, header = true"
        options += f""", quote = '"', escape = '"', compression = '{"gzip" if _is_packed(files[0]) else "none"}'"""
        # Never with parallel = false, which drops a last row with an open quote without a word (DuckDB 2.0.0).
        rows = f"read_csv([{paths}], {options}, store_rejects = true, rejects_limit = 0)"
        return f"SELECT *{', row_number() OVER () AS n' if numbered else ''} FROM {rows}"


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
                place, f"needs more than {memory} of memory", "allow more", code="too_large"
            ) from cause
        except RuntimeError as cause:
            if str(cause) == "Query interrupted":  # which is what DuckDB makes of Ctrl+C
                raise KeyboardInterrupt from cause
            raise
        except duckdb.Error as cause:
            raise PersonError.at(place, f"{failed}: {explain(cause)}", code="unreadable") from cause


def find_tables(connection: DuckDBPyConnection, place: Place) -> list[FileTable]:
    """The files that a path or pattern names, those with the same columns together."""
    source = str(place.file)
    if Path(source).is_dir():
        remedy = f"name its files: {Path(source) / '*.parquet'}"
        raise PersonError.at(place, "is a directory", remedy, code="unreadable")
    files = [source] if Path(source).exists() else sorted(filter(os.path.isfile, glob.glob(source, recursive=True)))  # noqa: PTH207
    if not files:
        raise PersonError.at(place, "no such file, and none that matches", code="no_file")
    alike: dict[tuple[_Columns, bool], list[str]] = {}
    for file in files:
        alike.setdefault((_describe(connection, file), _is_packed(file)), []).append(file)
    return [FileTable(i, tuple(found), *columns) for i, ((columns, _), found) in enumerate(alike.items())]


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
        if form is None or (form == ".parquet" and _is_packed(file)):
            raise PersonError.at(
                Place(file=file), "is neither CSV nor Parquet", f"name it {_ENDINGS}", code="unknown_format"
            )
        delimiter = _DELIMITERS[form]
        if delimiter is None:
            rows = connection.execute(f"DESCRIBE {FileTable(0, (), (), (), None).scan([file])}").fetchall()
            return tuple(row[0] for row in rows), tuple(row[1] for row in rows), None
        with io.TextIOWrapper(open_file(file), encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
            reader = csv.reader(text, delimiter=delimiter, strict=True)
            names = tuple(next(reader))
            require_delimiter(names, Place(file=file), delimiter)
            "".join(names).encode()  # what was not UTF-8 fails here, but only in the header
            if reader.line_num > 1 or not names:
                raise PersonError.at(Place(file=file), "the header is not one line of column names", code="syntax")
            return names, ("VARCHAR",) * len(names), delimiter
    except (OSError, EOFError, ValueError, csv.Error, _duckdb().Error) as cause:
        raise PersonError.at(Place(file=file), f"cannot be read: {explain(cause)}", code="unreadable") from cause


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
