"""Parts of a batch in processes of their own on this machine, for work that is Python and so holds the GIL.

Workers are programs started anew (`worker`), neither forked nor made by `multiprocessing`: threads and connections do
not survive a fork, and a spawned process of `multiprocessing` would run the script of whoever called us once more.
What cannot be sent to them, they cannot solve: the caller has threads for that.
"""

from __future__ import annotations

import logging
import math
import os
import pickle
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.spawn import get_executable
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, Self

import pandas as pd

from safear import memory
from safear.classifier.adapters import told_of_models
from safear.errors import InputError, SafearError
from safear.population.crowd import Crowd
from safear.population.packing import pack_job
from safear.population.parts import Job
from safear.population.worker import Errand, Reply
from safear.threads import count_threads, is_interrupted

logger = logging.getLogger("safear")

MANY = 1_000  # people for whom starting processes is worth while
BASE_BYTES = 300 * 2**20  # of a process that has loaded everything
COPIES = 3  # of the packed job that a worker holds at most: as it comes, as it is read, and what is made of it
MOST_LOSSES = 2  # workers that may be lost with the same part
NO_PART = -1  # before all others: the number for errors of workers that have none yet
STOP_SECONDS = 0.5  # from being told to stop until whoever still works is ended
# -P: nothing is imported from the current folder before the caller's own path is known.
BEGIN = """
import pickle, sys
try:
    sys.path[:] = pickle.load(sys.stdin.buffer)
except (EOFError, pickle.UnpicklingError):  # whoever started it has ended
    sys.exit(1)
from safear.population.worker import main
main()
"""
# A model's own threads: without a limit, each worker would start one per core.
LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


News = SimpleQueue[tuple["_Worker", "Reply | None"]]  # who, and what they reply; None: they have ended


class CannotTravelError(Exception):
    """The job cannot be solved in other processes."""


