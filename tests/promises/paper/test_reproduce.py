"""`safear reproduce`: what is printed and written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from safear.cli.main import cli


def run(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as caught:
        cli(["reproduce", *arguments])
    assert caught.value.code == 0
    return capsys.readouterr().out


def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = run("synthetic", "loan", "--seeds", "1", "--output", str(tmp_path / "new"), capsys=capsys)
    assert out.endswith("  synthetic          13 of   14 cells\n  loan                4 of    4 cells\n")
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert names == ["loan.csv", "loan.md", "loan.svg", "summary.md", "synthetic.csv", "synthetic.md"]


def test_command_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    records = json.loads(run("synthetic", "--json", capsys=capsys))
    assert set(records[0]) >= {
        "table",
        "dataset",
        "group",
        "policy",
        "horizon",
        "measure",
        "paper",
        "ours",
        "simulated",
    }
    simulated = {r["measure"]: r["simulated"] for r in records if r["policy"] == "mean-std:0"}
    assert simulated["mean"] == pytest.approx(1.9686, abs=4 * (1.748 / 1000) ** 0.5)
