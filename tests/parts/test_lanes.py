"""Lanes: a test runs where its cost puts it, draws its share of examples, and fails when it outgrows its lane."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import lanes
from lanes import ALL, BUDGETS, CASES, CHECK, LANES, TEST, choose_cases, find_lane, scaled


def item(name: str, *, drawn: bool = False) -> Any:
    return SimpleNamespace(nodeid=name, obj=SimpleNamespace(is_hypothesis_test=drawn))


@pytest.mark.parametrize(
    ("cost", "lane"), [(0, CHECK), (CHECK.limit, CHECK), (CHECK.limit + 0.01, TEST), (TEST.limit + 0.01, ALL)]
)
def test_a_test_runs_in_the_first_lane_whose_limit_it_keeps(cost: float, lane: lanes.Lane) -> None:
    assert find_lane(item("a"), {"a": cost}, ()) is lane


def test_a_property_is_as_dear_as_its_examples() -> None:
    costs = {"a": CHECK.limit * TEST.examples / CHECK.examples * 0.99}
    assert [find_lane(item("a", drawn=drawn), costs, ()) for drawn in (True, False)] == [CHECK, ALL]


def test_the_cheapest_case_of_a_promise_is_kept_unless_it_is_too_dear() -> None:
    costs = {"tests/promises/t.py::a[1]": 2.0, "tests/exact/t.py::a[2]": 1.5, "tests/parts/t.py::b[3]": 0.95}
    dear = {f"{place}t.py::c": most + 0.1 for place, most in CASES.items()}
    more = {"tests/promises/t.py::a[3]": 1.0, "tests/parts/t.py::b[4]": 0.9} | dear
    chosen = choose_cases([*costs, *more], costs | more)
    assert chosen == {"tests/promises/t.py::a[3]", "tests/exact/t.py::a[2]", "tests/parts/t.py::b[4]"}
    assert find_lane(item("tests/exact/t.py::a[2]"), costs, chosen) is TEST


def test_a_case_that_is_not_noted_is_the_cheapest() -> None:
    one, other = (f"tests/promises/t.py::a[{case}]" for case in (1, 2))
    assert choose_cases([one, other], {other: 3.0}) == {one}


def test_files_with_a_target_of_their_own_wait_for_the_last_lane() -> None:
    names = [f"{path}::a" for path in lanes.APART]
    assert [find_lane(item(name), {}, choose_cases(names, {})) for name in names] == [ALL] * len(names)
    assert all((Path(__file__).parents[2] / path).exists() for path in lanes.APART)


@pytest.mark.parametrize("place", lanes.WHOLE)
def test_all_cases_of_formulas_and_formats_are_kept(place: str) -> None:
    assert (Path(__file__).parents[2] / place).exists()
    costs = {f"{place}::a[{case}]": 1.0 + case for case in range(3)}
    assert choose_cases(costs, costs) == set(costs)


@pytest.mark.parametrize(
    ("lane", "shares"), [(CHECK, (2, 2, 5, 1)), (TEST, (8, 10, 25, 3)), (ALL, (8, 40, 100, 12))], ids=str
)
def test_a_lane_draws_its_share(lane: lanes.Lane, shares: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "_lane", lane)
    assert (scaled(8), scaled(40), scaled(100), scaled(12, least=1)) == shares


BUSY = """
from hypothesis import given, strategies as st
from lanes import measure_pace, scaled
import pytest
runs = []
rows = range(scaled(1))

@pytest.fixture
def row():
    return rows[0]

def work():
    for _ in range(80):
        measure_pace()

def test_dear():
    work()

def test_dear_the_first_time():
    if not runs:
        work()
    runs.append(1)

@given(st.integers())
def test_drawn(number):
    runs.append(number)

def test_examples():
    assert len(runs) - 2 == EXAMPLES

@given(value=st.integers())
def test_false(value):
    assert value < 50

def test_cases(row):
    rows = list(range(row))

@pytest.mark.parametrize("case", rows)
def test_case(case):
    work = range(1)
"""


@pytest.fixture
def run_busy(tmp_path: Path) -> Callable[..., str]:
    """Run tests of another folder in a lane, with the settings of this project."""
    ours = str(Path(__file__).parents[2] / "pyproject.toml")
    settings = ["-c", ours, "--confcutdir", str(tmp_path), "--rootdir", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(lanes.__file__).parent), "COLUMNS": "300"}

    def run(*options: str, examples: int, budget: float = 60.0) -> str:
        code = f"import lanes\nfrom lanes import *\nlanes.LEAST, lanes.BUDGETS = 0.1, {dict.fromkeys(BUDGETS, budget)}"
        (tmp_path / "conftest.py").write_text(code)
        (tmp_path / "test_busy.py").write_text(BUSY.replace("EXAMPLES", str(examples)))
        command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", *settings, *options]
        ended = subprocess.run(
            [*command, "test_busy.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        return f"{ended.stdout}{ended.stderr}\n{ended.returncode}"

    return run


def test_a_run_fails_if_a_test_outgrows_its_lane(run_busy: Callable[..., str]) -> None:
    """A test only if it does so twice; or all of them their budget."""
    out = run_busy("--lane", "check", "--deselect", "test_busy.py::test_false", examples=CHECK.examples, budget=0.1)
    assert re.findall(r"^all took \S+ CPU seconds; they have 0.1$", out, re.MULTILINE)
    assert re.findall(r"test_busy.py::(\S+) took \S+ CPU seconds twice; it may take 0.1\n", out) == ["test_dear"]
    assert "6 passed" in out
    assert out.endswith("\n1")


def test_what_fails_shows_its_values(run_busy: Callable[..., str]) -> None:
    assert "value=50" in run_busy("--lane", "all", examples=0)


def test_nothing_fails_for_its_cost_where_there_are_no_limits(run_busy: Callable[..., str]) -> None:
    out = run_busy(
        "--lane", "test", "--no-limits", "--examples", "7", "--deselect", "test_busy.py::test_false", examples=6
    )
    assert "6 passed" in out


def test_the_rest_is_what_draws_more_examples(run_busy: Callable[..., str]) -> None:
    out = run_busy("--lane", "all", "--rest", examples=0)
    passed = [f"PASSED test_busy.py::test_{name}" for name in ("drawn", "cases", "case[0]")]
    assert [line for line in out.splitlines() if line.startswith("PASSED")] == passed


def test_each_lane_holds_what_the_one_before_holds() -> None:
    assert [lane.limit for lane in LANES] == sorted(lane.limit for lane in LANES)
