"""Several workers: processes that serve the same address, each with a service of its own.

The system deals new connections out to them. They are started anew rather than forked: libraries of models run threads
that do not survive a fork.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import FrameType
from typing import Any, NoReturn

from safear.errors import SafearError
from safear.web.server import heed_hangups, leave

STOP_SECONDS = 1.6  # from being told to stop until whoever still works is ended
TICK = 0.1
AGAIN_SECONDS = 30.0  # after which a worker that could not be replaced is tried again
Work = Callable[..., None]  # takes its arguments, and `ready` to call once it serves

logger = logging.getLogger("safear.web")


class WorkerError(SafearError):
    """A worker ended before it had served anybody."""

    def __str__(self) -> str:
        return "a worker could not start; what it said stands above"


@dataclass(slots=True)
class _Worker:
    """A process, and what it says once it serves."""

    process: SpawnProcess
    news: Connection
    serves: bool = False
    again: float | None = None  # when to replace it, if its own replacement could not start

    def look(self) -> None:
        if not self.serves and self.news.poll():
            with suppress(EOFError):  # it has ended without a word
                self.serves = bool(self.news.recv())


class Workforce:
    """So many processes that do the same work. One that dies is replaced.

    At first each of them must start. Later, the others go on while one cannot be replaced, which is tried again.
    """

    def __init__(self, count: int, work: Work, *arguments: Any) -> None:
        self._count, self._work, self._arguments = count, work, arguments
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []
        self._told: int | None = None
        self._is_new = True

    def run(self, *, ready: Callable[[], None]) -> NoReturn:
        """Work until a signal says stop; `ready` is called once all of them serve. Then the program ends."""
        before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        heed_hangups()
        try:
            self._workers = [self._start() for _ in range(self._count)]
            while self._told is None:
                wait([worker.process.sentinel for worker in self._workers if worker.again is None], timeout=TICK)
                for worker in self._workers:
                    worker.look()
                if self._is_new and all(worker.serves for worker in self._workers):
                    self._is_new = False
                    ready()
                if self._told is None:
                    self._workers = [self._replace(worker) for worker in self._workers]
        finally:
            self._stop()
            for number, handler in before.items():
                signal.signal(number, handler)
        if self._told == signal.SIGTERM:  # end as one that was told so
            signal.raise_signal(signal.SIGTERM)
        leave()

    def _note(self, number: int, _: FrameType | None) -> None:
        self._told = number

    def _start(self) -> _Worker:
        news, teller = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_run, args=(self._work, self._arguments, teller))
        process.start()
        teller.close()
        return _Worker(process, news)

    def _replace(self, worker: _Worker) -> _Worker:
        if worker.process.is_alive():
            return worker
        if worker.serves:
            logger.error("a worker ended with code %s; another one is started", worker.process.exitcode)
            return self._start()
        if worker.again is None:
            if self._is_new or not any(other.process.is_alive() for other in self._workers):
                raise WorkerError
            logger.error("a worker could not start; the others go on, and it is tried again every %g s", AGAIN_SECONDS)
            worker.again = time.monotonic() + AGAIN_SECONDS
        return worker if time.monotonic() < worker.again else self._start()

    def _stop(self) -> None:
        """Tell all to stop, and end those that do not."""
        deadline = time.monotonic() + STOP_SECONDS
        processes = [worker.process for worker in self._workers]
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(max(deadline - time.monotonic(), 0.0))
        for process in processes:
            process.kill()
            process.join()


def _run(work: Work, arguments: tuple[Any, ...], teller: Connection) -> None:
    """What a worker does."""
    threading.Thread(target=_follow, name="safear-parent", daemon=True).start()
    try:
        work(*arguments, ready=lambda: teller.send("it serves"))
    except KeyboardInterrupt:
        pass
    except SafearError as error:  # it is told as everywhere, without where in the program
        logger.error("%s", error)  # noqa: TRY400
        sys.exit(1)


def _follow() -> None:
    """End with the process that started this one."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
