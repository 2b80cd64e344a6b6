"""What a plan promises of numbers, and how it was checked.

A plan says "the term becomes 12 to 14 months". Wherever in such ranges the person lands, the classifier must accept
them at every end of the plan. With the promise "narrow" a range is found for each level that an end has changed to: it
begins as the level's value, for which each end is known to hold, and is widened as far as all ends still hold; first to
the side of what was filed, which is the least that the person has to do, and then to the other. The range belongs to
the step, so it is the same for all ends of the plan that pass through it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.classifier.adapters import as_classifier
from safear.mdp.arrays import MDP
from safear.mdp.compiled import CompiledMDP
from safear.mdp.filed_goals import MOST_POINTS, FiledGoals, as_filed, combine
from safear.mdp.goals import Goals
from safear.mdp.space import CodeMatrix
from safear.problem.model import Record
from safear.problem.person import read_person
from safear.recourse.teller import Teller

MOST_TRIED = 32_768  # inputs that one widening, or one check, may ask about

Spot = tuple[int, int]  # a raw number (by its place in the sight) at a level (by its number)


@dataclass(frozen=True, slots=True)
class Promise:
    """A number that a plan changes is brought to between `low` and `high`, both of them included."""

    feature: str
    level: str
    low: float
    high: float
    unit: str = ""

    def __str__(self) -> str:
        return Teller.of().promise(self)


@dataclass(frozen=True, slots=True)
class Verification:
    """How a plan was checked: the classifier was asked about `points` inputs at its `ends` and accepted `accepted`.

    `is_complete` says that no number that could make a difference was left out: each was tried or, for an ensemble of
    trees, one between each pair of neighbouring splits, in all combinations.
    """

    ends: int
    points: int
    accepted: int
    is_complete: bool

    @property
    def holds(self) -> bool:
        """Whether everything was accepted."""
        return self.accepted == self.points

    def __str__(self) -> str:
        return Teller.of().verification(self)


Promises = Mapping[tuple[str, str], Promise]  # by feature and level


def find_promises(mdp: MDP, states: NDArray[np.int64]) -> tuple[Promises, Verification]:
    """What a plan promises of every level of a raw number that it may change, and how that was checked.

    `states` are all goals at which the plan may end (`find_possible_ends`). The classifier is asked about each of them,
    wherever in what is promised the person lands. Where it sees levels only, nothing is promised, and the ends are
    known to be accepted.
    """
    if not isinstance(mdp, CompiledMDP) or not isinstance(mdp.goals, FiledGoals):
        return {}, Verification(len(states), len(states), len(states), is_complete=True)
    goals, kind, ends = mdp.goals, mdp.problem.goal.promise, mdp.codes(states)
    spots = goals.changed_somewhere(mdp.codes(np.arange(mdp.n_states)))
    found = {spot: _Range.at_value(goals, spot) if kind == "value" else _Range.of(goals, spot) for spot in spots}
    widened = _widen(goals, ends) if kind == "narrow" else {}
    promises = _name_all(goals, found | widened)
    check = check_ends(goals, ends, promises)[1]
    if widened and not check.holds:
        # So many combinations that some were left out on the way: the values are known to hold.
        promises = _name_all(goals, found | {spot: _Range.at_value(goals, spot) for spot in widened})
        check = check_ends(goals, ends, promises)[1]
    return promises, check


def _name_all(goals: FiledGoals, found: Mapping[Spot, _Range]) -> Promises:
    promises = [_promise(goals, spot, part.low, part.high) for spot, part in found.items()]
    promises += _as_filed(goals)
    return {(promise.feature, promise.level): promise for promise in promises}


def verify_ends(
    mdp: MDP, states: NDArray[np.int64], promises: Promises, *, classifier: object, record: Record
) -> Verification:
    """The check with any classifier and record: another model, or numbers that have changed since."""
    if not isinstance(mdp, CompiledMDP):
        return Verification(len(states), len(states), len(states), is_complete=True)
    problem = replace(mdp.problem, goal=mdp.problem.goal.unaimed)  # what it decides, not what plans are made for
    goals = Goals(problem, as_classifier(classifier, problem)).in_force
    own = as_filed(goals, record, read_person(mdp.problem, record, given=goals.sight.given))
    return check_ends(own, mdp.codes(states), promises)[1]


def check_ends(
    goals: Goals | FiledGoals, codes: CodeMatrix, promises: Promises
) -> tuple[NDArray[np.bool_], Verification]:
    """Which ends hold wherever in what is promised the person lands, and how that was checked.

    All combinations of points of what is promised are tried at all ends.
    """
    return check_many_ends(goals, [(codes, promises)])[0]


def check_many_ends(
    goals: Goals | FiledGoals, plans: Sequence[tuple[CodeMatrix, Promises]]
) -> list[tuple[NDArray[np.bool_], Verification]]:
    """The same for a plan of each of the people of the goals, with one question for all of them."""
    if isinstance(goals, Goals):
        kept = [goals.among(codes) for codes, _ in plans]
        return [(holds, Verification(len(holds), len(holds), int(holds.sum()), is_complete=True)) for holds in kept]
    tried = [_spread_ends(goals, codes, promises, whom) for whom, (codes, promises) in enumerate(plans)]
    asked = np.concatenate([codes[some.which] for (codes, _), some in zip(plans, tried, strict=True)])
    people = np.repeat(np.arange(len(plans)), [len(some.which) for some in tried])
    accepted = goals.decide(asked, people, np.concatenate([some.numbers for some in tried]))
    found = []
    for whom, ((codes, _), some) in enumerate(zip(plans, tried, strict=True)):
        holds, own = np.ones(len(codes), dtype=bool), accepted[people == whom]
        np.logical_and.at(holds, some.which, own)
        found.append((holds, Verification(len(codes), len(own), int(own.sum()), some.is_complete)))
    return found


class _Tried(NamedTuple):
    """Inputs at the ends of a plan: of which end each is, the numbers there, and whether none is left out."""

    which: NDArray[np.int64]
    numbers: NDArray[np.float64]
    is_complete: bool


def _spread_ends(goals: FiledGoals, codes: CodeMatrix, promises: Promises, whom: int) -> _Tried:
    """All combinations of points of what is promised, at all ends."""
    rows, numbers, is_complete = [], [np.empty((0, len(goals.sight.numbers)))], True
    each = max(MOST_TRIED // max(len(codes), 1), 16)
    for row in range(len(codes)):
        spots = goals.changed(codes[row], whom)
        parts = [_Range.of(goals, spot, promise=promises.get(_name(goals, spot))) for spot in spots]
        some, is_all = _combine([part.inside for part in parts], each)
        is_complete &= is_all and all(part.is_exhausted for part in parts)
        numbers.append(_put(goals, codes[row], spots, some, whom=whom))
        rows.append(np.full(len(some), row))
    return _Tried(np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64), np.concatenate(numbers), is_complete)


def _widen(goals: FiledGoals, ends: CodeMatrix) -> dict[Spot, _Range]:
    """The largest parts around the values that hold at all ends: near sides first, then far ones."""
    spots = [goals.changed(codes) for codes in ends]
    found = {spot: _Range.of(goals, spot, whole=False) for some in spots for spot in some}
    for is_near in (True, False):
        for spot, part in found.items():
            up = (goals.filed_code(spot[0]) > spot[1]) == is_near
            beyond = part.beyond(up=up)
            through = [(codes, some) for codes, some in zip(ends, spots, strict=True) if spot in some]
            holds = np.ones(len(beyond), dtype=bool)
            if len(beyond):
                holds = _try(goals, spot, beyond, through, found)
            count = int(np.argmin(holds)) if not holds.all() else len(beyond)
            part.extend(count, up=up)
    return found


def _try(
    goals: FiledGoals,
    spot: Spot,
    beyond: NDArray[np.float64],
    through: Sequence[tuple[CodeMatrix, list[Spot]]],
    found: Mapping[Spot, _Range],
) -> NDArray[np.bool_]:
    """For each further point of a number, whether all ends hold there, wherever the other numbers are."""
    each = max(MOST_TRIED // (len(through) * len(beyond)), 8)
    codes, numbers, point = [], [], []
    for end, spots in through:
        others = [other for other in spots if other != spot]
        some, _ = _combine([found[other].inside for other in others], each)
        rows = np.repeat(some, len(beyond), axis=0)
        tried = np.column_stack([np.tile(beyond, len(some)), rows])
        numbers.append(_put(goals, end, [spot, *others], tried))
        codes.append(np.repeat(end[None, :], len(tried), axis=0))
        point.append(np.tile(np.arange(len(beyond)), len(some)))
    asked = np.concatenate(codes)
    accepted = goals.decide(asked, np.zeros(len(asked), dtype=np.int64), np.concatenate(numbers))
    holds = np.ones(len(beyond), dtype=bool)
    np.logical_and.at(holds, np.concatenate(point), accepted)
    return holds


class _Range:
    """The points of a level at which decisions are tried; those from number `first` to `last` are `inside`."""

    def __init__(self, points: NDArray[np.float64], first: int, last: int, *, is_exhausted: bool) -> None:
        self._points, self._first, self._last, self.is_exhausted = points, first, last, is_exhausted

    @classmethod
    def at_value(cls, goals: FiledGoals, spot: Spot) -> _Range:
        """The value of a level alone, to which nothing can be added."""
        return cls(np.array([float(goals.range_of(*spot).value)]), 0, 0, is_exhausted=True)

    @classmethod
    def of(cls, goals: FiledGoals, spot: Spot, *, whole: bool = True, promise: Promise | None = None) -> _Range:
        """All of a level, its value (which can be widened), or what is promised of it."""
        if promise is not None and promise.low == promise.high:
            return cls(np.array([promise.low]), 0, 0, is_exhausted=True)
        level, points = goals.range_of(*spot), goals.points(*spot)
        low, high = (points[0], points[-1]) if whole else (float(level.value), float(level.value))
        if promise is not None:  # by another model, perhaps, which was tried at other points
            low, high = promise.low, promise.high
            points = np.union1d(points, [low, high])
        first, last = np.searchsorted(points, low), np.searchsorted(points, high, side="right") - 1
        is_exhausted = low == high or level.is_exhausted(goals.splits(spot[0]))
        return cls(points, int(first), int(last), is_exhausted=is_exhausted)

    @property
    def inside(self) -> NDArray[np.float64]:
        return self._points[self._first : self._last + 1]

    @property
    def low(self) -> float:
        return float(self._points[self._first])

    @property
    def high(self) -> float:
        return float(self._points[self._last])

    def beyond(self, *, up: bool) -> NDArray[np.float64]:
        """The points further on, nearest first."""
        return self._points[self._last + 1 :] if up else self._points[: self._first][::-1]

    def extend(self, count: int, *, up: bool) -> None:
        """Take in so many of them."""
        if up:
            self._last += count
        else:
            self._first -= count


def _combine(parts: Sequence[NDArray[np.float64]], most: int) -> tuple[NDArray[np.float64], bool]:
    """Combinations of points, a row each, and whether these are all."""
    if not parts:
        return np.empty((1, 0)), True
    most = min(most, MOST_POINTS)
    return combine(parts, most=most), bool(np.prod([float(len(part)) for part in parts]) <= most)


def _put(
    goals: FiledGoals, codes: CodeMatrix, spots: Sequence[Spot], tried: NDArray[np.float64], *, whom: int = 0
) -> NDArray[np.float64]:
    """The numbers of a state, with these in place of those that have changed, a row for each of `tried`."""
    numbers = np.repeat(goals.promised(codes[None, :], np.array([whom])), len(tried), axis=0)
    numbers[:, [column for column, _ in spots]] = tried
    return numbers


def _as_filed(goals: FiledGoals) -> list[Promise]:
    """Numbers that are, or are again, as they were filed."""
    known = [(i, float(number)) for i, number in enumerate(goals.filed.numbers[0]) if np.isfinite(number)]
    return [_promise(goals, (column, goals.filed_code(column)), number, number) for column, number in known]


def _name(goals: FiledGoals, spot: Spot) -> tuple[str, str]:
    feature = goals.feature(spot[0])
    return feature.name, feature.levels[spot[1]]


def _promise(goals: FiledGoals, spot: Spot, low: float, high: float) -> Promise:
    return Promise(*_name(goals, spot), low, high, goals.feature(spot[0]).unit)
