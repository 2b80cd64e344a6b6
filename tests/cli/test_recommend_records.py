"""What `safear recommend` and `safear walk` say where a model sees records as they were filed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.calls import write

if TYPE_CHECKING:
    from cli.conftest import Safear

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


CHECKED = {
    "en": (
        "Checked with the model itself, on your own figures: the situation in which this plan succeeds, with all 10 "
        "combinations of its numbers that can make a difference. None was refused."
    ),
    "de": (
        "Mit dem Modell selbst geprüft, mit Ihren eigenen Angaben: die Situation, in der dieser Plan gelingt, mit "
        "allen 10 Kombinationen der genannten Zahlen, die einen Unterschied machen können. "
        "Nichts davon wurde abgelehnt."
    ),
}


@pytest.mark.parametrize(
    ("language", "step"), [("en", "term becomes 12 to 21 months"), ("de", "term: dann 12 bis 21 months")]
)
def test_a_plan_says_what_it_promises_and_how_it_was_checked(language: str, step: str, safear: Safear) -> None:
    answer = safear("recommend", *CALL, "--set", "age=33", "--language", language)
    assert (answer.code, answer.err) == (0, "")
    told = " ".join(answer.out.split())
    assert step in told
    assert told.count(CHECKED[language]) == 1


def test_what_the_model_sees_is_kept_and_checked(safear: Safear) -> None:
    record = safear("recommend", *CALL, "--set", "age=33", "--json").json
    assert record["record"] == {"term": 40, "account": "small", "age": 33}
    plan = record["plans"][0]
    assert [item["text"] for item in plan["promises"] if item["level"] == "12-24"] == ["12 to 21 months"]
    assert (plan["verification"]["accepted"], plan["verification"]["points"]) == (10, 10)
    older = safear("recommend", *CALL, "--set", "age=51", "--json").json["plans"][0]
    assert [item["text"] for item in older["promises"] if item["level"] == "12-24"] == ["12 to 20 months"]


def test_a_walk_shows_what_was_promised(safear: Safear) -> None:
    told = safear("walk", *CALL, "--set", "age=33", "--outcome", "works").out
    assert "term is 24 to 35 months" in told


def test_what_is_missing_or_beyond_sense_is_told(safear: Safear, tmp_path: Path) -> None:
    write(tmp_path, "ada.yaml", "term: 61\naccount: small\n")
    told = safear("recommend", *CALL, "--person", "ada.yaml").refusal
    assert "ada.yaml:1:1: age: 'age' is missing\n" in told
    assert "the classifier wants it, as it was filed\n" in told
    assert "ada.yaml:1:7: term: 61 is above the most that is possible, 60" in told
    assert "did you mean 'age'?" in safear("recommend", *CALL, "--set", "agee=3").refusal
