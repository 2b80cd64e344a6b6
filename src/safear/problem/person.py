"""People: from a record as somebody writes it to a level for each feature."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from safear.arguments import show
from safear.errors import Mistake, PersonError, mistake, on_key
from safear.problem.condition import condition_features
from safear.problem.model import JSON_NUMBER, TRUTHS, Feature, Person, Problem, Record, as_decimal, is_missing
from safear.problem.vector import holds
from safear.problem.wrong_names import missing_given, missing_value, out_of_limits, unknown_feature, unreadable_value


def read_person(problem: Problem, record: Record, *, given: Sequence[str] = ()) -> Person:
    """A level name for each feature of the problem; raw numbers are put into their level. Else a PersonError.

    The columns `given` to the classifier must be there. Others are carried along, unless something is missing, which
    one of them may be by another name.
    """
    levels, mistakes = _read_levels(problem, as_record(record), given)
    if mistakes:
        raise PersonError(mistakes)
    return levels


def as_record(record: Any) -> dict[str, object]:
    """A record as a dictionary: what has names and values, a pandas Series too, which iterates over its values."""
    if hasattr(record, "keys"):
        return dict(record)
    remedy = "give a mapping of features to levels; load_person reads one from a file"
    raise PersonError.at((), f"{show(record)} is not a record", remedy, code="wrong_type")


def person_mistakes(problem: Problem, record: Record) -> list[Mistake]:
    """Every mistake in a record."""
    return _read_levels(problem, record, problem.given)[1]


def _read_levels(problem: Problem, record: Record, given: Sequence[str]) -> tuple[dict[str, str], list[Mistake]]:
    """The levels that can be read, and every mistake."""
    known = {**problem.feature_by_name, **dict.fromkeys(given)}
    hidden = {feature.name for feature in problem.features if feature.hidden and is_missing(record.get(feature.name))}
    missing = [name for name in known if name not in record and name not in hidden]
    mistakes = []
    if missing:
        mistakes += [unknown_feature(on_key((str(name),)), name, missing) for name in record if name not in known]
        features = problem.feature_by_name
        mistakes += [missing_value(features[name]) if name in features else missing_given(name) for name in missing]
    nested = [name for name in given if isinstance(record.get(name), list | tuple | dict | set | np.ndarray)]
    mistakes += [mistake((name,), "write a single value here", code="not_a_text") for name in nested]
    levels: dict[str, str] = {}
    for feature in problem.features:
        if feature.name in hidden:
            if feature.levels:  # a feature without any is told of elsewhere
                levels[feature.name] = levels.get(feature.copy_of, feature.levels[0])  # a copy follows its original
        elif feature.name in record:
            level = read_level(feature, record[feature.name])
            number = as_decimal(record[feature.name])
            if level is None:
                mistakes.append(unreadable_value(feature, record[feature.name]))
            elif number is not None and level == feature.level_at(number) and not feature.admits(number):
                mistakes.append(out_of_limits(feature, number))
            elif level in feature.levels:  # that `missing` is none is told of where it stands
                levels[feature.name] = level
    return levels, mistakes or list(_broken_constraints(problem, levels))


def read_level(feature: Feature, value: object) -> str | None:
    """The level that a value means: its name, or the interval that a raw number falls into; None if it means none."""
    if is_missing(value):
        return feature.missing or None
    text = str(value)
    if text in feature.levels:
        return text
    if isinstance(value, bool | np.bool_):  # which may be called True, as Python writes it, or true
        return next((level for level in feature.levels if level.lower() == text.lower()), None)
    number = as_decimal(text)
    if number is not None and feature.level_at(number) is not None:
        return feature.level_at(number)
    # 1.0 for a level called 1: numbers lose their form on the way through tables and JSON.
    if isinstance(value, float | np.floating | Decimal) and math.isfinite(value) and value == int(value):
        return str(int(value)) if str(int(value)) in feature.levels else None
    return None


def read_texts_of(
    record: Mapping[str, str], features: Mapping[str, Feature], *, quoted: Collection[str] = ()
) -> dict[str, object]:
    """A record of which only the texts are known: levels as they are, all else as the value that it looks like.

    `null` is a level if there is one of that name, else an empty cell, where the feature may be `missing`. What is no
    feature and was `quoted` is a text.
    """
    texts = set(quoted).difference(features)
    return {name: text if name in texts else _read_text(text, features.get(name)) for name, text in record.items()}


def _read_text(text: str, feature: Feature | None) -> object:
    value = read_value(text)
    if feature is None:
        return value
    is_empty = value is None and bool(feature.missing)
    return text if text in feature.levels or (feature.kind != "numeric" and not is_empty) else value


def read_value(text: str) -> object:
    """A number, a truth value, nothing (None) or a text; 007 is a text, and so are digits without end."""
    if len(text) < 300 and JSON_NUMBER.fullmatch(text):
        return int(text) if text.lstrip("-").isdigit() else float(text)
    return {**TRUTHS, "": None, "null": None, "~": None}.get(text.lower(), text)


def _broken_constraints(problem: Problem, levels: Person) -> Iterator[Mistake]:
    features = problem.feature_by_name
    codes = {name: np.array([features[name].levels.index(level)], np.int16) for name, level in levels.items()}
    for constraint in problem.constraints:
        if condition_features(constraint) <= codes.keys() and not holds(constraint, codes, features)[0]:
            cause = f"breaks the constraint '{constraint}'"
            yield mistake((), cause, code="broken_constraint", constraint=str(constraint))
