"""A worker: a process that solves parts of a batch for the process that started it (see `workers`).

Pickles come in over the standard input and go out over the standard output: first an `Errand`, then parts; each is
answered by one `Reply`. Whatever else writes to the standard output here (a classifier may) goes to the error stream.
"""

from __future__ import annotations

import logging
import os
import pickle
import sys
import traceback
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO, NamedTuple

import pandas as pd

from safear.population.crowd import Crowd
from safear.population.parts import Job, PartSolver


class Errand(NamedTuple):
    """What a worker is told first: the job, packed, and from which level on its log is wanted."""

    job: bytes
    log_level: int


class Reply(NamedTuple):
    """What a worker answers: to a part its rows, or else an error and its traceback; and what was logged meanwhile."""

    rows: pd.DataFrame | None = None
    error: Exception | None = None
    trace: str = ""
    log: tuple[dict[str, Any], ...] = ()  # as for logging.makeLogRecord


def main() -> None:
    """Answer until the other end is closed, which ends this process at once, whatever it is doing."""
    asked: SimpleQueue[Any] = SimpleQueue()
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    try:  # whatever a classifier prints is no reply
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    except (AttributeError, OSError):  # there is no error stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    Thread(target=_listen, args=(sys.stdin.buffer, asked), daemon=True).start()
    log, logger = _Log(), logging.getLogger("safear")
    logger.propagate = False
    logger.addHandler(log)
    solver: PartSolver | None = None
    while True:
        message: Errand | Crowd = asked.get()
        try:
            if isinstance(message, Errand):
                logger.setLevel(message.log_level)
                job: Job = pickle.loads(message.job)  # noqa: S301  # from the process that started this one
                solver, reply = PartSolver(job), Reply()
            else:
                reply = Reply(None if solver is None else solver.solve(message))
        except Exception as error:  # noqa: BLE001  # raised where somebody waits for it
            reply = Reply(error=_sendable(error), trace=traceback.format_exc())
        try:
            pickle.dump(reply._replace(log=log.take()), replies, protocol=pickle.HIGHEST_PROTOCOL)
            replies.flush()
        except BrokenPipeError:
            os._exit(0)


class _Log(logging.Handler):
    """Keeps what is logged until it is sent."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        told = {"msg": record.getMessage(), "args": None, "exc_info": None, "exc_text": None, "stack_info": None}
        self._kept.append(record.__dict__ | told)

    def take(self) -> tuple[dict[str, Any], ...]:
        kept, self._kept = self._kept, []
        return tuple(kept)


def _listen(stream: BinaryIO, asked: SimpleQueue[Any]) -> None:
    while True:
        try:
            asked.put(pickle.load(stream))  # noqa: S301  # from the process that started this one
        except Exception as error:  # noqa: BLE001  # it has ended, wants no more, or cannot be read
            os._exit(0 if isinstance(error, EOFError) else 1)


def _sendable(error: Exception) -> Exception:
    """The error, or what can be sent of it."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  # made here
    except Exception:  # noqa: BLE001  # whatever somebody's own class of errors does
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
