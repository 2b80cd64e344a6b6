"""Whole batches: everybody's rows are what `recommend` and `menu` say, however they were made and interrupted."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import safear as sa
from crowds import (
    JOB,
    assert_rows,
    bytes_of,
    expect,
    job_people,
    job_somebody,
    part_bytes,
    read_parts,
    records,
)
from ladders import CLIMB
from limits import leave_memory
from parts.people.test_counts import write_csv
from safear.errors import ClassifierError, InputError, ObjectiveError, PersonError, TooLargeError
from safear.risk import Objective

PROBLEM = sa.parse_problem(JOB)
PATIENCE = 60.0


@pytest.fixture
def people(tmp_path: Path) -> pd.DataFrame:
    """Forty people, in people.csv; the sixth has no recourse."""
    frame = job_people(40)
    frame.loc[5, "skill"], frame.loc[5, "chance:study"] = "basic", 0
    frame.loc[5, "forbid:learn"] = frame.loc[5, "forbid:gamble"] = True
    frame.to_csv(tmp_path / "people.csv", index=False)
    return frame


@pytest.mark.parametrize("personal_data", [True, False])
@pytest.mark.parametrize(
    "objective, method", [(sa.MeanStd(0.5), "greedy"), (sa.CVaR(0.9), None), (None, None)], ids=str
)
def test_whole_plans_are_those_that_save_plan_writes(
    objective: Objective | None, method: Any, personal_data: bool, people: pd.DataFrame, tmp_path: Path
) -> None:
    """One column with the text of each plan's file, empty where there is no plan."""
    sa.batch(
        PROBLEM,
        None,
        tmp_path / "people.csv",
        out=tmp_path / "out",
        objective=objective,
        method=method,
        plans=True,
        personal_data=personal_data,
    )
    rows = read_parts(tmp_path / "out")
    assert rows["saved_plan"].isna().tolist() == rows["plan"].isna().tolist()
    seen = 0
    for number, row in enumerate(records(people)):
        somebody = job_somebody(row)
        asked = None if objective is None else [objective]
        options: Any = {"method": method, "terms": somebody.own.terms}
        menu = sa.recommend(PROBLEM, None, somebody.levels, objectives=asked, **options)
        texts = rows.loc[rows["row"] == number + 1, "saved_plan"].dropna().tolist()
        assert texts == [sa.SavedPlan.of(offer, personal_data=personal_data).text for offer in menu]
        assert [sa.SavedPlan.read(text).first_action for text in texts] == [offer.first_action for offer in menu]
        seen += len(texts)
    assert seen > 20


def test_menus_are_simple_unless_the_best_plans_are_asked_for(tmp_path: Path) -> None:
    """As those of `recommend` are."""
    problem = sa.parse_problem(CLIMB)
    pd.DataFrame([{"place": "rung 0"}]).to_csv(tmp_path / "people.csv", index=False)
    found = {}
    for exact in (False, True):
        out = tmp_path / str(exact)
        sa.batch(problem, None, tmp_path / "people.csv", out=out, exact=exact)
        menu, rows = sa.recommend(problem, exact=exact), read_parts(out)
        found[exact] = rows["mean"].tolist()
        assert rows["plan"].tolist() == [offer.name for offer in menu]
        assert found[exact] == pytest.approx([offer.cost.mean for offer in menu])
    assert found[True] != found[False]
    with pytest.raises(InputError):
        sa.batch(problem, None, tmp_path / "people.csv", out=tmp_path / "True")


@pytest.mark.parametrize("option", ["plans", "reasons"])
def test_a_folder_without_plans_is_not_continued_with_them(option: str, people: pd.DataFrame, tmp_path: Path) -> None:
    """Nor one with them without; so it is with reasons."""
    del people
    for given in (False, True):
        asked: dict[str, Any] = {"out": tmp_path / str(given), "objective": sa.Mean(), "part_size": 16_384}
        sa.batch(PROBLEM, None, tmp_path / "people.csv", **asked | {option: given})
        with pytest.raises(InputError, match=f"not the same '{option}'"):
            sa.batch(PROBLEM, None, tmp_path / "people.csv", **asked | {option: not given})