@dataclass(frozen=True, slots=True)
class Crew:
    """How many workers there are to be, and what they are told."""

    packed: bytes = field(repr=False)
    count: int

    @classmethod
    def of(cls, job: Job, parts: Sequence[int], threads: int | None) -> Crew | None:
        """Workers for parts of so many people each, as many as `threads`; None if they are not worth it.

        None, too, if the classifier cannot be sent, which is told. If there is no room for so many, that is refused;
        without a number, there are as many as there is room for.
        """
        count = min(threads or count_threads(), len(parts))
        if not job.is_slow or count < 2 or sum(parts) < MANY:
            return None
        try:
            packed = _pack(job)
        except CannotTravelError as error:
            tell_threads(error)
            return None
        each, left = BASE_BYTES + COPIES * len(packed), memory.available()
        if threads is None and left is not None:
            count = min(count, left // each)
            if count < 2:
                return None
        memory.require_room(count * each, f"{count} processes", max_bytes=None, remedy="use fewer: threads, --threads")
        return cls(packed, count)

    def solve(self, parts: Iterator[Crowd]) -> Iterator[tuple[int, pd.DataFrame]]:
        """The rows of all parts, in the order in which they are done; raises `CannotTravelError` before the first.

        An error is that of the first part that has one, whoever comes upon it first. A part whose worker is lost is
        given to another once.
        """
        with _Shift(self) as shift:
            yield from shift.solve(parts)


def tell_threads(error: CannotTravelError) -> None:
    """Say that threads do the work."""
    logger.warning("%s; threads do the work, which takes longer", error)


def _pack(job: Job) -> bytes:
    if getattr(sys, "frozen", False) or not get_executable():
        raise CannotTravelError("there is no Python program to start workers with")
    try:
        return pack_job(job)
    except Exception as cause:  # whatever a classifier of somebody's own raises
        raise CannotTravelError(f"the classifier cannot be sent to other processes ({cause})") from cause


class _Worker:
    """A process, and the part that it is busy with, if any. Its replies go to a queue, and None once it has ended."""

    def __init__(self, crew: Crew, news: News) -> None:
        own_group: dict[str, Any] = {"process_group": 0}  # Ctrl+C is for us alone
        if sys.platform == "win32":
            own_group = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        share = str(max(1, count_threads() // crew.count))
        self._process = subprocess.Popen(  # noqa: S603  # our own program
            [os.fsdecode(get_executable()), "-P", "-c", BEGIN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict.fromkeys(LIMITS, share) | os.environ,
            **own_group,
        )
        self.part: Crowd | None = None
        self.ready = False
        self._told = Event()
        self._listener = Thread(target=self._listen, args=(crew, news), name="safear-worker", daemon=True)
        self._listener.start()

    def give(self, part: Crowd) -> None:
        """Have it solve a part."""
        self.part = part
        self._send(part)

    def _send(self, message: object) -> None:
        if self._process.stdin is not None:
            with suppress(OSError, ValueError):  # it is lost, as the listener will tell, or was dismissed meanwhile
                pickle.dump(message, self._process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
                self._process.stdin.flush()

    def _listen(self, crew: Crew, news: News) -> None:
        # From here, since a large job is not taken before the process has begun, and others may begin meanwhile.
        self._send(sys.path)
        self._send(Errand(crew.packed, logger.getEffectiveLevel()))
        self._told.set()
        while self._process.stdout is not None:
            try:
                news.put((self, pickle.load(self._process.stdout)))  # noqa: S301  # from a process that we started
            except Exception:  # noqa: BLE001  # it has ended, or what it says cannot be read
                news.put((self, None))
                return

    def dismiss(self) -> None:
        """Tell it to stop; end it if its job is still being sent, since closing the stream would wait for that."""
        if not self._told.is_set():
            self._process.kill()
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def end(self, patience: float) -> str:
        """End it if it has not done so after a while, and say how it ended."""
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
        code = self._process.wait()
        self.dismiss()
        self._listener.join()
        if self._process.stdout is not None:
            self._process.stdout.close()
        killed = -code == getattr(signal, "SIGKILL", None)
        return "was killed, as systems do that are out of memory" if killed else f"ended with code {code}"


class _Shift:
    """The workers of a crew from when they are started until all have ended."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._news: News = SimpleQueue()
        self._workers: list[_Worker] = []
        self._again: deque[Crowd] = deque()  # parts whose workers were lost
        self._losses: Counter[int] = Counter()  # by part
        self._errors: dict[int, Exception] = {}  # by part
        self._told = told_of_models()

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._end()
            raise
        return self

    def _start(self) -> None:
        try:
            for _ in range(self._crew.count):
                self._workers.append(_Worker(self._crew, self._news))
        except OSError as cause:
            raise CannotTravelError(f"no process can be started ({cause})") from cause
        while not all(worker.ready for worker in self._workers):
            worker, reply = self._news.get()
            if reply is None:
                raise CannotTravelError(f"a process could not start (it {worker.end(STOP_SECONDS)})")
            if reply.error is not None:
                raise CannotTravelError(f"the classifier cannot be read in other processes ({reply.error})")
            self._log(reply)
            worker.ready = True

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        for worker in self._workers:
            worker.dismiss()
        deadline = time.monotonic() + (0 if is_interrupted() else STOP_SECONDS)
        while self._workers:
            self._workers.pop().end(max(deadline - time.monotonic(), 0.0))

    def solve(self, parts: Iterator[Crowd]) -> Iterator[tuple[int, pd.DataFrame]]:
        """See `Crew.solve`."""
        while True:
            self._hand_out(parts)
            under_way = [part.number for part in (*self._again, *(worker.part for worker in self._workers)) if part]
            if self._errors and min(self._errors) < min(under_way, default=math.inf):
                raise self._errors[min(self._errors)]
            if not under_way:
                return
            worker, reply = self._news.get()
            if reply is None:
                self._replace(worker)
                continue
            self._log(reply)
            number, worker.part = NO_PART if worker.part is None else worker.part.number, None
            if reply.error is not None:
                self._errors[number] = _as_raised(reply)
            elif reply.rows is None:  # it is new, and can begin
                worker.ready = True
            else:
                self._hand_out(parts)  # first of all, so that nobody waits
                yield number, reply.rows

    def _hand_out(self, parts: Iterator[Crowd]) -> None:
        """Give those who have nothing to do a part each; after an error, only what was begun before."""
        for worker in self._workers:
            if worker.ready and worker.part is None:
                part = self._again.popleft() if self._again else None if self._errors else next(parts, None)
                if part is None:
                    return
                worker.give(part)

    def _replace(self, worker: _Worker) -> None:
        """Have the part of a worker that is lost done by a new one."""
        how, part = worker.end(STOP_SECONDS), worker.part
        self._workers.remove(worker)
        if part is None and worker.ready and self._workers:  # it had nothing left to do
            logger.warning("a process %s", how)
            return
        number = NO_PART if part is None else part.number
        self._losses[number] += 1
        if part is None or self._losses[number] == MOST_LOSSES:
            cause = f"a process {how}" if part is None else f"a process {how}, again"
            remedy = "use fewer processes (threads, --threads), then run the same again to continue"
            self._errors[number] = InputError.at((), cause, remedy, code="worker")
            return
        logger.warning("a process %s; another one solves its part", how)
        self._again.append(part)
        self._workers.append(_Worker(self._crew, self._news))

    def _log(self, reply: Reply) -> None:
        """Say what a worker said, unless that was said before."""
        for entry in reply.log:
            record = logging.makeLogRecord(entry)
            about = getattr(record, "about", record.msg)
            if about not in self._told:
                self._told.add(about)
                logging.getLogger(record.name).handle(record)


def _as_raised(reply: Reply) -> Exception:
    """The error of a reply; if it is no mistake of anybody's, with where it came from."""
    error = reply.error or RuntimeError("a worker gave no answer")
    if not isinstance(error, SafearError):
        error.add_note(f"In a worker:\n{reply.trace}")
    return error
