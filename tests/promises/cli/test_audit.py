"""`safear audit`: groups of people, for people and for programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

import safear as sa
from crowds import UNDECIDED
from english import english_in
from page_html import Node, read_page
from promises.cli.conftest import Safear
from safear.datasets import load
from safear.reports import report_audit

RULE = "skill == 'expert' or (skill == 'skilled' and gender == 'male')"
FUNCTION = f"def decide(frame):\n    return frame.eval({RULE!r})\n"
TABLE = "skill,age,gender,decision\n" + "".join(
    f"{skill},{age},{gender},{'hired' if skill == 'expert' or (skill, gender) == ('skilled', 'male') else 'no'}\n"
    for skill in ("basic", "skilled", "expert")
    for age in ("<30", "30-50", ">=50")
    for gender in ("female", "male")
)
OPTIONS = ["--classifier", "lending.py:decide", "--group", "gender"]


@cache
def make_people() -> pd.DataFrame:
    rng = np.random.default_rng(11)
    return pd.DataFrame(
        {
            "skill": rng.choice(["basic", "skilled", "expert"], 400),
            "age": rng.integers(18, 70, 400),
            "gender": rng.choice(["female", "male"], 400),
            "town": rng.choice(["Ulm", "Bonn"], 400),
        }
    )


@pytest.fixture
def job(tmp_path: Path) -> list[str]:
    """A problem file with people and classifiers beside it."""
    for name, text in {"job.yaml": UNDECIDED, "lending.py": FUNCTION, "table.csv": TABLE}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    make_people().to_csv(tmp_path / "people.csv", index=False)
    return ["job.yaml", "people.csv", *OPTIONS]


def record(safear: Safear, *arguments: object) -> dict[str, Any]:
    answer = safear("audit", *arguments, "--json")
    assert (answer.code, answer.err) == (0, "")
    return answer.json


def json_row(row: pd.Series) -> dict[str, Any]:
    return {str(name).replace(" ", "_"): value for name, value in row.items()}


def assert_same(found: dict[str, Any], expected: sa.Audit) -> None:
    """All that the library finds; names have no spaces, and a row of a table also names its group."""
    groups = list(expected.population.groups)
    assert found["objective"] == str(expected.objective)
    assert found["level"] == expected.level
    assert (found["people"], found["skipped"]) == (expected.population.rows, expected.population.skipped)
    assert found["overall"] == {"group": "everybody"} | json_row(expected.overall)
    combined = [groups] if len(groups) > 1 else []
    assert list(found["groups"]) == [" × ".join(by) for by in [*([name] for name in groups), *combined]]
    for by in [*([name] for name in groups), *combined]:
        tables = found["groups"][" × ".join(by)]
        assert tables["difference"] == expected.difference(by).to_dict()
        assert tables["ratio"] == expected.ratio(by).to_dict()
        assert tables["intervals"] == expected.intervals(by).to_dict("records")
        assert tables["tests"] == expected.tests(by).rename(columns={"p (Holm)": "p_holm"}).to_dict("records")
        table = expected.table(by)
        assert len(tables["table"]) == len(table)
        for row, (key, wanted) in zip(tables["table"], table.iterrows(), strict=True):
            names = [key] if isinstance(key, str) else list(key)  # type: ignore[call-overload]  # texts in a tuple
            assert row == {"group": " × ".join(names)} | json_row(wanted)
    assert found["decompositions"] == {
        name: [asdict(part) for part in expected.decompose(name)] for name in groups if expected.can_decompose(name)
    }


def library(people: Any, groups: list[str], **options: Any) -> sa.Audit:
    problem = sa.load_problem("job.yaml")
    return sa.audit(problem, sa.load_classifier("table.csv", problem), people, groups=groups, **options)


# ------------------------------------------------------------------------------------------------------ the data sets


@cache
def german_by_gender() -> sa.Audit:
    german = load("german")
    return sa.audit(german.problem, german.classifier(0), german.levels, groups=["gender"])


def test_german_by_gender(safear: Safear) -> None:
    answer = safear("audit", "german", "--group", "gender")
    assert (answer.code, answer.err) == (0, "")
    page = report_audit(german_by_gender())
    told = " ".join(answer.out.split())
    assert answer.out.startswith("German Credit\n")
    assert all(words in told for words in page.summary)
    tables = {table.find("caption")[0].text: table for table in read_page(page.html).find("table")}
    shown = [table for caption, table in tables.items() if caption in told and "gender" in caption]
    assert len(shown) == 4
    for row in (row for table in shown for row in table.find("tbody")[0].find("tr")):
        assert " ".join(figure(cell) for cell in row.walk() if cell.tag in {"th", "td"}) in told


def figure(cell: Node) -> str:
    """The text of a cell without what is in small type below it."""
    first = cell.children[0]
    return first if isinstance(first, str) else first.text


def test_bad_rows_never_overwrite_anything_else(safear: Safear, tmp_path: Path) -> None:
    for name in ("mine.csv", "nowhere/bad.csv"):
        if "/" not in name:
            (tmp_path / name).write_text("my own table\n", encoding="utf-8")
        answer = safear("audit", "german", "--group", "gender", "--skip-bad", name)
        assert answer.code == 2
        assert name in answer.err
    assert (tmp_path / "mine.csv").read_text(encoding="utf-8") == "my own table\n"


def test_german_as_json(safear: Safear) -> None:
    found = record(safear, "german", "--group", "gender")
    assert_same(found, german_by_gender())
    assert found["problem"] == "German Credit"


# -------------------------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize("classifier", ["lending.py:decide", "table.csv"])
def test_people_from_a_csv_file(safear: Safear, job: list[str], classifier: str) -> None:
    groups = ["--group", "gender", "--group", "town"]
    found = record(safear, *job[:2], "--classifier", classifier, *groups)
    assert_same(found, library(make_people(), ["gender", "town"]))
    assert found["overall"]["n"] == 400
    hired: Any = make_people().eval(RULE)
    assert found["overall"]["rejected"] == 400 - hired.sum()


def test_parquet_and_globs(safear: Safear, job: list[str], tmp_path: Path) -> None:
    from_csv = record(safear, *job)
    make_people().to_parquet(tmp_path / "all.parquet")
    assert record(safear, job[0], "all.parquet", *OPTIONS) == from_csv
    (tmp_path / "parts").mkdir()
    for number in range(4):
        make_people()[number::4].to_parquet(tmp_path / "parts" / f"{number}.parquet")
    assert record(safear, job[0], "parts/*.parquet", *OPTIONS) == from_csv
    assert record(safear, job[0], "parts/[01].parquet", *OPTIONS)["people"] == 200
    assert from_csv["people"] == 400


def test_what_the_options_change(safear: Safear, job: list[str]) -> None:
    short = record(
        safear, *job, "--horizon", 2, "--level", 0.8, "--minimum", 150, "--seed", 3, "--objective", "cvar:0.9"
    )
    problem = sa.load_problem("job.yaml").with_horizon(2)
    decider = sa.load_classifier("table.csv", problem)
    wanted = {"groups": ["gender"], "objective": sa.CVaR(0.9), "level": 0.8, "minimum": 150, "seed": 3}
    assert_same(short, sa.audit(problem, decider, make_people(), **wanted))  # type: ignore[arg-type]  # a dictionary
    assert [row["small"] for row in short["groups"]["gender"]["table"]] != [False, False]
    assert record(safear, *job, "--failure-cost", 0)["overall"]["success"] < record(safear, *job)["overall"]["success"]


def test_in_words(safear: Safear, job: list[str], snapshot: SnapshotAssertion) -> None:
    assert safear("audit", *job, "--group", "town").out == snapshot


def test_in_german(safear: Safear, job: list[str], snapshot: SnapshotAssertion) -> None:
    answer = safear("audit", *job, "--language", "de")
    assert (answer.code, answer.err) == (0, "")
    assert english_in(answer.out, sa.load_problem("job.yaml").title) == []
    assert answer.out == snapshot
    assert safear("audit", *job, "--language", "fr").refusal.startswith("there are no texts in the language 'fr'\n")


def test_small_groups_are_marked(safear: Safear, job: list[str]) -> None:
    rejected = library(make_people(), ["gender"]).table("gender")["rejected"].to_dict()
    assert rejected["male"] < rejected["female"]
    told = safear("audit", *job, "--minimum", rejected["female"]).out
    assert "\nmale*  " in told
    assert "\nfemale  " in told
    assert f"* fewer than {rejected['female']} rejected" in told
    assert "largest difference" not in told
    assert "significant" not in told


def test_a_data_set_with_other_people(safear: Safear, tmp_path: Path) -> None:
    load("german").levels[:300].to_csv(tmp_path / "some.csv", index=False)
    assert record(safear, "german", "some.csv", "--group", "gender")["people"] == 300


@pytest.mark.parametrize("name", ["n", "mean", "small", "group", "measure"])
def test_a_group_column_that_is_named_like_a_figure(safear: Safear, job: list[str], name: str, tmp_path: Path) -> None:
    make_people().rename(columns={"town": name}).to_csv(tmp_path / "people.csv", index=False)
    found = record(safear, *job[:4], "--group", name)
    assert found["groups"][name]["difference"] == library(make_people(), ["town"]).difference("town").to_dict()


def test_people_without_a_group_are_not_called_everybody(safear: Safear, job: list[str], tmp_path: Path) -> None:
    make_people().replace({"town": {"Ulm": ""}}).to_csv(tmp_path / "people.csv", index=False)
    answer = safear("audit", *job[:4], "--group", "town")
    assert (answer.code, answer.err) == (0, "")
    rows = [line.split()[0] for line in answer.out.splitlines() if line.strip()]
    assert rows.count("everybody") == rows.count("(missing)") == 2  # who is there, and their figures


# ------------------------------------------------------------------------------------------------------------- mistakes


def test_nobody_is_given(safear: Safear, job: list[str]) -> None:
    assert (
        safear("audit", job[0], *OPTIONS).refusal
        == "there are no people\n    name a CSV or Parquet file, or a glob of them\n"
    )


def test_no_group_column(safear: Safear, job: list[str]) -> None:
    assert "Missing option '--group'" in safear("audit", *job[:4]).refusal


def spoil(tmp_path: Path) -> None:
    people = make_people().astype(str)
    people.loc[[6, 40], "skill"] = ["basics", "expart"]
    people.to_csv(tmp_path / "people.csv", index=False)


def test_bad_rows_set_aside(safear: Safear, job: list[str], tmp_path: Path) -> None:
    spoil(tmp_path)
    answer = safear("audit", *job, "--skip-bad", "bad.csv")
    assert (answer.code, answer.err) == (0, "")
    told = "398 people were read; 2 rows of 400 could not be used and were set aside."
    assert answer.out.splitlines()[1].startswith(told)
    bad = pd.read_csv(tmp_path / "bad.csv")
    assert bad[["file", "row", "column", "value"]].to_numpy().tolist() == [
        ["people.csv", 7, "skill", "basics"],
        ["people.csv", 41, "skill", "expart"],
    ]
    found = record(safear, *job, "--skip-bad", "bad.csv")
    assert (found["people"], found["skipped"], found["overall"]["n"]) == (400, 2, 398)
    clean = record(safear, *job[:1], write_clean(tmp_path), *OPTIONS)
    assert found["groups"] == clean["groups"]


def write_clean(tmp_path: Path) -> str:
    make_people().drop([6, 40]).to_csv(tmp_path / "clean.csv", index=False)
    return "clean.csv"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--objective", "cvra:0.9"], "objective 'cvra:0.9' is not known\n    did you mean 'cvar:0.95'?\n"),
        (["--objective", "cvar"], "objective 'cvar' needs a number"),
        (["--objective", "cvar:0.9", "--method", "greedy"], "'cvar:0.9' needs method 'optimal'\n"),
        (["--level", "nan"], "'nan' is not a number"),
        (["--failure-cost", "inf"], "'inf' is not a number"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_objectives_and_numbers_that_make_no_sense(
    safear: Safear, job: list[str], options: list[str], message: str
) -> None:
    assert message in safear("audit", *job, *options).refusal


@pytest.mark.parametrize(
    ("option", "value"),
    [("--level", "0"), ("--level", "2"), ("--minimum", "0"), ("--horizon", "0"), ("--seed", "-1"), ("--method", "x")],
)
def test_options_out_of_range(safear: Safear, job: list[str], option: str, value: str) -> None:
    assert f"Invalid value for '{option}'" in safear("audit", *job, option, value).refusal


def test_the_program_itself(safear_process: Safear, job: list[str]) -> None:
    """In a process of its own: one JSON object on standard output, nothing else, and no traceback for a mistake."""
    answer = safear_process("audit", *job, "--json")
    assert (answer.code, answer.err) == (0, "")
    assert json.loads(answer.out)["people"] == 400
    assert "Traceback" not in safear_process("audit", *job[:2], "--classifier", "table.csv", "--group", "no").refusal
