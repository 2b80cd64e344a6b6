"""The people of a data frame, counted by pandas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from safear.classifier.filed import EMPTY, LEVELS_ONLY, Sight
from safear.people.bad_rows import BadRow, breaks, wrong_cells
from safear.people.cells import Codes, code_names, finite, level_number
from safear.problem.model import Problem, as_decimal, is_missing


@dataclass(frozen=True)
class Frame:
    """A data frame: each distinct cell is read once. Of records, `sight` is what else of them is wanted."""

    problem: Problem
    groups: Sequence[str]
    frame: pd.DataFrame
    sight: Sight = LEVELS_ONLY

    def headers(self) -> Iterator[tuple[str | None, Sequence[str]]]:
        """The names of the columns; there is no file."""
        yield None, [str(name) for name in self.frame.columns]

    def count(self) -> tuple[pd.DataFrame, int]:
        """How many people of each combination there are (-1: not a level), and how many rows cannot be read."""
        table = self.read()
        if self.sight:  # as they stand: equal ones come together once their levels are known
            return table.assign(people=1, wrong=False), 0
        counted = table.groupby(list(table.columns), as_index=False).size().rename(columns={"size": "people"})
        return counted.assign(wrong=False), 0

    def read(self) -> pd.DataFrame:
        """Read every row, in order: level numbers (-1: not a level), groups, and what `sight` names."""
        columns: dict[str, object] = dict(zip(code_names(self.problem), self._codes().T, strict=True))
        for number, group in enumerate(self.groups):
            if group not in self.problem.feature_by_name:
                columns[f"g{number}"] = map_distinct(self._column(group), _group_text)
        columns |= {f"n{i}": self._numbers(name) for i, name in enumerate(self.sight.numbers)}
        columns |= {f"r{i}": self._column(name).array for i, name in enumerate(self.sight.given)}
        return pd.DataFrame(columns)

    def bad_rows(self, *_: object, **__: object) -> Iterator[BadRow]:
        """The bad rows in their order."""
        codes = self._codes()
        bad = (codes < 0).any(axis=1)
        bad |= breaks(self.problem, np.maximum(codes, 0))
        for position in np.flatnonzero(bad).tolist():
            cells = {str(name): self.frame.iloc[position, i] for i, name in enumerate(self.frame.columns)}
            yield BadRow(None, position + 1, cells, wrong_cells(self.problem, cells))

    def _column(self, name: str) -> pd.Series[Any]:
        return self.frame.iloc[:, self._places[name]]

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where the columns are, by name; of two with the same name, the first."""
        return {str(name): place for place, name in reversed(list(enumerate(self.frame.columns)))}

    def _numbers(self, name: str) -> list[object]:
        return map_distinct(self._column(name), _as_float)

    def _codes(self) -> Codes:
        columns: dict[str, Codes] = {}
        names = {str(name) for name in self.frame.columns}
        for feature in self.problem.features:
            begun = columns.get(feature.copy_of, np.zeros(len(self.frame), np.int16))
            if feature.hidden and feature.name not in names:
                columns[feature.name] = begun
                continue
            column = self._column(feature.name)
            numbers = map_distinct(column, partial(level_number, feature))
            columns[feature.name] = np.array([-1 if number is None else number for number in numbers], np.int16)
            if feature.hidden:
                empty = np.array([bool(missing) for missing in map_distinct(column, is_missing)], np.bool_)
                columns[feature.name] = np.where(empty, begun, columns[feature.name])
        return np.column_stack(list(columns.values()))


def map_distinct(series: pd.Series[Any], read: Callable[[object], object]) -> list[object]:
    """What `read` makes of each cell, asked once for each distinct one."""
    if series.dtype == object:  # where 1, 1.0, True and "1" may stand together, all alike to pandas
        known: dict[tuple[type, str], object] = {}
        for value in series:
            if (type(value), str(value)) not in known:
                known[type(value), str(value)] = read(value)
        return [known[type(value), str(value)] for value in series]
    which, distinct = pd.factorize(series)
    # An Index hands over float32 as float, which is written differently.
    values = np.asarray(distinct) if series.dtype.kind == "f" else distinct
    answers = [*(read(value) for value in values), read(None)]  # -1, for missing, is the last
    return [answers[number] for number in which.tolist()]


def _as_float(value: object) -> float:
    if is_missing(value):
        return EMPTY
    return finite(as_decimal(value))


def _group_text(value: object) -> str:
    """As `group_expression` says."""
    if isinstance(value, float | np.floating) and abs(float(value)) < 1e15 and float(value).is_integer():
        value = int(value)
    # Half a character, which Python can hold, is written out: neither a table nor a file can hold it.
    text = "" if is_missing(value) else str(value).encode("utf-8", "backslashreplace").decode()
    return text.lower() if isinstance(value, bool | np.bool_) else text
