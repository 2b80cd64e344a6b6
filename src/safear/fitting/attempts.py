"""A log of attempts: which action was tried, whether it worked and, if known, its cost, its date and the state before.

Each distinct cell is read once. All wrong rows are told together, each with its number and what is wrong with it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from safear.arguments import ArgumentKind
from safear.errors import AttemptsError, Mistake, PersonError, Place, closest, mistake
from safear.people.cells import level_number
from safear.people.frame_counts import map_distinct
from safear.people.rows import table_rows
from safear.problem.model import MAX_COST, Feature, Problem, as_decimal, is_missing, read_flag
from safear.problem.vector import CodeArray
from safear.problem.wrong_names import out_of_limits, unknown_action, unreadable_value

UNKNOWN = -1  # instead of the number of a level: the cell is empty
MOST_TOLD = 20  # wrong cells that are told one by one
_ADD = {"action": "add it, with the names of the problem's actions", "worked": "add it, with yes or no"}
_RESERVED = ("action", "worked", "cost", "date", "person")


@dataclass(frozen=True, eq=False)
class Attempts:
    """Attempts as columns, one entry each.

    action  the number of the action in the problem
    worked  whether it worked
    cost    what it cost, masked where that is not known
    date    when it was, or None if the log has no dates
    levels  the level number of each feature that the log has, before the attempt (UNKNOWN where the cell is empty)
    person  a number for who made each attempt, or None if the log does not say
    """

    action: NDArray[np.int64]
    worked: NDArray[np.bool_]
    cost: np.ma.MaskedArray[Any, np.dtype[np.float64]]
    date: NDArray[np.datetime64] | None
    levels: Mapping[str, CodeArray]
    person: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.action)

    def take(self, rows: NDArray[np.bool_]) -> Attempts:
        """Some of the attempts."""
        levels = {name: codes[rows] for name, codes in self.levels.items()}
        date = None if self.date is None else self.date[rows]
        person = None if self.person is None else self.person[rows]
        return Attempts(self.action[rows], self.worked[rows], self.cost[rows], date, levels, person)


LOG = ArgumentKind(
    "a log of attempts",
    "give a CSV or Parquet file, or a data frame",
    (str, os.PathLike, pd.DataFrame),
    error=AttemptsError,
)


def open_log(source: str | Path | pd.DataFrame) -> tuple[pd.DataFrame, Place]:
    """A log as a data frame, and its place. Cells of a CSV file are texts, those of a Parquet file have types."""
    if isinstance(source, pd.DataFrame):
        frame, place = source.set_axis(pd.Index([str(name) for name in source.columns], dtype=object), axis=1), Place()
    else:
        place = Place(file=str(source))
        try:
            frame = pd.DataFrame(list(table_rows(source)), dtype=object)
        except PersonError as error:
            raise AttemptsError(error.mistakes) from None
    if frame.empty:
        remedy = "give a header with 'action' and 'worked', and a row for each attempt"
        raise AttemptsError.at(place, "there are no attempts", remedy, code="empty")
    doubled = frame.columns[frame.columns.duplicated()]
    if len(doubled):
        raise AttemptsError.at(place, f"there are two columns '{doubled[0]}'", "rename one", code="twice")
    return frame.reset_index(drop=True), place


def read_attempts(frame: pd.DataFrame, problem: Problem, place: Place) -> Attempts:
    """The attempts in a data frame. Columns that are no features are left alone; mistakes are raised together."""
    reader = LogReader(frame, place)
    reader.require(("action", "worked"), known=[*_RESERVED, *problem.feature_by_name])
    numbers = {action.name: number for number, action in enumerate(problem.actions)}

    def complain_of_action(at: Place, value: object) -> Mistake:
        if is_missing(value):
            return mistake(at, "the action is missing", "name one of the problem's actions", code="missing")
        return unknown_action(at, str(value), problem)

    action = reader.column("action", lambda value: numbers.get(str(value)), complain_of_action)
    worked = reader.column("worked", _read_worked, _not_worked)
    cost = reader.column("cost", _read_cost, _not_a_cost) if "cost" in frame else [None] * len(frame)
    levels = reader.levels(problem)
    date = reader.dates() if "date" in frame else None
    reader.finish()
    costs = np.array([np.nan if item in {None, ""} else item for item in cost], np.float64)
    person = pd.factorize(frame["person"].astype(str))[0] if "person" in frame else None
    happened = np.array(worked, np.bool_)
    return Attempts(np.array(action, np.int64), happened, np.ma.masked_invalid(costs), date, levels, person)


class LogReader:
    """Reads the columns of a log, and collects what is wrong with them."""

    def __init__(self, frame: pd.DataFrame, place: Place) -> None:
        self.frame = frame
        self.file = place.file
        self.mistakes: list[Mistake] = []
        self.wrong = 0

    def require(self, names: tuple[str, ...], *, known: list[str]) -> None:
        """Refuse a log without columns that are needed."""
        columns = list(self.frame.columns)
        for name in names:
            if name not in columns:
                free = [column for column in columns if column not in known]
                meant = closest(name, free)
                remedy = f"rename '{meant}'?" if meant else _ADD[name]
                cause = f"there is no column '{name}'"
                self.mistakes.append(mistake(Place(file=self.file), cause, remedy, code="missing_column", column=name))
        if self.mistakes:
            raise AttemptsError(self.mistakes)

    def column(
        self, name: str, read: Callable[[object], object], complain: Callable[[Place, object], Mistake]
    ) -> list[Any]:
        """What the cells of a column mean; None is a mistake."""
        values = map_distinct(self.frame[name], read)
        for row, value in enumerate(values):
            if value is None:
                self.wrong += 1
                if len(self.mistakes) < MOST_TOLD:
                    self.mistakes.append(
                        complain(Place((f"row {row + 1}", name), self.file), self.frame[name].iloc[row])
                    )
        return values

    def levels(self, problem: Problem) -> dict[str, CodeArray]:
        """The level numbers of all features that the log has."""
        found = {}
        for feature in problem.features:
            if feature.name in self.frame and feature.name not in _RESERVED:
                numbers = self.column(feature.name, partial(_read_state, feature), partial(_not_a_level, feature))
                found[feature.name] = np.array([UNKNOWN if item is None else item for item in numbers], np.int16)
        return found

    def dates(self) -> NDArray[np.datetime64]:
        """When the attempts were made."""
        found = self.column("date", _read_date, _not_a_date)
        return np.array([np.datetime64("NaT") if item is None else item for item in found], "datetime64[s]")

    def finish(self) -> None:
        """Raise what was found."""
        if self.mistakes:
            more = self.wrong - len(self.mistakes)
            if more > 0:
                cause = f"{more} more cells are wrong"
                self.mistakes.append(mistake(Place(file=self.file), cause, code="more", count=more))
            raise AttemptsError(self.mistakes)


def _read_worked(value: object) -> bool | None:
    return None if is_missing(value) else read_flag(value)


def _not_worked(at: Place, value: object) -> Mistake:
    what = "nothing" if is_missing(value) else f"'{value}'"
    remedy = "write yes or no, or take out attempts that have not ended" if is_missing(value) else "write yes or no"
    return mistake(at, f"{what} is neither yes nor no", remedy, code="not_a_truth", value=str(value))


def _read_cost(value: object) -> float | str | None:
    """A cost; "" where none was noted."""
    if is_missing(value):
        return ""
    number = as_decimal(value)
    return None if number is None or not 0 <= number <= MAX_COST else float(number)


def _not_a_cost(at: Place, value: object) -> Mistake:
    number = as_decimal(value)
    if number is None:
        remedy = "write a number, or leave the cell empty"
        return mistake(at, f"'{value}' is not a cost", remedy, code="not_a_number", value=str(value))
    if number < 0:
        return mistake(at, f"the cost {value} is below 0", "costs are positive", code="cost_out_of_range", value=number)
    remedy = "count in a larger unit"
    return mistake(at, f"the cost {value} is above {MAX_COST:g}", remedy, code="cost_out_of_range", value=number)


def _read_state(feature: Feature, value: object) -> int | None:
    """The number of a level; UNKNOWN where the cell is empty, unless that is a level too."""
    return UNKNOWN if is_missing(value) and not feature.missing else level_number(feature, value)


def _not_a_level(feature: Feature, at: Place, value: object) -> Mistake:
    number = as_decimal(value)
    beyond = number is not None and feature.level_at(number) is not None
    found = out_of_limits(feature, number) if beyond and number is not None else unreadable_value(feature, value)
    return mistake(at, found.cause, found.remedy, code=found.code, **found.values)


def _read_date(value: object) -> np.datetime64 | None:
    """A date as ISO 8601 writes it, with or without a time of day: whoever guesses takes 5 June for 6 May."""
    if is_missing(value):
        return None
    try:
        return np.datetime64(datetime.fromisoformat(str(value).strip()).replace(tzinfo=None), "s")
    except ValueError:
        return None


def _not_a_date(at: Place, value: object) -> Mistake:
    what = "nothing" if is_missing(value) else f"'{value}'"
    return mistake(at, f"{what} is not a date", "write dates as 2024-05-31", code="not_a_date", value=str(value))


def known_rows(levels: Mapping[str, CodeArray], names: Iterator[str] | frozenset[str], count: int) -> NDArray[np.bool_]:
    """In which rows the levels of all these features are known."""
    known = np.ones(count, np.bool_)
    for name in names:
        known &= levels[name] != UNKNOWN if name in levels else False
    return known
