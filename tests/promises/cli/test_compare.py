"""`safear compare`: greedy against optimal, for people and for programs."""

from __future__ import annotations

from dataclasses import asdict, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

import safear as sa
from crowds import UNDECIDED
from english import english_in
from promises.cli.conftest import Safear
from safear.datasets import load

PEOPLE = """\
skill,age,gender
basic,17,female
skilled,30-50,male
expert,64.5,male
basic,29,female
"""
RECORDS = [
    {"skill": "basic", "age": "<30", "gender": "female"},
    {"skill": "skilled", "age": "30-50", "gender": "male"},
    {"skill": "expert", "age": ">=50", "gender": "male"},
    {"skill": "basic", "age": "<30", "gender": "female"},
]
FUNCTION = 'def decide(frame):\n    return frame["skill"] == "expert"\n'
TABLE = "skill,age,gender,decision\n" + "".join(
    f"{skill},{age},{gender},{'hired' if skill == 'expert' else 'no'}\n"
    for skill in ("basic", "skilled", "expert")
    for age in ("<30", "30-50", ">=50")
    for gender in ("female", "male")
)
COUNTS = ("people", "rejected", "without_recourse", "compared")


@pytest.fixture
def job(tmp_path: Path) -> list[str]:
    """The arguments for a problem file with people and a classifier."""
    files = {"job.yaml": UNDECIDED, "people.csv": PEOPLE, "lending.py": FUNCTION, "table.csv": TABLE}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return ["job.yaml", "--people", "people.csv", "--classifier", "lending.py:decide"]


def records(safear: Safear, *arguments: object) -> list[dict[str, Any]]:
    answer = safear("compare", *arguments, "--json")
    assert (answer.code, answer.err) == (0, "")
    found: list[dict[str, Any]] = answer.json["comparisons"]
    return found


def assert_same(record: dict[str, Any], expected: Any) -> None:
    """The figures of the library."""
    assert record["objective"] == str(expected.objective)
    assert tuple(record[name] for name in COUNTS) == tuple(getattr(expected, name) for name in COUNTS)
    assert record["greedy"] == asdict(expected.greedy)
    assert record["optimal"] == asdict(expected.optimal)
    assert record["greedy_is_worse"] == expected.worse
    assert record["optimum_gives_up"] == expected.gives_up
    for name in ("excess", "excess_of_worse", "largest_excess", "other_first_step", "largest_gap"):
        assert record[name] == getattr(expected, name)
    assert [{key: value for key, value in item.items() if key != "excess"} for item in record["people_compared"]] == [
        asdict(pair) for pair in expected.pairs
    ]
    assert [item["excess"] for item in record["people_compared"]] == [pair.excess for pair in expected.pairs]


# ------------------------------------------------------------------------------------------------------- what it prints


def test_the_loan(safear: Safear) -> None:
    answer = safear("compare", "loan")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[:2] == [
        "Loan approval",
        "1 person: 1 rejected, 0 of them with no way to the goal; 1 compared.",
    ]
    assert lines[3].split() == ["objective", "method", "value", "succeeds", "average", "worst", "5%"]
    methods = [line.split()[-5] for line in lines[4:10]]
    assert methods == ["greedy", "optimal"] * 3
    assert [line.split()[0] for line in lines[4:10:2]] == ["mean-std:0.5", "mean-std:1", "mean-std:2"]
    for greedy, optimal in zip(lines[4:10:2], lines[5:10:2], strict=True):
        assert float(optimal.split()[-4]) <= float(greedy.split()[-4])
    for objective in ("mean-std:0.5", "mean-std:1", "mean-std:2"):
        assert f"\n{objective}: Greedy is worse for " in answer.out


def test_in_german(safear: Safear) -> None:
    answer = safear("compare", "loan", "--language", "de")
    assert answer.code == 0
    assert english_in(answer.out, "Loan approval") == []
    assert "1 Person: 1 abgelehnt, davon 0 ohne Weg zum Ziel; 1 verglichen." in answer.out


def test_the_loan_as_json(safear: Safear) -> None:
    problem = sa.load_example("loan")
    people = list(problem.people.values())
    found = records(safear, "loan")
    for record, aversion in zip(found, (0.5, 1, 2), strict=True):
        assert_same(record, sa.compare(problem, None, people, objective=sa.MeanStd(aversion)))
    assert records(safear, "loan", "--person", "applicant") == found
    assert [person["person"] for person in found[0]["people_compared"]] == [dict(problem.people["applicant"])]


