"""What the operator's log is told of failures: a reference and what failed, nothing that somebody has sent.

Many may meet the same failure at once, and whoever asks again and again could fill a disk with it. So whoever meets the
same within some seconds is told the same reference, and the log has it once.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
import traceback
from collections.abc import Mapping
from pathlib import Path

from safear.errors import ClassifierError

SAME_SECONDS = 10.0  # for which the same failure is told once

logger = logging.getLogger("safear.web")


class Logbook:
    """Tells each failure once in a while, under a reference."""

    def __init__(self, seconds: float = SAME_SECONDS) -> None:
        self.seconds = seconds
        self._lock = threading.Lock()
        self._told: dict[str, tuple[str, float]] = {}  # what was told: under which reference, and until when

    def tell(self, failure: str) -> str:
        """Log a failure, in one line, unless it just was; its reference, by which who was told of it can ask."""
        now = time.monotonic()
        with self._lock:
            self._told = {line: told for line, told in self._told.items() if told[1] > now}
            if failure in self._told:
                return self._told[failure][0]
            reference = _make_reference()
            self._told[failure] = reference, now + self.seconds
        logger.error("%s: %s", reference, failure)
        return reference


_crashes = Logbook()


def describe_crash(error: BaseException) -> str:
    """What was raised and where, without its message: that might hold what somebody has sent."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "safear" in frame.filename]
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames)]
    return " < ".join([type(error).__name__, *places])


def log_crash(error: BaseException) -> str:
    """Log what nobody foresaw; its reference."""
    return _crashes.tell(f"crash: {describe_crash(error)}")


class ModelWatch:
    """Whether the model answered when it was last asked; failures are logged, each kind under a reference."""

    def __init__(self) -> None:
        self.is_failing = False
        self._logbook = Logbook()

    def note_answer(self) -> None:
        """It has answered."""
        self.is_failing = False

    def note_failure(self, error: ClassifierError) -> str:
        """It has not. The model's words are left out of the log: they may repeat what it was shown."""
        self.is_failing = True
        causes = "" if error.__cause__ is None else describe_crash(error.__cause__)
        parts = [part for item in error.mistakes for part in (item.code, str(item.place), _tell_status(item.values))]
        told = ", ".join(part for part in (*parts, causes) if part)
        return self._logbook.tell(f"the classifier gives no answer: {told}")


def _tell_status(values: Mapping[str, object]) -> str:
    status = values.get("status")
    return "" if status is None else f"status {status}"


def _make_reference() -> str:
    """Short enough to be read out on the telephone, and random: it says nothing about who was told of it."""
    return secrets.token_hex(4).upper()