@pytest.mark.parametrize(
    "objective, method, level",
    [(sa.MeanStd(0.5), "greedy", 0.95), (sa.Mean(), None, 0.8), (sa.CVaR(0.9), "optimal", 0.95), (None, None, 0.9)],
    ids=str,
)
def test_everybody_gets_what_they_get_alone(
    objective: Objective | None, method: Any, level: float, people: pd.DataFrame, tmp_path: Path
) -> None:
    expected = [expect(PROBLEM, job_somebody(row), objective, method=method, level=level) for row in records(people)]
    calls: list[tuple[int, int]] = []
    summary = sa.batch(
        PROBLEM,
        None,
        str(tmp_path / "people.csv"),
        out=str(tmp_path / "out"),
        objective=objective,
        method=method,
        level=level,
        reasons=True,
        keep=["id"],
        part_size=7,
        progress=lambda *call: calls.append(call),
    )
    found = read_parts(tmp_path / "out")
    assert_rows(found, [row for own in expected for row in own])
    numbers = [number for number, own in enumerate(expected) for _ in own]
    assert found["row"].tolist() == [number + 1 for number in numbers]
    assert found["id"].tolist() == [str(people["id"][number]) for number in numbers]
    assert set(found["file"]) == {str(tmp_path / "people.csv")}
    decisions = [own[0]["decision"] for own in expected]
    assert asdict(summary) == {
        "people": 40,
        "favourable": decisions.count("favourable"),
        "planned": decisions.count("plan"),
        "without_recourse": decisions.count("no recourse"),
        "giving_up": sum(all(row["gives_up"] for row in own) for own in expected),
        "skipped": 0,
        "parts": 6,
        "resumed": 0,
        "is_unanimous": False,
    }
    assert 0 < summary.favourable < summary.planned
    assert summary.without_recourse > 0
    done = [0, *(people for people, _ in calls)]
    assert sorted(after - before for before, after in pairwise(done)) == [5, 7, 7, 7, 7, 7]  # parts end in any order
    assert [total for _, total in calls] == [40] * 6


@pytest.mark.parametrize("objective, method", [(sa.MeanStd(0.5), "greedy"), (None, None)], ids=["greedy", "menu"])
def test_threads_make_no_difference(
    objective: Objective | None, method: Any, people: pd.DataFrame, tmp_path: Path
) -> None:
    assert len(people) == 40
    for threads in (1, 4):
        sa.batch(
            PROBLEM, None, tmp_path / "people.csv", out=tmp_path / f"on {threads}", objective=objective, method=method,
            part_size=3, threads=threads,
        )  # fmt: skip
    assert len(part_bytes(tmp_path / "on 1")) == 14
    assert bytes_of(tmp_path / "on 4") == bytes_of(tmp_path / "on 1")


def test_a_glob_of_files_and_bad_rows(tmp_path: Path) -> None:
    frame = job_people(30)
    frame["age"] = frame["age"].astype(str)
    frame["chance:study"] = frame["chance:study"].map(lambda chance: "" if np.isnan(chance) else str(chance))
    frame.loc[[3, 17], "age"] = "old"
    frame.loc[20, "chance:study"] = "1.5"
    for number in range(3):
        frame.iloc[number * 10 : number * 10 + 10].to_csv(tmp_path / f"{number}.csv", index=False)
    with pytest.raises(PersonError, match=r"0\.csv: row 4\.age: 'old' is neither a number nor a level"):
        sa.batch(PROBLEM, None, tmp_path / "*.csv", out=tmp_path / "out", objective=sa.Mean())
    assert not (tmp_path / "out").exists()
    summary = sa.batch(
        PROBLEM, None, tmp_path / "?.csv", out=tmp_path / "out", objective=sa.Mean(), part_size=9, keep=["id"],
        skip_bad=tmp_path / "bad rows",
    )  # fmt: skip
    assert (summary.people, summary.skipped, summary.parts) == (27, 3, 3)
    found = read_parts(tmp_path / "out")
    kept = [i for i in range(30) if i not in {3, 17, 20}]
    assert found["id"].tolist() == frame["id"][kept].astype(str).tolist()
    assert found["row"].tolist() == [i % 10 + 1 for i in kept]
    # Asked again, the bad rows are found and set aside again.
    again = sa.batch(
        PROBLEM, None, tmp_path / "?.csv", out=tmp_path / "out", objective=sa.Mean(), part_size=9, keep=["id"],
        skip_bad=tmp_path / "bad rows",
    )  # fmt: skip
    assert again == replace(summary, resumed=3)


