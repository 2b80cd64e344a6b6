"""Two states of SafeAR side by side: the one here, and the one before an issue, from a worktree of git's.

Each runs in a process of its own that answers questions (`python -m benchmarks.states`), so that both can be asked in
turns and a busy machine is slow for both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import safear as sa
from safear.classifier import Inputs
from safear.population.crowd import Crowd
from safear.population.engine import Engine, Purpose
from safear.recourse.case import Desk
from safear.recourse.menu import Request, make_menu

ROOT = Path(__file__).parents[1]
COMMIT = "5047d45"  # before "Fast where it counts: optimal menus for everybody"
BEFORE = f"before ({COMMIT})"


class State:
    """A process with SafeAR as it is in a folder."""

    def __init__(self, source: Path) -> None:
        path = os.pathsep.join([str(source), str(ROOT)])
        command = [sys.executable, "-m", "benchmarks.states", str(source)]
        environment = os.environ | {"PYTHONPATH": path}
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, task: str, **options: Any) -> Any:
        """What a task gives in that state."""
        if self._process.stdin is None or self._process.stdout is None:
            raise TypeError(self._process)
        self._process.stdin.write(json.dumps([task, options]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        return json.loads(line) if line else sys.exit(f"{task} did not finish")

    def end(self) -> None:
        """Let it go."""
        self._process.kill()
        self._process.communicate()


@contextmanager
def open_states() -> Iterator[tuple[State, State | None]]:
    """SafeAR now and before; None where there is no history (as in a source distribution), which is said."""
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name) / "before"
        git = ["git", "-C", str(ROOT), "worktree"]
        done = subprocess.run([*git, "add", "--detach", str(tree), COMMIT], check=False, capture_output=True, text=True)
        if done.returncode:
            print(f"git has no {COMMIT}: the state before is not measured", file=sys.stderr)
        states = [State(path / "src") for path in ([ROOT] if done.returncode else [ROOT, tree])]
        try:
            yield states[0], states[1] if len(states) > 1 else None
        finally:
            for state in states:
                state.end()
            if not done.returncode:
                subprocess.run([*git, "remove", "--force", str(tree)], check=False, capture_output=True)


# -------------------------------------------------------------------------------------------------- within such a state


@cache
def open_data(name: str) -> tuple[Any, Any, Desk]:
    """A data set, its forest and a desk for them."""
    data = sa.datasets.load(name)
    forest = data.classifier()
    return data, forest, Desk.of(data.problem, forest)


def find_rejected(data: str) -> list[int]:
    """The rows of all whom the forest rejects."""
    found, forest, _ = open_data(data)
    return np.flatnonzero(~forest.favourable(Inputs(found.problem.features, found.codes))).tolist()


def make_menus(data: str, rows: list[int], *, exact: bool, anew: bool) -> list[tuple[float, list[Any]]]:
    """The CPU time of each menu, and its plans; at a desk that is kept, or all of it anew."""
    found, forest, desk = open_data(data)
    menus = []
    for row in rows:
        person = found.levels.iloc[row].to_dict()
        start = time.process_time()
        if anew:
            menu = sa.recommend(found.problem, forest, person, exact=exact)
        else:
            menu = make_menu(desk.open(person), Request(exact=exact))
        taken = time.process_time() - start
        menus.append((taken, [[offer.name, offer.first_action, offer.cost.mean, offer.cost.success] for offer in menu]))
    return menus


def run_batch(
    people: str, out: str, *, scheduler: str | None = None, part_size: int | None = None
) -> tuple[float, float]:
    """The wall and the CPU time, with that of its processes, of a batch of menus on all cores or on a cluster."""
    data, forest, _ = open_data("adult")
    start, before = time.perf_counter(), sum(os.times()[:4])
    sa.batch(data.problem, forest, people, out=out, scheduler=scheduler, part_size=part_size)
    return time.perf_counter() - start, sum(os.times()[:4]) - before


def find_optima(objective: str, most: int | None = None) -> tuple[float, float, float]:
    """The wall and the CPU time of the exact optima of the rejected people of Adult, and their mean value."""
    data, forest, _ = open_data("adult")
    codes = data.codes[find_rejected("adult")[:most]]
    engine, aim = Engine(Desk.of(data.problem, forest)), Purpose(sa.parse_objective(objective))
    start, before = time.perf_counter(), time.process_time()
    found = engine.work_out(Crowd.of(data.problem, codes), aim, ("success", "bound", "cvar"))
    return time.perf_counter() - start, time.process_time() - before, float(found.of("bound").mean())


TASKS: dict[str, Callable[..., Any]] = {
    task.__name__: task for task in (find_rejected, make_menus, run_batch, find_optima)
}


def main() -> None:
    """Answer one question per line."""
    if not Path(sa.__file__).is_relative_to(sys.argv[1]):
        sys.exit(f"{sa.__file__} is not in {sys.argv[1]}")
    with suppress(ImportError):  # earlier states compile when they run
        import_module("safear.loading").expect_many()
    for line in sys.stdin:
        task, options = json.loads(line)
        print(json.dumps(TASKS[task](**options)), flush=True)


if __name__ == "__main__":
    main()
