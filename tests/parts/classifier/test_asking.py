"""How a classifier is asked: nonsense is traced to the input that caused it, and nobody waits for ever."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st

import safear as sa
from doors import ask, patience, stay_here
from safear.classifier import Inputs
from safear.errors import ClassifierError

PROBLEM = sa.parse_problem(
    {
        "safear": 1,
        "title": "a test",
        "horizon": 1,
        "features": {
            "age": {"kind": "numeric", "edges": list(range(1, 100))},
            "job": {"kind": "nominal", "levels": ["none", "some"]},
        },
        "goal": {"favourable": "1"},
        "actions": {"wait": {"cost": 1, "change": {"age": "+1"}}},
    }
)


def make_inputs(count: int) -> Inputs:
    """Ages from 0.5 on, with a column as filed."""
    codes = np.stack([np.arange(count) % 100, np.zeros(count)], axis=1).astype(np.int16)
    given = pd.DataFrame({"city": [f"city {i}" for i in range(count)]})
    return Inputs(PROBLEM.features, codes, {"age": np.arange(count, dtype=np.float64) + 0.5}, given)


def refusal(source: Any, count: int, *, problem: sa.Problem = PROBLEM, time_limit: float | None = None) -> str:
    with pytest.raises(ClassifierError) as refused:
        ask(sa.as_classifier(source, problem, time_limit=time_limit), make_inputs(count))
    return str(refused.value)


def has(frame: pd.DataFrame, bad: int) -> bool:
    return bool((frame["age"] == bad + 0.5).any())


def give(value: Any) -> Callable[[pd.DataFrame, int], Any]:
    def answer(frame: pd.DataFrame, bad: int) -> Any:
        return [value if age == bad + 0.5 else 0.25 for age in frame["age"]]

    return answer


def raises(frame: pd.DataFrame, bad: int) -> Any:
    if has(frame, bad):
        raise RuntimeError("no such city")
    return np.zeros(len(frame))


def leaves(frame: pd.DataFrame, bad: int) -> Any:
    return sys.exit(3) if has(frame, bad) else np.zeros(len(frame))


def is_short(frame: pd.DataFrame, bad: int) -> Any:
    return np.zeros(len(frame) - has(frame, bad))


@pytest.mark.parametrize(
    "answer, told",
    [
        (give(math.nan), "answered with a number that is not finite"),
        (give(math.inf), "answered with a number that is not finite"),
        (give(1.5), "answered with numbers that are no probabilities between 0 and 1, such as 1.5"),
        (give(None), "leaves out some decisions"),
        (raises, "failed: RuntimeError: no such city"),
        (leaves, "failed: SystemExit: 3"),
        (is_short, "answered with shape (999,) for 1000 inputs"),
    ],
    ids=["nan", "infinite", "beyond", "none", "raises", "leaves", "short"],
)
@pytest.mark.parametrize("bad", [0, 1, 499, 500, 637, 999])
def test_the_input_at_fault_is_named(answer: Callable[[pd.DataFrame, int], Any], told: str, bad: int) -> None:
    asked: list[int] = []
    problem = sa.parse_problem(PROBLEM_WITH_THRESHOLD) if told.startswith("answered with numbers") else PROBLEM

    def function(frame: pd.DataFrame) -> Any:
        asked.append(len(frame))
        return answer(frame, bad)

    found = refusal(function, 1000, problem=problem).splitlines()[0]
    age = f"{bad}.5"
    assert (
        found == f"classifier: the classifier {told}; the first such input: age = {age}, job = none, city = city {bad}"
    )
    assert len(asked) <= 1 + math.ceil(math.log2(1000)) + 1
    assert sum(asked[1:]) <= 1000 + 1


PROBLEM_WITH_THRESHOLD = {
    "safear": 1,
    "title": "a test",
    "horizon": 1,
    "features": {
        "age": {"kind": "numeric", "edges": list(range(1, 100))},
        "job": {"kind": "nominal", "levels": ["none", "some"]},
    },
    "goal": {"threshold": 0.5},
    "actions": {"wait": {"cost": 1, "change": {"age": "+1"}}},
}


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1), min_size=1))))
def test_of_several_inputs_at_fault_the_first_is_named(drawn: tuple[int, set[int]]) -> None:
    count, bad = drawn

    def function(frame: pd.DataFrame) -> Any:
        return [math.nan if int(age) in bad else 0.0 for age in frame["age"]]

    assert f"the first such input: age = {min(bad)}.5," in refusal(function, count)


def test_a_class_that_the_model_does_not_have() -> None:
    class Model:
        classes_ = np.array([0, 1])

        def predict(self, rows: Any) -> Any:
            return np.where(rows[:, 0] == 7.5, 2, 1)

    assert refusal(Model(), 20) == (
        "classifier: the classifier answered with '2', which is none of its classes; "
        "the first such input: age = 7.5, job = none, city = city 7\n"
        "    they are '0', '1'"
    )


def test_a_classifier_of_the_user_s_own() -> None:
    class Own:
        def favourable(self, inputs: Inputs) -> Any:
            return np.where(inputs.numbers["age"] == 3.5, 0.5, 1.0)

    assert refusal(Own(), 8) == (
        "classifier: the classifier answered with float64 of shape (8,) for 8 inputs; "
        "the first such input: age = 0.5, job = none, city = city 0\n"
        "    it should give one truth value per input"
    )


def test_a_failure_of_many_inputs_together() -> None:
    def function(frame: pd.DataFrame) -> Any:
        if len(frame) > 10:
            raise MemoryError("too many")
        return np.zeros(len(frame))

    assert refusal(function, 64) == (
        "classifier: the classifier failed: MemoryError: too many; asked about one at a time it gives answers"
    )


def test_a_wide_input_is_cut_short() -> None:
    problem = sa.parse_problem(PROBLEM_WITH_THRESHOLD)
    given_columns = pd.DataFrame({f"c{i}": [i] for i in range(50)})
    inputs = Inputs(problem.features, np.zeros((1, 2), dtype=np.int16), {}, given_columns)
    with pytest.raises(ClassifierError, match=r"c36 = 36, c37 = 37 and 12 more$"):
        ask(sa.as_classifier(lambda _: [math.nan], problem), inputs)


def test_a_mistake_that_is_no_input_s_fault_names_none() -> None:
    asked = []

    def function(frame: pd.DataFrame) -> Any:
        asked.append(len(frame))
        return ["good"] * len(frame)

    problem = sa.parse_problem(PROBLEM_WITH_THRESHOLD | {"goal": {}})
    assert "first such input" not in refusal(function, 64, problem=problem)
    assert asked == [64]


# ----------------------------------------------------------------------------------------------------------- time limit


@pytest.fixture
def release() -> Any:
    """What hangs does so until the test is over."""
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize("own, others", [(0.3, None), (0.3, 60.0), (60.0, 0.3), (None, 0.3)])
def test_a_model_that_hangs_is_given_up(release: threading.Event, own: float | None, others: float | None) -> None:
    """And is not asked again: each question would leave a thread that computes for ever."""
    asked: list[int] = []

    def function(frame: pd.DataFrame) -> Any:
        asked.append(len(frame))
        if has(frame, 21):
            release.wait(60)
        return np.zeros(len(frame))

    start = time.monotonic()
    with nullcontext() if others is None else patience(others):
        assert refusal(function, 64, time_limit=own) == (
            "classifier: the classifier has not answered 64 inputs after 0.3 seconds; "
            "the first of them: age = 0.5, job = none, city = city 0\n"
            "    allow more with --model-timeout SECONDS"
        )
    assert time.monotonic() - start < 30
    assert asked == [64]


def test_ctrl_c_in_a_thread_of_its_own_is_the_model_s_doing() -> None:
    def function(_: pd.DataFrame) -> Any:
        raise KeyboardInterrupt

    told = refusal(function, 2, time_limit=5)
    assert told.startswith("classifier: the classifier failed: KeyboardInterrupt; the first such input")


def test_what_a_model_raises_is_told_in_a_line() -> None:
    def function(_: pd.DataFrame) -> Any:
        raise ValueError("\x1b[2J" + "x" * 10**6)

    told = refusal(function, 1)
    assert told.startswith("classifier: the classifier failed: ValueError: \\u001b[2Jxxx")
    assert len(told) < 500


@pytest.mark.parametrize("time_limit", [None, 60])
def test_a_model_that_changes_settings_changes_ours_not(time_limit: float | None) -> None:
    def function(frame: pd.DataFrame) -> Any:
        np.seterr(all="raise")
        return np.zeros(len(frame))

    before = np.geterr()
    ask(sa.as_classifier(function, PROBLEM, time_limit=time_limit), make_inputs(3))
    assert np.geterr() == before


@pytest.mark.parametrize("time_limit", [None, 60])
def test_the_current_folder_is_the_application_s(
    time_limit: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which may change it while a question waits for its answer; a program of ours stays where it is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()

    def function(frame: pd.DataFrame) -> Any:
        os.chdir(tmp_path / "elsewhere")
        return np.zeros(len(frame))

    classifier = sa.as_classifier(function, PROBLEM, time_limit=time_limit)
    with stay_here():
        ask(classifier, make_inputs(3))
        assert Path.cwd() == tmp_path
    ask(classifier, make_inputs(3))
    assert Path.cwd() == tmp_path / "elsewhere"


def test_a_current_folder_that_is_gone_is_no_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with stay_here():
        assert ask(sa.as_classifier(lambda frame: np.ones(len(frame)), PROBLEM), make_inputs(3)).all()


def test_a_timeout_of_the_model_s_own_is_told_as_it_is() -> None:
    def function(_: pd.DataFrame) -> Any:
        raise TimeoutError("the vault is closed")

    told = refusal(function, 2, time_limit=5)
    assert told.startswith("classifier: the classifier failed: TimeoutError: the vault is closed")


def test_in_a_thread_of_its_own_a_model_finds_the_settings_of_the_caller() -> None:
    """scikit-learn keeps its settings by thread, NumPy by context."""
    seen = []

    def function(frame: pd.DataFrame) -> Any:
        seen.append((sklearn.get_config()["transform_output"], np.geterr()["over"], threading.current_thread().name))
        return np.zeros(len(frame))

    with sklearn.config_context(transform_output="pandas"), np.errstate(over="raise"):
        ask(sa.as_classifier(function, PROBLEM, time_limit=5), make_inputs(3))
    assert seen == [("pandas", "raise", "safear-classifier")]


def test_without_a_limit_a_model_is_asked_where_the_caller_is() -> None:
    seen = []

    def function(frame: pd.DataFrame) -> Any:
        seen.append(threading.current_thread())
        return np.zeros(len(frame))

    ask(sa.as_classifier(function, PROBLEM), make_inputs(3))
    assert seen == [threading.current_thread()]
