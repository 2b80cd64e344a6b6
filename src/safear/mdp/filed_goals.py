"""Which states are goals for people whose records the classifier sees as they were filed.

A state is the record plus what has changed: for a feature at its filed level the classifier sees the number that was
filed, for one that has changed the number that was promised.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from safear.classifier.asking import ask
from safear.classifier.filed import EMPTY, Filed, Sight, number_distinct, pack_keys
from safear.classifier.protocol import Inputs
from safear.mdp.goals import BATCH, Goals, score_all
from safear.mdp.space import CodeMatrix
from safear.problem.model import Feature, Person, Record
from safear.problem.ranges import LevelRange, level_range

MOST_POINTS = 4096  # combinations of numbers that are tried in one state
Numbers = NDArray[np.float64]  # [row, number of the sight]


class FiledGoals:
    """Answers whether states are goals for people as filed, by the promise of the problem's goal.

    With "value" and "narrow" a state is a goal if the classifier accepts it at the values of the levels that have
    changed; with "range", if it does so wherever in these levels the person lands. `instead` has other values for some
    levels, by the number of the sight and the level number.
    """

    def __init__(self, goals: Goals, filed: Filed, *, instead: Mapping[tuple[int, int], float] | None = None) -> None:
        self.problem, self.standard, self.sight, self.filed = goals.problem, goals.standard, goals.sight, filed
        self.goals, self._points = goals, goals.known_points
        features = goals.problem.features
        self._seen = [i for i, feature in enumerate(features) if feature.seen_by_classifier]
        self._numbers = [i for i, feature in enumerate(features) if feature.name in goals.sight.numbers]
        self._levels = [i for i in self._seen if i not in self._numbers]
        self._values = [np.array(features[i].values, dtype=np.float64) for i in self._numbers]
        self._instead = dict(instead or {})
        if self._instead:
            self._points = {}  # they hold the values
        for (column, code), number in self._instead.items():
            self._values[column][code] = number
        self._known: dict[bytes, bool] = {}  # of the first person, by level numbers

    def with_values(self, instead: Mapping[tuple[int, int], float]) -> FiledGoals:
        """The same with other numbers as the values of some levels."""
        return FiledGoals(self.goals, self.filed, instead=instead)

    @cached_property
    def in_force(self) -> FiledGoals:
        """The same of decisions: who is accepted as things stand."""
        return self if self.goals.in_force is self.goals else FiledGoals(self.goals.in_force, self.filed)

    @property
    def is_slow(self) -> bool:
        """Only models see records."""
        return True

    def among(self, codes: CodeMatrix, whom: NDArray[np.int64] | None = None) -> NDArray[np.bool_]:
        """For each row of level numbers, whether it is a goal for the person `whom` (their number).

        None is the first, for whom answers are remembered.
        """
        if whom is not None:
            return self._find(codes, whom)
        keys = [row.tobytes() for row in codes]
        new = np.flatnonzero([key not in self._known for key in keys])
        found = self._find(codes[new], np.zeros(len(new), dtype=np.int64))
        self._known.update(zip((keys[row] for row in new.tolist()), found.tolist(), strict=True))
        return np.array([self._known[key] for key in keys], dtype=bool)

    def _find(self, codes: CodeMatrix, whom: NDArray[np.int64]) -> NDArray[np.bool_]:
        goal = self.decide(codes, whom, self.promised(codes, whom))
        if self.problem.goal.promise == "range":
            changed = (codes != self.filed.codes[whom])[:, self._numbers].any(axis=1)
            for ends_only in (True, False):  # most that does not hold fails at an end
                rows = np.flatnonzero(goal & changed)
                goal[rows] = self.hold(codes[rows], whom[rows], ends_only=ends_only)
        return goal

    def promised(self, codes: CodeMatrix, whom: NDArray[np.int64]) -> Numbers:
        """The numbers that the classifier sees: as filed where the level is, else the value of the level."""
        numbers = np.empty((len(codes), len(self._numbers)))
        for column, feature in enumerate(self._numbers):
            filed = self.filed.numbers[whom, column]
            as_filed = (codes[:, feature] == self.filed.codes[whom, feature]) & ~np.isnan(filed)
            filed = np.where(filed == EMPTY, np.nan, filed)
            numbers[:, column] = np.where(as_filed, filed, self._values[column][codes[:, feature]])
        return numbers

    def at_values(self, codes: CodeMatrix) -> NDArray[np.bool_]:
        """What the classifier says of the first person if every number were the value of its level."""
        numbers = [self._values[column][codes[:, feature]] for column, feature in enumerate(self._numbers)]
        return self.decide(codes, np.zeros(len(codes), dtype=np.int64), np.stack(numbers, axis=1))

    def changed(self, codes: CodeMatrix, whom: int = 0) -> list[tuple[int, int]]:
        """The raw numbers that a state changes: their number in the sight, and the level number."""
        return [
            (column, int(codes[feature]))
            for column, feature in enumerate(self._numbers)
            if codes[feature] != self.filed.codes[whom, feature]
        ]

    def changed_somewhere(self, codes: CodeMatrix) -> list[tuple[int, int]]:
        """The same of all these states together, for the first person."""
        met = {column: np.unique(codes[:, feature]).tolist() for column, feature in enumerate(self._numbers)}
        return [(column, code) for column in met for code in met[column] if code != self.filed_code(column)]

    def decide(self, codes: CodeMatrix, whom: NDArray[np.int64], numbers: Numbers) -> NDArray[np.bool_]:
        """The classifier's decisions with these numbers; it is asked about each distinct input once."""
        if not len(codes):
            return np.zeros(0, dtype=bool)
        first, which = self._distinct(codes, whom, numbers)
        answers = np.empty(len(first), dtype=bool)
        for start in range(0, len(first), BATCH):
            rows = first[start : start + BATCH]
            inputs = self._inputs(codes[rows], whom[rows], numbers[rows])
            with self.goals.lock:
                answers[start : start + BATCH] = ask(self.standard, inputs)
        return answers[which]

    def scores(self, codes: CodeMatrix) -> NDArray[np.float64] | None:
        """The score that the classifier gives the first person in each state, at what is promised as a value."""
        whom = np.zeros(len(codes), dtype=np.int64)
        return self.score(codes, whom, self.promised(codes, whom))

    def lowest_scores(self, codes: CodeMatrix) -> NDArray[np.float64] | None:
        """The same at the worst of all numbers of the levels that have changed."""
        whom, lowest = np.zeros(len(codes), dtype=np.int64), np.ones(len(codes))
        for rows, numbers, start in self.spread(codes, whom, ends_only=False):
            found = self.score(codes[rows], whom[rows], numbers)
            if found is None:
                return None
            lowest[rows[start]] = np.minimum.reduceat(found, start)
        return lowest

    def score(self, codes: CodeMatrix, whom: NDArray[np.int64], numbers: Numbers) -> NDArray[np.float64] | None:
        """The classifier's scores with these numbers; None if it gives none."""
        first, which = self._distinct(codes, whom, numbers)
        inputs = self._inputs(codes[first], whom[first], numbers[first])
        found = score_all(self.standard, inputs, self.goals.lock)
        return None if found is None else found[which]

    def _distinct(
        self, codes: CodeMatrix, whom: NDArray[np.int64], numbers: Numbers
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each distinct input stands first, and which of them every row is."""
        columns = [codes[:, i].astype(np.int64) for i in self._levels]
        columns += [number_distinct(numbers[:, i]) for i in range(numbers.shape[1])]
        keys = pack_keys([*columns, self._given_kinds[whom]])
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        return first, which.reshape(-1)

    def hold(self, codes: CodeMatrix, whom: NDArray[np.int64], *, ends_only: bool = False) -> NDArray[np.bool_]:
        """Whether the classifier accepts each state wherever in the levels that have changed the person lands."""
        holds = np.ones(len(codes), dtype=bool)
        for rows, numbers, start in self.spread(codes, whom, ends_only=ends_only):
            found = self.decide(codes[rows], whom[rows], numbers)
            holds[rows[start]] = np.logical_and.reduceat(found, start)
        return holds

    def spread(
        self, codes: CodeMatrix, whom: NDArray[np.int64], *, ends_only: bool
    ) -> Iterator[tuple[NDArray[np.int64], Numbers, NDArray[np.int64]]]:
        """All combinations of numbers of each state, some states at a time: the state and the numbers of each row."""
        base, rows, parts, held = self.promised(codes, whom), [], [], 0
        for row in range(len(codes)):
            changed = self.changed(codes[row], int(whom[row]))
            points = [self.points(column, code, ends_only=ends_only) for column, code in changed]
            some = combine(points, most=MOST_POINTS)
            numbers = np.repeat(base[row][None, :], len(some), axis=0)
            numbers[:, [column for column, _ in changed]] = some
            rows.append(np.full(len(some), row))
            parts.append(numbers)
            held += len(some)
            if held >= BATCH:
                yield _gather(rows, parts)
                rows, parts, held = [], [], 0
        if rows:
            yield _gather(rows, parts)

    def points(self, column: int, code: int, *, ends_only: bool = False) -> NDArray[np.float64]:
        """The numbers of a level at which decisions are tried."""
        key = column, code, ends_only
        if key not in self._points:
            found = self.range_of(column, code)
            ends = np.array(sorted({float(found.low), float(found.value), float(found.high)}))
            self._points[key] = ends if ends_only else found.points(self.splits(column))
        return self._points[key]

    def feature(self, column: int) -> Feature:
        """One of the sight's features."""
        return self.problem.features[self._numbers[column]]

    def filed_code(self, column: int) -> int:
        """The level number that the first person filed for it."""
        return int(self.filed.codes[0, self._numbers[column]])

    def range_of(self, column: int, code: int) -> LevelRange:
        """The numbers of a level of one of the sight's features."""
        found, value = level_range(self.feature(column), code), self._instead.get((column, code))
        return found if value is None else replace(found, value=Decimal(repr(value)))

    def splits(self, column: int) -> Sequence[float] | None:
        """The numbers at which the classifier may change its mind about a feature, if that is known."""
        return self._splits.get(self.sight.numbers[column])

    @cached_property
    def _splits(self) -> dict[str, Sequence[float] | None]:
        find = getattr(self.standard, "splits", None)
        if find is None or not len(self.filed):
            return {}
        first = np.zeros(1, dtype=np.int64)
        sample = self._inputs(self.filed.codes[:1], first, self.promised(self.filed.codes[:1], first))
        with self.goals.lock:
            return dict(find(sample.frame()) or {})

    @cached_property
    def _given_kinds(self) -> NDArray[np.int64]:
        """A number per person, the same for those with the same given columns."""
        return replace(self.filed, sight=Sight(given=self.sight.given), numbers=self.filed.numbers[:, :0]).kinds

    def _inputs(self, codes: CodeMatrix, whom: NDArray[np.int64], numbers: Numbers) -> Inputs:
        features = tuple(self.problem.features[i] for i in self._seen)
        by_name = {name: numbers[:, i] for i, name in enumerate(self.sight.numbers)}
        given = self.filed.given.take(whom.tolist()) if self.sight.given else None
        return Inputs(features, codes[:, self._seen], by_name, given)


def as_filed(goals: Goals, record: Record, person: Person) -> Goals | FiledGoals:
    """The goals of one person, whose record the classifier sees as it was filed, if it sees more than levels."""
    if not goals.sight:
        return goals
    return FiledGoals(goals, Filed.of(goals.problem, goals.sight, [record], [person]))


def combine(points: Sequence[NDArray[np.float64]], *, most: int) -> NDArray[np.float64]:
    """All combinations of one point of each, a row each; of more than `most`, the ends and as many drawn at random."""
    if np.prod([float(len(some)) for some in points]) <= most:
        return np.array(list(product(*points)))
    ends = [some[[0, len(some) // 2, -1]] for some in points]
    rng = np.random.default_rng(most)
    drawn = np.stack([rng.choice(some, most) for some in points], axis=1)
    corners = np.array(list(product(*ends))) if 3 ** len(ends) <= most else drawn[:0]
    return np.concatenate([corners, drawn])


def _gather(
    rows: Sequence[NDArray[np.int64]], parts: Sequence[Numbers]
) -> tuple[NDArray[np.int64], Numbers, NDArray[np.int64]]:
    sizes = np.array([len(part) for part in rows])
    return np.concatenate(rows), np.concatenate(parts), np.cumsum(sizes) - sizes
