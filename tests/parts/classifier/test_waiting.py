"""Classifiers that hang: how many questions are left to themselves, and how they are asked again."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent import futures
from typing import Any

import numpy as np
import pandas as pd
import pytest

import safear as sa
from doors import MOST_LATE, TIMED_OUT, ask, count_left, patience, time_left, waiting
from parts.classifier.test_asking import PROBLEM, make_inputs
from safear.errors import ClassifierError


class Hanging:
    """A model that takes questions and answers them when it is released."""

    def __init__(self) -> None:
        self.released, self.asked, self._lock = threading.Event(), 0, threading.Lock()
        self.is_broken = False

    def __call__(self, frame: pd.DataFrame) -> Any:
        with self._lock:
            self.asked += 1
        if self.is_broken:
            raise ZeroDivisionError
        self.released.wait(60)
        return np.zeros(len(frame))


@pytest.fixture
def model() -> Iterator[Hanging]:
    await_none_left()  # of other tests
    found = Hanging()
    yield found
    found.released.set()
    await_none_left()


def codes(model: Hanging, times: int, *, seconds: float = 0.02) -> list[str]:
    """Ask so many times, one after the other; how each ended."""
    classifier, found = sa.as_classifier(model, PROBLEM), []
    for _ in range(times):
        try:
            with patience(seconds):
                ask(classifier, make_inputs(2))
            found.append("answered")
        except ClassifierError as error:
            found.append(error.mistakes[0].code)
    return found


def await_none_left() -> None:
    deadline = time.monotonic() + 30
    while count_left():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_only_so_many_questions_are_left_to_themselves(model: Hanging, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread cannot be stopped, and who asks again and again would fill the memory with them."""
    monkeypatch.setattr(waiting, "MOST_LEFT", 6)
    assert set(codes(model, 20)) == {TIMED_OUT}
    deadline = time.monotonic() + 30
    while model.asked < 6 and time.monotonic() < deadline:  # on a busy machine, a thread begins after its time is up
        time.sleep(0.01)
    assert (model.asked, count_left()) == (6, 6)
    model.released.set()
    await_none_left()
    assert codes(model, 3, seconds=20) == ["answered"] * 3


def test_a_model_that_hangs_is_asked_one_thing_at_a_time(model: Hanging) -> None:
    """The others are told at once, instead of waiting in a row for what does not come."""
    codes(model, MOST_LATE)
    before = model.asked
    threads = [threading.Thread(target=codes, args=(model, 1), kwargs={"seconds": 30}) for _ in range(4)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 30
    while sum(thread.is_alive() for thread in threads) > 1:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert model.asked == before + 1
    model.released.set()
    for thread in threads:
        thread.join()
    assert codes(model, 1, seconds=20) == ["answered"]


def test_a_model_that_answers_now_and_then_does_not_hang(model: Hanging) -> None:
    """Inputs on which it hangs keep nobody else out."""
    for _ in range(3):
        codes(model, MOST_LATE - 1)
        model.released.set()
        assert codes(model, 1, seconds=20) == ["answered"]
        model.released.clear()
    codes(model, MOST_LATE - 1)
    model.is_broken = True
    assert codes(model, 1, seconds=20) == ["classifier_failed"]
    model.is_broken = False
    before = model.asked
    codes(model, 2)  # what fails at once does not hang
    assert model.asked == before + 2


def test_a_model_that_hangs_keeps_no_other_from_answering(model: Hanging, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither when it is asked one thing at a time, nor when it is asked nothing more; unless there are too many."""
    monkeypatch.setattr(waiting, "MOST_LEFT", 6)
    other = Hanging()
    other.released.set()
    codes(model, 7)
    assert codes(other, 3, seconds=20) == ["answered"] * 3
    monkeypatch.setattr(waiting, "MOST_IN_ALL", 6)
    assert codes(other, 1, seconds=20) == [TIMED_OUT]
    assert other.asked == 3
    model.released.set()
    await_none_left()
    assert codes(other, 1, seconds=20) == ["answered"]


@pytest.mark.usefixtures("model")
def test_what_has_no_hash_is_waited_for_as_well() -> None:
    class Unhashable(Hanging):
        __hash__ = None  # type: ignore[assignment]

    found = Unhashable()
    assert codes(found, 2) == [TIMED_OUT] * 2
    assert count_left() == 2
    found.released.set()
    await_none_left()


def test_an_answer_that_comes_just_after_the_limit_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    class LateFuture(futures.Future[Any]):
        """Done, but only after whoever waits has been told that it is not."""

        def result(self, timeout: float | None = None) -> Any:
            found = super().result()
            if timeout is not None:
                raise TimeoutError
            return found

    monkeypatch.setattr(futures, "Future", LateFuture)
    with patience(20):
        assert not ask(sa.as_classifier(lambda frame: np.zeros(len(frame)), PROBLEM), make_inputs(2)).any()


def test_a_model_can_tell_for_how_long_it_is_waited_for() -> None:
    seen: list[float | None] = []

    def function(frame: pd.DataFrame) -> Any:
        seen.append(time_left())
        return np.zeros(len(frame))

    ask(sa.as_classifier(function, PROBLEM), make_inputs(1))
    with patience(50):
        ask(sa.as_classifier(function, PROBLEM), make_inputs(1))
    assert seen[0] is None
    assert seen[1] is not None
    assert 0 < seen[1] <= 50
