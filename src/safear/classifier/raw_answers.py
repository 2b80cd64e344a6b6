"""What a model gave, as an array with one answer per input, whatever it came in. What it means is for `decisions`.

Whatever could be taken for something else is refused: what is masked or left out is no answer, rows in another order
are others' answers, and a mixture of truth values, numbers and texts has no single meaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from enum import Enum
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safear.errors import ClassifierError, cut_middle, visible
from safear.problem.model import is_missing

READABLE = "biufUSTO"  # the kinds of arrays that may hold answers: truth values, numbers, texts, and objects that do
ONE_EACH = "it should give one decision per row"
SHOWN = 60  # characters of a label that are told


def one_per_input(outputs: ArrayLike, count: int, source: str) -> NDArray[Any]:
    """What was answered to each input: a truth value, a number, a label, or a pair of numbers."""
    values = as_array(outputs, count, source)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.dtype == object and values.size and values.shape in {(count,), (count, 2)}:
        values = _unpack(values, source)
    if values.shape != (count,) and not (values.shape == (count, 2) and values.dtype.kind == "f"):
        raise wrong_shape(f"{source} answered with shape {values.shape} for {count} inputs")
    if values.ndim == 2:
        require_class_columns(outputs, ("0", "1"), source)
    return values


def as_array(outputs: ArrayLike, count: int, source: str) -> NDArray[Any]:
    """The answers as they came, row by row, if nothing is left out or out of order."""
    if type(outputs) is not np.ndarray and isinstance(outputs, np.ma.MaskedArray):  # `np.ma` takes 14 ms to load
        if np.ma.getmaskarray(outputs).any():
            raise left_out(source)
        outputs = outputs.data
    _require_order(outputs, count, source)
    try:
        values = np.asarray(outputs)
    except ValueError as error:  # rows of different lengths
        raise wrong_shape(f"{source} answered with rows of different lengths") from error
    if not values.ndim:
        raise wrong_shape(f"{source} answered with an object of type {type(outputs).__name__} for {count} inputs")
    if values.dtype.kind not in READABLE:
        raise _unreadable(f"values of type {values.dtype}", source)
    return values


def as_chances(outputs: ArrayLike, count: int, source: str) -> NDArray[np.floating[Any]]:
    """Answers that can be nothing but numbers."""
    values = as_array(outputs, count, source)
    if values.dtype == object and values.size:
        values = _unpack(values, source)
    if values.dtype.kind not in "biuf":
        raise _unreadable(f"{values.dtype} for probabilities", source)
    return as_floats(values)


def as_floats(values: NDArray[Any]) -> NDArray[np.floating[Any]]:
    """Numbers in their own precision, or else in double precision."""
    return values if values.dtype.kind == "f" else values.astype(np.float64)


def require_class_columns(outputs: object, classes: Sequence[str], source: str) -> None:
    """Refuse a table of chances whose columns have other names than the classes, in their order."""
    if not hasattr(outputs, "columns"):
        return
    names = [label_name(name) for name in outputs.columns]
    if names not in (list(classes), [str(place) for place in range(len(classes))]):
        shown, wanted = show_labels(names), show_labels(classes)
        cause = f"{source} gave probabilities in columns that are called {shown}; they should be those of {wanted}"
        raise ClassifierError.at(("classifier",), cause, "give them in that order, as an array", code="wrong_columns")


def _require_order(outputs: object, count: int, source: str) -> None:
    """Refuse a Series or DataFrame whose index says that its rows were put into another order."""
    if not hasattr(outputs, "iloc"):
        return
    index = np.asarray(outputs.index)  # type: ignore[attr-defined]  # by its marks it is one of pandas
    if np.array_equal(index, np.arange(count)):
        return
    # A number may be any object, or alone in a tuple, as in an index of one level.
    places = [one[0] if isinstance(one, tuple) and len(one) == 1 else one for one in index.tolist()]
    if places == list(range(count)) or not all(isinstance(place, Real) for place in places):
        return
    if len(places) == count and set(places) == set(range(count)):
        cause = f"{source} answered with rows in another order than it was asked about, as their index says"
        remedy = "have it give them in the order of the inputs: answers.sort_index()"
        raise ClassifierError.at(("classifier",), cause, remedy, code="wrong_order")


def _unpack(values: NDArray[Any], source: str) -> NDArray[Any]:
    """Objects as what they all are: truth values, numbers, or labels."""
    kinds = {_kind(value) for value in values.flat}
    if kinds <= {"numbers", "nothing"} and all(isinstance(value, Real | Decimal) for value in values.flat):
        try:
            return values.astype(np.float64)  # where nothing is NaN
        except OverflowError:  # a whole number that no float can hold
            return np.full(values.shape, np.inf)
    if "nothing" in kinds:
        raise left_out(source)
    if len(kinds) > 1:
        examples = {kind: next(value for value in values.flat if _kind(value) == kind) for kind in sorted(kinds)}
        shown = " and ".join(f"{kind} ({show_label(label_name(value))})" for kind, value in examples.items())
        cause, remedy = f"{source} answers with a mixture: {shown}", "have it give one kind of answers"
        raise ClassifierError.at(("classifier",), cause, remedy, code="mixed_answers")
    if kinds == {"truth values"}:
        return values.astype(bool)
    if kinds != {"labels"}:
        raise _unreadable(next(iter(kinds)), source)
    return values


def _kind(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "truth values"
    if isinstance(value, str | bytes | Enum) and value != "":
        return "labels"
    if is_missing(value) or value is np.ma.masked:
        return "nothing"
    return "numbers" if isinstance(value, Real | Decimal) else f"objects of type {type(value).__name__}"


def left_out(source: str) -> ClassifierError:
    """The error about a decision that is not there, which is no rejection."""
    return ClassifierError.at(("classifier",), f"{source} leaves out some decisions", code="no_decision")


def wrong_shape(cause: str) -> ClassifierError:
    """The error about answers that are not one per input."""
    return ClassifierError.at(("classifier",), cause, ONE_EACH, code="wrong_shape")


def _unreadable(what: str, source: str) -> ClassifierError:
    remedy = "have it give truth values, labels, or scores between 0 and 1"
    return ClassifierError.at(("classifier",), f"{source} answers with {what}", remedy, code="unreadable_answer")


def label_name(value: object) -> str:
    """A label as a name: 1.0 is called 1, True is called true, bytes are called as Python writes them."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bytes):
        return repr(bytes(value))
    return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)


def show_label(name: str) -> str:
    """A label as it is told, in quotes."""
    return f"'{visible(cut_middle(name, SHOWN))}'"


def show_labels(names: Iterable[str], limit: int = 6) -> str:
    """`'a', 'b' and 3 more`."""
    known = list(names)
    shown = ", ".join(map(show_label, known[:limit]))
    return f"{shown} and {len(known) - limit} more" if len(known) > limit else shown
