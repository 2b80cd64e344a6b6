"""The parts of the run, each in processes of its own, as many at a time as there are cores."""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from soak.counts import Count, Failure, join_counts
from soak.forking import MEMORY


class Part(NamedTuple):
    """A module with `run(seconds, seed, ...)`, and its share of the time of one core.

    `splits`: it is done by all cores at a time, with other seeds. `alone`: it comes when all others are done, since it
    needs all cores.
    """

    name: str
    share: float
    splits: bool = False
    alone: bool = False


PARTS = (
    Part("readers", 0.34, splits=True),
    Part("guided", 0.10),
    Part("kills", 0.42, splits=True),
    Part("same_bytes", 0.24),
    Part("commands", 0.15),
    Part("races", 0.10),
    Part("classifiers", 0.12),
    Part("users", 0.08),
    Part("disk", 0.05),
    Part("load", 0.185, alone=True),  # 200 clients for a minute, and a second round
)


def run_part(name: str, seconds: float, seed: int, folder: str, most: int | None) -> tuple[Count, set[bytes]]:
    """One part, in a process of its own."""
    if name not in {"load", "guided"}:  # which start servers, and look at what they take, or a fuzzer that needs more
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    module = import_module(f"soak.{name}")
    if name == "readers":
        count, seen = module.run(seconds, seed, folder=Path(folder), most=most)
        return count, seen
    kept = {"folder": Path(folder)} if name == "guided" else {}
    return module.run(seconds, seed, most=most, **kept), set()


def run_all(names: list[str], minutes: float, seed: int, *, folder: Path, most: int | None = None) -> list[Count]:
    """All parts, or some, as many at a time as there are cores."""
    cores = os.cpu_count() or 1
    parts = [part for part in PARTS if part.name in names]
    # What is split takes its share on each core; the others run one after the other on whichever is free.
    whole = sum(part.share * (1 if part.splits or part.alone else 1 / cores) for part in parts) or 1.0
    times = {part: 60 * minutes * part.share / whole for part in parts}
    found = _run_at_once({part: seconds for part, seconds in times.items() if not part.alone}, seed, folder, most)
    for part, seconds in times.items():
        if part.alone:
            found |= _run_at_once({part: seconds}, seed, folder, most)
    return [found[part.name] for part in parts]


def _run_at_once(times: dict[Part, float], seed: int, folder: Path, most: int | None) -> dict[str, Count]:
    """Some parts, each with its seconds."""
    cores = os.cpu_count() or 1
    waiting: dict[Future[tuple[Count, set[bytes]]], str] = {}
    done: dict[str, list[tuple[Count, set[bytes]]]] = {part.name: [] for part in times}
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(cores, mp_context=spawn, max_tasks_per_child=1) as pool:
        for part, seconds in times.items():
            for number in range(cores if part.splits and most is None else 1):
                future = pool.submit(run_part, part.name, seconds, seed + 1000 * number, str(folder), most)
                waiting[future] = part.name
        for future in as_completed(waiting):
            name = waiting[future]
            try:
                done[name].append(future.result())
            except Exception as error:  # noqa: BLE001  # a part that crashes is what is looked for
                crash = Failure(
                    "tracebacks", f"{name} itself: {type(error).__name__}: {error}", f"python -m soak {name}"
                )
                done[name].append((Count(name, tracebacks=1, failures=(crash,)), set()))
            print(f"{name}: {done[name][-1][0].seconds:.0f} s", file=sys.stderr, flush=True)
    return {name: _join(found) for name, found in done.items()}


def _join(found: list[tuple[Count, set[bytes]]]) -> Count:
    """An input that two processes have drawn is counted once."""
    joined = join_counts(count for count, _ in found)
    names = [seen for _, seen in found]
    twice = sum(map(len, names)) - len(set().union(*names))
    if not twice:
        return joined
    kept = {"inputs": joined.inputs - twice, "read": joined.read, "refused": joined.refused - twice}
    return Count(**{**{name: getattr(joined, name) for name in joined.__slots__}, **kept})
