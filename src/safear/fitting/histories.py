"""Histories show changes, not attempts: bounds of chances, not points.

Of a person's rows, each two that follow each other are a period. An action could have been taken in it if it is offered
in the state before, and may have worked if the state after shows what its working outcome changes. Not everybody who
could have tried did, so that the share of such periods is at most the chance, provided that the change does not come by
itself:

    low(k, n) <= chance <= 1,   with the lower end of the interval of Clopper and Pearson.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from safear.errors import AttemptsError, Mistake, Path, Place, mistake
from safear.fitting.attempts import Attempts, LogReader, known_rows
from safear.fitting.estimates import Estimator, FitEntry, FitNotice, Fitted, count_true, find_working
from safear.problem.checks import check_action
from safear.problem.model import Action, Problem, SetTo, is_missing
from safear.problem.quantity import Amount
from safear.problem.tries import count_interval
from safear.problem.vector import CodeArray, apply_change

_SHOWN = Decimal("0.0001")


@dataclass(frozen=True, eq=False)
class History:
    """Periods: the level numbers before and after, one entry each."""

    before: Mapping[str, CodeArray]
    after: Mapping[str, CodeArray]
    periods: int


def is_history(frame: pd.DataFrame) -> bool:
    """Whether a table shows people over time, and not attempts."""
    return "worked" not in frame and "action" not in frame and {"person", "date"} <= set(frame.columns)


def read_history(frame: pd.DataFrame, problem: Problem, place: Place) -> History:
    """The periods in a table of people over time."""
    reader = LogReader(frame, place)
    people = reader.column("person", lambda value: None if is_missing(value) else str(value), _no_person)
    dates = reader.dates()
    levels = reader.levels(problem)
    reader.finish()
    _, person = np.unique(np.array(people, dtype=object).astype(str), return_inverse=True)
    order = np.lexsort((dates, person))
    same = person[order[1:]] == person[order[:-1]]
    doubled = np.flatnonzero(same & (dates[order[1:]] == dates[order[:-1]]))
    if len(doubled):
        row = int(order[doubled[0] + 1])
        cause = f"'{people[row]}' has another row of the same date"
        at = Place((f"row {row + 1}", "date"), place.file)
        raise AttemptsError.at(at, cause, "give each person one row for each date", code="twice")
    first, second = order[:-1][same], order[1:][same]
    if not len(first):
        remedy = "give at least two rows of a person, at different dates"
        raise AttemptsError.at(place, "nobody is seen twice", remedy, code="empty")
    before = {name: codes[first] for name, codes in levels.items()}
    after = {name: codes[second] for name, codes in levels.items()}
    return History(before, after, len(first))


def bound_action(estimator: Estimator, action: Action, history: History) -> Fitted:
    """The chances of an action, with what a history says of the least that they can be."""
    working = find_working(action)
    if working is None:
        return Fitted(action, notices=(FitNotice("outcomes", action.name),))
    periods = _find_periods(estimator, action, working, history)
    if not len(periods):
        return Fitted(action, notices=(FitNotice("no_history", action.name),))
    outcomes, entries, notices = list(action.outcomes), list[FitEntry](), list[FitNotice]()

    def bound(rows: NDArray[np.bool_], before: Amount) -> Amount:
        counts = count_true(periods.worked[rows])
        if not counts.tried or before.is_certain:  # a history cannot show that what always works has failed
            return before
        low = count_interval(counts, estimator.problem.confidence)[0].quantize(_SHOWN, ROUND_FLOOR)
        return Amount(max(low, before.nominal), low, Decimal(1), f"history {counts}")

    def bound_rest(rows: NDArray[np.bool_], before: Amount) -> Amount:
        rest = bound(rows, Amount.exactly(1 - before.nominal))
        return replace(rest, nominal=1 - rest.nominal, low=1 - rest.high, high=1 - rest.low) if rest.source else before

    for number, outcome in enumerate(action.outcomes):
        if outcome.chance is not None:
            at: Path = ("actions", action.name, "outcomes", number, "chance")
            estimate = bound if number == working else bound_rest
            chance, found, told = estimator.fit_quantity(outcome.chance, outcome.change, at, periods, estimate)
            outcomes[number] = replace(outcome, chance=chance)
            entries += [entry for entry in found if entry.after != entry.before]
            notices += [notice for notice in told if notice.code in {"no_column", "unknown_state"}]
    fitted = replace(action, outcomes=tuple(outcomes))
    if check_action(estimator.problem, fitted):
        return Fitted(action, notices=(FitNotice("sum", action.name),))
    return Fitted(fitted, tuple(entries), tuple(dict.fromkeys(notices)))


def _find_periods(estimator: Estimator, action: Action, working: int, history: History) -> Attempts:
    """The periods in which the action could have been taken, as attempts that worked if they show its change."""
    change = action.outcomes[working].change
    known = known_rows(history.before, frozenset(change), history.periods)
    known &= known_rows(history.after, frozenset(change), history.periods)
    features = estimator.problem.feature_by_name
    before = {name: codes[known] for name, codes in history.before.items()}
    shows, moves = np.ones(int(known.sum()), np.bool_), np.zeros(int(known.sum()), np.bool_)
    reached = apply_change(change, before, features) if known.any() else before
    for name, effect in change.items() if known.any() else ():
        seen, aim, start = history.after[name][known], reached[name], before[name]
        moves |= aim != start
        shows &= seen == aim if isinstance(effect, SetTo) else np.where(aim >= start, seen >= aim, seen <= aim)
    blank = np.ma.array(np.zeros(len(shows)), mask=True)
    periods = Attempts(np.zeros(len(shows), np.int64), shows, blank, None, before).take(moves)
    return periods.take(estimator.offered(action, periods))


def _no_person(at: Place, _: object) -> Mistake:
    return mistake(at, "the person is missing", "say whose row this is", code="missing")
