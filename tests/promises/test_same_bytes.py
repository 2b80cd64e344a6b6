"""The same bytes on other processors, with other caches, threads, hash seeds and locales; and with Numba or without.

Processes stand for machines: NumPy, BLAS and Numba can be told which processor to work for.
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
from typing import Any

import numba  # noqa: F401  # so that compiled loops are used
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from ladders import ladders
from lanes import scaled
from strategies import problems
from without_numba import without_numba

OBJECTIVES = ("entropic:0.5", "mean-std:1", "mean-variance:0.3", "cvar:0.9")
SMALL = {  # of a problem that is solved before Numba is loaded
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
    "NUMBA_NUM_THREADS": "1",
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
        timeout=900,
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
    pytest.importorskip("duckdb")
    return run(tmp_path_factory.mktemp("audit") / "here", list_large(threads=4))


def test_an_audit_on_another_processor(audit_here: dict[str, str], tmp_path: Path) -> None:
    assert run(tmp_path / "there", list_large(threads=1), **OLDER, **without_vectors()) == audit_here


def test_an_audit_with_an_empty_cache_and_code_for_any_processor(audit_here: dict[str, str], tmp_path: Path) -> None:
    """And a batch, with as many threads as there may be."""
    cold = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    there = run(tmp_path / "there", list_large(threads=1), **OLDER, **without_vectors(), **cold)
    assert "batch/_batch.json" in audit_here
    assert there == audit_here


@settings(max_examples=scaled(60))
@given(
    document=st.one_of(problems(), ladders(2, 6)),
    exact=st.booleans(),
    objective=st.none() | st.sampled_from(OBJECTIVES),
)
@pytest.mark.usefixtures("compiled_search")
def test_menus_do_not_hang_on_whether_numba_was_loaded(
    document: dict[str, Any], exact: bool, objective: str | None
) -> None:
    """Plans, figures and distributions, to the last digit."""
    problem = sa.parse_problem(document)
    compiled = tell(problem, exact=exact, objective=objective)
    with without_numba(for_good=True):
        assert tell(problem, exact=exact, objective=objective) == compiled


def tell(problem: sa.Problem, *, exact: bool, objective: str | None) -> str:
    menu = sa.recommend(problem, exact=exact, objectives=objective)
    return sa.reports.report_figures(menu).menu.model_dump_json(indent=1)
