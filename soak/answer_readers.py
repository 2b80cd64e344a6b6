"""Answers of models: arrays of all kinds, where one decision per input is expected."""

from __future__ import annotations

import decimal
from random import Random
from typing import Any

import numpy as np
import pandas as pd

from safear.classifier.adapters import as_classifier
from safear.classifier.asking import ask
from safear.classifier.decisions import read_decisions
from safear.classifier.protocol import Inputs
from safear.problem.model import Goal
from soak.judging import require
from soak.mutating import odd_value
from soak.seeds import small_problem
from soak.targets import Target

COUNT = 6
_LABELS = (
    "hired",
    "Hired",
    "rejected",
    "hired ",
    b"hired",
    True,
    False,
    1,
    0,
    1.0,
    0.0,
    2,
    -1,
    100,
    0.5,
    "1",
    "0",
    "yes",
)
_GOALS = (
    Goal("hired"), Goal(None), Goal("1"), Goal("0"), Goal("true"), Goal("hired", threshold=0.7), Goal("1",
    threshold=0.5)
)  # fmt: skip


def _draw_answer(rng: Random) -> tuple[str, list[Any], int]:
    """A form, the values, and the goal that is asked for."""
    count = COUNT if rng.random() < 0.85 else rng.choice((0, 1, COUNT - 1, COUNT + 1, 2 * COUNT))
    some = rng.sample(_LABELS, rng.choice((1, 2, 2, 3)))
    values = [rng.choice(some) for _ in range(count)]
    for _ in range(rng.choice((0, 0, 1, 2))):
        if values:
            values[rng.randrange(len(values))] = odd_value(rng)
    return rng.choice(sorted(_FORMS)), values, rng.randrange(len(_GOALS))


def _masked(values: list[Any]) -> Any:
    return np.ma.masked_array(np.array(values, dtype=object), mask=[i % 3 == 0 for i in range(len(values))])


_FORMS: dict[str, Any] = {
    "array": lambda values: np.array(values, dtype=object),
    "numbers": lambda values: np.array([float(value) for value in values]),
    "float32": lambda values: np.array([np.float32(value) for value in values]),
    "integers": lambda values: np.array([int(value) for value in values]),
    "texts": lambda values: np.array([str(value) for value in values]),
    "bytes": lambda values: np.array([str(value).encode("utf-8", "replace") for value in values]),
    "complex": lambda values: np.array([complex(value) for value in values]),
    "decimals": lambda values: [decimal.Decimal(str(value)) for value in values],
    "list": list,
    "tuple": tuple,
    "set": lambda values: {str(value) for value in values},
    "generator": lambda values: (value for value in values),
    "series": lambda values: pd.Series(values, dtype=object),
    "frame": lambda values: pd.DataFrame({"a": values}),
    "category": lambda values: pd.Series([str(value) for value in values], dtype="category"),
    "nullable": lambda values: pd.array([None if isinstance(v, str) else int(v) for v in values], dtype="Int64"),
    "dates": lambda values: np.array(["2024-01-01"] * len(values), dtype="datetime64[D]"),
    "column": lambda values: np.array(values, dtype=object)[:, None],
    "row": lambda values: np.array(values, dtype=object)[None, :],
    "pairs": lambda values: np.array([[1 - float(value), float(value)] for value in values]),
    "wrong pairs": lambda values: np.array([[float(value), float(value)] for value in values]),
    "cube": lambda values: np.zeros((len(values), 1, 2)),
    "scalar": lambda values: values[0] if values else None,
    "masked": _masked,
    "masked numbers": lambda values: np.ma.masked_invalid(np.array([float(value) for value in values])),
    "dictionary": lambda values: dict(enumerate(values)),
    "text": str,
    "records": lambda values: np.array([(0,)] * len(values), dtype=[("a", "i4")]),
}


def _make(form: str, values: list[Any]) -> Any:
    """The answer; what cannot be of that form is an array of whatever it is."""
    try:
        return _FORMS[form](values)
    except (TypeError, ValueError, OverflowError, ArithmeticError, IndexError):
        answer = np.empty(len(values), dtype=object)
        answer[:] = values
        return answer


def _read_answer(drawn: Any) -> None:
    form, values, goal = drawn
    found = read_decisions(_make(form, values), _GOALS[goal], count=COUNT, source="the classifier")
    require(found.shape == (COUNT,) and found.dtype == np.bool_, f"an answer of shape {found.shape}")


def _ask_function(drawn: Any) -> None:
    """As a function that answers so, whatever it is asked."""
    form, values, _ = drawn
    problem = small_problem()
    classifier = as_classifier(lambda _: _make(form, values), problem)
    features = tuple(feature for feature in problem.features if feature.seen_by_classifier)
    found = ask(classifier, Inputs(features, np.zeros((COUNT, len(features)), dtype=np.int16)))
    require(found.shape == (COUNT,) and found.dtype == np.bool_, f"an answer of shape {found.shape}")


class _Model:
    """Looks like an estimator, and answers as it was told."""

    def __init__(self, form: str, values: list[Any]) -> None:
        self.form, self.values = form, values
        self.classes_ = _make(form, values[:2])

    def predict(self, _: Any) -> Any:
        """Whatever."""
        return _make(self.form, self.values)

    def predict_proba(self, _: Any) -> Any:
        """Whatever."""
        return _make("pairs", self.values)


def _ask_model(drawn: Any) -> None:
    form, values, _ = drawn
    problem = small_problem()
    classifier = as_classifier(_Model(form, values), problem)
    features = tuple(feature for feature in problem.features if feature.seen_by_classifier)
    found = ask(classifier, Inputs(features, np.zeros((COUNT, len(features)), dtype=np.int16)))
    require(found.shape == (COUNT,) and found.dtype == np.bool_, f"an answer of shape {found.shape}")


def list_targets() -> list[Target]:
    """All of them, with how often each is drawn."""
    return [
        Target("answer: read", _draw_answer, _read_answer, 30),
        Target("answer: function", _draw_answer, _ask_function, 15),
        Target("answer: model", _draw_answer, _ask_model, 15),
    ]
