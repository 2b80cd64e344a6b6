"""The people of files, counted by DuckDB.

A first query turns cells into level numbers and counts equal people; its expressions may leave a cell undecided but are
never wrong. Only if something is undecided, the distinct cells concerned are read by `read_level` itself, and what it
understands is looked up in a second query. So the answer is `read_level`'s, at the speed of the first query.
"""

# ruff: noqa: S608  # queries are put together from names made here and from text that quote_sql has quoted

from __future__ import annotations

import heapq
import io
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from safear.classifier.filed import LEVELS_ONLY, Sight
from safear.errors import Mistake, PersonError, Place, mistake
from safear.files import AS_UTF8
from safear.people.bad_rows import BadRow, wrong_cells
from safear.people.cells import (
    BITS,
    CELL_KINDS,
    Codes,
    as_double,
    as_read,
    choose_kind,
    code_expression,
    code_names,
    empty_expression,
    finite,
    group_expression,
    level_number,
    looks_like,
    number_expression,
    read_as,
    within_limits,
)
from safear.people.number_columns import NumberColumn
from safear.people.opening import FileTable, open_file
from safear.people.quoting import Quotes
from safear.problem.model import Problem, as_decimal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MAX_KEY = 2**31  # level numbers are packed into 32-bit keys, which group faster than as many columns
_BATCH = 10_000
_VECTORS = 8  # of 2,048 rows each, in one chunk of rows
_NOT_UTF8 = "INVALID ENCODING"
_CONFINED = {"MISSING COLUMNS", "TOO MANY COLUMNS", _NOT_UTF8}  # these do not reach beyond their row


