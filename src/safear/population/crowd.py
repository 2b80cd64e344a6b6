"""A crowd: people by their level numbers, with what each of them brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from safear.classifier.filed import Filed
from safear.errors import Place
from safear.problem.model import Person, Problem, Record
from safear.problem.terms import Terms


@dataclass(frozen=True, eq=False)
class Crowd:
    """People as filed, and personal terms [person, action].

    `costs` and `chances` are NaN where the problem's own hold. `labels` are the columns that say who they are: the
    file, the row in it, and whatever is to be kept. `number` is that of the part of a batch.
    """

    filed: Filed
    costs: NDArray[np.float64]
    chances: NDArray[np.float64]
    forbidden: NDArray[np.bool_]
    labels: pd.DataFrame = field(default_factory=pd.DataFrame)
    number: int = 0

    @classmethod
    def of(cls, problem: Problem, people: Filed | NDArray[np.int16]) -> Crowd:
        """People, as filed or by level numbers, on the problem's own terms."""
        filed = people if isinstance(people, Filed) else Filed.on_levels(people)
        shape = (len(filed), len(problem.actions))
        nothing = np.broadcast_to(np.float64(np.nan), shape)
        return cls(filed, nothing, nothing, np.broadcast_to(np.False_, shape))

    def __len__(self) -> int:
        return len(self.filed)

    @property
    def codes(self) -> NDArray[np.int16]:
        """Level numbers [person, feature]."""
        return self.filed.codes

    def take(self, people: NDArray[np.int64]) -> Crowd:
        """Some of them."""
        labels = self.labels.iloc[people] if len(self.labels) else self.labels
        terms = self.costs[people], self.chances[people], self.forbidden[people]
        return Crowd(self.filed.take(people), *terms, labels, self.number)

    def distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first of each kind of people who are alike in everything, and which kind everybody is of."""
        columns: list[NDArray[Any]] = [self.codes]
        if self.filed.sight:
            columns.append(self.filed.kinds[:, None])
        if self.brings_terms.any():
            columns += [*(np.nan_to_num(table, nan=-1.0) for table in (self.costs, self.chances)), self.forbidden]
        everything = np.concatenate(columns, axis=1)
        _, first, kind = np.unique(everything, axis=0, return_index=True, return_inverse=True)
        return first, kind.reshape(-1)

    @property
    def brings_terms(self) -> NDArray[np.bool_]:
        """Who has terms of their own."""
        brought = ~np.isnan(self.costs) | ~np.isnan(self.chances) | self.forbidden
        return np.asarray(brought.any(axis=1))

    def place(self, position: int) -> Place:
        """Where one of them stands, if that is known."""
        if not len(self.labels):
            return Place()
        file, row = self.labels["file"].iloc[position], self.labels["row"].iloc[position]
        return Place((f"row {row}",), str(file))

    def person(self, problem: Problem, position: int) -> Person:
        """One of them, by level names."""
        return self.filed.person(problem, position)

    def record(self, problem: Problem, position: int) -> Record:
        """One of them as filed."""
        return self.filed.record(problem, position)

    def terms(self, problem: Problem, position: int) -> Terms | None:
        """What one of them brings, if anything; numbers are taken as they print."""
        names = [action.name for action in problem.actions]
        cost, chance = (_stated(names, table[position]) for table in (self.costs, self.chances))
        forbid = [name for name, forbidden in zip(names, self.forbidden[position], strict=True) if forbidden]
        return Terms.of(cost=cost, chance=chance, forbid=forbid) if cost or chance or forbid else None


def _stated(names: Sequence[str], numbers: NDArray[np.float64]) -> dict[str, Decimal]:
    pairs = zip(names, numbers.tolist(), strict=True)
    return {name: as_printed(number) for name, number in pairs if not np.isnan(number)}


def as_printed(number: float) -> Decimal:
    """A float as the decimal that it prints as: 0.1 is one tenth."""
    return Decimal(repr(number))
