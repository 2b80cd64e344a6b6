"""What the log is told of failures, however many meet them."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from doors import Logbook, ModelWatch, log_crash
from safear.errors import ClassifierError


def test_the_same_failure_is_told_once_in_a_while(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever asks again and again could fill a disk. All who meet it find it under the reference that they have."""
    logbook = Logbook()
    with caplog.at_level(logging.ERROR), ThreadPoolExecutor(8) as threads:
        found = set(threads.map(lambda _: logbook.tell("it is down"), range(500)))
    assert len(found) == 1
    assert caplog.messages == [f"{found.pop()}: it is down"]


def test_another_failure_and_a_later_one_are_told(caplog: pytest.LogCaptureFixture) -> None:
    patient, forgetful = Logbook(), Logbook(seconds=0)
    with caplog.at_level(logging.ERROR):
        references = {patient.tell("it is down"), patient.tell("it is slow")}
        references |= {forgetful.tell("it is down"), forgetful.tell("it is down")}
    assert len(references) == len(caplog.messages) == 4


def test_failures_of_a_model_and_crashes_are_told_so(caplog: pytest.LogCaptureFixture) -> None:
    watch = ModelWatch()

    def fail(number: int) -> str:
        return watch.note_failure(ClassifierError.at(("classifier",), f"about {number}", code="classifier_failed"))

    with caplog.at_level(logging.ERROR):
        assert len({fail(number) for number in range(100)}) == 1
        assert len({log_crash(ZeroDivisionError(str(number))) for number in range(100)}) == 1
    assert len(caplog.messages) == 2
    assert watch.is_failing