@dataclass(frozen=True)
class Files:
    """Files, read by DuckDB; no more than `limit` combinations are fetched of files with the same columns.

    Besides the features, `numbers` are read; a row in which one of them is wrong is a bad row. `sight` is what is seen
    of records besides levels; `counts_records` says whether people are told apart by that, too.
    """

    problem: Problem
    groups: Sequence[str]
    tables: Sequence[FileTable]
    connection: DuckDBPyConnection
    limit: int | None
    numbers: Sequence[NumberColumn] = ()
    sight: Sight = LEVELS_ONLY
    counts_records: bool = False

    def headers(self) -> Iterator[tuple[str | None, Sequence[str]]]:
        """The names of the columns of each file or, where others have the same ones, of one of them."""
        for table in self.tables:
            yield table.files[0], table.names

    def count(self) -> tuple[pd.DataFrame, int]:
        """How many people of each combination there are (-1: not a level), and how many rows cannot be read."""
        parts, rejected = [], 0
        for table in self.tables:
            part = self._count_table(table)
            rejected += len(self._take_rejects(table))
            undecided = [i for i, name in enumerate(code_names(self.problem)) if (part[name] < 0).any()]
            if undecided and self._look_up(table, undecided):
                part = self._count_table(table)
                self._take_rejects(table)
            parts.append(part)
        return pd.concat(parts, ignore_index=True), rejected

    def bad_rows(self, broken: Codes, *, rejected: bool, first: bool) -> Iterator[BadRow]:
        """The bad rows in the order of the files: those with an undecided or broken combination, and malformed ones."""
        self._begin_numbering(broken)
        for file, table in self._in_order():
            malformed = self._malformed_rows(table, file) if rejected and table.delimiter else []
            taken = [bad.row for bad in malformed]
            yield from heapq.merge(
                malformed, self._wrong_rows(table, file, taken, first=first), key=lambda bad: bad.row
            )

    def good_rows(self, broken: Codes, *, rejected: bool, keep: Sequence[str] = ()) -> Iterator[pd.DataFrame]:
        """The other rows in the order of the files, some at a time.

        Columns: file, row (its number from 1), those of `keep` as text kept0 ..., level numbers c0 ..., and numbers
        t0 ... (NaN: missing).
        """
        self._begin_numbering(broken)
        for file, table in self._in_order():
            malformed = self._malformed_rows(table, file) if rejected and table.delimiter else []
            taken = np.array([bad.row - i for i, bad in enumerate(malformed)], dtype=np.int64)
            kept = [f"x{list(table.names).index(name)}" for name in keep]
            columns = ["n", *(f"CAST({cell} AS VARCHAR) AS kept{i}" for i, cell in enumerate(kept))]
            columns += [*code_names(self.problem), *(f"t{i}" for i in range(len(self.numbers))), *self._record_columns]
            sql = f"SELECT {', '.join(columns)} FROM ({self._coded(table, [file], numbered=True)})"
            result = self.connection.cursor().execute(f"{sql} WHERE NOT coalesce({self._is_bad()}, true)")
            while len(chunk := result.fetch_df_chunk(_VECTORS)):
                number = chunk.pop("n").to_numpy(np.int64)
                chunk.insert(0, "file", file)
                # Rows that cannot be read at all are not numbered by DuckDB.
                chunk.insert(1, "row", number + np.searchsorted(taken, number, side="right"))
                yield chunk

    @property
    def _record_columns(self) -> list[str]:
        """The numbers and given columns of records."""
        return [f"n{i}" for i in range(len(self.sight.numbers))] + [f"r{i}" for i in range(len(self.sight.given))]

    @cached_property
    def _given_kinds(self) -> dict[str, str]:
        """What the cells of each given column are in all files: numbers, truth values, or just texts."""
        fits, gaps = {name: list(CELL_KINDS) for name in self.sight.given}, set[str]()
        for table in self.tables:
            for name, kinds in fits.items():
                cell, kind = table.cell(name)
                is_text = kind == "VARCHAR" and table.delimiter is not None  # Parquet says itself what is text
                tests = [f"bool_or({empty_expression(kind, cell)})"]
                tests += [f"coalesce(bool_and({looks_like(other, cell)}), true)" for other in CELL_KINDS if is_text]
                scan = f"SELECT {', '.join(tests)} FROM ({table.scan(table.files)})"
                ((has_gaps, *fit),) = self.connection.execute(scan).fetchall()
                self._take_rejects(table)
                gaps |= {name} if has_gaps else set()
                if kind == "VARCHAR":
                    here = [other for other, does in zip(CELL_KINDS, fit, strict=False) if does]
                else:
                    here = ["BOOLEAN"] if kind == "BOOLEAN" else ["BIGINT", "DOUBLE"] if kind in BITS else ["DOUBLE"]
                fits[name] = [other for other in kinds if other in here]
        return {name: choose_kind(kinds, has_gaps=name in gaps) for name, kinds in fits.items()}

    def _given_cell(self, table: FileTable, name: str) -> str:
        """A cell of a given column, of the kind that the column is in all files."""
        (cell, kind), wanted = table.cell(name), self._given_kinds[name]
        if table.delimiter:
            return read_as(wanted, cell)
        return f"CAST({cell} AS DOUBLE)" if wanted == "DOUBLE" and kind in BITS else cell

    def _begin_numbering(self, broken: Codes) -> None:
        """From here on rows are read in order, and those with `broken` level numbers are known as such."""
        self.connection.execute("SET threads = 1; SET preserve_insertion_order = true")
        keys = pd.DataFrame(self._pack(broken))
        self.connection.register("broken_keys", keys)
        self.connection.execute("CREATE OR REPLACE TABLE broken AS SELECT * FROM broken_keys")

    def _in_order(self) -> list[tuple[str, FileTable]]:
        return sorted((file, table) for table in self.tables for file in table.files)

    def _is_bad(self) -> str:
        """The condition that a row can be read but cannot be used."""
        keys = ", ".join(f"k{i}" for i in range(len(_key_parts(self.problem))))
        undecided = [f"{name} IS NULL" for name in code_names(self.problem)]
        wrong = [f"b{i}" for i in range(len(self.numbers))]
        return " OR ".join([*undecided, *wrong, f"({keys}) IN (SELECT ({keys}) FROM broken)"])

    def _wrong_rows(self, table: FileTable, file: str, taken: Sequence[int], *, first: bool) -> Iterator[BadRow]:
        """The rows of a file that can be read but are nobody; `taken` are the numbers of rows that cannot be read."""
        cells = ", ".join([f"x{i}" for i in range(len(table.names))] + [f"b{i}" for i in range(len(self.numbers))])
        sql = f"SELECT n, {cells} FROM ({self._coded(table, [file], numbered=True)})"
        sql += f" WHERE {self._is_bad()} ORDER BY n{' LIMIT 1' if first else ''}"
        result = self.connection.cursor().execute(sql)  # its own cursor, since the caller may go on to other queries
        before = 0  # how many rows that cannot be read stand before the current one
        while batch := result.fetchmany(_BATCH):
            for number, *values in batch:
                while before < len(taken) and taken[before] <= number + before:
                    before += 1
                cells_read = zip(table.names, values, table.types, strict=False)  # after them come those about numbers
                row = {name: as_read(value, kind) for name, value, kind in cells_read}
                wrong = [column for column, is_wrong in zip(self.numbers, values[len(row) :], strict=True) if is_wrong]
                found = [*wrong_cells(self.problem, row), *(column.complain(row[column.name]) for column in wrong)]
                yield BadRow(file, number + before, row, found)

    def _malformed_rows(self, table: FileTable, file: str) -> list[BadRow]:
        """The rows of a CSV file that are not made of as many proper fields as the header."""
        scan = f"SELECT count(*) FROM ({table.scan([file])})"
        ((read,),) = self.connection.execute(scan).fetchall()  # fetchone would leave the rejects unwritten
        rejects = self._take_rejects(table)
        if any(kind not in _CONFINED for _, kind, _, _ in rejects):
            lines = sum(1 for line in _read_lines(file) if line)
            if lines - 1 > read + len(rejects):
                row = next(row for row, kind, _, _ in rejects if kind not in _CONFINED)
                place, cause = (
                    Place((f"near row {row}",), file),
                    "a quote is not closed, so the rows after it run together",
                )
                raise PersonError.at(place, cause, "close the quote", code="syntax")
        cells = dict.fromkeys(table.names, "")  # which is which cannot be said
        blank = _blank_lines(file, str(table.delimiter))
        return [
            BadRow(file, row - bisect_left(blank, row + 1), cells, [_say_malformed(kind, text, message)])
            for row, kind, text, message in rejects
        ]

    def _take_rejects(self, table: FileTable) -> list[tuple[int, str, str, str]]:
        """Row number, kind, text and message of the rows that the last scan could not read; asking forgets them."""
        if table.delimiter is None:
            return []
        columns = "line - 1, min(error_type), trim(min(csv_line), E'\\r\\n'), min(error_message)"
        rows = self.connection.execute(
            f"SELECT {columns} FROM reject_errors GROUP BY scan_id, file_id, line ORDER BY 1"
        )
        found = cast("list[tuple[int, str, str, str]]", rows.fetchall())
        self.connection.execute("DROP TABLE reject_errors; DROP TABLE reject_scans")
        return found

    def _count_table(self, table: FileTable) -> pd.DataFrame:
        """How many people of each combination of level numbers (-1: undecided) and group values there are."""
        parts = _key_parts(self.problem)
        texts = [f"g{i}" for i, name in enumerate(self.groups) if name not in self.problem.feature_by_name]
        texts += self._record_columns if self.counts_records else []
        names = ", ".join([*(f"k{i}" for i in range(len(parts))), *texts, "wrong"])
        wrong = " OR ".join([f"b{i}" for i in range(len(self.numbers))]) or "false"
        rows = f"SELECT *, {wrong} AS wrong FROM ({self._coded(table, table.files)})"
        # In an order of its own: what is drawn from these people must not hang on how many threads have counted.
        sql = f"SELECT {names}, count(*) AS people FROM ({rows}) GROUP BY {names} ORDER BY {names}"
        limit = "" if self.limit is None else f" LIMIT {self.limit}"
        counted = self.connection.execute(f"{sql}{limit}").fetchnumpy()
        codes = {}
        for number, part in enumerate(parts):
            key = np.asarray(counted[f"k{number}"], np.int64)
            for position in reversed(part):
                levels = len(self.problem.features[position].levels)
                key, code = np.divmod(key, levels + 1)
                codes[f"c{position}"] = np.where(code == levels, -1, code).astype(np.int16)
        names_in_order = code_names(self.problem)
        return pd.DataFrame(
            {name: codes[name] for name in names_in_order}
            | {name: _unmask(counted[name]) for name in (*texts, "wrong", "people")}
        )

    def _pack(self, codes: Codes) -> dict[str, NDArray[np.int64]]:
        """The keys of level numbers, as `_coded` computes them."""
        keys = {}
        for number, part in enumerate(_key_parts(self.problem)):
            key = np.zeros(len(codes), np.int64)
            for position in part:
                key = key * (len(self.problem.features[position].levels) + 1) + codes[:, position]
            keys[f"k{number}"] = key
        return keys

    def _coded(self, table: FileTable, files: Sequence[str], *, numbered: bool = False) -> str:
        """The rows of files with what is read from them.

        Cells v0 ..., level numbers c0 ... (NULL: undecided), keys k0 ..., groups g0 ..., numbers t0 ... (NULL: missing)
        and whether each of them is wrong, b0 ....
        """
        cells, codes, joins = ["*"], ["*"], ""
        known = {name for (name,) in self.connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        code_of = {feature.name: f"c{i}" for i, feature in enumerate(self.problem.features)}
        for i, feature in enumerate(self.problem.features):
            begun = code_of.get(feature.copy_of, "0")
            if feature.hidden and feature.name not in table.names:
                codes.append(f"{begun} AS c{i}")
                continue
            cell, kind = table.cell(feature.name)
            cells.append(f"{cell} AS v{i}")
            if kind == "VARCHAR" and feature.kind == "numeric":
                cells.append(f"{as_double(cell)} AS d{i}")
            number = number_expression(kind, f"v{i}", f"d{i}")
            code = code_expression(feature, kind, f"v{i}", f"d{i}")
            code = within_limits(feature, number, code) if feature.kind == "numeric" else code
            lookup = f"lookup_{table.number}_{i}"
            if lookup in known:
                code = f"coalesce({code}, {lookup}.code)"
                number = f"coalesce({number}, {lookup}.number)"
                joins += f" LEFT JOIN {lookup} ON {lookup}.cell = v{i}"
            codes.append(f"CAST({code} AS INTEGER) AS c{i}")
            if feature.missing or feature.hidden:
                is_empty = empty_expression(kind, f"v{i}")
                begun = begun if feature.hidden else str(feature.levels.index(feature.missing))
                codes[-1] = f"if({is_empty}, {begun}, CAST({code} AS INTEGER)) AS c{i}"
                number = f"if({is_empty}, CAST('inf' AS DOUBLE), {number})"
            if feature.name in self.sight.numbers:
                codes.append(f"{number} AS n{self.sight.numbers.index(feature.name)}")
        for i, name in enumerate(self.sight.given):
            cells.append(f"{self._given_cell(table, name)} AS r{i}")
        for i, group in enumerate(self.groups):
            if group not in self.problem.feature_by_name:
                cell, kind = table.cell(group)
                cells.append(f"{group_expression(kind, cell)} AS g{i}")
        for i, column in enumerate(self.numbers):
            value, is_wrong = column.expressions(*table.cell(column.name))
            cells += [f"{value} AS t{i}", f"{is_wrong} AS b{i}"]
        keys = ["*"]
        for position, part in enumerate(_key_parts(self.problem)):
            key = "0"
            for i in part:
                levels = len(self.problem.features[i].levels)
                key = f"({key}) * {levels + 1} + coalesce(c{i}, {levels})"
            keys.append(f"{key} AS k{position}")
        sql = f"SELECT {', '.join(cells)} FROM ({table.scan(files, numbered=numbered)})"
        return f"SELECT {', '.join(keys)} FROM (SELECT {', '.join(codes)} FROM ({sql}){joins})"

    def _look_up(self, table: FileTable, positions: Sequence[int]) -> bool:
        """Read the distinct undecided cells of some features; whether any of them means a level after all."""
        found = False
        for i in positions:
            feature = self.problem.features[i]
            if feature.name not in table.names:
                continue  # it follows another
            kind = table.cell(feature.name)[1]
            sql = (
                f"SELECT DISTINCT v{i} FROM ({self._coded(table, table.files)}) WHERE c{i} IS NULL AND v{i} IS NOT NULL"
            )
            result = self.connection.cursor().execute(sql)
            name = f"lookup_{table.number}_{i}"
            understood: list[tuple[object, int, float]] = []
            while batch := result.fetchmany(_BATCH):
                pairs = ((value, level_number(feature, as_read(value, kind))) for (value,) in batch)
                numbers = ((value, code, as_decimal(value)) for value, code in pairs if code is not None)
                understood += [(value, code, finite(number)) for value, code, number in numbers]
            if understood:
                found = True
                self.connection.execute(f"CREATE TABLE {name} (cell {kind}, code INTEGER, number DOUBLE)")
                arrays = (f"unnest(CAST(? AS {other}[]))" for other in (kind, "INTEGER", "DOUBLE"))
                values = f"SELECT {', '.join(arrays)}"
                self.connection.execute(
                    f"INSERT INTO {name} {values}", [list(x) for x in zip(*understood, strict=True)]
                )
        return found


def _unmask(column: Any) -> Any:
    """What DuckDB hands over, with nothing where it says NULL."""
    if not isinstance(column, np.ma.MaskedArray):
        return column
    if column.dtype not in (object, bool):
        return np.ma.filled(column.astype(np.float64), np.nan)
    values = column.data.astype(object)
    values[np.ma.getmaskarray(column)] = None  # filled() would take None for NumPy's own filling, '?'
    return values


def _say_malformed(kind: str, text: str, message: str) -> Mistake:
    """What is wrong with a row that is not made of proper fields."""
    if kind == _NOT_UTF8:
        return mistake((), "is not UTF-8 text", AS_UTF8, code="not_utf8", text=text)
    return mistake((), message, code="syntax", text=text)


def _read_lines(file: str) -> Iterator[str]:
    """The lines of a file, however they end; bytes are characters here."""
    with io.TextIOWrapper(open_file(file), encoding="latin-1", newline=None) as text:
        for line in text:
            yield line.rstrip("\n")


def _blank_lines(file: str, delimiter: str) -> list[int]:
    """The numbers of empty lines, counted from 1 for the header; what is in one pair of quotes is on one line."""
    found, number, quotes = [], 0, Quotes(delimiter)
    for line in _read_lines(file):
        number += not quotes.is_open
        if not quotes.is_open and not line:
            found.append(number)
        quotes.pass_over(line)
    return found


def _key_parts(problem: Problem) -> list[list[int]]:
    """The features whose level numbers (and one more for 'undecided') fit into one key together."""
    parts: list[list[int]] = []
    size = _MAX_KEY
    for position, feature in enumerate(problem.features):
        radix = len(feature.levels) + 1
        if size * radix > _MAX_KEY:
            parts.append([])
            size = 1
        parts[-1].append(position)
        size *= radix
    return parts
