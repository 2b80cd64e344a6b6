"""Tries mutants: which tests reach them, and which of those fail (see `mutants`)."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import importlib
import importlib.machinery
import os
import pickle
import resource
import select
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Set
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import pytest
from _pytest.runner import runtestprotocol
from mutations import ROOT, Mutant

PACKAGES = ("risk", "solvers", "evaluation")
# The formulas of these are compiled, and so are the loops that look for simple plans and count rules.
CORE = ("exponentials", "figures", "nodes", "robust", "runs", "search", "sketches", "sweeps", "targets", "weighed")
KEPT = Path(os.environ.get("SAFEAR_MUTANTS", ROOT / ".mutants"))  # what tests reach, and what became of mutants
# The test files of sources that have none of their own name, or need others besides; in tests/exact if nothing is said.
MIRRORS = {
    "core/exponentials": ["parts/test_steady", "core/test_search"],
    "core/figures": ["core/test_figures", "evaluation/test_backward", "risk/test_distribution"],
    "core/nodes": ["core/test_nodes", "parts/recourse/test_rules", "parts/recourse/test_plan"],
    "core/robust": ["solvers/test_robust"],
    "core/runs": [
        *("core/test_runs", "evaluation/test_forward", "evaluation/test_occurrence", "evaluation/test_adjoint"),
        "evaluation/test_extremes",
    ],
    "core/search": ["core/test_search", "parts/recourse/test_simplest"],
    "core/sketches": ["core/test_search", "parts/recourse/test_simplest", "parts/recourse/test_budgets"],
    "core/sweeps": [
        *("core/test_sweeps", "mdp/test_hope", "population/test_family_figures"),
        *("solvers/test_ahead", "solvers/test_first_step", "solvers/test_sweep", "solvers/test_success"),
        *("solvers/test_robust", "solvers/test_targets", "parts/mdp/test_lattice"),
    ],
    "core/targets": ["core/test_targets", "solvers/test_targets", "solvers/test_weighed", "solvers/test_optimal"],
    "core/weighed": ["solvers/test_weighed"],
    "solvers/deviation": ["solvers/test_deviation", "solvers/test_optimal"],
    "solvers/optimal": ["solvers/test_robust", "solvers/test_optimal", "solvers/test_targets"],
    "solvers/success": ["solvers/test_success", "solvers/test_ahead"],
    "solvers/solution": ["solvers/test_solve", "solvers/test_episodic", "solvers/test_optimal"],
    "solvers/sweep": ["solvers/test_sweep", "core/test_sweeps"],
    "solvers/targets": ["solvers/test_targets", "core/test_targets", "solvers/test_optimal", "solvers/test_robust"],
    "evaluation/backward": ["evaluation/test_backward", "core/test_figures", "risk/test_distribution"],
    "evaluation/forward": [
        *("evaluation/test_forward", "core/test_runs", "evaluation/test_occurrence"),
        *("evaluation/test_adjoint", "evaluation/test_policy"),
    ],
    "evaluation/policy": ["evaluation/test_policy", "evaluation/test_forward"],
    "evaluation/simulate": ["evaluation/test_forward", "evaluation/test_policy"],
}
# Other engines are no part of every environment; hashes overflow on purpose, of which plain Python warns.
PYTEST = [
    *("-p", "no:cacheprovider", "-p", "no:xdist", "-qq", "-s", "--tb=native", "--lane=test", "--no-limits"),
    *(
        "-W",
        "ignore:overflow encountered:RuntimeWarning",
        "--ignore=tests/exact/solvers/test_engines.py",
        f"--rootdir={ROOT}",
    ),
]
FIRST_EXAMPLES = 3  # of a property, to see what a test reaches
EXAMPLES = 10  # of a property, to kill a mutant: `make test` hardly ever draws fewer (tests/shared/lanes.py)
# Seconds, as tests take with the first examples. Beside other work they take twice as long or more: what matters must
# lie far from these limits, or the same mutant would be killed on one day and live on another.
LONGEST = 15.0  # tests that take longer are left out
PATIENCE = 120.0  # for all tests of a mutant; the first one that fails ends them
SHORT_PATIENCE = 4.0  # where it is stated why a mutant may live
BROKEN = 70  # the exit code of a fork that could not try its mutant
LIMIT = 10.0  # how many times as long a test may take in a mutant, after two seconds

Functions = dict[tuple[str, str, int], list[FunctionType]]
Tests = list[tuple[str, float]]  # names, and how many seconds each takes


class Reach(NamedTuple):
    """What a test does: how long it takes, and which functions of which files it calls."""

    seconds: float
    functions: frozenset[tuple[str, str]]


def sources() -> list[Path]:
    """The files that are mutated."""
    files = [path for package in PACKAGES for path in (ROOT / "src/safear" / package).glob("*.py")]
    return sorted([*files, *(ROOT / "src/safear/core" / f"{name}.py" for name in CORE)])


def kept(name: str) -> Path:
    """A file that outlives this run."""
    KEPT.mkdir(exist_ok=True, parents=True)
    return KEPT / name


def mirrors(path: str) -> list[str]:
    """The test files that stand for a source, the most telling first."""
    package, stem = Path(path).parent.name, Path(path).stem
    names = MIRRORS.get(f"{package}/{stem}", [f"{package}/test_{stem}"])
    return [f"tests/{name if name.startswith('parts/') else f'exact/{name}'}.py" for name in names]


def choose_tests(mutant: Mutant, reaches: dict[str, Reach], *, is_excused: bool) -> Tests:
    """The tests that reach a mutant, with their seconds: those of its module first, then the quickest first.

    One that is excused gets a short trial: it may live, but most reasons that no longer hold are noticed.
    """
    patience = SHORT_PATIENCE if is_excused else PATIENCE
    first = mirrors(mutant.path)[0]
    path, chosen, total = str(ROOT / mutant.path), [], 0.0
    for name, did in sorted(reaches.items(), key=lambda pair: (not pair[0].startswith(first), pair[1].seconds)):
        if mutant.is_outside:
            reaches_it = any(file == path for file, _ in did.functions)
        else:
            reaches_it = (path, mutant.owner) in did.functions
        if reaches_it and total + did.seconds < patience:
            total += did.seconds
            chosen.append((name, did.seconds))
    return chosen


def fork_all(tasks: Iterable[tuple[Any, Callable[[], Any]]], jobs: int) -> Iterator[tuple[Any, Any]]:
    """The answers of functions, each called in a fork of its own; None where the fork died."""
    running: dict[int, tuple[Any, int]] = {}
    waiting = iter(tasks)
    while True:
        while len(running) < jobs and (task := next(waiting, None)) is not None:
            key, call = task
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(reader)
                _answer(call, writer)
            os.close(writer)
            running[reader] = key, child
        if not running:
            return
        for reader in select.select(list(running), [], [])[0]:
            key, child = running.pop(reader)
            with os.fdopen(reader, "rb") as pipe:
                told = pipe.read()
            if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == BROKEN:
                sys.exit(f"{key}: this program is broken, and has judged nothing")
            yield key, pickle.loads(told) if told else None  # noqa: S301  # our own fork wrote it


def _answer(call: Callable[[], Any], writer: int) -> None:
    """Tell what a function returns, as the last thing that this process does."""
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(silent, stream)
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # a mutant may ask for all there is
    code = 0
    try:
        told = pickle.dumps(call())
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(told)
    except LookupError:  # tests catch what a mutant raises
        code = BROKEN
    finally:
        os._exit(code)


def draw_few(item: pytest.Item, examples: int) -> None:
    """Have a test draw few examples, whatever it asks for, and not look for the smallest that fails."""
    if getattr(item.obj, "is_hypothesis_test", False):
        from hypothesis import Phase, settings  # noqa: PLC0415  # pytest wants to see it imported

        few = {"max_examples": examples, "phases": (Phase.explicit, Phase.generate), "database": None}
        own = "_hypothesis_internal_use_settings"  # what @settings leaves with a test
        setattr(item.obj, own, settings(getattr(item.obj, own), **few))


def is_green(item: pytest.Item) -> bool:
    """Whether a test passes, or is skipped."""
    return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=None))


def reach(item: pytest.Item) -> Reach | None:
    """What a test does, or None if it fails or takes too long even without a mutant."""
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    draw_few(item, FIRST_EXAMPLES)
    mine, reached = {str(path) for path in sources()}, set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename in mine:
            reached.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    begin = time.process_time()
    sys.settrace(note)
    good = is_green(item)
    sys.settrace(None)
    return Reach(time.process_time() - begin, frozenset(reached)) if good else None


def index_functions() -> Functions:
    """The functions of the files that are mutated, by file, name and line."""
    mine, found = {str(path) for path in sources()}, defaultdict(list)
    for function in (thing for thing in gc.get_objects() if type(thing) is FunctionType):
        code = function.__code__
        if code.co_filename in mine:
            function.py_func = function  # what tests know compiled functions to have
            found[code.co_filename, code.co_qualname, code.co_firstlineno].append(function)
    return found


def swap_code(mutant: Mutant, functions: Functions) -> None:
    """Give the functions of this process the code of a mutant."""
    path = str(ROOT / mutant.path)
    old = _codes(compile(Path(path).read_text(), path, "exec"))
    swapped = 0
    for key, code in _codes(compile(mutant.source, path, "exec")).items():
        for function in functions[path, *key] if code != old[key] else ():
            function.__code__ = code
            swapped += 1
    if not swapped:
        raise LookupError(f"{mutant.path}:{mutant.line_number}: no function has this code")


def _codes(code: CodeType) -> dict[tuple[str, int], CodeType]:
    """The functions that a module or class defines, by name and line."""
    found = {}
    for part in code.co_consts:
        if isinstance(part, CodeType):
            found[part.co_qualname, part.co_firstlineno] = part
            found |= _codes(part)
    return found


def try_inside(mutant: Mutant, functions: Functions, items: dict[str, pytest.Item], tests: Tests) -> str:
    """The test that kills a mutant, or nothing."""
    swap_code(mutant, functions)
    for name, seconds in tests:
        signal.setitimer(signal.ITIMER_PROF, 2 + LIMIT * seconds)
        draw_few(items[name], EXAMPLES)
        if not is_green(items[name]):
            return name
    return ""


def try_outside(mutant: Mutant, tests: Tests) -> str:
    """The same for a mutant outside of functions, in a process that has not imported the package."""
    path, read = str(ROOT / mutant.path), importlib.machinery.SourceFileLoader.get_code

    def get_code(loader: importlib.machinery.SourceFileLoader, fullname: str) -> CodeType | None:
        if loader.path == path:
            return compile(mutant.source, path, "exec")
        return read(loader, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]
    if not tests:
        return ""
    signal.setitimer(signal.ITIMER_PROF, 60 + LIMIT * sum(seconds for _, seconds in tests))
    names = [name for name, _ in tests]
    return "" if pytest.main([*PYTEST, "-x", *names], plugins=[Few()]) == 0 else names[0].split("::")[0]


class Few:
    """Has the tests of a session draw few examples."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Once they are there."""
        for item in items:
            draw_few(item, EXAMPLES)