def test_a_sample_of_adult(safear: Safear) -> None:
    arguments = ["adult", "--sample", 20, "--objective", "mean-std:1"]
    answer = safear("compare", *arguments)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("Adult Income\n20 people: 20 rejected, 0 of them with no way to the goal; 20 ")
    (record,) = records(safear, *arguments)
    adult = load("adult")
    forest = adult.classifier(0)
    sizes = [len(feature.levels) for feature in forest.features]
    rejected = adult.levels[~forest.decisions[np.ravel_multi_index(tuple(adult.codes.T), sizes)]]
    drawn = np.sort(np.random.default_rng(0).choice(len(rejected), 20, replace=False))
    assert_same(record, sa.compare(adult.problem, forest, rejected.iloc[drawn], objective=sa.MeanStd(1)))
    assert record["optimal"]["value"] < record["greedy"]["value"]
    assert f"Greedy is worse for {record['greedy_is_worse']:.0%} of the people" in " ".join(answer.out.split())
    (other,) = records(safear, *arguments, "--seed", 1)
    assert other["people_compared"] != record["people_compared"]


@pytest.mark.parametrize("classifier", ["lending.py:decide", "table.csv"])
def test_people_from_a_file(safear: Safear, job: list[str], classifier: str) -> None:
    found = records(safear, *job[:3], "--classifier", classifier, "--objective", "mean-std:0.5", "--objective", "mean")
    problem = sa.load_problem("job.yaml")
    decider = sa.load_classifier("table.csv", problem)
    assert_same(found[0], sa.compare(problem, decider, RECORDS, objective=sa.MeanStd(0.5)))
    assert_same(found[1], sa.compare(problem, decider, RECORDS, objective=sa.Mean()))
    assert tuple(found[0][name] for name in COUNTS) == (4, 3, 0, 3)
    assert [(person["person"]["skill"], person["count"]) for person in found[0]["people_compared"]] == [
        ("basic", 2),
        ("skilled", 1),
    ]


def test_a_sample_of_a_file(safear: Safear, job: list[str], tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE.replace("expert", "basic"), encoding="utf-8")
    assert records(safear, *job, "--sample", 2)[0]["people"] == 2
    assert records(safear, *job, "--sample", 99)[0]["people"] == 4


def test_people_from_several_files(safear: Safear, job: list[str], tmp_path: Path) -> None:
    header, *rows = PEOPLE.splitlines()
    for number, row in enumerate(rows):
        (tmp_path / f"p{number}.csv").write_text(f"{header}\n{row}\n", encoding="utf-8")
    pattern = [job[0], "--people", "p?.csv", *job[3:]]
    problem = sa.parse_problem(UNDECIDED)
    classifier = sa.classifier.FunctionClassifier(lambda frame: frame["skill"] == "expert", problem.goal)
    expected = sa.compare(problem, classifier, str(tmp_path / "p?.csv"), objective=sa.MeanStd(0.5))
    [found, *_] = records(safear, *pattern)
    assert_same(found, expected)
    assert found == records(safear, *job)[0]
    assert records(safear, *pattern, "--sample", 2)[0]["people"] == 2
    (tmp_path / "p0.csv").rename(tmp_path / "p[1].csv")
    assert records(safear, job[0], "--people", "p[1].csv", *job[3:])[0]["people"] == 1
    refusal = safear("compare", job[0], "--people", "q*.csv", *job[3:]).refusal
    assert refusal == "q*.csv: no such file, and none that matches\n"


def test_the_failure_cost_and_the_horizon_change_the_result(safear: Safear, job: list[str]) -> None:
    as_written, dear, short = (
        records(safear, *job, "--objective", "mean-std:1", *more)[0]
        for more in ([], ["--failure-cost", "40.5"], ["--horizon", "2"])
    )
    problem = sa.load_problem("job.yaml")
    decider = sa.load_classifier("table.csv", problem)
    dearer = replace(problem, goal=replace(problem.goal, failure_cost=Decimal("40.5")))
    assert_same(dear, sa.compare(dearer, decider, RECORDS, objective=sa.MeanStd(1)))
    assert_same(short, sa.compare(problem.with_horizon(2), decider, RECORDS, objective=sa.MeanStd(1)))
    assert as_written["optimal"]["value"] < min(dear["optimal"]["value"], short["optimal"]["value"])
    assert dear["optimal"]["success"] >= as_written["optimal"]["success"] > short["optimal"]["success"]


