"""The people of a batch, from files: their features and what they bring, some at a time.

A column `cost:ACTION` has what an action costs each person, `chance:ACTION` how often its first outcome comes about,
and `forbid:ACTION` whether it is out of the question. Empty cells leave what the problem says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from safear.classifier.filed import LEVELS_ONLY, Filed, Sight
from safear.errors import Mistake, PersonError, Place, suggest
from safear.people.cells import code_names
from safear.people.counts import Examined, check_columns, examine, make_filed, name_columns
from safear.people.file_counts import Files
from safear.people.number_columns import NumberColumn
from safear.people.opening import connect, find_tables
from safear.population.crowd import Crowd
from safear.problem.model import MAX_COST, Problem

ROLES = {"cost": "personal cost", "chance": "personal chance", "forbid": "forbidden action"}
MEMORY = "1GB"


@dataclass(frozen=True, slots=True)
class TermsColumn:
    """A column of personal terms: which of them, for which action."""

    name: str
    role: str
    action: int

    @property
    def numbers(self) -> NumberColumn:
        """How its cells are read."""
        most = float(MAX_COST) if self.role == "cost" else 1.0
        return NumberColumn(self.name, 0.0, most, is_flag=self.role == "forbid")


@dataclass(frozen=True, eq=False)
class PeopleFiles:
    """People who can be read; `kept` are the columns to keep and their types in DuckDB."""

    files: Files
    columns: Sequence[TermsColumn]
    kept: dict[str, str]
    examined: Examined

    @property
    def names(self) -> list[str]:
        """The files, in order."""
        return sorted(file for table in self.files.tables for file in table.files)

    @property
    def count(self) -> int:
        """How many people there are."""
        return self.examined.rows - self.examined.skipped

    @property
    def codes(self) -> NDArray[np.int16]:
        """The level numbers of all distinct people."""
        table = self.examined.table[~self.examined.bad]
        return table[code_names(self.files.problem)].to_numpy(np.int16)

    def first(self, size: int) -> Filed:
        """Some of those who come first."""
        return next(self.parts(size)).filed

    def parts(self, size: int) -> Iterator[Crowd]:
        """All of them in order, `size` at a time."""
        pieces: list[pd.DataFrame] = []  # of the part that is being put together
        number = held = 0
        rejected = self.examined.rejected > 0
        for chunk in self.files.good_rows(self.examined.broken, rejected=rejected, keep=list(self.kept)):
            taken = 0
            while taken < len(chunk):
                pieces.append(chunk.iloc[taken : taken + size - held])
                taken, held = taken + len(pieces[-1]), held + len(pieces[-1])
                if held == size:
                    yield self._make_part(number, pieces)
                    pieces, number, held = [], number + 1, 0
        if pieces:
            yield self._make_part(number, pieces)

    def _make_part(self, number: int, pieces: Sequence[pd.DataFrame]) -> Crowd:
        problem, rows = self.files.problem, pd.concat(pieces, ignore_index=True)
        shape = (len(rows), len(problem.actions))
        terms = {"cost": np.full(shape, np.nan), "chance": np.full(shape, np.nan), "forbid": np.zeros(shape)}
        for i, column in enumerate(self.columns):
            terms[column.role][:, column.action] = rows[f"t{i}"].to_numpy(np.float64, na_value=np.nan)
        labels = rows[["file", "row", *(f"kept{i}" for i in range(len(self.kept)))]]
        return Crowd(
            make_filed(problem, self.files.sight, rows),
            terms["cost"],
            terms["chance"],
            terms["forbid"] == 1,
            labels.set_axis(["file", "row", *self.kept], axis=1).reset_index(drop=True),
            number,
        )


@contextmanager
def open_people(
    problem: Problem,
    source: str | Path,
    *,
    sight: Sight = LEVELS_ONLY,
    keep: Sequence[str] = (),
    skip_bad: str | Path | None = None,
    threads: int = 2,
) -> Iterator[PeopleFiles]:
    """The people of a CSV or Parquet file, or of all files that a pattern matches.

    Rows that cannot be used are an error or, with `skip_bad`, written to that CSV file and left out.
    """
    source = os.fspath(source) if isinstance(source, os.PathLike) else source
    if not isinstance(source, str):
        raise PersonError.at(
            (),
            f"{type(source).__name__} is not the name of a file",
            "write it to one: .to_parquet(...)",
            code="wrong_type",
        )
    place = Place(file=source)
    with connect(place, threads, MEMORY) as connection:
        tables = find_tables(connection, place, but=skip_bad)
        names = list(dict.fromkeys(name for table in tables for name in table.names))
        columns = _find_terms(problem, names, place)
        wanted = name_columns(problem, sight) | {c.name: ROLES[c.role] for c in columns}
        for table in tables:
            check_columns(wanted | dict.fromkeys(keep, "column to keep"), table.names, table.files[0])
        kept = {}
        for name in keep:
            kinds = {table.types[list(table.names).index(name)] for table in tables}
            kept[name] = kinds.pop() if len(kinds) == 1 else "VARCHAR"
        numbers = [column.numbers for column in columns]
        files = Files(problem, (), tables, connection, limit=None, numbers=numbers, sight=sight)
        yield PeopleFiles(files, columns, kept, examine(files, place, skip_bad))


def _find_terms(problem: Problem, names: Sequence[str], place: Place) -> list[TermsColumn]:
    """The columns of personal terms; a name that looks like one but names no action is a mistake."""
    actions = [action.name for action in problem.actions]
    columns: list[TermsColumn] = []
    mistakes = []
    for name in names:
        role, colon, action = (part.strip() for part in name.partition(":"))
        role = role.casefold()
        if name in problem.feature_by_name or not colon or (role not in ROLES and action not in actions):
            continue
        at = Place((name,), place.file)
        if role not in ROLES:
            mistakes.append(
                Mistake(at, f"'{role}:' is not a column for an action", suggest(role, ROLES), code="unknown_name")
            )
        elif action not in actions:
            mistakes.append(
                Mistake(
                    at,
                    f"the problem has no action '{action}'",
                    suggest(action, actions),
                    code="unknown_action",
                    values={"action": action},
                )
            )
        elif role == "chance" and len(problem.actions[actions.index(action)].outcomes) > 2:
            count = len(problem.actions[actions.index(action)].outcomes)
            cause = f"'{action}' has {count} outcomes, so one chance is not enough"
            mistakes.append(Mistake(at, cause, "leave the column out", code="one_chance", values={"action": action}))
        elif (role, actions.index(action)) in [(column.role, column.action) for column in columns]:
            mistakes.append(Mistake(at, f"there are two columns '{role}:{action}'", "drop one of them", code="twice"))
        else:
            columns.append(TermsColumn(name, role, actions.index(action)))
    if mistakes:
        raise PersonError(mistakes)
    return columns
