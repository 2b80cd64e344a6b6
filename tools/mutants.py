"""Mutation testing of the formulas: does a test fail when an operator, a number or a condition of the code is another?

    python tools/mutants.py                 all mutants of risk, solvers, evaluation and most of the core, constants and
                                            conditions too
    python tools/mutants.py --sample 60     so many of them, drawn by --seed
    python tools/mutants.py --formulas      those of arithmetic and comparisons alone
    python tools/mutants.py --only hull.py  those of files whose path holds this
    python tools/mutants.py --again         those that survived the last time

Exits with 1 if a mutant survives for which `tools/survivors.toml` states no reason.

Cosmic Ray makes the mutants. Its way of running tests, a process per mutant, would take a day here. So the tests are
collected once, with the core as its sources: compiled loops are then Python, which can be changed at run time.
Each test runs once, to see which functions it calls. A mutant is a fork of that process in which the code of one
function is another; the tests that call it run, the quickest first, until one fails. Mutants outside of functions
(constants, defaults) get a fork of a process that has not imported the package yet. Only the tests that mirror a module
judge it.
"""

from __future__ import annotations

import os

os.environ |= {"SAFEAR_CORE": "python", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

import argparse
import json
import pickle
import random
import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mutant_runs import PYTEST, Session, choose_tests, fork_all, kept, mirrors, sources, try_outside
from mutations import ROOT, Mutant, mutants_of

REASONS = ROOT / "tools" / "survivors.toml"
FORMULAS = ("ReplaceBinary", "ReplaceComparison", "ReplaceUnary", "Opposite", "Augmented")


class Fate(NamedTuple):
    """What became of a mutant: killed, timeout (it ran for ever), survived, or unreached (no test runs it)."""

    file: str
    line: int
    function: str
    operator: str
    fate: str
    by: str
    old: str
    new: str

    @property
    def lives(self) -> bool:
        """Whether no test noticed it."""
        return self.fate in {"survived", "unreached"}

    def __str__(self) -> str:
        return (
            f"{self.file}:{self.line} in {self.function or 'the module'}, {self.fate}\n  - {self.old}\n  + {self.new}"
        )


def tell_fate(mutant: Mutant, answer: tuple[str, tuple[str, str]] | None, tests: int) -> Fate:
    """What became of a mutant that so many tests reach; a fork that gave no answer ran for ever, or fell."""
    killer, change = answer or ("time", mutant.change)
    fate = "timeout" if answer is None else "killed" if killer else "survived" if tests else "unreached"
    return Fate(mutant.path, mutant.line_number, mutant.function, mutant.operator, fate, killer, *change)


def try_all(mutants: list[Mutant], jobs: int, reasons: list[dict[str, Any]]) -> list[Fate]:
    """What becomes of mutants, kept in a file as it happens; those that live without a reason are shown."""
    path, excused = kept("fates.jsonl"), find_excused(mutants, reasons)
    with path.open("w", encoding="utf-8", buffering=1) as file:

        def log(mutant: Mutant, answer: tuple[str, tuple[str, str]] | None, tests: int) -> None:
            fate = tell_fate(mutant, answer, tests)
            file.write(json.dumps(fate) + "\n")
            if fate.lives and mutant not in excused:
                print(fate, flush=True)

        session = os.fork()
        if session == 0:
            tests = sorted({name for mutant in mutants for name in mirrors(mutant.path)})
            code = pytest.main([*PYTEST, *tests], plugins=[Session(mutants, excused, jobs, log)])
            file.flush()
            os._exit(int(code))
        if os.waitpid(session, 0)[1]:
            sys.exit("the tests could not be collected")
        _, reaches = pickle.loads(kept("reaches.pickle").read_bytes())  # noqa: S301  # we wrote it
        reaches = {name: did for name, did in reaches.items() if did is not None}
        outside = [mutant for mutant in mutants if mutant.is_outside]
        chosen = {mutant: choose_tests(mutant, reaches, is_excused=mutant in excused) for mutant in outside}
        tasks = ((mutant, lambda m=mutant, t=tests: (try_outside(m, t), m.change)) for mutant, tests in chosen.items())
        for mutant, answer in fork_all(tasks, jobs):
            log(mutant, answer, len(chosen[mutant]))
    return read_fates()


def read_fates() -> list[Fate]:
    """What became of the mutants of the last time."""
    lines = kept("fates.jsonl").read_text(encoding="utf-8").splitlines()
    return [Fate(*json.loads(line)) for line in lines]


def is_excused(fate: Fate, reasons: list[dict[str, Any]]) -> bool:
    """Whether a reason is stated why a mutant may live: for its function, its line and, if named, what it becomes."""
    return any(
        _is_about(stated, fate.file, fate.function)
        and fate.old == stated["line"]
        and fate.new in stated.get("becomes", [fate.new])
        for stated in reasons
    )


def find_excused(mutants: list[Mutant], reasons: list[dict[str, Any]]) -> set[Mutant]:
    """The mutants for which a reason is stated; only in the functions of these it is worth making the change."""
    near = [m for m in mutants if any(_is_about(stated, m.path, m.function) for stated in reasons)]
    return {mutant for mutant in near if is_excused(tell_fate(mutant, None, 0), reasons)}


def _is_about(stated: dict[str, Any], path: str, function: str) -> bool:
    return path.endswith(stated["file"]) and function == stated["function"]


def main() -> int:
    """Try mutants, tell what became of them, and fail if one lives without a reason."""
    parser = argparse.ArgumentParser(description="Mutation testing of the formulas.")
    parser.add_argument("--sample", type=int, help="try so many mutants, not all")
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--only", nargs="+", default=[""], help="those of files whose path holds one of these")
    parser.add_argument("--formulas", action="store_true", help="those of arithmetic and comparisons alone")
    parser.add_argument("--again", action="store_true", help="those that survived the last time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    os.chdir(ROOT)
    mutants = [
        mutant for path in sources() if any(part in str(path) for part in asked.only) for mutant in mutants_of(path)
    ]
    if asked.formulas:
        mutants = [mutant for mutant in mutants if mutant.operator.startswith(FORMULAS)]
    if asked.again:
        lived = {(fate.file, fate.operator, fate.function, fate.old, fate.new) for fate in read_fates() if fate.lives}
        places = {parts[:3] for parts in lived}
        mutants = [
            mutant
            for mutant in mutants
            if (key := (mutant.path, mutant.operator, mutant.function)) in places and (*key, *mutant.change) in lived
        ]
    random.seed(asked.seed)
    mutants = random.sample(mutants, min(asked.sample or len(mutants), len(mutants)))
    reasons = tomllib.loads(REASONS.read_text(encoding="utf-8"))["survivor"]
    fates = try_all(mutants, asked.jobs, reasons)
    unexplained = [fate for fate in fates if fate.lives and not is_excused(fate, reasons)]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for fate in fates:
        explained = fate.lives and is_excused(fate, reasons)
        counts[Path(fate.file).parent.name]["with a reason" if explained else fate.fate] += 1
    for package, count in sorted(counts.items()):
        print(f"{package}: {count.total()} mutants, {', '.join(f'{n} {fate}' for fate, n in count.most_common())}")
    print(f"{len(unexplained)} live without a reason in tools/survivors.toml")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
