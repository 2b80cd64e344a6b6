"""From what a model or a table says (labels, scores, truth values) to favourable or not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safear.errors import ClassifierError, quote_list, suggest
from safear.spec.model import Goal


def read_decisions(outputs: ArrayLike, goal: Goal, *, count: int, source: str) -> NDArray[np.bool_]:
    """Truth values, labels or scores as truth values.

    Truth values stay. Numbers are scores when the goal has a threshold or names no class that they could be; labels are
    compared with the favourable class by name (1 and 1.0 and "1" are the same name).
    """
    values = np.asarray(outputs)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (count,):
        cause = f"{source} answered with shape {values.shape} for {count} inputs"
        raise ClassifierError.at(("classifier",), cause, "it should give one decision per row")
    if values.dtype == np.bool_:
        return values
    if values.dtype.kind in "fiu":
        return _read_numbers(values.astype(np.float64), goal, source)
    return _read_labels(values, goal, source)


def _read_numbers(values: NDArray[np.float64], goal: Goal, source: str) -> NDArray[np.bool_]:
    if not np.isfinite(values).all():
        raise ClassifierError.at(("classifier",), f"{source} answered with a number that is not finite")
    if goal.threshold is not None:
        return values >= goal.threshold
    if goal.favourable is not None and _is_number(goal.favourable):
        return np.equal(values, float(goal.favourable))
    return values >= 0.5


def _read_labels(values: NDArray[np.generic], goal: Goal, source: str) -> NDArray[np.bool_]:
    names = np.array([label_name(value) for value in values.tolist()], dtype=object)
    distinct = sorted(set(names))
    truth = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if goal.favourable is None:
        if all(name.lower() in truth for name in distinct):
            return np.array([truth[name.lower()] for name in names], dtype=bool)
        cause = f"{source} answers with {quote_list(distinct)}, and nothing says which is favourable"
        raise ClassifierError.at(("goal", "favourable"), cause, "name the favourable class in the problem's goal")
    if any(name in {"nan", "None", ""} for name in distinct):
        raise ClassifierError.at(("classifier",), f"{source} leaves out some decisions")
    matches: NDArray[np.bool_] = names == goal.favourable
    return matches


def find_class(classes: Sequence[object], goal: Goal) -> int:
    """The position of the favourable class among a model's classes."""
    names = [label_name(value) for value in classes]
    if goal.favourable is None:
        for positive, negative in (("1", "0"), ("True", "False"), ("1", "-1")):
            if sorted(names) == sorted((positive, negative)):
                return names.index(positive)
        cause = f"the classifier's classes are {quote_list(names)}, and nothing says which is favourable"
        raise ClassifierError.at(("goal", "favourable"), cause, "name the favourable class in the problem's goal")
    if goal.favourable not in names:
        cause = f"'{goal.favourable}' is not a class of the classifier"
        raise ClassifierError.at(("goal", "favourable"), cause, suggest(goal.favourable, names))
    return names.index(goal.favourable)


def label_name(value: object) -> str:
    """A label as a name: 1.0 is called 1."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def first_missing(needed: Iterable[str], given: Iterable[str]) -> str | None:
    """The first of `needed` that is not among `given`."""
    known = set(given)
    return next((name for name in needed if name not in known), None)
