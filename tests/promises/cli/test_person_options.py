"""Who a command is about, on which terms, within which horizon."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

import safear as sa
from calls import plans, write
from promises.cli.conftest import Safear
from small_problems import GUESS

BODY = """\
safear: 1
title: Health
horizon: 4
features:
  bmi: {kind: numeric, edges: [25, 30]}
  smoker: {kind: nominal, levels: [yes, no]}
goal: {favourable: insured, failure_cost: 9}
classifier: {rule: bmi < 25 and smoker == no}
actions:
  eat less: {cost: 1, chance: 0.5, change: {bmi: -1}}
  quit: {cost: 2, chance: 0.5, change: {smoker: no}}
constraints:
  - not (bmi >= 30 and smoker == yes)
people:
  anna: {bmi: 27, smoker: yes}
  ben: {bmi: 32, smoker: no}
"""


@pytest.fixture
def body(safear: Safear, tmp_path: Path) -> str:
    assert safear is not None  # it has changed into the directory
    return write(tmp_path, "body.yaml", BODY)


@pytest.mark.parametrize(
    "arguments, person",
    [
        ([], ("25-30", "yes")),
        (["--person", "ben"], (">=30", "no")),
        (["--set", "bmi=31", "--set", "smoker=no"], (">=30", "no")),
        (["--set", " bmi = 29.9 "], ("25-30", "yes")),
        (["--set", "bmi=>=30", "--set", "smoker=no"], (">=30", "no")),
        (["--person", "ben", "--set", "smoker=yes", "--set", "bmi=20"], ("<25", "yes")),
        (["--person", "carla.yaml"], ("25-30", "no")),
        (["--person", "carla.json"], ("25-30", "no")),
        (["--person", "half.yaml", "--set", "bmi=35"], (">=30", "no")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_who_it_is_for(
    arguments: list[str], person: tuple[str, str], body: str, safear: Safear, tmp_path: Path
) -> None:
    write(tmp_path, "carla.yaml", "bmi: 26.5\nsmoker: no\n")
    write(tmp_path, "half.yaml", "smoker: no\n")
    write(tmp_path, "carla.json", json.dumps({"smoker": "no", "bmi": 26.5}))
    record = safear("recommend", body, *arguments, "--json").json
    assert (record["person"]["bmi"], record["person"]["smoker"]) == person


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["--set", "bmi"], "--set bmi: should be NAME=VALUE\n"),
        (["--set", "bmy=20"], "--set bmy=20: there is no feature 'bmy'\n    did you mean 'bmi'?\n"),
        (
            ["--set", "bmi=fat"],
            "bmi: 'fat' is neither a number nor a level of 'bmi'\n    possible: '<25', '25-30', '>=30'\n",
        ),
        (["--set", "smoker=No"], "smoker: 'No' is not a level of 'smoker'\n    did you mean 'no'?\n"),
        (["--set", "bmi=35"], "breaks the constraint "),
        (["--person", "nobody.yaml"], "nobody.yaml: no such file\n"),
        (["--person", "list.yaml"], "list.yaml:1:1: a person is a mapping of features to levels\n"),
        (["--person", "short.yaml"], "short.yaml:1:1: smoker: 'smoker' is missing\n"),
        (["--person", "wrong.yaml"], "wrong.yaml:2:9: smoker: 'maybe' is not a level of 'smoker'\n"),
        (["--person", "deep.yaml"], "deep.yaml:1:1: bmi: write a single level here\n"),
        (["--person", "broken.json"], "broken.json:1:"),
        (["--person", "wrong.yaml", "--set", "bmi=fat"], "bmi: 'fat' is neither a number nor a level of 'bmi'\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_people_that_are_not_understood(
    arguments: list[str], told: str, body: str, safear: Safear, tmp_path: Path
) -> None:
    write(tmp_path, "list.yaml", "- bmi\n- 20\n")
    write(tmp_path, "short.yaml", "bmi: 20\n")
    write(tmp_path, "wrong.yaml", "bmi: 20\nsmoker: maybe\n")
    write(tmp_path, "deep.yaml", "bmi: {kg: 80}\nsmoker: no\n")
    write(tmp_path, "broken.json", '{"bmi": 20, "smoker": }')
    assert safear("recommend", body, *arguments, "--json").refusal.startswith(told)


def test_a_name_that_is_nearly_one_of_the_people(body: str, safear: Safear) -> None:
    assert "did you mean 'anna'?" in safear("recommend", body, "--person", "anne").refusal
    assert "such a person in the problem" in safear("recommend", body, "--person", "Dr. Anna").refusal


NEAR_THE_EDGE = BODY.replace("edges: [25, 30]", "edges: [25, 30], values: [22, 27, 33]")


@pytest.mark.parametrize(
    "bmi, decision, kept",
    [(25.5, "favourable", 25.5), (26.5, "unfavourable", 26.5), ("25-30", "unfavourable", "25-30")],
)
def test_a_number_that_is_decided_otherwise_than_its_level(
    bmi: object, decision: str, kept: object, safear: Safear, tmp_path: Path
) -> None:
    """The model draws the line at 26; 25.5 is below it, but the level that it falls into stands for 27."""
    write(tmp_path, "body.yaml", NEAR_THE_EDGE)
    write(tmp_path, "mine.py", "def decide(frame):\n    return frame['bmi'] < 26\n")
    record = safear("recommend", "body.yaml", "--classifier", "mine.py:decide", "--set", f"bmi={bmi}", "--json").json
    assert (record["decision"], record["record"]["bmi"]) == (decision, kept)


def test_all_that_is_missing_is_told_at_once(safear: Safear, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    problem = write(tmp_path, "body.yaml", BODY.partition("people:")[0])
    assert safear("recommend", problem).refusal == snapshot
    assert safear("recommend", problem, "--set", "bmi=26", "--set", "smoker=no").code == 0


@pytest.mark.parametrize("horizon", [1, 2, 5])
def test_another_horizon(horizon: int, safear: Safear) -> None:
    answer = safear("recommend", "health-insurance", "--objective", "mean", "--horizon", horizon, "--json")
    [plan] = answer.json["plans"]
    assert answer.json["horizon"] == horizon
    assert plan["first_action"] == "quit drinking"
    assert plan["success"] == pytest.approx(1 - 0.5**horizon, abs=1e-12)


def test_personal_terms(safear: Safear, tmp_path: Path) -> None:
    terms = write(tmp_path, "terms.yaml", "actions:\n  own a house: {cost: 1.2, chance: 1}\n")
    [plan] = plans(safear, "loan", "--objective", "mean", "--terms", terms)
    assert (plan["first_action"], plan["value"], plan["success"]) == ("own a house", 1.2, 1)
    [other] = plans(safear, "loan", "--objective", "mean", "--terms", terms, "--forbid", "own a house")
    assert other["first_action"] == "change job"


def test_a_row_of_a_table(safear: Safear, tmp_path: Path) -> None:
    problem = sa.load_example("loan")
    people = pd.DataFrame([dict(problem.default_person or {})] * 2)
    people["savings"] = ["little", "moderate"]
    people.to_csv(tmp_path / "people.csv", index=False)
    by_row = safear("recommend", "loan", "--person", "people.csv", "--row", "2").out
    assert by_row == safear("recommend", "loan", "--set", "savings=moderate").out
    wrong = safear("recommend", "loan", "--row", "2").refusal
    assert "--row goes with --person FILE.csv or FILE.parquet" in wrong


@pytest.fixture
def guess(tmp_path: Path) -> Path:
    path = tmp_path / "guess.yaml"
    path.write_text(GUESS, encoding="utf-8")
    return path


def test_plans_are_made_for_the_worst_chances(
    safear: Safear, guess: Path, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    for objective in ("cvar:0.9", "budget:6"):
        assert safear("recommend", guess, "--robust", "--objective", objective).out == snapshot(name=objective)
    plans = safear("recommend", guess, "--robust", "--json").json["plans"]
    assert all(plan["robust"] and plan["bound"] <= plan["planned_value"] for plan in plans)
    assert plans[0]["planned_value"] > plans[0]["value"]
    assert "be taught" in safear("walk", guess, "--robust", "--objective", "cvar:0.9").out.lower()
    kept = tmp_path / "plan.json"
    assert safear("recommend", guess, "--robust", "--save", kept).code == 0
    assert json.loads(kept.read_text(encoding="utf-8"))["robust"] is True


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("recommend", ["--method", "greedy"], "only method 'optimal' knows intervals"),
        ("recommend", ["--objective", "mean-std:0.5"], "has no robust optimum"),
        ("sensitivity", [], "No such option"),
    ],
)
def test_what_cannot_be_robust_is_refused(
    safear: Safear, guess: Path, command: str, options: list[str], message: str
) -> None:
    assert message in safear(command, guess, "--robust", *options).refusal


@pytest.mark.parametrize("command", ["walk", "sensitivity", "plot traces"])
def test_every_command_says_what_would_help(command: str, safear: Safear) -> None:
    """Who has no recourse reads the same everywhere: why, and what would restore it."""
    asked = ["loan", "--horizon", "1", "--forbid", "change job", "--forbid", "own a house"]
    told = safear("recommend", *asked)
    picture = ["--out", "traces.svg"] if command.startswith("plot") else []
    found = safear(*command.split(), *asked, *picture)
    assert (found.code, found.out, found.err) == (3, "", told.err)
    assert len(told.err.splitlines()) > 1
