"""`safear walk`: the plans of `safear recommend`, step by step."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

import safear as sa
from promises.cli.conftest import Safear

CHEAPEST = ("walk", "loan", "--plan", "cheapest")


def test_what_to_do_now(safear: Safear, snapshot: SnapshotAssertion) -> None:
    answer = safear(*CHEAPEST, "--outcome", "fails")
    assert (answer.code, answer.err) == (0, "")
    here = sa.walk(sa.recommend(sa.load_example("loan"))["cheapest"], ["fails"])
    assert answer.out == f"Loan approval: cheapest on average\n{here}\n"
    assert safear(*CHEAPEST, "--outcome", "1").out == answer.out
    assert safear(*CHEAPEST, "--outcome", "fails", "--language", "de").out == snapshot


def test_the_first_plan_at_its_start(safear: Safear, snapshot: SnapshotAssertion) -> None:
    assert safear("walk", "loan").out == snapshot


def test_json(safear: Safear, tmp_path: Path) -> None:
    here = sa.walk(sa.recommend(sa.load_example("loan"), objectives="mean")[0], [1])
    answer = safear("walk", "loan", "--objective", "mean", "--outcome", "fails", "--json", "--output", "here.json")
    assert (tmp_path / "here.json").read_text(encoding="utf-8") == answer.out
    found = answer.json
    assert found.pop("ahead") == {
        "success": here.ahead.success,
        "mean": here.ahead.all_runs.mean,
        "cvar": here.ahead.all_runs.cvar(here.level),
    }
    assert [item["action"] for item in found["taken"]] == [item.action for item in here.taken]
    told = [*(item["ending"] for item in found.pop("taken")), *found.pop("endings")]
    for record, ending in zip(told, [*(item.ending for item in here.taken), *here.endings], strict=True):
        assert record.pop("label") in str(here)
        assert record == {name: getattr(ending, name) for name in record}
    assert found == {name: getattr(here, name) for name in found}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--outcome", "maybe"],
        ["--outcome", "works", "--outcome", "0"],
        ["--plan", "safe"],
        ["--set", "savings=rich"],
    ],
    ids=" ".join,
)
def test_mistakes(safear: Safear, arguments: list[str], snapshot: SnapshotAssertion) -> None:
    assert safear(*CHEAPEST, *arguments).refusal == snapshot


def test_no_way(safear: Safear, snapshot: SnapshotAssertion) -> None:
    answer = safear("walk", "loan", *(f"--forbid={action.name}" for action in sa.load_example("loan").actions))
    assert (answer.code, answer.out) == (3, "")
    assert answer.err == snapshot