def test_giving_up_is_told(safear: Safear) -> None:
    """Failing is free in the paper's data sets; at a high aversion the optimum of some people is not to try."""
    sample = ["adult", "--sample", 20, "--objective", "mean-std:2"]
    free, dear = safear("compare", *sample), safear("compare", *sample, "--failure-cost", 5)
    assert "even the optimum gives up, because failing costs too little" in " ".join(free.out.split())
    assert "gives up" not in dear.out


def test_more_than_twice_as_much_is_said_so(safear: Safear) -> None:
    """By how much greedy is worse is no probability: it may be above 100%."""
    sample = ["adult", "--sample", 20, "--objective", "mean-std:2", "--failure-cost", 20]
    (record,) = records(safear, *sample)
    assert record["excess_of_worse"] > 1
    told = " ".join(safear("compare", *sample).out.split())
    assert f"by {record['excess_of_worse']:.0%} on average, at most {record['largest_excess']:.0%}." in told


def test_another_classifier_decides_who_of_a_data_set_is_rejected(safear: Safear, tmp_path: Path) -> None:
    german = load("german")
    (tmp_path / "own.py").write_text("def decide(frame):\n    return frame['savings'].isin(['moderate', 'rich'])\n")
    (record,) = records(safear, "german", "--classifier", "own.py:decide", "--objective", "mean", "--horizon", 1)
    rejected = ~german.levels["savings"].isin(["moderate", "rich"])
    assert 0 < rejected.sum() < len(german)
    assert record["rejected"] == rejected.sum()


# ------------------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize("objective", ["mean-sdt:1", "mean-std", "cvar:0.95", "mean-lower-std:1"])
def test_an_objective_that_cannot_be_compared(safear: Safear, objective: str, snapshot: SnapshotAssertion) -> None:
    assert safear("compare", "loan", "--objective", objective).refusal == snapshot


def test_who_is_not_there(safear: Safear, job: list[str]) -> None:
    without_people = [job[0], *job[3:]]
    assert safear("compare", *without_people).refusal == "the problem names no people\n    give --people FILE.csv\n"
    assert safear("compare", *without_people, "--people", "nobody.csv").refusal == "nobody.csv: no such file\n"
    assert safear("compare", "loan", "--person", "aplicant").refusal.startswith(
        "people: the problem names no person 'aplicant'\n"
    )
    assert "did you mean 'applicant'?" in safear("compare", "loan", "--person", "aplicant").refusal


def test_a_person_or_a_file_not_both(safear: Safear, job: list[str]) -> None:
    told = safear("compare", *job, "--person", "somebody").refusal
    assert told.endswith("Error: give --person or --people, not both\n")
    assert safear("compare", "adult", "--people", "people.csv", "--person", "row 16").refusal.endswith("not both\n")


def test_one_row_of_a_table(safear: Safear, job: list[str]) -> None:
    arguments = [job[0], *job[3:], "--person", "people.csv"]
    assert safear("compare", *arguments).refusal.endswith("it has more than one row\n    say which: --row 1\n")
    assert [found["rejected"] for found in records(safear, *arguments, "--row", 1)] == [1] * 3
    assert safear("compare", *arguments, "--row", 3).refusal.startswith("nobody is rejected")  # the expert
    assert safear("compare", *arguments[:-1], "novice", "--row", "1").refusal.endswith(
        "Error: --row goes with --person FILE.csv or FILE.parquet\n"
    )


def test_a_problem_without_a_classifier(safear: Safear, job: list[str]) -> None:
    assert "classifier" in safear("compare", *job[:3]).refusal
    assert "no such file" in safear("compare", *job[:3], "--classifier", "nothing.csv").refusal


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--failure-cost", "-1"),
        ("--failure-cost", "nan"),
        ("--failure-cost", "inf"),
        ("--sample", "0"),
        ("--horizon", "0"),
    ],
)
def test_numbers_that_make_no_sense(safear: Safear, option: str, value: str) -> None:
    told = safear("compare", "loan", option, value).refusal
    assert option in told or option.removeprefix("--").replace("-", "_") in told
