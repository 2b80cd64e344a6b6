"""`safear batch`: plans for everybody in a file, from the command line."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

import safear as sa
from crowds import JOB, bytes_of, job_people, read_parts
from english import english_in
from promises.cli.conftest import Safear
from safear.datasets import load

GREEDY = ["--objective", "mean-std:0.5", "--method", "greedy"]


@pytest.fixture
def job(tmp_path: Path) -> list[str]:
    """A problem file with people beside it."""
    (tmp_path / "job.yaml").write_text(JOB, encoding="utf-8")
    job_people(40).to_csv(tmp_path / "people.csv", index=False)
    return ["job.yaml", "people.csv", "--out", "plans"]


# -------------------------------------------------------------------------------------------------------------- results


def test_the_folder_is_that_of_the_library(safear: Safear, job: list[str], tmp_path: Path) -> None:
    options = [*GREEDY, "--level", "0.9", "--keep", "id", "--keep", "age", "--part-size", "15", "--threads", "2"]
    answer = safear("batch", *job, *options, "--horizon", "3", "--failure-cost", "20")
    assert (answer.code, answer.err) == (0, "")
    problem = sa.parse_problem(JOB.replace("horizon: 4", "horizon: 3").replace("failure_cost: 12", "failure_cost: 20"))
    summary = sa.batch(
        problem, None, "people.csv", out="mine", objective=sa.MeanStd(0.5), method="greedy", level=0.9,
        keep=["id", "age"], part_size=15,
    )  # fmt: skip
    theirs, mine = bytes_of(tmp_path / "plans"), bytes_of(tmp_path / "mine")
    assert json.loads(theirs.pop("_batch.json")) == json.loads(mine.pop("_batch.json"))
    assert theirs == mine
    gives_up = f"{summary.giving_up} have plans that succeed far less often than they could: see gives_up\n"
    assert answer.out == f"{summary}\n3 parts in plans\n{gives_up if summary.giving_up else ''}"


def test_menus_by_default(safear: Safear, job: list[str], tmp_path: Path) -> None:
    assert safear("batch", *job).code == 0
    found = read_parts(tmp_path / "plans")
    assert found["row"].value_counts().max() > 1
    assert {"safest", "cheapest on average"} & set(found["plan"].dropna())


def test_why_there_is_no_plan(safear: Safear, job: list[str], tmp_path: Path) -> None:
    people = job_people(40).assign(**{f"forbid:{action}": True for action in ("learn", "study", "gamble")})
    people.to_csv(tmp_path / "people.csv", index=False)
    assert safear("batch", *job, *GREEDY).code == 0
    assert "reason" not in read_parts(tmp_path / "plans")
    assert "not the same 'reasons'" in safear("batch", *job, *GREEDY, "--reasons", "--part-size", "16384").refusal
    assert safear("batch", *job[:2], *GREEDY, "--reasons", "--out", "why").code == 0
    found = read_parts(tmp_path / "why")
    assert found["reason"].dropna().tolist() == ["no_action"] * (found["decision"] == "no recourse").sum()
    assert 0 < found["reason"].isna().sum() < 40


def test_asked_again(safear: Safear, job: list[str], tmp_path: Path) -> None:
    first = safear("batch", *job, *GREEDY, "--part-size", "10")
    expected = bytes_of(tmp_path / "plans")
    (tmp_path / "plans" / "part-00002.parquet").unlink()
    again = safear("batch", *job, *GREEDY, "--part-size", "10")
    assert (again.code, again.err) == (0, "")
    assert first.out.splitlines()[0] == again.out.splitlines()[0]
    assert first.out.splitlines()[1] == "4 parts in plans"
    assert again.out.splitlines()[1] == "4 parts in plans, 3 of them from before"
    assert bytes_of(tmp_path / "plans") == expected


def test_the_summary_as_json(safear: Safear, job: list[str]) -> None:
    answer = safear("batch", *job, *GREEDY, "--part-size", "10", "--json")
    assert (answer.code, answer.err) == (0, "")
    record = answer.json
    summary = sa.batch(
        sa.parse_problem(JOB), None, "people.csv", out="mine", objective=sa.MeanStd(0.5), method="greedy", part_size=10
    )
    assert record == asdict(summary)
    assert record["people"] == record["favourable"] + record["planned"] + record["without_recourse"] == 40
    assert (record["skipped"], record["parts"], record["resumed"]) == (0, 4, 0)


def test_bad_rows(safear: Safear, job: list[str], tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    people = job_people(40)
    people["cost:learn"] = people["cost:learn"].astype(object)
    people.loc[[2, 4], "cost:learn"] = "-1"
    people.to_csv(tmp_path / "people.csv", index=False)
    assert safear("batch", *job, *GREEDY).refusal == snapshot
    assert not (tmp_path / "plans").exists()
    answer = safear("batch", *job, *GREEDY, "--skip-bad", "bad.csv")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot(name="set aside")
    assert pd.read_csv(tmp_path / "bad.csv")["row"].tolist() == [3, 5]
    german = safear("batch", *job, *GREEDY, "--skip-bad", "bad.csv", "--language", "de").out
    assert german == snapshot(name="de")
    assert english_in(german) == []
    record = safear("batch", *job, *GREEDY, "--skip-bad", "bad.csv", "--json").json
    assert (record["people"], record["skipped"], record["resumed"]) == (38, 2, 1)


def test_a_data_set_with_its_forest(safear: Safear, tmp_path: Path) -> None:
    german = load("german")
    german.levels.head(50).to_parquet(tmp_path / "people.parquet")
    answer = safear("batch", "german", "people.parquet", *GREEDY, "--out", "plans")
    assert (answer.code, answer.err) == (0, "")
    rows = read_parts(tmp_path / "plans")
    assert len(rows) == 50
    classifier = german.classifier(0)
    for number in rows.index[rows["decision"] == "plan"][:3]:
        person = german.levels.iloc[number].to_dict()
        menu = sa.recommend(german.problem, classifier, person, objectives=sa.MeanStd(0.5), method="greedy")
        assert rows["first_action"][number] == menu.offers[0].first_action
        assert rows["overall_mean"][number] == pytest.approx(menu.offers[0].mean, rel=1e-9)


def test_a_function_as_the_classifier(safear: Safear, job: list[str], tmp_path: Path) -> None:
    (tmp_path / "lending.py").write_text("def decide(frame):\n    return frame['age'] == '<30'\n", encoding="utf-8")
    record = safear("batch", *job, *GREEDY, "--classifier", "lending.py:decide", "--json").json
    assert record["favourable"] == int((job_people(40)["age"] < 30).sum())
    assert record["planned"] == 0  # nobody grows younger
    assert record["without_recourse"] == 40 - record["favourable"]


# ------------------------------------------------------------------------------------------------------------ --verbose


def test_verbose_tells_what_is_needed(safear: Safear, job: list[str], tmp_path: Path) -> None:
    quiet = safear("batch", *job, *GREEDY, "--part-size", "10", "--threads", "2")
    (tmp_path / "plans" / "part-00001.parquet").unlink()
    answer = safear("batch", *job, *GREEDY, "--part-size", "10", "--threads", "2", "--verbose")
    assert answer.code == 0
    assert answer.out.splitlines()[0] == quiet.out.splitlines()[0]
    lines = answer.err.splitlines()
    assert re.fullmatch(r"parts of 10 people on 2 threads: about [0-9,.]+ [KMG]iB of memory", lines[0])
    assert "3 of 4 parts already exist" in lines


# ------------------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    "options, told",
    [
        (["--method", "greedy"], "a method is given, but no objective"),
        (["--objective", "mean-sdt:0.5"], "objective 'mean-sdt:0.5' is not known"),
        (["--objective", "mean-std"], "objective 'mean-std' needs a number"),
        (["--objective", "cvar:0.9", "--method", "greedy"], "'cvar:0.9' needs method 'optimal'"),
        (["--objective", "mean", "--method", "episodic"], "Invalid value for '--method'"),
        (["--level", "0"], "Invalid value for '--level'"),
        (["--level", "1.5"], "Invalid value for '--level'"),
        (["--part-size", "0"], "Invalid value for '--part-size'"),
        (["--threads", "0"], "Invalid value for '--threads'"),
        (["--keep", "nobody"], "people.csv: nobody: there is no column 'nobody' for this column to keep"),
        (["--skip-bad", "people.csv"], "people.csv: --skip-bad would replace this file, which is read as PEOPLE"),
        (["--skip-bad", "other.csv"], "other.csv: exists and is not a file of bad rows"),
        (["--scheduler", "nowhere"], "nowhere: there is no Dask scheduler: missing port number in address 'nowhere'"),
        (["--classifier", "no.csv"], "no.csv"),
    ],
)  # fmt: skip
def test_mistakes_are_told_without_a_traceback(
    options: list[str], told: str, safear: Safear, job: list[str], tmp_path: Path
) -> None:
    before = (tmp_path / "people.csv").read_bytes()
    (tmp_path / "other.csv").write_text("a\n1\n", encoding="utf-8")
    assert told in safear("batch", *job, *options).refusal
    assert (tmp_path / "people.csv").read_bytes() == before


def test_arguments_that_are_missing(safear: Safear, job: list[str]) -> None:
    assert "Missing option '--out'" in safear("batch", *job[:2]).refusal
    assert "Missing argument 'PEOPLE'" in safear("batch", job[0], "--out", "plans").refusal
    assert "no such file, and none that matches" in safear("batch", job[0], "nobody.csv", "--out", "plans").refusal


@pytest.mark.parametrize("out", ["people.csv", "no/such", "."])
def test_a_folder_of_no_use(out: str, safear: Safear, job: list[str], tmp_path: Path) -> None:
    before: dict[str, Any] = bytes_of(tmp_path)
    told = safear("batch", *job[:2], *GREEDY, "--out", out).refusal
    assert out in told
    assert bytes_of(tmp_path) == before


# --------------------------------------------------------------------------------------------------------------- --help


def test_the_help_names_every_column(safear: Safear, job: list[str], tmp_path: Path) -> None:
    told = safear("batch", "--help").out
    assert safear("batch", *job, *GREEDY, "--plans", "--reasons").code == 0
    assert [name for name in read_parts(tmp_path / "plans").columns if not re.search(rf"\b{name}\b", told)] == []


def test_in_a_process_of_its_own(safear_process: Safear, job: list[str], tmp_path: Path) -> None:
    answer = safear_process("batch", *job, *GREEDY)
    assert (answer.code, answer.err) == (0, "")
    assert re.fullmatch("1 parts? in plans", answer.out.splitlines()[1])
    assert len(read_parts(tmp_path / "plans")) == 40
