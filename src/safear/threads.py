"""Work on several threads, a little ahead of whoever takes the results: what is not asked for yet is not held."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

AHEAD = 2  # pieces of work per thread that are begun before the first of them is taken

Item = TypeVar("Item")
Result = TypeVar("Result")


def count_threads() -> int:
    """As many as there are cores for this process; compiled loops run without the GIL."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def work_ahead(
    work: Callable[[Item], Result], items: Iterable[Item], *, threads: int | None = None
) -> Iterator[Result]:
    """work(item) for each of the items, in their order; items are taken no further ahead than needed."""
    count = threads or count_threads()
    with ThreadPoolExecutor(count) as pool:
        begun: deque[Future[Result]] = deque()
        try:
            for item in items:
                begun.append(pool.submit(work, item))
                if len(begun) >= AHEAD * count:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            for future in begun:
                future.cancel()
