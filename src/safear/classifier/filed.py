"""Records as they were filed: what a classifier sees of people besides levels.

A state is the record plus what has changed. For a feature whose level is still the one that was filed the classifier
sees the number that was filed; for one that has changed it sees what was promised. A column that is *given* has no
levels and is handed over as it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from safear.classifier.protocol import Classifier
from safear.problem.model import Feature, Person, Problem, Record, as_decimal

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Sight:
    """What a classifier sees of a record besides levels: numbers of these features, and these columns."""

    numbers: tuple[str, ...] = ()
    given: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.numbers or self.given)

    @classmethod
    def of(cls, problem: Problem, classifier: Classifier) -> Sight:
        """Of a classifier for a problem. One that knows its columns is given those that are no features."""
        if getattr(classifier, "sees_levels", False):
            return cls()
        wanted: Sequence[str] = problem.given or getattr(classifier, "wanted", None) or ()
        given = tuple(name for name in wanted if name not in problem.feature_by_name)
        return cls(tuple(feature.name for feature in problem.features if feature.is_raw), given)


@dataclass(frozen=True, eq=False)
class Filed:
    """People as filed: level numbers `codes` [person, feature], `numbers` [person, number of the sight], `given`.

    A number is NaN where only the level is known. `given` has a row per person, with its own types.
    """

    sight: Sight
    codes: NDArray[np.int16]
    numbers: NDArray[np.float64]
    given: pd.DataFrame

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def of(cls, problem: Problem, sight: Sight, records: Sequence[Record], people: Sequence[Person]) -> Filed:
        """Of records that were read as people."""
        import pandas as pd  # noqa: PLC0415  # a quarter of a second that rules and tables do not need

        features = problem.feature_by_name
        codes = [[f.levels.index(person[f.name]) for f in problem.features] for person in people]
        numbers = [
            [as_number(features[name], record[name], person[name]) for name in sight.numbers]
            for record, person in zip(records, people, strict=True)
        ]
        return cls(
            sight,
            np.array(codes, dtype=np.int16).reshape(len(people), len(problem.features)),
            np.array(numbers, dtype=np.float64).reshape(len(people), len(sight.numbers)),
            pd.DataFrame({name: [record[name] for record in records] for name in sight.given}),
        )

    def take(self, people: NDArray[np.int64]) -> Filed:
        """Some of them."""
        return replace(
            self, codes=self.codes[people], numbers=self.numbers[people], given=self.given.take(people.tolist())
        )


def as_number(feature: Feature, filed: object, level: str) -> float:
    """The number that was filed for a feature; NaN if it was a level."""
    number = as_decimal(filed)
    if number is None or feature.level_at(number) != level or not math.isfinite(float(number)):
        return math.nan
    return float(number)
