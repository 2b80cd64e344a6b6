"""Models whose answers do not fit a problem, and some that look odd but do."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from parts.classifier.test_http_models import Server, server  # noqa: F401  # a fixture
from safear.classifier import Inputs
from safear.problem import Problem, parse_problem

LEVELS = ["low", "mid", "high"]
PROBLEM = parse_problem(
    {
        "safear": 1,
        "title": "a test",
        "horizon": 4,
        "features": {
            "skill": {"kind": "ordinal", "levels": LEVELS, "values": [0, 1, 2]},
            "income": {"kind": "ordinal", "levels": LEVELS, "values": [0, 1, 2]},
            "sex": {"kind": "nominal", "levels": ["f", "m"], "mutable": False},
        },
        "goal": {"favourable": "approved", "failure_cost": 10},
        "actions": {
            "learn": {"cost": 1, "change": {"skill": "+1"}},
            "work": {"cost": 2, "change": {"income": "+1"}},
        },
    }
)
POOR = {"skill": "low", "income": "low", "sex": "f"}
RICH = {"skill": "high", "income": "high", "sex": "f"}
PEOPLE = pd.DataFrame([{"skill": s, "income": i, "sex": x} for s in LEVELS for i in LEVELS for x in "fm"])
Function = Callable[[pd.DataFrame], Any]


def points(frame: pd.DataFrame) -> np.ndarray:
    return (frame["skill"].astype(float) + frame["income"].astype(float)).to_numpy()


def accepts(frame: pd.DataFrame) -> np.ndarray:
    return points(frame) >= 3


def score(frame: pd.DataFrame) -> np.ndarray:
    return points(frame) / 6


def say(yes: Any, no: Any) -> Function:
    """One of two answers, in an array of objects."""

    def answer(frame: pd.DataFrame) -> Any:
        answers = np.empty(len(frame), dtype=object)
        answers[:] = [yes if accepted else no for accepted in accepts(frame)]
        return answers

    return answer


def typed(yes: Any, no: Any) -> Function:
    """The same in an array of their own type."""
    return lambda frame: np.where(accepts(frame), yes, no)


def pairs(frame: pd.DataFrame) -> np.ndarray:
    return np.stack([1 - score(frame), score(frame)], axis=1)


class Model:
    """With a list of classes; what it is asked comes as an array."""

    def __init__(self, predict: Function, classes: list[Any], proba: Function | None = None) -> None:
        self.classes_, self._predict = np.array(classes), predict
        if proba is not None:
            self.predict_proba = lambda table: proba(self._frame(table))

    def _frame(self, table: Any) -> pd.DataFrame:
        return pd.DataFrame(table, columns=list(PEOPLE))

    def predict(self, table: Any) -> Any:
        return self._predict(self._frame(table))


class Word(enum.Enum):
    YES = "approved"
    NO = "rejected"


class Text(enum.StrEnum):
    YES = "approved"
    NO = "rejected"


class Tensor:
    """What has nothing but `__array__`."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.values


class Asked:
    """The protocol itself."""

    def __init__(self, answer: Function) -> None:
        self.answer = answer

    def favourable(self, inputs: Inputs) -> Any:
        return self.answer(inputs.frame())


def codes(frame: pd.DataFrame) -> np.ndarray:
    return points(frame).astype(int)


def reindexed(frame: pd.DataFrame, kind: type) -> pd.Series[bool]:
    return pd.Series(accepts(frame), index=frame.index.astype(kind))


def mask(values: Function) -> Function:
    return lambda frame: np.ma.array(values(frame), mask=~accepts(frame))


def goal(**changes: Any) -> Problem:
    return replace(PROBLEM, goal=replace(PROBLEM.goal, **changes))


ONE, UNNAMED = goal(favourable="1"), goal(favourable=None)
LABELS = ["approved", "rejected"]
WORDS = ["rejected", "rejected", "review", "approved", "approved"]  # by points
# Newer versions of pandas give NaN for a missing whole number, older ones an object.
NO_NUMBER = "not_finite" if np.asarray(pd.array([1, None], dtype="Int64")).dtype.kind == "f" else "no_decision"

