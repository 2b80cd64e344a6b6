"""How long starting takes, a menu of one person, and exact optima of a population: `python -m benchmarks.run`."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict

import numpy as np
from benchmarks import table
from benchmarks.timing import once, side_by_side

import safear as sa
from safear.classifier import Inputs
from safear.population.crowd import Crowd
from safear.population.engine import Engine, Purpose
from safear.recourse.case import Desk

EMPTY = 0.015  # seconds that an empty Python took where the goals below were set; elsewhere they move with it
STARTS = {  # new processes, and in how many seconds they should be done
    "import safear": (("-c", "import safear"), 0.1),
    "safear --help": (("-m", "safear", "--help"), 0.2),
    "safear recommend loan": (("-m", "safear", "recommend", "loan"), 0.6),
    "safear recommend loan --json": (("-m", "safear", "recommend", "loan", "--json"), None),
    "safear check loan": (("-m", "safear", "check", "loan"), None),
}


def run_python(*arguments: str, kept: str) -> Callable[[], object]:
    """A Python process with these arguments; `kept` is the folder of what it compiles, as in an installed package."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env |= {"PYTHONPYCACHEPREFIX": kept}
    return lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=env)


def starting() -> list[table.Record]:
    """New processes beside one that does nothing, and the very first one, for which nothing is compiled yet."""
    with tempfile.TemporaryDirectory() as kept:
        first = once(run_python("-m", "safear", "recommend", "loan", kept=kept))
        works = {"": run_python("-c", "pass", kept=kept)}
        works |= {name: run_python(*arguments, kept=kept) for name, (arguments, _) in STARTS.items()}
        taken = side_by_side(works)
    bare = taken.pop("")
    goals = {name: most for name, (_, most) in STARTS.items()}
    found = taken | {"safear recommend loan, for the first time": first}
    return [_beside_nothing(name, seconds, bare, goals.get(name)) for name, seconds in found.items()]


def _beside_nothing(name: str, seconds: float, bare: float, most: float | None) -> table.Record:
    """A process beside an empty one; `most` seconds are so many times what an empty one takes."""
    goal = None if most is None else f"<= {most / EMPTY:.0f} empty Pythons ({most:g} s)"
    met = None if most is None else seconds / bare <= most / EMPTY
    return table.Record(name, seconds, "an empty Python", bare, bare / seconds, goal, met)


def menus(people: int = 200) -> table.Record:
    """Menus of rejected people of Adult, warm: from the record to named plans with exact figures."""
    adult = sa.datasets.load("adult")
    forest = adult.classifier()
    rejected = np.flatnonzero(~forest.favourable(Inputs(adult.problem.features, adult.codes)))
    rng = np.random.default_rng(0)
    times, plans = [], []
    for row in rng.choice(rejected, people, replace=False):
        person = adult.levels.iloc[row].to_dict()
        start = time.perf_counter()
        menu = sa.recommend(adult.problem, forest, person)
        if menu.no_recourse is not None:
            continue
        times.append(time.perf_counter() - start)
        plans.append(len(menu.frontier))
    times, plans = times[5:], plans[5:]  # the first ones are not warm
    median, late, longest = (float(x) for x in np.quantile(times, [0.5, 0.95, 1.0]))
    note = (
        f"95 in 100 take at most this; median {table.in_words(median)}, longest {table.in_words(longest)}, "
        f"{np.mean(plans):.1f} optimal plans each"
    )
    return table.Record("menu of one person (Adult)", late, goal="< 0.15 s", met=late < 0.15, note=note)


def population() -> table.Record:
    """`solve_population` in a process of its own, whose memory is its own."""
    command = [sys.executable, "-m", "benchmarks.run", "population"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return table.Record(**json.loads(done.stdout))


def solve_population() -> table.Record:
    """The exact optimum of CVaR(0.95) for all whom the forest rejects, on two threads."""
    adult = sa.datasets.load("adult")
    forest = adult.classifier()
    codes = adult.codes[~forest.favourable(Inputs(adult.problem.features, adult.codes))]
    engine = Engine(Desk.of(adult.problem, forest))
    start = time.perf_counter()
    found = engine.work_out(Crowd.of(adult.problem, codes), Purpose(sa.CVaR(0.95)), ("success", "bound", "cvar"))
    taken = time.perf_counter() - start
    people, value, success = len(codes), float(found.of("bound").mean()), float(found.of("success").mean())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return table.Record(
        "CVaR(0.95) of all Adult, optimal",
        taken,
        goal="< 60 s, 4 GiB",
        met=taken < 60 and memory < 4,
        note=f"{people:,} people, {memory:.2f} GiB, mean value {value:.3f}, success {success:.4f}",
    )


def main() -> None:
    """Time, add to the table."""
    records = [*starting(), menus(), population()]
    table.add(records)
    print(table.lay_out(records))


if __name__ == "__main__":
    if sys.argv[1:] == ["population"]:
        print(json.dumps(asdict(solve_population())))
    else:
        main()
