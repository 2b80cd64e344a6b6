"""What kind of thing each column of a table is, and which of them people can be asked to change."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pandas as pd

from safear.classifier.column_types import ColumnType
from safear.classifier.raw_answers import label_name
from safear.drafts.ordered_words import find_order
from safear.problem.model import as_decimal

ColumnKind = Literal["numeric", "ordinal", "nominal", "boolean", "date", "empty", "constant", "identifier", "many"]
CHANGEABLE: tuple[ColumnKind, ...] = ("numeric", "ordinal", "nominal", "boolean")
MOST_WORDS = 100  # levels of a column of words; more are names of things, not levels
UNKNOWN_WORDS = frozenset({"", "?", "na", "n/a", "nan", "null", "missing", "unknown", "not available", "not known"})
TRUTHS = ("False", "True")  # as pandas writes them to files
ODD = 0.01  # of the numbers need not be multiples of a step
IDENTIFIERS = frozenset({"id", "index", "row", "key", "uuid", "unnamed: 0"})
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]|$)|\d\d?[./]\d\d?[./]\d{4}$")
_STEPS = [Decimal(digit).scaleb(power) for power in range(9, -3, -1) for digit in (1, "0.5")]


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table: its kind, how many cells are missing, and of words the levels, in order if they have one.

    Of numbers `numbers` are those of all cells, NaN where missing, and `step` is what nearly all are multiples of.
    """

    name: str
    kind: ColumnKind
    distinct: int
    missing: int
    levels: tuple[str, ...] = ()
    numbers: np.ndarray[Any, np.dtype[np.float64]] | None = None
    step: Decimal | None = None

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the largest number."""
        return float(np.nanmin(np.asarray(self.numbers))), float(np.nanmax(np.asarray(self.numbers)))

    @property
    def is_changeable(self) -> bool:
        """Whether it can be levelled."""
        return self.kind in CHANGEABLE

    @property
    def is_ordered(self) -> bool:
        """Whether steps can go up and down."""
        return self.kind in {"numeric", "ordinal"}


def study_column(column: pd.Series[Any], wanted: ColumnType, *, truths: tuple[str, ...] = TRUTHS) -> Column:
    """What a column is, seen by itself and by what the model was trained on there. `truths` are false and true."""
    name, missing = str(column.name), int(column.isna().sum())
    cells = column.dropna()
    distinct = int(cells.astype(str).nunique()) if cells.dtype == object else int(cells.nunique())

    def make(kind: ColumnKind, **more: Any) -> Column:
        return Column(name, kind, distinct, missing, **more)

    if not distinct:
        return make("empty")
    if pd.api.types.is_datetime64_any_dtype(column.dtype) or pd.api.types.is_timedelta64_dtype(column.dtype):
        return make("date")
    if name.strip().lower() in IDENTIFIERS:
        return make("identifier")
    if distinct == 1:
        return make("constant")
    if pd.api.types.is_bool_dtype(cells.dtype) or all(isinstance(cell, bool | np.bool_) for cell in cells[:1000]):
        return make("boolean", levels=truths)
    numbers = _read_numbers(column, wanted)
    if numbers is not None:
        is_count = distinct == len(cells) > MOST_WORDS and bool((np.diff(numbers) == 1).all())
        return make("identifier") if is_count else make("numeric", numbers=numbers, step=find_step(numbers))
    words = _words(column)
    if all(_DATE.match(word) for word in words):
        return make("date")
    if len(words) > MOST_WORDS or any(len(word) > 200 for word in words):
        return make("identifier" if distinct == len(cells) else "many")
    order = tuple(map(str, column.cat.categories)) if getattr(column.dtype, "ordered", False) else find_order(words)
    return make("nominal", levels=words) if order is None else make("ordinal", levels=order)


def is_unknown(word: str) -> bool:
    """Whether a word stands for something that is not known."""
    return word.strip().lower() in UNKNOWN_WORDS


def find_step(numbers: np.ndarray[Any, np.dtype[np.float64]]) -> Decimal | None:
    """The largest 1, 10, 100 ... or 5, 50 ... down to 0.01 of which nearly all numbers are multiples.

    Nothing is lost by those that are not: a step says which numbers are promised, not which are filed.
    """
    known, counts = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
    exact = [Decimal(repr(number)) for number in known.tolist()]
    for step in _STEPS:
        odd = sum(count for number, count in zip(exact, counts.tolist(), strict=True) if number % step)
        if odd <= ODD * counts.sum() and exact[-1] - exact[0] >= step:
            return step
    return None


def _read_numbers(column: pd.Series[Any], wanted: ColumnType) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """The cells as numbers, if the model takes them as such."""
    is_numeric = pd.api.types.is_numeric_dtype(column.dtype)
    if wanted.kind in {"known", "category", "text"} or not (is_numeric or wanted.kind == "number"):
        return None
    if is_numeric:
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        cells = [None if missing else as_decimal(cell) for cell, missing in zip(column, column.isna(), strict=True)]
        if any(cell is None for cell, missing in zip(cells, column.isna(), strict=True) if not missing):
            return None
        numbers = np.array([np.nan if cell is None else float(cell) for cell in cells])
    return numbers if np.isfinite(numbers[~np.isnan(numbers)]).all() else None


def _words(column: pd.Series[Any]) -> tuple[str, ...]:
    """The distinct cells as they are called, the most frequent first."""
    return tuple(dict.fromkeys(label_name(cell) for cell in column.value_counts(sort=True).index.tolist()))
