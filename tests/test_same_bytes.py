"""The same bytes on other processors, with other caches, threads, hash seeds and locales; and with Numba or without.

Processes stand for machines: NumPy, BLAS and Numba can be told which processor to work for.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
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
from recourse.ladders import ladders
from safear import loading
from safear.recourse.records import MenuRecord
from strategies import problems
from without_numba import without_numba

OBJECTIVES = ("entropic:0.5", "mean-std:1", "mean-variance:0.3", "cvar:0.9")
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


def list_small() -> Iterator[list[str]]:
    """Menus, a sensitivity analysis and a picture of a problem that is solved before Numba is loaded."""
    yield ["recommend", "loan", "--json"]
    yield ["recommend", "loan", "--json", *(part for name in OBJECTIVES for part in ("--objective", name))]
    yield ["sensitivity", "loan", "--json"]
    yield ["plot", "distribution", "loan", "--out", "picture.svg"]


def list_large(*, threads: int) -> Iterator[list[str]]:
    """An audit with its intervals and gaps, and a batch, in compiled loops."""
    audit = ["audit", "loan", "people.csv", "--group", "town", "--minimum", "5"]
    yield [*audit, "--objective", "mean-std:1", "--method", "greedy", "--json"]
    yield ["batch", "loan", "people.csv", "--objective", "mean", "--out", "batch", "--threads", str(threads)]


def run(folder: Path, commands: Iterator[list[str]], **surroundings: str) -> dict[str, str]:
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


@pytest.mark.slow
def test_a_small_problem_on_another_processor(tmp_path: Path) -> None:
    here, there = (
        run(tmp_path / "here", list_small()),
        run(tmp_path / "there", list_small(), **OLDER, **without_vectors()),
    )
    assert there == here


@pytest.mark.slow
def test_an_audit_with_an_empty_cache_and_code_for_any_processor(tmp_path: Path) -> None:
    """And a batch, with as many threads as there may be."""
    pytest.importorskip("duckdb")
    cold = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    here = run(tmp_path / "here", list_large(threads=4))
    there = run(tmp_path / "there", list_large(threads=1), **OLDER, **without_vectors(), **cold)
    assert "batch/_batch.json" in here
    assert there == here


@settings(max_examples=60)
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
    with without_numba(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "PATIENCE", float("inf"))
        assert tell(problem, exact=exact, objective=objective) == compiled


def tell(problem: sa.Problem, *, exact: bool, objective: str | None) -> str:
    return MenuRecord.of(sa.recommend(problem, exact=exact, objectives=objective)).model_dump_json(indent=1)