REFUSED: dict[str, tuple[Problem, Any, str]] = {
    # other names than the problem's
    "granted": (PROBLEM, typed("granted", "denied"), "unknown_class"),
    "other case": (PROBLEM, typed("Approved", "Rejected"), "unknown_class"),
    "spaces": (PROBLEM, typed("approved ", "rejected"), "unknown_class"),
    "bytes": (PROBLEM, typed(b"approved", b"rejected"), "unknown_class"),
    "bytes as objects": (PROBLEM, say(np.bytes_(b"approved"), b"rejected"), "unknown_class"),
    "enumeration": (PROBLEM, say(Word.YES, Word.NO), "unknown_class"),
    "initials": (goal(favourable="yes"), typed("y", "n"), "unknown_class"),
    "percents": (PROBLEM, lambda frame: [f"{one:.0%}" for one in score(frame)], "unknown_class"),
    "commas": (PROBLEM, lambda frame: [str(one).replace(".", ",") for one in score(frame)], "unknown_class"),
    "codes as texts": (PROBLEM, typed("2", "1"), "unknown_class"),
    "no code is 0": (goal(favourable="0"), typed(2, 1), "unknown_class"),
    "truth values and class 2": (goal(favourable="2"), accepts, "unknown_class"),
    "classes in other case": (PROBLEM, Model(typed("Approved", "Rejected"), ["Approved", "Rejected"]), "unknown_class"),
    "classes 1 and 2": (PROBLEM, Model(typed(2, 1), [1, 2]), "unknown_class"),
    "unnamed classes 1 and 2": (UNNAMED, Model(typed(2, 1), [1, 2]), "no_favourable_class"),
    "none of its classes": (PROBLEM, Model(typed("granted", "rejected"), LABELS), "unknown_answer"),
    # other scales
    "codes 1 and 2": (UNNAMED, typed(2, 1), "no_score"),
    "codes 2 and 1": (UNNAMED, typed(1, 2), "no_score"),
    "codes beside a name": (PROBLEM, typed(2, 1), "no_score"),
    "codes and a threshold": (goal(threshold=0.5), typed(2, 1), "no_score"),
    "codes -1 and 1": (UNNAMED, typed(1, -1), "no_score"),
    "scores to 100": (PROBLEM, lambda frame: 1 + 24 * points(frame), "no_score"),
    "scores to 100, threshold": (goal(threshold=0.5), lambda frame: 1 + 24 * points(frame), "no_score"),
    "scores to 100 of class 1": (ONE, lambda frame: 24 * points(frame), "unknown_class"),
    "whole scores of class 1": (ONE, lambda frame: (24 * points(frame)).astype(int), "unknown_class"),
    "logits": (PROBLEM, lambda frame: points(frame) - 2, "no_score"),
    "log-probabilities": (PROBLEM, lambda frame: np.log(score(frame) / 2 + 0.1), "no_score"),
    "a little above 1": (PROBLEM, lambda frame: np.minimum(points(frame) / 4, 1) * 1.00001, "no_score"),
    "pairs that do not add up": (ONE, lambda frame: pairs(frame) * 0.9, "no_score"),
    "pairs of logits": (ONE, lambda frame: np.log(pairs(frame) / 2 + 0.1), "no_score"),
    "chances to 100": (goal(threshold=0.5), Model(accepts, LABELS, lambda frame: pairs(frame) * 100), "no_score"),
    "chances that do not add up": (
        goal(threshold=0.5),
        Model(accepts, LABELS, lambda frame: np.full((len(frame), 2), 0.9)),
        "no_score",
    ),
    "numbers as texts": (PROBLEM, lambda frame: score(frame).astype(str), "text_scores"),
    "yes beside approved": (
        PROBLEM,
        lambda frame: np.array(["no", "no", "yes", "approved", "yes"])[codes(frame)],
        "mixed_answers",
    ),
    # left out
    "not a number": (PROBLEM, typed(np.nan, 0.2), "not_finite"),
    "infinite": (PROBLEM, typed(0.9, -np.inf), "not_finite"),
    "nothing": (PROBLEM, say("approved", None), "no_decision"),
    "nothing but scores": (PROBLEM, say(0.9, None), "no_decision"),
    "missing text": (PROBLEM, lambda frame: pd.Series(say("approved", pd.NA)(frame), dtype="string"), "no_decision"),
    "missing number": (ONE, lambda frame: pd.Series(say(1, pd.NA)(frame), dtype="Int64"), NO_NUMBER),
    "masked truth values": (PROBLEM, mask(lambda frame: np.ones(len(frame), dtype=bool)), "no_decision"),
    "masked scores": (PROBLEM, mask(lambda frame: np.full(len(frame), 0.9)), "no_decision"),
    "masked labels": (PROBLEM, mask(lambda frame: np.full(len(frame), "approved")), "no_decision"),
    "masked classes": (PROBLEM, Model(mask(lambda frame: np.full(len(frame), "approved")), LABELS), "no_decision"),
    "masked chances": (
        goal(threshold=0.5),
        Model(accepts, LABELS, lambda frame: np.ma.array(pairs(frame), mask=True)),
        "no_decision",
    ),
    # out of order
    "reversed": (PROBLEM, lambda frame: pd.Series(accepts(frame))[::-1], "wrong_order"),
    "reversed, by objects": (PROBLEM, lambda frame: reindexed(frame, object)[::-1], "wrong_order"),
    "reversed, by fractions": (PROBLEM, lambda frame: reindexed(frame, float)[::-1], "wrong_order"),
    "reversed, by one level": (
        PROBLEM,
        lambda frame: pd.Series(accepts(frame), index=pd.MultiIndex.from_arrays([frame.index]))[::-1],
        "wrong_order",
    ),
    "sorted": (PROBLEM, lambda frame: pd.Series(typed(*LABELS)(frame)).sort_values(), "wrong_order"),
    "reversed table": (PROBLEM, Model(lambda frame: pd.DataFrame(typed(*LABELS)(frame))[::-1], LABELS), "wrong_order"),
    "columns with names": (ONE, lambda frame: pd.DataFrame(pairs(frame)[:, ::-1], columns=[1, 0]), "wrong_columns"),
    "columns in another order": (
        goal(threshold=0.5),
        Model(accepts, LABELS, lambda frame: pd.DataFrame(pairs(frame), columns=LABELS[::-1])),
        "wrong_columns",
    ),
    # the same from what asks for no help with its answers
    "object that masks": (PROBLEM, Asked(mask(lambda frame: np.ones(len(frame), dtype=bool))), "no_decision"),
    "object that reorders": (PROBLEM, Asked(lambda frame: pd.Series(accepts(frame))[::-1]), "wrong_order"),
    "object that leaves out": (PROBLEM, Asked(say(True, None)), "no_decision"),
    "object that gives scores": (PROBLEM, Asked(score), "wrong_shape"),
    # no answers at all
    "true or a text": (PROBLEM, say(True, "rejected"), "mixed_answers"),
    "a text or 0": (PROBLEM, say("approved", 0), "mixed_answers"),
    "complex": (PROBLEM, lambda frame: score(frame) + 0j, "unreadable_answer"),
    "complex chances": (goal(threshold=0.5), Model(accepts, LABELS, lambda f: pairs(f) + 0j), "unreadable_answer"),
    "dates": (PROBLEM, typed(np.datetime64("2020-01-01"), np.datetime64("2021-01-01")), "unreadable_answer"),
    "durations": (ONE, typed(np.timedelta64(1, "D"), np.timedelta64(0, "D")), "unreadable_answer"),
    "records": (PROBLEM, lambda frame: np.zeros(len(frame), dtype=[("a", int), ("b", float)]), "unreadable_answer"),
    "tuples": (PROBLEM, say((1, 2), (3,)), "unreadable_answer"),
    "sparse": (PROBLEM, lambda frame: sparse.csr_matrix(accepts(frame)[:, None]), "wrong_shape"),
    "generator": (PROBLEM, lambda frame: (bool(one) for one in accepts(frame)), "wrong_shape"),
    "mapping": (PROBLEM, lambda frame: dict(enumerate(accepts(frame))), "wrong_shape"),
    "one text": (PROBLEM, lambda _: "approved", "wrong_shape"),
    "a row": (PROBLEM, lambda frame: accepts(frame)[None, :].repeat(2, axis=0), "wrong_shape"),
    "a column too many": (ONE, lambda frame: np.full((len(frame), 3), 1 / 3), "wrong_shape"),
    "pairs of truth values": (ONE, lambda frame: pairs(frame) > 0.5, "wrong_shape"),
    "one too few": (PROBLEM, lambda frame: accepts(frame)[1:], "wrong_shape"),
    "raises": (PROBLEM, lambda _: 1 / 0, "classifier_failed"),
    "closes a generator": (PROBLEM, lambda _: raising(GeneratorExit()), "classifier_failed"),
}
READ: dict[str, tuple[Problem, Any]] = {
    "labels": (PROBLEM, typed(*LABELS)),
    "text enumeration": (PROBLEM, say(Text.YES, Text.NO)),
    "categories": (PROBLEM, lambda frame: pd.Series(typed(*LABELS)(frame), dtype="category")),
    "a Categorical": (PROBLEM, lambda frame: pd.Categorical(typed(*LABELS)(frame))),
    "another index": (PROBLEM, lambda frame: pd.Series(typed(*LABELS)(frame), index=[f"r{i}" for i in frame.index])),
    "texts as an index": (PROBLEM, lambda frame: pd.Series(accepts(frame), index=[str(i) for i in frame.index[::-1]])),
    "two levels": (
        PROBLEM,
        lambda frame: pd.Series(accepts(frame), index=pd.MultiIndex.from_arrays([frame.index[::-1]] * 2)),
    ),
    "fractions as an index": (PROBLEM, lambda frame: pd.Series(accepts(frame), index=frame.index[::-1] / 2)),
    "an object": (PROBLEM, Asked(accepts)),
    "an object, by truth values of pandas": (
        PROBLEM,
        Asked(lambda frame: pd.Series(accepts(frame), dtype="boolean")),
    ),
    "no beside approved": (PROBLEM, typed("approved", "no")),
    "parts put together": (PROBLEM, lambda frame: pd.Series(accepts(frame), index=np.zeros(len(frame), dtype=int))),
    "a table of one column": (PROBLEM, lambda frame: pd.DataFrame({"decision": typed(*LABELS)(frame)})),
    "nothing masked": (PROBLEM, lambda frame: np.ma.array(accepts(frame), mask=False)),
    "yes and no": (PROBLEM, typed("yes", "no")),
    "numbers as labels": (goal(favourable="2"), typed("2.0", "1.0")),
    "codes with a name": (goal(favourable="2"), typed(2, 1)),
    "-1 and 1 with a name": (ONE, typed(1, -1)),
    "fractions": (PROBLEM, say(Decimal("0.9"), Decimal("0.1"))),
    "single precision above 1": (PROBLEM, lambda frame: typed(1.0000001, 0.0)(frame).astype(np.float32)),
    "half precision": (PROBLEM, lambda frame: typed(1.001, 0.1)(frame).astype(np.float16)),
    "a tensor": (PROBLEM, lambda frame: Tensor(score(frame))),
    "pairs": (ONE, pairs),
    "pairs in columns": (ONE, lambda frame: pd.DataFrame(pairs(frame), columns=["0", "1"])),
    "lists": (PROBLEM, lambda frame: [[bool(one)] for one in accepts(frame)]),
    "classes": (PROBLEM, Model(typed(*LABELS), LABELS)),
}


def raising(error: BaseException) -> Any:
    raise error
