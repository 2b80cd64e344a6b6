"""The same bytes on other processors, with other builds of the core, threads, hash seeds and locales.

Processes stand for machines: NumPy, BLAS and the core can be told which processor to work for.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import safear as sa

OBJECTIVES = ("entropic:0.5", "mean-std:1", "mean-variance:0.3", "cvar:0.9")
SMALL = {
    "menu": ["recommend", "loan", "--json"],
    "objectives": ["recommend", "loan", "--json", *(part for name in OBJECTIVES for part in ("--objective", name))],
    "sensitivity": ["sensitivity", "loan", "--json"],
    "picture": ["plot", "distribution", "loan", "--out", "picture.svg"],
}
# One process for all commands: most of the time is that of loading.
RUN = """
import json, sys
from safear.cli.main import main
for args in json.load(sys.stdin):
    sys.argv = ["safear", *args]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (args, end.code)
"""
OLDER = {
    "OPENBLAS_CORETYPE": "Nehalem",
    "OPENBLAS_NUM_THREADS": "1",
    "SAFEAR_CORE": "baseline",
    "PYTHONHASHSEED": "77",
    "LC_ALL": "C",
    "TZ": "Asia/Tokyo",
}


def without_vectors() -> dict[str, str]:
    """What keeps NumPy from using whatever this processor has besides what all of its kind have."""
    is_old = np.lib.NumpyVersion(np.__version__) < "2.0.0"
    known = import_module(f"numpy.{'core' if is_old else '_core'}._multiarray_umath")
    some = [name for name in known.__cpu_dispatch__ if known.__cpu_features__.get(name)]
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(some)} if some else {}


def write_people(path: Path) -> None:
    """More of them than are told apart, in two towns."""
    rng, problem = np.random.default_rng(5), sa.load_example("loan")
    people = {feature.name: rng.choice(feature.levels, 300) for feature in problem.shown_features}
    pd.DataFrame(people | {"town": rng.choice(["Ulm", "Bonn"], 300)}).to_csv(path, index=False)


def list_large(*, threads: int) -> Iterator[list[str]]:
    """An audit with its intervals and gaps, and a batch, in compiled loops."""
    audit = ["audit", "loan", "people.csv", "--group", "town", "--minimum", "5"]
    yield [*audit, "--objective", "mean-std:1", "--method", "greedy", "--json"]
    yield ["batch", "loan", "people.csv", "--objective", "mean", "--out", "batch", "--threads", str(threads)]


def run(folder: Path, commands: Iterable[list[str]], **surroundings: str) -> dict[str, str]:
    """What all commands print and write, by name."""
    folder.mkdir()
    write_people(folder / "people.csv")
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(list(commands)),
        env=os.environ | surroundings,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return {"printed": done.stdout} | {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


@pytest.mark.parametrize("command", SMALL)
def test_a_small_problem_on_another_processor(command: str, tmp_path: Path) -> None:
    here = run(tmp_path / "here", [SMALL[command]])
    there = run(tmp_path / "there", [SMALL[command]], **OLDER, **without_vectors())
    assert there == here


@pytest.fixture(scope="module")
def audit_here(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An audit and a batch, as this processor does them with many threads."""
    return run(tmp_path_factory.mktemp("audit") / "here", list_large(threads=4))


def test_an_audit_on_another_processor(audit_here: dict[str, str], tmp_path: Path) -> None:
    assert run(tmp_path / "there", list_large(threads=1), **OLDER, **without_vectors()) == audit_here


def test_the_sources_of_the_core_compiled_or_not(tmp_path: Path) -> None:
    """What is compiled does what the sources say, which plain Python runs as well."""
    command = ["recommend", "loan", "--objective", "mean-std:1", "--objective", "cvar:0.9", "--json"]
    compiled, plain = (run(tmp_path / build, [command], SAFEAR_CORE=build) for build in ("baseline", "python"))
    assert plain == compiled
