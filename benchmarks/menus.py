"""Optimal menus, beside the state before: `python -m benchmarks.menus [--people N] [--sizes SMALL LARGE]`.

Menus of rejected people of Adult and German, one at a time and warm (CPU time, both states in turns over the same
people); batches of menus for people with own costs, on all cores and on a Dask cluster of this machine; and the exact
optima of all of Adult. A tenth of the way, `--people 100 --sizes 512 2048`, takes some minutes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks import table
from benchmarks.personal import LEAST_SHARE, write_people
from benchmarks.states import BEFORE, ROOT, State, open_states
from numpy.typing import NDArray

CHUNK = 25  # people that one state serves before it is the other's turn
WARM = 20  # people who do not count
LEAST_GAIN = 8
MOST_LATE, MOST_EVER = 0.015, 0.06  # seconds: of 95 in 100, of all
FEW = 64  # people of a batch in which everybody loads, or compiles, what they need
MANY, MOST_MINUTES = 100_000, 10
MILLION = 1_000_000
MOST_OPTIMUM = 15  # seconds
SOME = 2_000  # people before whose optima nothing counts
NO_SLOWER = 0.95  # up to noise
WAYS = {
    "": {"exact": False, "anew": False},
    ", exact": {"exact": True, "anew": False},
    ", recommend": {"exact": False, "anew": True},
}
PLACES = {"adult": "Adult", "german": "German"}


def ask_in_turns(states: list[State], task: str, people: list[int], **options: Any) -> list[list[Any]]:
    """What each state gives for each person."""
    found: list[list[Any]] = [[] for _ in states]
    for start in range(0, len(people), CHUNK):
        for state, answers in zip(states, found, strict=True):
            answers.extend(state.ask(task, rows=people[start : start + CHUNK], **options))
    return found


def measure_menus(states: list[State], data: str, most: int) -> list[table.Record]:
    """Menus of one person after the other; those without a plan do not count."""
    rejected = states[0].ask("find_rejected", data=data)
    rng = np.random.default_rng(0)
    people = rng.choice(rejected, min(most + WARM, len(rejected)), replace=False).tolist()
    records = []
    for way, options in WAYS.items():
        ask_in_turns(states, "make_menus", people[:WARM], data=data, **options)
        found = ask_in_turns(states, "make_menus", people[-most:], data=data, **options)
        planned = [i for i, (_, plans) in enumerate(found[0]) if plans]
        times = [np.array([answers[i][0] for i in planned]) for answers in found]
        other = sum(not alike(*menus) for menus in zip(*found, strict=True))
        records += tell_menus(f"{PLACES[data]}{way}", times, other if len(found) > 1 else None)
    return records


def alike(menu: Any, *others: Any) -> bool:
    """Whether the plans are the same, but for the last digits of their figures."""
    (_, plans), names = menu, [plan[:2] for plan in menu[1]]
    return all(
        names == [plan[:2] for plan in found]
        and np.allclose([plan[2:] for plan in plans], [plan[2:] for plan in found], rtol=1e-9, atol=1e-12)
        for _, found in others
    )


def tell_menus(name: str, times: list[NDArray[np.float64]], other: int | None) -> list[table.Record]:
    """The mean, what 95 in 100 take at most, and the longest."""
    now = times[0]
    differ = "" if other is None else f", {other} menus differ" if other else ", the same menus"
    note = f"CPU time, median {table.in_words(float(np.median(now)))}, {len(now)} people with a plan{differ}"
    records = []
    for what, share, most in (("mean", None, None), ("95 in 100", 0.95, MOST_LATE), ("longest", 1.0, MOST_EVER)):
        ours, *theirs = (float(found.mean() if share is None else np.quantile(found, share)) for found in times)
        record = put_beside(f"menu of one person, {name}, {what}", ours, theirs[0] if theirs else None, note)
        if most is not None:
            record = replace(record, goal=f"< {table.in_words(most)}", met=ours < most)
        elif record.ratio is not None:
            record = replace(record, goal=f">= {LEAST_GAIN}x", met=record.ratio >= LEAST_GAIN)
        records.append(record)
    return records


def put_beside(name: str, ours: float, theirs: float | None, note: str) -> table.Record:
    """Ours beside the state before, if there is one."""
    return (
        table.Record(name, ours, note=note) if theirs is None else table.compare(name, ours, BEFORE, theirs, note=note)
    )


class Times(NamedTuple):
    """Seconds of a batch: wall and CPU."""

    wall: float
    cpu: float


def measure_batches(states: list[State], small: int, large: int) -> list[table.Record]:
    """Batches of menus: two sizes, from which larger ones are extrapolated, and the larger on a cluster."""
    from distributed import LocalCluster  # noqa: PLC0415  # it takes the path below along

    now = states[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in (FEW, small, large):
            write_people(folder / f"{size}.parquet", size)

        def run(state: State, size: int, out: str, **more: Any) -> Times:
            return Times(*state.ask("run_batch", people=str(folder / f"{size}.parquet"), out=str(folder / out), **more))

        for number, state in enumerate(states):
            run(state, FEW, f"warm {number}", part_size=8)
        before = run(states[1], small, "before") if len(states) > 1 else None
        taken = {small: run(now, small, "small"), large: run(now, large, "large")}
        os.environ["PYTHONPATH"] = str(ROOT / "src")  # for its workers
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:  # type: ignore[no-untyped-call]  # has no types
            run(now, FEW, "warm", scheduler=cluster.scheduler_address, part_size=8)
            there = run(now, large, "there", scheduler=cluster.scheduler_address)
        for part in (folder / "large").glob("*.parquet"):
            if part.read_bytes() != (folder / "there" / part.name).read_bytes():
                sys.exit("the cluster gave other results")
    return tell_batches(taken, before, there)


def tell_batches(taken: dict[int, Times], before: Times | None, there: Times) -> list[table.Record]:
    """The two sizes, beside the state before and the cluster; and a line through both, far out."""
    small, large = sorted(taken)
    each = (taken[large].wall - taken[small].wall) / (large - small)
    fixed = max(taken[small].wall - each * small, 0.0)
    many, million = (fixed + each * size for size in (MANY, MILLION))
    line = f"{fixed:.1f} s plus {table.in_words(each)} per person, from two sizes"
    goal = f"< {MOST_MINUTES} minutes"
    share = taken[large].wall / there.wall
    notes = {
        size: f"{size / times.wall:,.0f} people per second; {table.in_words(times.cpu / size)} of CPU each"
        for size, times in taken.items()
    }
    if before is not None:
        notes[small] += f", before {table.in_words(before.cpu / small)}"
    return [
        put_beside(
            f"menus of {small:,} people with own costs", taken[small].wall, before and before.wall, notes[small]
        ),
        table.Record(f"menus of {large:,} people with own costs", taken[large].wall, note=notes[large]),
        table.Record(
            f"menus of {large:,} people with own costs, Dask, two workers", there.wall, "processes",
            taken[large].wall, share,
            f">= {LEAST_SHARE}x", share >= LEAST_SHARE, "the same bytes",
        ),
        table.Record(
            f"menus of {MANY:,} people, extrapolated", many, goal=goal, met=many < MOST_MINUTES * 60, note=line
        ),
        table.Record(f"menus of {MILLION:,} people, extrapolated", million, note=line),
    ]  # fmt: skip


def measure_optima(states: list[State]) -> list[table.Record]:
    """The exact optima of all rejected people of Adult, on all cores."""
    records = []
    for objective in ("mean-std:1", "cvar:0.95"):
        for state in states:  # compiled code is loaded, or made
            state.ask("find_optima", objective=objective, most=SOME)
        found = [state.ask("find_optima", objective=objective) for state in states]
        (wall, cpu, value), *rest = found
        note = f"{cpu:.1f} s of CPU, mean value {value:.6f}"
        note += f"; before {rest[0][1]:.1f} s, {rest[0][2]:.6f}" if rest else ""
        record = put_beside(f"{objective} of all Adult, optimal", wall, rest[0][0] if rest else None, note)
        if objective == "mean-std:1":
            record = replace(record, goal=f"< {MOST_OPTIMUM} s", met=wall < MOST_OPTIMUM)
        elif record.ratio is not None:
            record = replace(record, goal="no slower", met=record.ratio >= NO_SLOWER)
        records.append(record)
    return records


def main() -> None:
    """Measure, add to the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--people", type=int, default=1_000, help="menus one at a time")
    parser.add_argument("--sizes", type=int, nargs=2, default=(2_000, 10_000), help="of batches")
    parser.add_argument("--only", choices=("menus", "batches", "optima"))
    options = parser.parse_args()
    records = []
    with open_states() as (now, before):
        states = [now] if before is None else [now, before]
        if options.only in {None, "menus"}:
            records += [record for data in PLACES for record in measure_menus(states, data, options.people)]
        if options.only in {None, "batches"}:
            records += measure_batches(states, *options.sizes)
        if options.only in {None, "optima"}:
            records += measure_optima(states)
    table.add(records)
    print(table.lay_out(records))


if __name__ == "__main__":
    main()
