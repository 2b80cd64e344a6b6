"""What the operator's log is told of failures: nothing that somebody has sent."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

from safear.errors import ClassifierError

logger = logging.getLogger("safear.web")


def describe_crash(error: BaseException) -> str:
    """What was raised and where, without its message: that might hold what somebody has sent."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "safear" in frame.filename]
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames)]
    return " < ".join([type(error).__name__, *places])


def log_classifier(error: ClassifierError) -> None:
    """Why the classifier gave no answer. Its words are left out: a model may repeat what it was shown."""
    for item in error.mistakes:
        status = item.values.get("status")
        parts = [item.code, str(item.place), "" if status is None else f"status {status}"]
        parts.append("" if error.__cause__ is None else describe_crash(error.__cause__))
        logger.error("the classifier gives no answer: %s", ", ".join(part for part in parts if part))
