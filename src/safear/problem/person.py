"""People: from a record as somebody writes it to a level for each feature."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal

import numpy as np

from safear.errors import Mistake, PersonError, mistake, on_key
from safear.problem.model import Feature, Person, Problem, as_decimal
from safear.problem.vector import holds
from safear.problem.wrong_names import missing_value, unknown_feature, unreadable_value


def read_person(problem: Problem, record: Mapping[str, object]) -> Person:
    """A level name for each feature of the problem; raw numbers are put into their level. Else a PersonError."""
    record = dict(record)  # a pandas Series iterates over its values
    mistakes = list(person_mistakes(problem, record))
    if mistakes:
        raise PersonError(mistakes)
    return {feature.name: str(read_level(feature, record[feature.name])) for feature in problem.features}


def person_mistakes(problem: Problem, record: Mapping[str, object]) -> Iterator[Mistake]:
    """Every mistake in a record."""
    found = [*_unknown_names(problem, record), *_wrong_levels(problem, record)]
    yield from found
    if not found:
        yield from _broken_constraints(problem, record)


def _unknown_names(problem: Problem, record: Mapping[str, object]) -> Iterator[Mistake]:
    missing = [name for name in problem.feature_by_name if name not in record]
    for name in record:
        if name not in problem.feature_by_name:
            yield unknown_feature(on_key((str(name),)), name, missing or problem.feature_by_name)
    yield from (missing_value(problem.feature_by_name[name]) for name in missing)


def _wrong_levels(problem: Problem, record: Mapping[str, object]) -> Iterator[Mistake]:
    for feature in problem.features:
        if feature.name in record and read_level(feature, record[feature.name]) is None:
            yield unreadable_value(feature, record[feature.name])


def read_level(feature: Feature, value: object) -> str | None:
    """The level that a value means: its name, or the interval that a raw number falls into; None if it means none."""
    text = str(value).lower() if isinstance(value, bool | np.bool_) else str(value)
    if text in feature.levels:
        return text
    number = as_decimal(text) if feature.kind == "numeric" else None
    if number is not None and len(feature.levels) == len(feature.edges) + 1:
        return feature.level_of(number)
    # 1.0 for a level called 1: numbers lose their form on the way through tables and JSON.
    if isinstance(value, float | np.floating | Decimal) and math.isfinite(value) and value == int(value):
        return str(int(value)) if str(int(value)) in feature.levels else None
    return None


def _broken_constraints(problem: Problem, record: Mapping[str, object]) -> Iterator[Mistake]:
    codes = {
        feature.name: np.array([feature.levels.index(str(read_level(feature, record[feature.name])))], np.int16)
        for feature in problem.features
    }
    for constraint in problem.constraints:
        if not holds(constraint, codes, problem.feature_by_name)[0]:
            cause = f"breaks the constraint '{constraint}'"
            yield mistake((), cause, code="broken_constraint", constraint=str(constraint))
