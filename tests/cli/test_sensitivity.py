"""`safear sensitivity`: the same as in Python, as a table, as JSON and as a picture."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import safear as sa
from safear.recourse.sensitivity_records import SensitivityRecord
from safear.recourse.sensitivity_teller import SensitivityTeller

if TYPE_CHECKING:
    from cli.conftest import Safear

CALL = ("sensitivity", "loan", "--objective", "mean", "--tolerance", "0.02")


@cache
def expected() -> sa.Sensitivity:
    return sa.sensitivity(sa.load_example("loan"), objectives="mean", tolerance=0.02)


def test_the_table_has_every_flip(safear: Safear) -> None:
    answer = safear(*CALL)
    assert (answer.code, answer.err) == (0, "")
    rows = SensitivityTeller.of().flip_rows(expected()[0])
    assert rows
    for row in rows:
        assert all(cell in answer.out for cell in row[:4])
    assert "Erster Schritt dann" in safear(*CALL, "--language", "de").out


def test_json_and_picture(safear: Safear, tmp_path: Path) -> None:
    answer = safear(*CALL, "--json", "--output", "found.json", "--out", "tornado.svg")
    assert answer.json == json.loads(SensitivityRecord.of(expected()).model_dump_json())
    assert (tmp_path / "found.json").read_text(encoding="utf-8") == answer.out
    assert (tmp_path / "tornado.svg").read_text(encoding="utf-8") == sa.plots.tornado(expected()[0]).svg


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--plan", "safe"], "--plan safe: there is no such plan"),
        (["--method", "greedy"], "a plan by method 'greedy' is not the best one"),
        (["--out", "tornado.doc"], "tornado.doc: pictures are written as .svg, .png or .pdf"),
    ],
)
def test_mistakes(safear: Safear, arguments: list[str], message: str) -> None:
    assert safear(*CALL, *arguments).refusal.startswith(message)


def test_no_way_and_nothing_to_do(safear: Safear) -> None:
    """As JSON, both have a record that says so, like that of `safear recommend`."""
    nothing = [f"--forbid={action.name}" for action in sa.load_example("loan").actions]
    assert safear(*CALL, *nothing).code == 3
    lost, menu = (safear(*call, *nothing, "--json") for call in (CALL, ("recommend", "loan")))
    assert (lost.code, lost.err) == (menu.code, menu.err) == (3, menu.err)
    for name in ("decision", "no_recourse", "plans"):
        assert lost.json[name] == menu.json[name]
    assert safear(*CALL, "--set", "savings=rich").code == 0
    assert safear(*CALL, "--set", "savings=rich", "--json").json["decision"] == "favourable"
    assert safear(*CALL, "--json").json["decision"] == "unfavourable"


def test_the_example_of_its_help(safear: Safear) -> None:
    text = safear("sensitivity", "--help").out
    assert "--robust" not in text, "of a robust plan nothing could be told"
    example = text.split("Example:")[1].split("Exit codes")[0]
    calls = [line.split()[1:] for line in example.splitlines() if line.strip().startswith("safear ")]
    assert [safear(*call, "--tolerance", "0.05").code for call in calls] == [0, 0, 0]
