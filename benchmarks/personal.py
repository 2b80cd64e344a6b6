"""Plans for many people with their own costs: `python -m benchmarks.personal [PEOPLE]`, threads and a Dask cluster.

People of Adult, drawn at random, each with what every action costs them; greedy plans, exact figures, written as
Parquet. The cluster is a scheduler and two workers with a thread each, on this machine; starting them does not count.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from benchmarks import table
from distributed import LocalCluster

import safear as sa

MOST_SECONDS = 60
LEAST_SHARE = 0.8


def write_people(path: Path, count: int) -> None:
    """So many people, with costs to a tenth."""
    adult = sa.datasets.load("adult")
    rng = np.random.default_rng(0)
    people = adult.levels.iloc[rng.integers(len(adult), size=count)].reset_index(drop=True)
    for action in adult.problem.actions:
        people[f"cost:{action.name}"] = rng.uniform(0.2, 3, count).round(1)
    people.to_parquet(path)


def run(people: Path, out: Path, scheduler: str | None = None) -> float:
    """The seconds of a batch."""
    adult = sa.datasets.load("adult")
    forest = adult.classifier()
    start = time.perf_counter()
    sa.batch(
        adult.problem,
        forest,
        people,
        out=out,
        objective=sa.MeanStd(0.5),
        method="greedy",
        scheduler=scheduler,
    )
    return time.perf_counter() - start


def main() -> None:
    """Write people, solve them twice, compare, add to the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_people(folder / "few.parquet", 20_000)
        write_people(folder / "people.parquet", count)
        run(folder / "few.parquet", folder / "warm")
        here = run(folder / "people.parquet", folder / "here")
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:  # type: ignore[no-untyped-call]  # has no types
            run(folder / "few.parquet", folder / "warm-there", cluster.scheduler_address)
            there = run(folder / "people.parquet", folder / "there", cluster.scheduler_address)
        parts = sorted(path.name for path in (folder / "here").glob("*.parquet"))
        if any((folder / "here" / part).read_bytes() != (folder / "there" / part).read_bytes() for part in parts):
            sys.exit("the cluster gave other results")
    goal = f"< {MOST_SECONDS} s" if count == 1_000_000 else None
    note = f"{here / count * 1e6:.0f} microseconds each, reading and writing included"
    records = [
        table.Record(
            f"{count:,} people with own costs, two threads",
            here,
            goal=goal,
            met=None if goal is None else here < MOST_SECONDS,
            note=note,
            memory_gb=memory,
        ),
        table.Record(
            f"{count:,} people with own costs, Dask, two workers",
            there,
            "two threads",
            here,
            here / there,
            f">= {LEAST_SHARE}x",
            here / there >= LEAST_SHARE,
            "the same bytes",
        ),
    ]
    table.add(records)
    print(table.lay_out(records))


if __name__ == "__main__":
    main()
