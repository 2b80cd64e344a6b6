"""Decisions on records beside decisions on levels: how many agree, which numbers change the others, what is too coarse.

On a record the classifier sees the numbers that were filed; on levels, each number is replaced by its level's value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from safear.mdp.filed_goals import FiledGoals
from safear.people.counts import People, Population, read_population, require_somebody
from safear.problem.model import Problem
from safear.recourse.case import Desk

if TYPE_CHECKING:
    import pandas as pd

COARSE = 0.02  # a level that changes the decisions on more of its people is too coarse
Flags = NDArray[np.bool_]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LevelAgreement:
    """The people at one level of a number, and how many are decided otherwise if its `value` replaces their number.

    `accepted_only` are accepted as filed and rejected at the value; `rejected_only` are rejected as filed. `cut` is the
    edge inside the level that best parts those who are decided otherwise from the others; None if none parts them.
    """

    level: str
    value: float
    people: int
    accepted_only: int
    rejected_only: int
    cut: float | None

    @property
    def changed(self) -> int:
        """How many are decided otherwise."""
        return self.accepted_only + self.rejected_only

    @property
    def is_coarse(self) -> bool:
        """Whether the level should be divided."""
        return self.changed > COARSE * self.people


@dataclass(frozen=True, slots=True)
class NumberAgreement:
    """A number that the classifier sees as filed, and its levels, the worst first: those that change most decisions."""

    feature: str
    unit: str
    levels: tuple[LevelAgreement, ...]

    @property
    def changed(self) -> int:
        """How many people are decided otherwise if this number alone is replaced by its level's value."""
        return sum(level.changed for level in self.levels)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How a population is decided on records and on levels.

    Of `people`, `rejected` are rejected as filed. On levels `accepted_only` of those who are accepted would be
    rejected, and `rejected_only` of those who are rejected accepted; for `together` of these no single number makes the
    difference. `skipped` rows could not be used. `numbers` are those that the classifier sees as filed, worst first.
    """

    people: int
    skipped: int
    rejected: int
    accepted_only: int
    rejected_only: int
    together: int
    numbers: tuple[NumberAgreement, ...]

    @property
    def agree(self) -> int:
        """How many are decided alike."""
        return self.people - self.accepted_only - self.rejected_only

    @property
    def is_unanimous(self) -> bool:
        """Whether everybody gets the same answer: a model that looks at its input seldom does that."""
        return self.people > 1 and self.rejected in (0, self.people)

    @property
    def coarse(self) -> list[tuple[NumberAgreement, LevelAgreement]]:
        """The levels that are too coarse, the worst first."""
        found = [(number, level) for number in self.numbers for level in number.levels if level.is_coarse]
        return sorted(found, key=lambda pair: -pair[1].changed)

    def to_frame(self) -> pd.DataFrame:
        """A row per level of each number."""
        import pandas as pd  # noqa: PLC0415  # a quarter of a second that others do not need

        names = ("level", "value", "people", "accepted_only", "rejected_only", "changed", "cut", "is_coarse")
        rows = [
            {"feature": number.feature} | {name: getattr(level, name) for name in names}
            for number in self.numbers
            for level in number.levels
        ]
        return pd.DataFrame(rows, columns=["feature", *names])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(self.to_frame().to_html())


def check_people(
    problem: Problem, classifier: object, people: People, *, skip_bad: str | Path | None = None
) -> Agreement:
    """Decide everybody as filed and on levels. `people` and `skip_bad` are as in `compare`."""
    desk = Desk.of(problem, classifier)
    population = read_population(problem, people, sight=desk.sight, skip_bad=skip_bad)
    require_somebody(population, skip_bad)
    return check_population(desk, population)


def check_population(desk: Desk, population: Population) -> Agreement:
    """The same for people who have been read as the desk's classifier sees them."""
    if desk.sight:
        found = _Trial(FiledGoals(desk.goals.in_force, population.filed), population).run()
    else:
        rejected = _count(population, ~desk.goals.in_force.among(population.codes))
        found = Agreement(int(population.counts.sum()), population.skipped, rejected, 0, 0, 0, ())
    desk.vouch(population.filed)
    return found


