"""How near somebody without recourse can come: the best score that the classifier gives to what they can reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safear.mdp.compiled import CompiledMDP
from safear.mdp.filed_goals import FiledGoals, Numbers
from safear.mdp.other_numbers import find_best
from safear.mdp.space import CodeMatrix
from safear.recourse.case import Case
from safear.recourse.level_changes import Changes, find_changes
from safear.recourse.promises import Promise

HALF = 0.5  # what decides without a threshold
AT_ONCE = 64  # states whose ranges are tried at a time


@dataclass(frozen=True, slots=True)
class Approach:
    """The best `score` of all that was tried, the score `today` and what is `needed`; None if that is not known.

    Numbers that change may lie anywhere in their level; with the promise "range" it is the score wherever they lie.
    Of equal scores it is that with the fewest `changes`, and of these the nearest.
    """

    score: float
    today: float
    needed: float | None
    changes: Changes


def find_closest(case: Case) -> Approach | None:
    """The closest approach of somebody without recourse; None if the classifier gives no scores."""
    if case.reach is None:
        return None
    mdp = case.reach.mdp
    codes = case.reach.codes_in_time
    scores = mdp.goals.scores(codes)
    if scores is None:
        return None
    today = float(scores[0])
    numbers: Numbers | None = None
    if isinstance(mdp.goals, FiledGoals) and case.problem.goal.promise == "range":
        scores = _refine(mdp.goals, codes, scores)
    elif isinstance(mdp.goals, FiledGoals):
        scores, numbers = find_best(mdp.goals, codes, scores)
    shown = [number for number, feature in enumerate(mdp.features) if not feature.hidden]
    differences = np.abs(codes[:, shown].astype(np.int64) - codes[0, shown])
    best = int(np.lexsort((differences.sum(axis=1), (differences > 0).sum(axis=1), -scores))[0])
    threshold = case.problem.goal.aimed.threshold
    needed = HALF if threshold is None else threshold
    score = float(scores[best])
    changes = _tell_changes(case, mdp, codes[[0, best]], None if numbers is None else numbers[best])
    return Approach(score, today, None if score >= needed else needed, changes)


def _refine(goals: FiledGoals, codes: CodeMatrix, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lowest score wherever a person lands, where it may be the best; elsewhere nothing that is better.

    The score at a value is no lower than the lowest, so what is below the best found so far need not be tried.
    """
    lowest, order, best = np.zeros(len(scores)), np.argsort(-scores, kind="stable"), -1.0
    for first in range(0, len(order), AT_ONCE):
        rows = order[first : first + AT_ONCE]
        if scores[rows[0]] < best:
            break
        found = goals.lowest_scores(codes[rows])
        lowest[rows] = scores[rows] if found is None else found
        best = max(best, float(lowest[rows].max()))
    return lowest


def _tell_changes(case: Case, mdp: CompiledMDP, codes: CodeMatrix, numbers: Numbers | None) -> Changes:
    """What is different in the second of two states, with its numbers, or else with the whole range of each."""
    names = [{one.name: one.levels[code] for one, code in zip(mdp.features, row, strict=True)} for row in codes]
    promises: dict[tuple[str, str], Promise] = {}
    if isinstance(mdp.goals, FiledGoals):
        for column, code in mdp.goals.changed(codes[1]):
            feature, found = mdp.goals.feature(column), mdp.goals.range_of(column, code)
            ends = (found.low, found.high) if numbers is None else (numbers[column], numbers[column])
            level = feature.levels[code]
            promises[feature.name, level] = Promise(feature.name, level, float(ends[0]), float(ends[1]), feature.unit)
    return find_changes(*map(case.problem.shown, names), promises=promises)
