"""From what a model or a table says (labels, scores, truth values) to favourable or not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safear.errors import ClassifierError, quote_list, suggest
from safear.problem.model import Goal, as_decimal

TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
MISSING = frozenset({"nan", "None", "<NA>", "NaT", ""})


def read_decisions(outputs: ArrayLike, goal: Goal, *, count: int, source: str) -> NDArray[np.bool_]:
    """Truth values, labels or scores as truth values.

    Truth values stay (unless the favourable class is `false`). Numbers are scores when the goal has a threshold or
    names no class that they could be. Labels are compared with the favourable class by name.
    """
    try:
        values = np.asarray(outputs)
    except ValueError as error:  # rows of different lengths
        cause = f"{source} answered with rows of different lengths"
        raise ClassifierError.at(
            ("classifier",), cause, "it should give one decision per row", code="wrong_shape"
        ) from error
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (count,):
        raise _wrong_shape(f"{source} answered with shape {values.shape} for {count} inputs")
    if values.dtype == object and all(isinstance(value, bool | np.bool_) for value in values):
        values = values.astype(bool)
    if values.dtype == np.bool_:
        return ~values if (goal.favourable or "").lower() == "false" else values
    if values.dtype.kind in "fiu":
        return _read_numbers(values.astype(np.float64), goal, source)
    return _read_labels([label_name(value) for value in values.tolist()], goal, source)


def _wrong_shape(cause: str) -> ClassifierError:
    return ClassifierError.at(("classifier",), cause, "it should give one decision per row", code="wrong_shape")


def read_texts(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """A column of texts that are all numbers (from a CSV file) as numbers; any other as it is."""
    if values.dtype.kind in "fiub":
        return values
    numbers = [as_decimal(value) for value in values.tolist()]
    return values if any(number is None for number in numbers) else np.array(numbers, dtype=np.float64)


def _read_numbers(values: NDArray[np.float64], goal: Goal, source: str) -> NDArray[np.bool_]:
    if not np.isfinite(values).all():
        raise ClassifierError.at(
            ("classifier",), f"{source} answered with a number that is not finite", code="not_finite"
        )
    if goal.threshold is not None:
        return values >= goal.threshold
    named = as_decimal(goal.favourable)
    return values >= 0.5 if named is None else np.equal(values, float(named))


def _read_labels(names: list[str], goal: Goal, source: str) -> NDArray[np.bool_]:
    distinct = sorted(set(names))
    if MISSING & set(distinct):
        raise ClassifierError.at(("classifier",), f"{source} leaves out some decisions", code="missing")
    if goal.threshold is not None:
        cause = f"{source} answers with {quote_list(distinct)}, and a threshold needs scores"
        remedy = "drop the threshold, or have it give scores"
        raise ClassifierError.at(("goal", "threshold"), cause, remedy, code="no_probabilities")
    wanted = goal.favourable or ""
    if wanted in distinct:
        return np.array([name == wanted for name in names], dtype=bool)
    truths = all(name.lower() in TRUTH for name in distinct)
    if truths and wanted.lower() not in TRUTH:  # `approved` against yes and no
        return np.array([TRUTH[name.lower()] for name in names], dtype=bool)
    if goal.favourable is None:
        raise _unnamed_class(f"{source} answers with {quote_list(distinct)}")
    return np.zeros(len(names), dtype=bool)


def find_class(classes: Sequence[object], goal: Goal) -> int:
    """The position of the favourable class among a model's classes."""
    names = [label_name(value) for value in classes]
    if goal.favourable is None:
        for positive, negative in (("1", "0"), ("true", "false"), ("1", "-1")):
            if sorted(names) == sorted((positive, negative)):
                return names.index(positive)
        raise _unnamed_class(f"the classifier's classes are {quote_list(names)}")
    for wanted in (goal.favourable, goal.favourable.lower()):  # True, as Python writes it, is called true
        if wanted in names:
            return names.index(wanted)
    cause = f"'{goal.favourable}' is not a class of the classifier"
    raise ClassifierError.at(("goal", "favourable"), cause, suggest(goal.favourable, names), code="unknown_class")


def _unnamed_class(seen: str) -> ClassifierError:
    cause, remedy = f"{seen}, and nothing says which is favourable", "name the favourable class in the problem's goal"
    return ClassifierError.at(("goal", "favourable"), cause, remedy, code="no_favourable_class")


def label_name(value: object) -> str:
    """A label as a name: 1.0 is called 1, True is called true."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def first_missing(needed: Iterable[str], given: Iterable[str]) -> str | None:
    """The first of `needed` that is not among `given`."""
    known = set(given)
    return next((name for name in needed if name not in known), None)
