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
    assert safear(*CALL, *(f"--forbid={action.name}" for action in sa.load_example("loan").actions)).code == 3
    assert safear(*CALL, "--set", "savings=rich").code == 0
