"""What the operator's log is told of failures: a reference and what failed, nothing that somebody has sent."""

from __future__ import annotations

import logging
import secrets
import traceback
from collections.abc import Mapping
from pathlib import Path

from safear.errors import ClassifierError

logger = logging.getLogger("safear.web")


def describe_crash(error: BaseException) -> str:
    """What was raised and where, without its message: that might hold what somebody has sent."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "safear" in frame.filename]
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames)]
    return " < ".join([type(error).__name__, *places])


def log_crash(error: BaseException) -> str:
    """Log what nobody foresaw, in one line; its reference, by which whoever was told of it can ask about it."""
    reference = _make_reference()
    logger.error("%s: crash: %s", reference, describe_crash(error))
    return reference


class ModelWatch:
    """Whether the model answered when it was last asked; each failure is logged in one line, under a reference."""

    def __init__(self) -> None:
        self.is_failing = False

    def note_answer(self) -> None:
        """It has answered."""
        self.is_failing = False

    def note_failure(self, error: ClassifierError) -> str:
        """It has not. The model's words are left out of the log: they may repeat what it was shown."""
        self.is_failing = True
        reference = _make_reference()
        causes = "" if error.__cause__ is None else describe_crash(error.__cause__)
        parts = [part for item in error.mistakes for part in (item.code, str(item.place), _tell_status(item.values))]
        told = ", ".join(part for part in (*parts, causes) if part)
        logger.error("%s: the classifier gives no answer: %s", reference, told)
        return reference


def _tell_status(values: Mapping[str, object]) -> str:
    status = values.get("status")
    return "" if status is None else f"status {status}"


def _make_reference() -> str:
    """Short enough to be read out on the telephone, and random: it says nothing about who was told of it."""
    return secrets.token_hex(4).upper()