class _Trial:
    """Asks the classifier about everybody, with and without their own numbers."""

    def __init__(self, goals: FiledGoals, population: Population) -> None:
        self.goals, self.population, self.codes = goals, population, population.codes
        self.whom = np.arange(len(self.codes))
        self.filed = goals.promised(self.codes, self.whom)
        self.accepted = goals.decide(self.codes, self.whom, self.filed)

    def run(self) -> Agreement:
        count = range(self.filed.shape[1])
        levels = self.filed.copy()
        for column in count:
            levels[:, column] = self._values(column)
        on_levels = self._decide(levels)
        alone = [self._decide(np.where(np.arange(len(count)) == i, levels, self.filed)) for i in count]
        changes = on_levels != self.accepted
        unexplained = changes.copy()
        for some in alone:
            unexplained &= some == self.accepted
        numbers = [self._number(column, alone[column]) for column in count]
        return Agreement(
            int(self.population.counts.sum()),
            self.population.skipped,
            _count(self.population, ~self.accepted),
            _count(self.population, changes & self.accepted),
            _count(self.population, changes & ~self.accepted),
            _count(self.population, unexplained),
            tuple(sorted(numbers, key=lambda number: -number.changed)),
        )

    def _decide(self, numbers: Reals) -> Flags:
        """The decisions with these numbers; nobody is asked about again who has them anyway."""
        rows = np.flatnonzero((numbers != self.filed).any(axis=1))
        decided = self.accepted.copy()
        decided[rows] = self.goals.decide(self.codes[rows], rows, numbers[rows])
        return decided

    def _values(self, column: int) -> Reals:
        """The value of everybody's level."""
        values: Reals = np.array(self.goals.feature(column).values, dtype=np.float64)[self._levels(column)]
        return values

    def _levels(self, column: int) -> NDArray[np.int16]:
        names = list(self.goals.problem.feature_by_name)
        return self.codes[:, names.index(self.goals.sight.numbers[column])]

    def _number(self, column: int, decided: Flags) -> NumberAgreement:
        feature, found = self.goals.feature(column), []
        levels, changes = self._levels(column), decided != self.accepted
        for code, name in enumerate(feature.levels):
            here = levels == code
            found.append(
                LevelAgreement(
                    name,
                    float(feature.values[code]),
                    _count(self.population, here),
                    _count(self.population, here & changes & self.accepted),
                    _count(self.population, here & changes & ~self.accepted),
                    self._cut(column, code, here, changes),
                )
            )
        worst_first = sorted(found, key=lambda level: -level.changed)
        return NumberAgreement(feature.name, feature.unit, tuple(worst_first))

    def _cut(self, column: int, code: int, here: Flags, changes: Flags) -> float | None:
        """The edge that has the largest share of those who change, less that of the others, on the other side.

        The other side is where the level's value is not. Edges are tried where the classifier may change its mind or,
        if that is not known, between the numbers that people filed.
        """
        if not (here & changes).any():
            return None
        feature, grid = self.goals.feature(column), self.goals.range_of(column, code).grid
        here &= np.isfinite(self.population.filed.numbers[:, column])
        order = np.flatnonzero(here)[np.argsort(self.filed[here, column], kind="stable")]
        numbers, weights, value = self.filed[order, column], self.population.counts[order], float(feature.values[code])
        splits = self.goals.splits(column)
        low, high = min(numbers[0], value), max(numbers[-1], value)
        places = [split for split in (np.unique(numbers) if splits is None else splits) if low <= split < high]
        is_left = feature.closed == "left"
        edges = sorted(set(_round_up(places, grid) if is_left else _round_down(places, grid)) - set(feature.edges))
        cuts = np.array([float(edge) for edge in edges if (low < edge <= high if is_left else low <= edge < high)])
        if not len(cuts):
            return None
        below = np.searchsorted(numbers, cuts, side="left" if is_left else "right")
        value_is_above = cuts <= value if is_left else cuts < value
        gain = np.zeros(len(cuts))
        for sign, some in ((1, changes[order]), (-1, ~changes[order])):
            total = np.concatenate([[0], np.cumsum(weights * some)])
            beyond = np.where(value_is_above, total[below], total[-1] - total[below])
            gain += sign * beyond / max(total[-1], 1)
        best = int(np.argmax(gain))
        return float(cuts[best]) if gain[best] > 0 else None


def _round_down(numbers: Iterable[float], grid: Decimal) -> Iterator[Decimal]:
    """The last numbers of a grid that are not above."""
    for number in numbers:
        yield (Decimal(repr(float(number))) / grid).to_integral_value(ROUND_FLOOR) * grid


def _round_up(numbers: Iterable[float], grid: Decimal) -> Iterator[Decimal]:
    """The first numbers of a grid that are above."""
    for number in _round_down(numbers, grid):
        yield number + grid


def _count(population: Population, whom: Flags) -> int:
    return int(population.counts[whom].sum())
