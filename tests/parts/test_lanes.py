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
from lanes import ALL, CASE, CHECK, LANES, TEST, choose_cases, find_lane, scaled


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
    costs = {"tests/promises/t.py::a[1]": 2.0, "tests/exact/t.py::a[2]": 1.5, "tests/parts/t.py::b": 1.0}
    dear = {"tests/promises/t.py::c": CASE + 0.1}
    more = {"tests/promises/t.py::a[3]": 1.0} | dear
    chosen = choose_cases([*costs, *more], costs | more)
    assert chosen == {"tests/promises/t.py::a[3]", "tests/exact/t.py::a[2]"}
    assert find_lane(item("tests/exact/t.py::a[2]"), costs, chosen) is TEST


def test_a_case_that_is_not_noted_is_the_cheapest() -> None:
    one, other = (f"tests/promises/t.py::a[{case}]" for case in (1, 2))
    assert choose_cases([one, other], {other: 3.0}) == {one}


def test_files_with_a_target_of_their_own_wait_for_the_last_lane() -> None:
    names = [f"{path}::a" for path in lanes.APART]
    assert [find_lane(item(name), {}, choose_cases(names, {})) for name in names] == [ALL] * len(names)
    assert all((Path(__file__).parents[2] / path).exists() for path in lanes.APART)


def test_all_cases_of_formulas_are_kept() -> None:
    costs = {f"tests/exact/solvers/t.py::a[{case}]": 1.0 + case for case in range(3)}
    assert choose_cases(costs, costs) == set(costs)


@pytest.mark.parametrize(
    ("lane", "shares"), [(CHECK, (2, 2, 5, 1)), (TEST, (8, 10, 25, 3)), (ALL, (8, 40, 100, 12))], ids=str
)
def test_a_lane_draws_its_share(lane: lanes.Lane, shares: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "_lane", lane)
    assert (scaled(8), scaled(40), scaled(100), scaled(12, least=1)) == shares


BUSY = """
from hypothesis import given, strategies as st
from lanes import measure_pace
runs = []

def work():
    for _ in range(70):
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
"""


@pytest.fixture
def run_busy(tmp_path: Path) -> Callable[..., str]:
    """Run tests of another folder in a lane, with the settings of this project."""
    (tmp_path / "conftest.py").write_text("import lanes\nfrom lanes import *\nlanes.LEAST = 0.15\n")
    ours = str(Path(__file__).parents[2] / "pyproject.toml")
    settings = ["-c", ours, "--confcutdir", str(tmp_path), "--rootdir", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(lanes.__file__).parent), "COLUMNS": "300"}

    def run(*options: str, examples: int) -> str:
        (tmp_path / "test_busy.py").write_text(BUSY.replace("EXAMPLES", str(examples)))
        command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", *settings, *options]
        ended = subprocess.run(
            [*command, "test_busy.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        return f"{ended.stdout}{ended.stderr}\n{ended.returncode}"

    return run


def test_a_run_fails_if_a_test_outgrows_its_lane(run_busy: Callable[..., str]) -> None:
    """Only if it does so twice."""
    out = run_busy("--lane", "check", "--deselect", "test_busy.py::test_false", examples=CHECK.examples)
    assert re.findall(r"test_busy.py::(\S+) took \S+ CPU seconds twice; its lane allows 0.15\n", out) == ["test_dear"]
    assert "4 passed" in out
    assert out.endswith("\n1")


def test_what_fails_shows_its_values(run_busy: Callable[..., str]) -> None:
    assert "value=50" in run_busy("--lane", "all", examples=0)


def test_a_run_has_its_own_pace() -> None:
    """If enough tests tell it, and none that is faster than what is noted."""
    noted = {str(number): 0.2 for number in range(lanes.MANY)}
    assert lanes.find_pace(dict.fromkeys(noted, 0.8) | {"0": 40.0, "other": 40.0}, noted) == pytest.approx(4)
    assert lanes.find_pace(dict.fromkeys(noted, 0.1), noted) == 1


def test_nothing_fails_for_its_cost_where_there_are_no_limits(run_busy: Callable[..., str]) -> None:
    out = run_busy(
        "--lane", "test", "--no-limits", "--examples", "7", "--deselect", "test_busy.py::test_false", examples=6
    )
    assert "4 passed" in out


def test_the_rest_is_what_draws_more_examples(run_busy: Callable[..., str]) -> None:
    out = run_busy("--lane", "all", "--rest", examples=0)
    assert [line for line in out.splitlines() if line.startswith("PASSED")] == ["PASSED test_busy.py::test_drawn"]


def test_each_lane_holds_what_the_one_before_holds() -> None:
    assert [lane.limit for lane in LANES] == sorted(lane.limit for lane in LANES)
