"""What `safear recommend` and `safear walk` say where a model sees records as they were filed."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from calls import write
from promises.cli.conftest import Safear

CREDIT = """\
safear: 1
title: Credit
horizon: 4
cost: {unit: weeks}
features:
  term: {kind: numeric, edges: [12, 24, 36], values: [9, 18, 30, 42], step: 1, min: 6, max: 60, unit: months}
actions:
  shorten: {cost: 1, chance: 0.8, change: {term: -1}}
goal: {favourable: granted, failure_cost: 20}
people:
  Ada: {term: 40, account: small}
"""
MODEL = """\
class Knowing:
    wanted = ("age", "term", "account")

    def favourable(self, inputs):
        frame = inputs.frame()
        return ((frame["term"] + frame["age"] / 100 <= 21.5) & (frame["account"] == "small")).to_numpy()


model = Knowing()
"""
CALL = ("credit.yaml", "--classifier", "mine.py:model")


@pytest.fixture(autouse=True)
def credit(safear: Safear, tmp_path: Path) -> None:
    assert safear is not None  # it has changed into the directory
    write(tmp_path, "credit.yaml", CREDIT)
    write(tmp_path, "mine.py", MODEL)


@pytest.mark.parametrize("language", ["en", "de", "es"])
def test_a_plan_says_what_it_promises_and_how_it_was_checked(
    language: str, safear: Safear, snapshot: SnapshotAssertion
) -> None:
    answer = safear("recommend", *CALL, "--set", "age=33", "--language", language)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot


def test_what_the_model_sees_is_kept_and_checked(safear: Safear) -> None:
    record = safear("recommend", *CALL, "--set", "age=33", "--json").json
    assert record["record"] == {"term": 40, "account": "small", "age": 33}
    plan = record["plans"][0]
    assert [item["text"] for item in plan["promises"] if item["level"] == "12-24"] == ["12 to 21 months"]
    assert (plan["verification"]["accepted"], plan["verification"]["points"]) == (10, 10)
    older = safear("recommend", *CALL, "--set", "age=51", "--json").json["plans"][0]
    assert [item["text"] for item in older["promises"] if item["level"] == "12-24"] == ["12 to 20 months"]


def test_a_walk_shows_what_was_promised(safear: Safear, snapshot: SnapshotAssertion) -> None:
    assert safear("walk", *CALL, "--set", "age=33", "--outcome", "works").out == snapshot


def test_what_is_missing_or_beyond_sense_is_told(safear: Safear, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    write(tmp_path, "ada.yaml", "term: 61\naccount: small\n")
    assert safear("recommend", *CALL, "--person", "ada.yaml").refusal == snapshot
    assert "did you mean 'age'?" in safear("recommend", *CALL, "--set", "agee=3").refusal
