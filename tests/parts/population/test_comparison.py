"""Small parts of what is done for many people."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import safear as sa
from doors import NO_RECOURSE, PLANNED, ROUNDING, Engine, Pair, PeopleFigures, compare_filed, gives_up, workers
from doors import PlanFigures as Plan
from promises.population.test_comparison import PROBLEM, compare_people, person
from promises.population.test_workers import PATIENCE, started  # noqa: F401  # a fixture
from promises.test_margins import LEVEL_PEOPLE, LEVELS, PEOPLE, RAW, SETTINGS, asking, score
from safear.people import read_people
from safear.population import Comparison, check_people
from safear.recourse import Desk

# ------------------------------ What is said of all people who are compared: sums by hand, and people as level numbers


def pair_of(count: int, greedy: Plan, optimal: Plan, bound: float = 0.0, best_success: float = 1.0) -> Pair:
    return Pair({}, count, greedy, optimal, bound, best_success)


def test_sums_by_hand() -> None:
    pairs = (
        pair_of(1, Plan(6, 0.9, 5, 9, "try"), Plan(4, 0.8, 3, 7, "pay"), 4, 1.0),  # half as much more; gives up
        pair_of(3, Plan(2, 1.0, 2, 2, "try"), Plan(2, 1.0, 2, 2, "try"), 1.8, 1.0),  # the same; a gap of a tenth
        pair_of(4, Plan(10.0005, 0.5, 1, 4, "try"), Plan(10, 0.5, 1, 4, "pay"), 10, 0.5),  # splitting hairs
        pair_of(2, Plan(5, 1.0, 4, 8, None), Plan(4, 0.96, 3, 6, "pay"), 4, 1.0),  # a quarter more
    )
    found = Comparison(sa.MeanStd(1), pairs, people=20, rejected=13, without_recourse=3)
    assert found.compared == 10
    assert [pair.excess for pair in pairs] == pytest.approx([0.5, 0, 0.00005, 0.25])
    assert found.worse == pytest.approx(0.3)
    assert found.excess == pytest.approx((0.5 + 4 * 0.00005 + 2 * 0.25) / 10)
    assert found.excess_of_worse == pytest.approx((0.5 + 2 * 0.25) / 3)
    assert found.largest_excess == 0.5
    assert found.largest_gap == pytest.approx(0.1)
    assert found.other_first_step == pytest.approx(0.7)
    assert found.gives_up == pytest.approx(0.1)
    assert found.greedy.value == pytest.approx((6 + 6 + 40.002 + 10) / 10)
    assert found.optimal.success == pytest.approx((0.8 + 3 + 2 + 1.92) / 10)
    assert found.greedy.mean == pytest.approx((5 + 6 + 4 + 8) / 10)
    assert found.optimal.cvar == pytest.approx((7 + 6 + 16 + 12) / 10)


def test_nobody_worse_and_nothing_to_pay() -> None:
    free = Plan(0, 1.0, 0, 0, "try")
    same = Comparison(sa.MeanStd(1), (pair_of(2, free, free),), 2, 2, 0)
    assert (same.worse, same.excess, same.excess_of_worse, same.largest_excess, same.largest_gap) == (0, 0, 0, 0, 0)
    dear = Comparison(sa.MeanStd(1), (pair_of(2, Plan(3, 1.0, 3, 3, "try"), free),), 2, 2, 0)
    assert (dear.worse, dear.excess) == (1, 1)


def test_people_as_level_numbers() -> None:
    people = [person("low"), person("mid", "male"), person("goal"), person("low")]
    found = compare_filed(Engine(Desk.of(PROBLEM)), read_people(PROBLEM, people), objective=sa.MeanStd(0.5))
    assert found.pairs == compare_people(people, 0.5).pairs
    assert (found.people, found.rejected) == (4, 3)


# -------------------------------------- Figures of many people as a table: which are the same figure, and who gives up


def _rankable(values: list[float]) -> list[float]:
    people = PeopleFigures.unknown(len(values), ("success", "mean"))
    people.figures[:, 1] = values
    return list(people.rankable[:, 1])


def test_what_differs_by_rounding_is_equal_for_ranks_but_chains_are_not() -> None:
    """A hundred figures, each 0.9e-12 from the next: pairs of neighbours are equal, not all of them."""
    chain = [5e-12 + 0.9e-12 * i for i in range(100)]
    assert _rankable([*reversed(chain), 2.0, 2.0 + 1e-15]) == [*reversed(np.repeat(chain[::2], 2)), 2.0, 2.0]
    assert _rankable([3e6, 3e6 + 2e-6, 3e6 + 4e-6]) == [3e6, 3e6, 3e6 + 4e-6]
    assert _rankable([1.0, 1.0 + 1e-11]) == [1.0, 1.0 + 1e-11]


@given(st.lists(st.floats(0, 1e-10) | st.floats(0, 10), max_size=40))
def test_figures_for_ranks_are_close_and_in_order(values: list[float]) -> None:
    found = np.array(_rankable(values))
    assert (np.abs(found - values) <= ROUNDING * np.maximum(1, found)).all()
    order = np.argsort(values, kind="stable")
    steps = np.diff(found[order])
    assert ((steps == 0) | (steps > ROUNDING)).all()


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=8))
def test_who_gives_up_as_one_by_one(chances: list[tuple[float, float]]) -> None:
    people = PeopleFigures.unknown(len(chances) + 1, ("success", "best_success"))
    for number, pair in enumerate(chances):
        people.figures[number], people.decision[number] = pair, PLANNED
    assert people.decision[-1] == NO_RECOURSE
    assert people.gives_up.tolist() == [*(gives_up(*pair) for pair in chances), False]


# --------------------- Plans with a margin and plans for several models: the first model alone decides who is rejected


@pytest.mark.parametrize("problem, people", [(RAW, PEOPLE), (LEVELS, LEVEL_PEOPLE)], ids=["records", "levels"])
@pytest.mark.parametrize("name", SETTINGS)
def test_a_check_counts_whom_the_first_model_rejects(problem: sa.Problem, people: pd.DataFrame, name: str) -> None:
    changes, models, _ = SETTINGS[name]
    assert check_people(asking(problem, changes), models, people).rejected == int((score(people) < 0.5).sum())


# -------------------------- Workers one by one: how they are dismissed, and how they end if nobody tells them anything


def test_nobody_waits_for_a_process_that_does_not_listen(
    tmp_path: Path,
    started: list[Any],  # noqa: F811  # the fixture
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its job is larger than what a pipe holds, so that it is still being sent when the process is dismissed."""
    deaf = tmp_path / "deaf"
    deaf.write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
    deaf.chmod(0o755)
    monkeypatch.setattr(workers, "get_executable", lambda: str(deaf))
    monkeypatch.setattr(workers, "STOP_SECONDS", 0.01)

    class Interrupted(SimpleQueue[Any]):
        def get(self, *_: Any) -> Any:
            raise KeyboardInterrupt

    monkeypatch.setattr(workers, "SimpleQueue", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(workers.Crew(bytes(2**20), 2).solve(iter([])))
    assert [process.returncode for process in started] == [-signal.SIGKILL] * 2


@pytest.mark.parametrize("sent", [b"", pickle.dumps(["/nowhere"])[:-3]])
def test_whoever_starts_a_worker_may_be_killed_at_once(sent: bytes) -> None:
    """It has not been told yet where anything is, and ends without a word."""
    command = [sys.executable, "-P", "-c", workers.BEGIN]
    done = subprocess.run(command, input=sent, capture_output=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
