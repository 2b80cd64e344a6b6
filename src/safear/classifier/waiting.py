"""How long a classifier is waited for, and what becomes of one that hangs.

A thread cannot be stopped. A question that takes too long is left to itself, but only so many of them are, and a
classifier that lets one after the other wait is asked one thing at a time until it answers again. Others are asked as
ever.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from threading import Lock, Thread
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from safear.classifier.protocol import failed, find_source
from safear.errors import ClassifierError
from safear.files.current_folder import go_home

TIMED_OUT = "timed_out"
MOST_LEFT = 32  # questions to one classifier that are left to themselves; each has a thread, and what it was shown
MOST_IN_ALL = 4 * MOST_LEFT  # questions to all of them
MOST_LATE = 4  # answers that may be late in a row before one question at a time finds out whether it answers again
_patience: ContextVar[float | None] = ContextVar("safear_patience", default=None)
_until: ContextVar[float | None] = ContextVar("safear_until", default=None)


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Give classifiers no more than so many seconds for a question for a while, whatever their own limit."""
    token = _patience.set(seconds)
    try:
        yield
    finally:
        _patience.reset(token)


def find_patience() -> float | None:
    """For how many seconds whoever asks now waits for an answer; None if they have not said so."""
    return _patience.get()


def time_left() -> float | None:
    """In a classifier: for how many seconds somebody still waits for its answer; None if that has no limit."""
    until = _until.get()
    return None if until is None else until - time.monotonic()


class Overdue:
    """The questions to which a classifier gave no answer in time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._left: list[Thread] = []
        self._late = 0  # in a row
        self._is_trying = False

    def __len__(self) -> int:
        """How many of them are still left to themselves."""
        with self._lock:
            self._left = [thread for thread in self._left if thread.is_alive()]
            return len(self._left)

    @contextmanager
    def admit(self) -> Iterator[None]:
        """Ask something; an error at once if the classifier hangs."""
        count, in_all = len(self), count_left()
        if in_all >= MOST_IN_ALL:
            cause = f"classifiers still work on {in_all} questions that they have not answered in time"
            raise ClassifierError.at(("classifier",), cause, "find out what they wait for", code=TIMED_OUT)
        with self._lock:
            is_try = self._late >= MOST_LATE
            if count >= MOST_LEFT or (is_try and self._is_trying):
                cause = f"the classifier has not answered earlier questions, {count} of which it still works on"
                raise ClassifierError.at(("classifier",), cause, "find out what it waits for", code=TIMED_OUT)
            self._is_trying = self._is_trying or is_try
        try:
            yield
        finally:
            if is_try:
                with self._lock:
                    self._is_trying = False

    def note_answer(self) -> None:
        """It answers, be it that it fails."""
        with self._lock:
            self._late = 0

    def note_late(self, thread: Thread) -> None:
        """It does not, and what it does is left to itself."""
        with self._lock:
            self._late += 1
            self._left.append(thread)


_lock = Lock()
_overdue: WeakKeyDictionary[object, Overdue] = WeakKeyDictionary()  # by model or function: a thread keeps its own alive
_of_others = Overdue()  # of what cannot be remembered


def count_left() -> int:
    """How many questions of this process are left to themselves."""
    with _lock:
        known = [*_overdue.values(), _of_others]
    return sum(map(len, known))


def _find_overdue(classifier: object) -> Overdue:
    """The questions to the model that a classifier asks, or to the classifier itself."""
    with _lock:
        for asked in (find_source(classifier), classifier):
            try:
                return _overdue.setdefault(asked, Overdue())
            except TypeError:  # it has no hash, or no weak references
                continue
    return _of_others


def within(limit: float | None, call: Callable[[], Any], count: int, *, of: object) -> Any:
    """What a call of a classifier about `count` inputs returns or raises, if it does so in time."""
    try:
        if limit is None:
            return call()
        overdue = _find_overdue(of)
        with overdue.admit():
            return _call_within(limit, call, count, overdue)
    finally:
        go_home()


def _call_within(limit: float, call: Callable[[], Any], count: int, overdue: Overdue) -> Any:
    future: Future[Any] = Future()
    context, sklearn = copy_context(), sys.modules.get("sklearn")
    context.run(_until.set, time.monotonic() + limit)
    settings = None if sklearn is None else sklearn.get_config()  # which it keeps by thread, as older NumPy does
    errors = np.geterr()

    def run() -> None:
        try:
            if sklearn is not None and settings is not None:
                sklearn.set_config(**settings)
            with np.errstate(**errors):
                future.set_result(context.run(call))
        except BaseException as error:  # noqa: BLE001  # raised where somebody waits for it
            # Ctrl+C reaches the main thread alone: here, it is the classifier's own doing.
            future.set_exception(failed(error) if isinstance(error, KeyboardInterrupt) else error)

    thread = Thread(target=run, name="safear-classifier", daemon=True)
    thread.start()
    try:
        return future.result(timeout=limit)
    except TimeoutError:
        if future.done():  # it came just now, or it is the classifier's own
            return future.result()
        overdue.note_late(thread)
    finally:
        if future.done():
            overdue.note_answer()
    cause = f"the classifier has not answered {count} inputs after {limit:g} seconds"
    raise ClassifierError.at(("classifier",), cause, "allow more with --model-timeout SECONDS", code=TIMED_OUT)
