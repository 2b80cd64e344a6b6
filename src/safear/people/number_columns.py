"""Columns of numbers that people bring besides their features: read, and refused where they are out of bounds."""

from __future__ import annotations

from dataclasses import dataclass

from safear.errors import Mistake, mistake
from safear.people.cells import FLOATS, as_double, is_nan
from safear.problem.model import YES_AND_NO


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """A column of numbers from `low` to `high` or, with `is_flag`, of truth values; cells may be empty."""

    name: str
    low: float = 0.0
    high: float = 1.0
    is_flag: bool = False

    def expressions(self, cell: str, kind: str) -> tuple[str, str]:
        """For DuckDB: the value as DOUBLE (NULL: missing), and whether the cell is wrong."""
        text = f"nullif(trim(CAST({cell} AS VARCHAR)), '')"
        missing = f"({text} IS NULL{f' OR {is_nan(cell)}' if kind in FLOATS else ''})"
        # By way of text, since a FLOAT is meant as it is written, not as the DOUBLE nearest to it.
        number = as_double(text)
        if self.is_flag:
            words = " ".join(f"WHEN '{word}' THEN {truth:d}" for word, truth in YES_AND_NO.items())
            number = f"coalesce({number}, CASE lower({text}) {words} END)"
        allowed = f"{number} IN (0, 1)" if self.is_flag else f"{number} BETWEEN {self.low!r} AND {self.high!r}"
        return f"CASE WHEN NOT {missing} THEN {number} END", f"(NOT {missing} AND NOT coalesce({allowed}, false))"

    def complain(self, value: object) -> Mistake:
        """What is wrong with a cell."""
        what = "neither true nor false" if self.is_flag else f"not a number from {self.low:g} to {self.high:g}"
        code, remedy = (
            "not_a_truth" if self.is_flag else "out_of_range",
            "leave the cell empty to keep the problem's value",
        )
        return mistake((self.name,), f"'{value!s}' is {what}", remedy, code=code, value=value)
