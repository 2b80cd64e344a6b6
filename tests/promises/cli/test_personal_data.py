"""`--no-personal-data`: whoever reads what is written learns nothing of the person but what the plan changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import safear as sa
from calls import commands_with
from crowds import bytes_of
from promises.cli.conftest import Safear

PROBLEM = """\
safear: 1
title: A loan
horizon: 4
cost: {unit: months}
features:
  term: {kind: numeric, edges: [12, 36], values: [6, 24, 48]}
  town: {kind: nominal, levels: [Xanadu, Ulm], mutable: false}
  work: {kind: ordinal, levels: [juggler, clerk]}
given: [age, surname]
goal: {failure_cost: 20}
actions:
  shorten: {cost: 1, chance: 0.8, change: {term: -1}}
  study: {cost: 9, chance: 0.1, change: {work: clerk}}
people:
  Zerlina: {term: 47.6173, town: Xanadu, work: juggler, age: 33.0917, surname: Quetzalfeder}
"""
BANK = "def grant(frame):\n    return frame['term'] + frame['age'] / 10 <= 20\n"
PERSON = {"term": 47.6173, "town": "Xanadu", "work": "juggler", "age": 33.0917, "surname": "Quetzalfeder"}
SECRETS = {*map(str, PERSON.values())}  # the plan shortens the term, and changes nothing else
MODEL = ("--classifier", "bank.py:grant")
OPTION = "--no-personal-data"
ASKED = ("credit.yaml", *MODEL, "--objective", "mean")
COMMANDS = ("recommend", "resume", "batch")


@pytest.fixture
def credit(safear: Safear, tmp_path: Path) -> sa.Problem:
    """A problem, a model, people, and the first plan of one of them, which has all of their data."""
    assert safear is not None  # it has changed into the directory
    (tmp_path / "credit.yaml").write_text(PROBLEM, encoding="utf-8")
    (tmp_path / "bank.py").write_text(BANK, encoding="utf-8")
    pd.DataFrame([PERSON, PERSON | {"term": 9}]).to_csv(tmp_path / "people.csv", index=False)
    problem = sa.load_problem("credit.yaml")
    offer = sa.recommend(problem, sa.load_classifier("bank.py:grant", problem), PERSON, objectives="mean")[0]
    sa.save_plan(offer, "first.json")
    return problem


def call_of(command: str, name: str) -> tuple[str, ...]:
    """The call that saves a plan under a name."""
    going_on = ("first.json", "--outcome", "failed", "--menu", "--problem")
    return {
        "recommend": ("recommend", *ASKED, "--save", f"{name}.json"),
        "resume": ("resume", *going_on, *ASKED, "--save", f"{name}.json"),
        "batch": ("batch", "credit.yaml", "people.csv", *ASKED[1:], "--plans", "--out", name),
    }[command]


def save(safear: Safear, command: str, name: str, *more: str) -> str:
    """Where the plan is that a call saves, with the option or without."""
    answer = safear(*call_of(command, name), *more)
    assert answer.code == 0, answer.err
    return f"{name}/part-00000.parquet:1" if command == "batch" else f"{name}.json"


def save_both(safear: Safear, command: str) -> tuple[str, str]:
    """A plan with personal data, and the same plan without them."""
    whole = save(safear, command, "whole") if command == "resume" else "first.json"
    return whole, save(safear, command, "bare", OPTION)


def read_plan(place: str) -> dict[str, Any]:
    """The document of a saved plan."""
    file = Path(place.partition(":")[0])
    is_row = file.suffix == ".parquet"
    document: dict[str, Any] = json.loads(pd.read_parquet(file)["saved_plan"][0] if is_row else file.read_bytes())
    return document


def written_by(safear: Safear, *call: str) -> str:
    """All that a call prints and writes; what Parquet files compress is unpacked."""
    before = set(Path.cwd().rglob("*"))
    answer = safear(*call)
    assert answer.code == 0, answer.err
    files = [path for path in set(Path.cwd().rglob("*")) - before if path.is_file() and path.suffix != ".pyc"]
    texts = [path.read_bytes().decode("latin-1") for path in files]
    texts += [pd.read_parquet(path).to_csv() for path in files if path.suffix == ".parquet"]
    return "\n".join([answer.out, answer.err, *texts])


def test_every_command_that_has_the_option_is_looked_at() -> None:
    assert commands_with(OPTION) == set(COMMANDS)


@pytest.mark.usefixtures("credit")
@pytest.mark.parametrize("command", COMMANDS)
def test_the_person_is_in_what_is_written_without_the_option_only(command: str, safear: Safear) -> None:
    whole = written_by(safear, *call_of(command, "whole"))
    plan = read_plan("whole/part-00000.parquet" if command == "batch" else "whole.json")
    hashes = {plan[part]["hash"] for part in ("person", "answers", "before") if part in plan}
    assert len(hashes) >= 2
    assert {secret for secret in SECRETS | hashes if secret in whole} == SECRETS | hashes
    bare = written_by(safear, *call_of(command, "bare"), OPTION, "--verbose")
    assert "shorten" in bare, "it is a plan"
    assert {secret for secret in {*SECRETS, *hashes, "Zerlina"} if secret in bare} == set()


@pytest.mark.usefixtures("credit")
@pytest.mark.parametrize("command", COMMANDS)
def test_such_a_plan_says_what_to_do_until_its_end(command: str, safear: Safear) -> None:
    whole, bare = save_both(safear, command)
    for outcomes in ([], ["failed"], ["worked", "failed"], ["worked", "worked"]):
        options = [f"--outcome={outcome}" for outcome in outcomes]
        told = safear("resume", bare, *options)
        assert (told.code, told.err) == (0, "")
        assert told.out == safear("resume", whole, *options).out
    assert "Done: " in told.out


@pytest.mark.usefixtures("credit")
@pytest.mark.parametrize("command", COMMANDS)
def test_new_plans_on_the_way_need_the_person_again(command: str, safear: Safear) -> None:
    menu = ("--outcome", "worked", "--menu", "--problem", *ASKED, "--json")
    whole, bare = save_both(safear, command)
    told = safear("resume", bare, *menu).refusal
    assert told.endswith("the plan was saved without personal data\n    give the person as they were filed\n")
    found = safear("resume", bare, *menu, "--person", "Zerlina")
    assert found.json == safear("resume", whole, *menu).json


@pytest.mark.usefixtures("credit")
@pytest.mark.parametrize("command", COMMANDS)
def test_no_model_can_be_asked_about_such_a_plan(command: str, safear: Safear) -> None:
    whole, bare = save_both(safear, command)
    told = safear("durability", "credit.yaml", bare.partition(":")[0], *MODEL).refusal
    assert "the plan has no personal data, so no model can be asked about its person" in told
    assert told.endswith("\n    save plans with personal data for this\n")
    assert "1 of 1 person" in safear("durability", "credit.yaml", whole, *MODEL).out


@pytest.mark.usefixtures("credit")
def test_a_folder_with_personal_data_is_not_continued_without_them(safear: Safear) -> None:
    save(safear, "batch", "plans")
    before = bytes_of(Path("plans"))
    told = safear(*call_of("batch", "plans"), OPTION).refusal
    assert told == "plans: holds another batch: not the same 'plans'\n    name a new folder, or repeat the same batch\n"
    assert bytes_of(Path("plans")) == before


@pytest.mark.usefixtures("credit")
@pytest.mark.parametrize("command, missing", [("recommend", "--save"), ("resume", "--save"), ("batch", "--plans")])
def test_where_nothing_is_saved_the_option_is_refused(command: str, missing: str, safear: Safear) -> None:
    call = call_of(command, "bare")
    call = call[: call.index(missing)] + (("--out", "bare") if command == "batch" else ())
    assert f"{OPTION} goes with {missing}" in safear(*call, OPTION).refusal
    assert not Path("bare").exists()
