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
    levels, mistakes = _read_levels(problem, dict(record))  # a pandas Series iterates over its values
    if mistakes:
        raise PersonError(mistakes)
    return levels


def person_mistakes(problem: Problem, record: Mapping[str, object]) -> list[Mistake]:
    """Every mistake in a record."""
    return _read_levels(problem, record)[1]


def _read_levels(problem: Problem, record: Mapping[str, object]) -> tuple[dict[str, str], list[Mistake]]:
    """The levels that can be read, and every mistake."""
    known = problem.feature_by_name
    missing = [feature for feature in problem.features if feature.name not in record]
    wanted = [feature.name for feature in missing] or known
    mistakes = [unknown_feature(on_key((str(name),)), name, wanted) for name in record if name not in known]
    mistakes += map(missing_value, missing)
    levels = {}
    for feature in problem.features:
        if feature.name in record:
            level = read_level(feature, record[feature.name])
            if level is None:
                mistakes.append(unreadable_value(feature, record[feature.name]))
            else:
                levels[feature.name] = level
    return levels, mistakes or list(_broken_constraints(problem, levels))


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


def _broken_constraints(problem: Problem, levels: Person) -> Iterator[Mistake]:
    features = problem.feature_by_name
    codes = {name: np.array([features[name].levels.index(level)], np.int16) for name, level in levels.items()}
    for constraint in problem.constraints:
        if not holds(constraint, codes, features)[0]:
            cause = f"breaks the constraint '{constraint}'"
            yield mistake((), cause, code="broken_constraint", constraint=str(constraint))
