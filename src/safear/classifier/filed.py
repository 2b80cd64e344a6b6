"""Records as they were filed: what a classifier sees of people besides levels.

A state is the record plus what has changed. For a feature whose level is still the one that was filed the classifier
sees the number that was filed; for one that has changed it sees what was promised. A column that is *given* has no
levels and is handed over as it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from safear.classifier.protocol import Classifier
from safear.problem.model import Feature, Person, Problem, Record, as_decimal, is_missing

if TYPE_CHECKING:
    import pandas as pd

MAX_KEY = 2**62
EMPTY = math.inf  # stands for the number of an empty cell, which NaN cannot: that is a level without a number


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


LEVELS_ONLY = Sight()


@dataclass(frozen=True, eq=False)
class Filed:
    """People as filed: level numbers `codes` [person, feature], `numbers` [person, number of the sight], `given`.

    A number is NaN where only the level is known, and `EMPTY` where the cell was. `given` has a row per person, with
    its own types.
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

    @classmethod
    def on_levels(cls, codes: NDArray[np.int16]) -> Filed:
        """People of whom the classifier sees levels only."""
        import pandas as pd  # noqa: PLC0415  # as above

        return cls(LEVELS_ONLY, codes, np.empty((len(codes), 0)), pd.DataFrame(index=range(len(codes))))

    @classmethod
    def of_columns(
        cls,
        problem: Problem,
        sight: Sight,
        codes: NDArray[np.int16],
        numbers: Mapping[str, NDArray[np.float64]],
        given: pd.DataFrame,
    ) -> Filed:
        """Of columns of a table; a number that is not of its level was the level's name."""
        found = np.full((len(codes), len(sight.numbers)), np.nan)
        for column, name in enumerate(sight.numbers):
            position = list(problem.feature_by_name).index(name)
            edges = np.array([float(edge) for edge in problem.features[position].edges])
            side = "right" if problem.features[position].closed == "left" else "left"
            is_own = np.searchsorted(edges, numbers[name], side=side) == codes[:, position]  # type: ignore[call-overload]  # a Literal
            found[:, column] = np.where(is_own & np.isfinite(numbers[name]), numbers[name], np.nan)
            if problem.features[position].missing:
                found[numbers[name] == EMPTY, column] = EMPTY
        return cls(sight, codes, found, given.reset_index(drop=True))

    def take(self, people: NDArray[np.int64]) -> Filed:
        """Some of them."""
        given = self.given.take(people.tolist()) if self.sight.given else self.given.iloc[: len(people)]
        return replace(self, codes=self.codes[people], numbers=self.numbers[people], given=given)

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """A number per person, the same for those of whom the classifier sees the same besides levels."""
        columns = [number_distinct(self.given[name]) for name in self.sight.given]
        columns += [number_distinct(self.numbers[:, i]) for i in range(self.numbers.shape[1])]
        # Numbered anew, since large keys would not survive a table of floating-point numbers.
        return number_distinct(pack_keys(columns)) if columns else np.zeros(len(self), dtype=np.int64)

    @property
    def shows_levels(self) -> bool:
        """Whether the classifier sees nothing but levels of these people."""
        return not self.sight.given and bool(np.isnan(self.numbers).all())

    def swap(self, problem: Problem, feature: int, code: int) -> Filed:
        """Everybody at one level of a feature, whatever number they filed."""
        codes, numbers = self.codes.copy(), self.numbers.copy()
        codes[:, feature] = code
        numbers[:, [name == problem.features[feature].name for name in self.sight.numbers]] = np.nan
        return replace(self, codes=codes, numbers=numbers)

    def person(self, problem: Problem, person: int) -> Person:
        """One of them, by level names."""
        levels = zip(problem.features, self.codes[person].tolist(), strict=True)
        return {feature.name: feature.levels[code] for feature, code in levels}

    def record(self, problem: Problem, person: int) -> dict[str, object]:
        """One of them: levels, numbers as filed where they are known, and what is given."""
        record: dict[str, object] = {**self.person(problem, person)}
        numbers = zip(self.sight.numbers, self.numbers[person].tolist(), strict=True)
        record |= {name: None if number == EMPTY else number for name, number in numbers if not math.isnan(number)}
        return record | {name: self.given[name].iloc[person] for name in self.sight.given}


def as_number(feature: Feature, filed: object, level: str) -> float:
    """The number that was filed for a feature; NaN if it was a level, EMPTY if it was nothing."""
    if is_missing(filed):
        return EMPTY
    number = as_decimal(filed)
    if number is None or feature.level_at(number) != level or not math.isfinite(float(number)):
        return math.nan
    return float(number)


def number_distinct(values: NDArray[np.float64] | NDArray[np.int64] | pd.Series) -> NDArray[np.int64]:
    """A number per distinct value; missing values are alike."""
    import pandas as pd  # noqa: PLC0415  # as where people are read

    codes = pd.factorize(values, use_na_sentinel=False)[0].astype(np.int64)
    if not isinstance(values, pd.Series) or values.dtype != object:
        return codes
    types = values.map(type).where(values.notna(), None)  # True and 1 are the same to pandas, but not to a model
    return pack_keys([codes, pd.factorize(types, use_na_sentinel=False)[0].astype(np.int64)])


def pack_keys(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """One number per row, the same for rows that agree in all columns of numbers from 0 up."""
    key, size = columns[0], int(columns[0].max(initial=0)) + 1
    for column in columns[1:]:
        many = int(column.max(initial=0)) + 1
        if size * many > MAX_KEY:
            key = np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)
            size = int(key.max(initial=0)) + 1
        key, size = key * many + column, size * many
    return key
