"""Work on several threads, a little ahead of whoever takes the results: what is not asked for yet is not held."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

AHEAD = 2  # pieces of work per thread that are begun before the first of them is taken
NAME = "safear-work"  # of the threads

Item = TypeVar("Item")
Result = TypeVar("Result")


def count_threads() -> int:
    """As many as there are cores for this process; compiled loops run without the GIL."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def is_interrupted() -> bool:
    """Whether what is being handled here began with Ctrl+C, so that nobody should wait for anything."""
    error = sys.exception()
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def work_ahead(
    work: Callable[[Item], Result], items: Iterable[Item], *, threads: int | None = None, in_order: bool = True
) -> Iterator[Result]:
    """work(item) for each of the items; items are taken no further ahead than needed.

    Results come in the order of the items or, if not `in_order`, as soon as they are there. Whoever wants no more waits
    for what is begun, except after Ctrl+C: a thread cannot be stopped, and ends with its piece of work or the program.
    """
    count = threads or count_threads()
    crew = _Threads(work, count, in_order=in_order)
    try:
        for item in items:
            crew.begin(item)
            yield from crew.results(AHEAD * count - 1)
        yield from crew.results(0)
    finally:
        crew.end(wait=not is_interrupted())


class _Threads(Generic[Item, Result]):
    """Threads that nobody has to wait for, unlike those of an executor."""

    def __init__(self, work: Callable[[Item], Result], count: int, *, in_order: bool) -> None:
        self._work, self._count, self._in_order = work, count, in_order
        self._asked: SimpleQueue[tuple[Future[Result], Item] | None] = SimpleQueue()
        self._done: SimpleQueue[Future[Result]] = SimpleQueue()
        self._threads: list[Thread] = []
        self._begun: dict[Future[Result], None] = {}  # in their order, without those that were taken

    def begin(self, item: Item) -> None:
        future: Future[Result] = Future()
        self._begun[future] = None
        self._asked.put((future, item))
        if len(self._threads) < self._count:
            self._threads.append(Thread(target=self._run, name=NAME, daemon=True))
            self._threads[-1].start()

    def _run(self) -> None:
        while (asked := self._asked.get()) is not None:
            future, item = asked
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(self._work(item))
                except BaseException as error:  # noqa: BLE001  # raised where somebody waits for it
                    future.set_exception(error)
                if not self._in_order:
                    self._done.put(future)
            del asked, future, item  # nobody holds what is done while there is nothing to do

    def results(self, most: int) -> Iterator[Result]:
        """Results, until no more than `most` are begun.

        An error is that of the first item that has one, whichever comes first: what was begun before is awaited.
        """
        failed: set[Future[Result]] = set()
        while len(self._begun) > (0 if failed else most):
            future = next(iter(self._begun)) if self._in_order else self._done.get()
            if not self._in_order and future.exception() is not None:
                failed.add(future)
            else:
                result = future.result()
                del self._begun[future], future
                yield result
                del result
            first = next(iter(self._begun), None)
            if first in failed and first is not None:
                first.result()

    def end(self, *, wait: bool) -> None:
        for future in self._begun:
            future.cancel()
        for _ in self._threads:
            self._asked.put(None)
        for thread in self._threads if wait else ():
            thread.join()
