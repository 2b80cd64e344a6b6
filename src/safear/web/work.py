"""Work that takes a while: on threads, a bounded number at a time, for a bounded time."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import anyio
import anyio.to_thread

from safear.classifier.waiting import patience
from safear.errors import SafearError

SECONDS = 10.0
MOST_WAITING = 100  # each has a thread in time if an answer takes a twentieth of a second
WAIT_SECONDS = 5.0  # for a thread: whoever waits for longer comes back when there are fewer
PATIENCE = 0.4  # of that for a question to the model: whoever waits for one that hangs still has time for an answer
GRACE = 1.0  # for work that looks at the clock itself to say that it is too late

Result = TypeVar("Result")


class TooLateError(SafearError):
    """An answer would take longer than anybody waits for."""

    def __str__(self) -> str:
        return "the answer takes too long; a shorter horizon or fewer actions would be quicker"


class BusyError(SafearError):
    """More people wait for answers than can be served."""

    def __str__(self) -> str:
        return "too many people are waiting for answers; ask again in a few seconds"


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment by which work must be done."""

    moment: float
    late: type[SafearError] = TooLateError

    @classmethod
    def after(cls, seconds: float, *, late: type[SafearError] = TooLateError) -> Deadline:
        """So many seconds from now."""
        return cls(time.monotonic() + seconds, late)

    @classmethod
    def never(cls) -> Deadline:
        """For work that nobody waits for."""
        return cls(math.inf)

    def check(self) -> None:
        """Raise an error, by default a TooLateError, if the moment has passed."""
        if time.monotonic() > self.moment:
            raise self.late

    def check_progress(self, done: int, total: int) -> None:
        """The same, for those who report how far they are."""
        del done, total
        self.check()


class Workers:
    """Runs work on as many threads as there are cores; whoever asks waits for a thread, but not in any number."""

    def __init__(self, seconds: float = SECONDS, most_waiting: int = MOST_WAITING) -> None:
        self.seconds, self.most_waiting = seconds, most_waiting
        self._threads = anyio.CapacityLimiter(os.cpu_count() or 1)
        self._waiting = 0

    async def run(self, work: Callable[[Deadline], Result]) -> Result:
        """The result of some work, which is told by when it must be done."""
        if self._waiting >= self.most_waiting:
            raise BusyError
        deadline, latest = Deadline.after(self.seconds), Deadline.after(WAIT_SECONDS, late=BusyError)

        def limited() -> Result:
            latest.check()
            with patience(self.seconds * PATIENCE):
                return work(deadline)

        self._waiting += 1
        try:
            with anyio.fail_after(self.seconds + GRACE):
                return await anyio.to_thread.run_sync(limited, limiter=self._threads, abandon_on_cancel=True)
        except TimeoutError:
            raise TooLateError from None
        finally:
            self._waiting -= 1
