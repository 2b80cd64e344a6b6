"""Numbers of a level besides its value: where else in what they reach somebody without a goal would be accepted.

With the promises "value" and "narrow", a number that changes to another level is tested at the value of that level. A
model may reject that value and accept others of the level: "shorten the term to 12 to 24 months" fails at 18, and holds
up to 14. So before anybody is told that nothing helps, all points of the levels that they reach are tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.mdp.filed_goals import MOST_POINTS, FiledGoals, Numbers
from safear.mdp.space import CodeMatrix

MOST_TRIED = 100_000  # inputs that a search may ask about
MOST_FOUND = 16  # sets of numbers that are kept
AT_ONCE = 64  # states whose numbers are tried at a time

Instead = dict[tuple[int, int], float]  # numbers by the number of the sight and the level number


class OtherNumbers(NamedTuple):
    """Numbers with which a state would be a goal, those that differ from the fewest values first, each set once.

    `is_complete`: all states were tried, at all points at which decisions are, and all sets are here.
    """

    found: tuple[Instead, ...]
    is_complete: bool


class Best(NamedTuple):
    """The best score of each state that was tried, and the numbers that have it [state, number of the sight]."""

    scores: NDArray[np.float64]
    numbers: Numbers


def find_other_numbers(goals: FiledGoals, codes: CodeMatrix) -> OtherNumbers | None:
    """Other numbers of the levels that these states of the first person have changed; None if ranges are promised.

    Of the numbers with which a state would be a goal, those count that differ from the fewest values and, of these, are
    nearest to what was filed: the least that the person must do.
    """
    if goals.problem.goal.promise == "range":
        return None
    found: dict[tuple[tuple[tuple[int, int], float], ...], None] = {}
    rows, is_complete = _affordable(goals, codes)
    for some in _split(rows):
        whom = np.zeros(len(some), dtype=np.int64)
        for which, numbers, start in goals.spread(codes[some], whom, ends_only=False):
            accepted = goals.decide(codes[some][which], whom[which], numbers)
            for first, last in zip(start, [*start[1:], len(which)], strict=True):
                good = first + np.flatnonzero(accepted[first:last])
                if len(good):
                    instead = _least_change(goals, codes[some[which[first]]], numbers[good])
                    found[tuple(sorted(instead.items()))] = None
    ordered = sorted(found, key=len)
    return OtherNumbers(tuple(map(dict, ordered[:MOST_FOUND])), is_complete and len(ordered) <= MOST_FOUND)


def find_best(goals: FiledGoals, codes: CodeMatrix, scores: NDArray[np.float64]) -> Best:
    """The best score of each state at any numbers of the levels that it changes, given those at the values.

    Where there is too much to try, only the states with the best scores are.
    """
    whom = np.zeros(len(codes), dtype=np.int64)
    best, at = scores.copy(), goals.promised(codes, whom)
    rows, _ = _affordable(goals, codes, order=np.argsort(-scores, kind="stable"))
    for some in _split(rows):
        for which, numbers, start in goals.spread(codes[some], whom[some], ends_only=False):
            found = goals.score(codes[some][which], whom[some][which], numbers)
            if found is None:
                return Best(best, at)
            for first, last in zip(start, [*start[1:], len(which)], strict=True):
                row, top = some[which[first]], first + int(np.argmax(found[first:last]))
                if found[top] > best[row]:
                    best[row], at[row] = found[top], numbers[top]
    return Best(best, at)


def _affordable(
    goals: FiledGoals, codes: CodeMatrix, order: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], bool]:
    """The states that change numbers and can be tried, the first of the order, and whether these are all."""
    rows: list[int] = []
    left = MOST_TRIED
    for row in (np.arange(len(codes)) if order is None else order).tolist():
        spots = goals.changed(codes[row])
        if not spots:
            continue
        count = float(np.prod([float(len(goals.points(*spot))) for spot in spots]))
        left -= int(min(count, 2 * MOST_POINTS))  # `combine` takes no more
        if left < 0:
            return np.array(rows, dtype=np.int64), False
        rows.append(row)
    return np.array(rows, dtype=np.int64), True


def _split(rows: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    for first in range(0, len(rows), AT_ONCE):
        yield rows[first : first + AT_ONCE]


def _least_change(goals: FiledGoals, codes: CodeMatrix, numbers: Numbers) -> Instead:
    """Of several numbers of a state, those that differ from the fewest values and are nearest to what was filed."""
    first = np.zeros(1, dtype=np.int64)
    values, spots = goals.promised(codes[None, :], first)[0], goals.changed(codes)
    filed = goals.filed.numbers[0]
    near = np.where(np.isfinite(filed), filed, values)
    differs = (numbers != values)[:, [column for column, _ in spots]].sum(axis=1)
    with np.errstate(invalid="ignore"):
        away = np.nansum(np.abs(numbers - near) / np.maximum(np.abs(near), 1.0), axis=1)
    best = numbers[np.lexsort((away, differs))[0]]
    return {spot: float(best[spot[0]]) for spot in spots if best[spot[0]] != values[spot[0]]}