class Session:
    """Collects the tests once and tries mutants in forks of this process, instead of running the tests."""

    def __init__(self, mutants: list[Mutant], excused: Set[Mutant], jobs: int, log: Callable[..., None]) -> None:
        self.mutants, self.excused, self.jobs, self.log = mutants, excused, jobs, log

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Find out what each test reaches, then try the mutants inside of functions."""
        for path in sources():  # before the forks: what is imported later could not be changed
            importlib.import_module(f"safear.{path.parent.name}.{path.stem}")
        items, functions = {item.nodeid: item for item in session.items}, index_functions()
        gc.freeze()  # or each fork would copy what the collector looks at
        reaches = find_reaches(items, self.jobs)
        chosen = {
            mutant: choose_tests(mutant, reaches, is_excused=mutant in self.excused)
            for mutant in self.mutants
            if not mutant.is_outside
        }
        tasks = (
            (mutant, lambda m=mutant, t=tests: (try_inside(m, functions, items, t), m.change))
            for mutant, tests in chosen.items()
        )
        for mutant, answer in fork_all(tasks, self.jobs):
            self.log(mutant, answer, len(chosen[mutant]))
        return True


def find_reaches(items: dict[str, pytest.Item], jobs: int) -> dict[str, Reach]:
    """What each test reaches; kept until a source or a test changes. Slow and red ones are left out."""
    texts = [path.read_bytes() for path in (*sources(), *sorted((ROOT / "tests").rglob("*.py")))]
    stamp, path = hashlib.sha256(b"".join(texts)).hexdigest(), kept("reaches.pickle")
    known: dict[str, Reach | None] = {}
    with contextlib.suppress(OSError, ValueError, EOFError):
        saved, reaches = pickle.loads(path.read_bytes())  # noqa: S301  # we wrote it
        known = reaches if saved == stamp else {}
    unknown = {name: item for name, item in items.items() if name not in known}
    for name, did in fork_all(((name, lambda item=item: reach(item)) for name, item in unknown.items()), jobs):
        known[name] = did
        if did is None:
            print("left out, slow or red uncompiled:", name, flush=True)
    path.write_bytes(pickle.dumps((stamp, known)))
    return {name: did for name, did in known.items() if did is not None and name in items}
