"""How times are taken: warm, medians, on one core where engines are compared."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping

Work = Callable[[], object]


def seconds(work: Work, repeats: int = 5) -> float:
    """The median time of some runs, after one that does not count."""
    return side_by_side({"": work}, repeats)[""]


def side_by_side(works: Mapping[str, Work], repeats: int = 5) -> dict[str, float]:
    """The median time of each work. They take turns, so that a busy machine is slow for all of them.

    Before each run that counts there is one that does not, so that none finds the caches as another left them.
    """
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            work()
            times[name].append(once(work))
    return {name: statistics.median(taken) for name, taken in times.items()}


def once(work: Work) -> float:
    """The time of a single run."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def use_one_core() -> None:
    """Keep this process, and threads that it starts from now on, on one core (where the system can)."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