def test_everybody_is_set_aside(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "p.csv", {"skill": ["x", "y"], "age": [1, 2], "gender": ["male", "male"]})
    with pytest.raises(PersonError) as error:
        sa.batch(PROBLEM, None, path, out=tmp_path / "out", skip_bad=tmp_path / "bad")
    assert str(error.value) == f"none of the 2 rows can be used\n    {tmp_path / 'bad'} says why"
    assert len((tmp_path / "bad").read_text(encoding="utf-8").splitlines()) == 3
    assert not (tmp_path / "out").exists()


def test_only_people_who_are_alike_in_everything_get_the_same(tmp_path: Path) -> None:
    columns = {"skill": ["basic"] * 4, "age": [20] * 4, "gender": ["male"] * 4, "cost:study": [1, 2, 1, ""]}
    path = write_csv(tmp_path / "p.csv", columns)
    sa.batch(PROBLEM, None, path, out=tmp_path / "out", objective=sa.CVaR(0.9))
    found = pd.read_parquet(tmp_path / "out")
    assert found["row"].tolist() == [1, 2, 3, 4]
    first, dearer, alike, usual = (row for _, row in found.drop(columns="row").iterrows())
    assert first.equals(alike)
    assert first["mean"] < dearer["mean"] < usual["mean"]


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What is said of one person; with other numbers it is that of other batches."""
    folder = tmp_path_factory.mktemp("one")
    path = write_csv(folder / "p.csv", {"skill": ["basic"], "age": [20], "gender": ["male"]})
    return sa.batch(PROBLEM, None, path, out=folder / "out", objective=sa.Mean())


def test_the_summary_in_words(summary: Any) -> None:
    counts: dict[str, Any] = {"people": 12345, "favourable": 5000, "planned": 7000, "without_recourse": 345}
    summary = replace(summary, **counts, giving_up=8, skipped=6, parts=7, resumed=0)
    assert str(summary) == "12,345 people: 5000 accepted, 7000 with a plan, 345 without recourse"
    assert summary.to_frame().to_dict("records") == [asdict(summary)]
    assert "12345" in summary._repr_html_()


@pytest.mark.parametrize(
    "people, favourable, without_recourse, expected",
    [(3, 3, 0, True), (3, 0, 3, True), (3, 0, 2, False), (3, 1, 2, False), (3, 0, 0, False), (1, 1, 0, False)],
)
def test_whether_everybody_gets_the_same_answer(
    people: int, favourable: int, without_recourse: int, expected: bool, summary: Any
) -> None:
    """Those who are rejected and have plans see that the model answers otherwise elsewhere."""
    counts = {"people": people, "favourable": favourable, "without_recourse": without_recourse}
    found = replace(summary, **counts, planned=people - favourable - without_recourse)
    assert found.is_unanimous is expected


# ------------------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    "options, told",
    [
        ({"part_size": 0}, "part_size: 0 is not a whole number from 1 to 1,000,000"),
        ({"part_size": 1_000_001}, "part_size: 1000001 is not a whole number from 1 to 1,000,000"),
        ({"part_size": 2.0}, "part_size: 2.0 is not a whole number from 1 to 1,000,000"),
        ({"threads": 0}, "threads: 0 is not a whole number from 1 to 1,024"),
        ({"level": 1.5}, "level: 1.5 is not between 0 and 1\n    0.95 is the worst 5%"),
        ({"method": "greedy"}, "a method is given, but no objective\n    give one, such as mean-std:0.5"),
        (
            {"objective": sa.Mean(), "method": "episodic"},
            "batches have no method 'episodic'\n    use 'optimal' or 'greedy'",
        ),
        (
            {"objective": sa.Mean(), "method": "best"},
            "method 'best' is not known\n    possible: 'optimal', 'greedy', 'episodic'",
        ),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], told: str, people: pd.DataFrame, tmp_path: Path) -> None:
    assert len(people)
    with pytest.raises(ObjectiveError) as error:
        sa.batch(PROBLEM, None, tmp_path / "people.csv", out=tmp_path / "out", **options)
    assert str(error.value) == told
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "objective, method",
    [
        ("mean", None),
        ("mean", "greedy"),
        (3, None),
        (sa.CVaR(0.9), "greedy"),
        (sa.MeanLowerStd(0.5), "optimal"),
        (sa.SuccessFirst(sa.MeanLowerStd(0.5)), None),
    ],
)
def test_objectives_that_are_refused(objective: Any, method: Any, people: pd.DataFrame, tmp_path: Path) -> None:
    """Before anything is written, and whoever the people are: what cannot be solved for one is not for all."""
    assert len(people)
    with pytest.raises(ObjectiveError):
        sa.batch(PROBLEM, None, tmp_path / "people.csv", out=tmp_path / "out", objective=objective, method=method)
    assert not (tmp_path / "out").exists()


def test_parts_that_do_not_fit_into_memory(
    people: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(people)
    leave_memory(10**7, monkeypatch)
    with pytest.raises(TooLargeError) as error:
        sa.batch(PROBLEM, None, tmp_path / "people.csv", out=tmp_path / "out", objective=sa.Mean(), threads=2)
    told = str(error.value)
    assert told.startswith("parts of 16,384 people on 2 threads would need about ")
    assert told.endswith("    make the parts smaller: part_size, --part-size")
    sa.batch(PROBLEM, None, tmp_path / "people.csv", out=tmp_path / "out", objective=sa.Mean(), part_size=20, threads=1)


def test_a_classifier_that_fails_is_told_before_anything_is_written(people: pd.DataFrame, tmp_path: Path) -> None:
    assert len(people)

    def decide(_: pd.DataFrame) -> Any:
        raise RuntimeError("the model is on holiday")

    with pytest.raises(ClassifierError, match="the classifier failed: RuntimeError: the model is on holiday"):
        sa.batch(PROBLEM, decide, tmp_path / "people.csv", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("objective, method", [(sa.MeanStd(0.5), "greedy"), (None, None)], ids=["greedy", "menu"])
def test_somebody_who_cannot_be_solved_is_named(objective: Objective | None, method: Any, tmp_path: Path) -> None:
    """Costs that cannot be added up exactly: one of millions of rows, and its number is what one needs to know."""
    columns = {"skill": ["basic"] * 3, "age": [20] * 3, "gender": ["male"] * 3}
    path = write_csv(tmp_path / "p.csv", {**columns, "cost:learn": ["", "1e-15", ""], "cost:study": ["", "1e15", ""]})
    with pytest.raises(sa.InputError) as error:
        sa.batch(PROBLEM, None, path, out=tmp_path / "out", objective=objective, method=method)
    assert f"{path}: row 2" in str(error.value)


# ------------------------------------------------------------------------------------------------- a run that is killed


def test_killed_and_asked_again(tmp_path: Path) -> None:
    """SIGKILL in the middle; the parts that come out are the bytes of a run that nobody disturbed."""
    (tmp_path / "job.yaml").write_text(JOB, encoding="utf-8")
    job_people(100, seed=3).to_csv(tmp_path / "people.csv", index=False)
    options = ["job.yaml", "people.csv", "--part-size", "4", "--keep", "id", "--threads", "2"]
    command = [sys.executable, "-m", "safear", "batch", *options, "--out", "out"]
    out, parts = tmp_path / "out", 25
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        end = time.monotonic() + PATIENCE
        while len(list(out.glob("part-*"))) < 4:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.005)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    there = len(list(out.glob("part-*")))
    assert 4 <= there < parts
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert f"25 parts in out, {there} of them from before" in done.stdout
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        sa.batch(PROBLEM, None, "people.csv", out="undisturbed", keep=["id"], part_size=4)
    assert bytes_of(out) == bytes_of(tmp_path / "undisturbed")
