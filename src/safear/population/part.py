"""A part of a batch: some people with what each of them brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from safear.errors import Place
from safear.problem.model import Person, Problem
from safear.problem.terms import Terms


@dataclass(frozen=True, eq=False)
class Part:
    """People: level numbers `codes` [person, feature], and personal terms [person, action].

    `costs` and `chances` are NaN where the problem's own hold. `labels` are the columns that say who they are: the
    file, the row in it, and whatever is to be kept.
    """

    number: int
    labels: pd.DataFrame
    codes: NDArray[np.int16]
    costs: NDArray[np.float64]
    chances: NDArray[np.float64]
    forbidden: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.codes)

    def place(self, position: int) -> Place:
        """Where one of them stands."""
        file, row = self.labels["file"].iloc[position], self.labels["row"].iloc[position]
        return Place((f"row {row}",), str(file))

    def person(self, problem: Problem, position: int) -> Person:
        """One of them, by level names."""
        codes = self.codes[position].tolist()
        return {feature.name: feature.levels[code] for feature, code in zip(problem.features, codes, strict=True)}

    def terms(self, problem: Problem, position: int) -> Terms:
        """What one of them brings; numbers are taken as they print."""
        names = [action.name for action in problem.actions]
        return Terms.of(
            cost=_stated(names, self.costs[position]),
            chance=_stated(names, self.chances[position]),
            forbid=[name for name, forbidden in zip(names, self.forbidden[position], strict=True) if forbidden],
        )


def _stated(names: Sequence[str], numbers: NDArray[np.float64]) -> dict[str, Decimal]:
    pairs = zip(names, numbers.tolist(), strict=True)
    return {name: as_printed(number) for name, number in pairs if not np.isnan(number)}


def as_printed(number: float) -> Decimal:
    """A float as the decimal that it prints as: 0.1 is one tenth."""
    return Decimal(repr(number))
