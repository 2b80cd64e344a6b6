"""`safear walk`: the plans of `safear recommend`, step by step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import safear as sa
from safear.recourse.walk_records import SituationRecord

if TYPE_CHECKING:
    from cli.conftest import Safear

CHEAPEST = ("walk", "loan", "--plan", "cheapest")


def test_what_to_do_now(safear: Safear) -> None:
    answer = safear(*CHEAPEST, "--outcome", "fails")
    assert (answer.code, answer.err) == (0, "")
    here = sa.walk(sa.recommend(sa.load_example("loan"))["cheapest"], ["fails"])
    assert answer.out == f"Loan approval: cheapest on average\n{here}\n"
    assert safear(*CHEAPEST, "--outcome", "1").out == answer.out
    assert "Jetzt: Arbeit finden" in safear(*CHEAPEST, "--outcome", "fails", "--language", "de").out


def test_the_first_plan_at_its_start(safear: Safear) -> None:
    answer = safear("walk", "loan")
    assert answer.out.splitlines()[:2] == ["Loan approval: safest", "Now: study part-time"]


def test_json(safear: Safear, tmp_path: Path) -> None:
    here = sa.walk(sa.recommend(sa.load_example("loan"), objectives="mean")[0], [1])
    answer = safear("walk", "loan", "--objective", "mean", "--outcome", "fails", "--json", "--output", "here.json")
    assert answer.json == json.loads(SituationRecord.of(here).model_dump_json())
    assert (tmp_path / "here.json").read_text(encoding="utf-8") == answer.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--outcome", "maybe"],
            "outcomes[0]: this step cannot end in outcome maybe\n    possible: 0 (works: savings becomes rich), 1",
        ),
        (["--outcome", "works", "--outcome", "0"], "outcomes[1]: the walk ended before this step\n    leave this"),
        (["--plan", "safe"], "--plan safe: there is no such plan\n    did you mean 'safest'?"),
        (["--set", "savings=rich"], "the decision is already favourable; there is no plan to follow"),
    ],
)
def test_mistakes(safear: Safear, arguments: list[str], message: str) -> None:
    assert safear(*CHEAPEST, *arguments).refusal.startswith(message)


def test_no_way(safear: Safear) -> None:
    answer = safear("walk", "loan", *(f"--forbid={action.name}" for action in sa.load_example("loan").actions))
    assert (answer.code, answer.out) == (3, "")
    assert answer.err
