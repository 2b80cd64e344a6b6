"""What is written replaces nothing that is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from promises.cli.conftest import Safear

PEOPLE = "age,education,savings,job,housing\nyoung,school,little,employed,rent\nold,school,little,none,rent\n"


@pytest.fixture
def place(safear: Safear, tmp_path: Path) -> Path:
    assert safear("examples", "loan", "-o", "my.yaml").code == 0
    assert safear("recommend", "my.yaml", "--save", "plan.json").code == 0
    (tmp_path / "terms.yaml").write_text("forbid: []", encoding="utf-8")
    (tmp_path / "model.py").write_text("def decide(frame):\n    return [False] * len(frame)\n", encoding="utf-8")
    (tmp_path / "people.csv").write_text("job\nbad\n", encoding="utf-8")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "more.csv").write_text("job\nbad\n", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "plan.json").write_bytes((tmp_path / "plan.json").read_bytes())
    (tmp_path / "link.yaml").symlink_to("my.yaml")
    os.link(tmp_path / "plan.json", tmp_path / "same.json")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("recommend my.yaml -o my.yaml", "my.yaml: --output would replace this file, which is read as PROBLEM"),
        ("recommend my.yaml -o link.yaml", "link.yaml: --output would replace"),
        ("recommend link.yaml --save ./my.yaml", "my.yaml: --save would replace"),
        ("recommend my.yaml --figures my.yaml", "my.yaml: --figures would replace"),
        ("recommend my.yaml --terms terms.yaml -o terms.yaml", "which is read as --terms"),
        ("recommend my.yaml --person people.csv --row 1 -o people.csv", "which is read as --person"),
        ("recommend my.yaml --classifier model.py:decide -o model.py", "which is read as --classifier"),
        ("resume plan.json -o plan.json", "plan.json: --output would replace this file, which is read as PLAN.json"),
        ("resume plan.json -o same.json", "same.json: --output would replace"),
        ("durability my.yaml folder -o folder/plan.json", "folder/plan.json: --output would replace"),
        ("audit my.yaml people.csv --group job --skip-bad people.csv", "people.csv: --skip-bad would replace"),
        ("audit my.yaml *.csv --group job -o people.csv", "people.csv: --output would replace"),
        ("check my.yaml --people **/*.csv -o deep/er/more.csv", "more.csv: --output would replace"),
        ("plot traces my.yaml -o my.yaml", "my.yaml: --out would replace"),
        ("check my.yaml --people people.csv -o people.csv", "people.csv: --output would replace"),
        ("fit my.yaml people.csv -o my.yaml", "my.yaml: --output would replace"),
        ("init people.csv --classifier model.py:decide -o people.csv --force", "people.csv: --output would replace"),
    ],
)
def test_an_input_is_not_replaced(command: str, told: str, safear: Safear, place: Path) -> None:
    before = {file: file.read_bytes() for file in place.rglob("*.*")}
    refused = safear(*command.split()).refusal
    assert told in refused
    assert "name another file" in refused
    assert {file: file.read_bytes() for file in place.rglob("*.*")} == before


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("audit my.yaml people.csv --group job --skip-bad s.csv -o s.csv", "s.csv: --skip-bad and --output would both"),
        (
            "audit my.yaml people.csv --group job --report r.html -o ./r.html",
            "r.html: --output and --report would both write",
        ),
        ("recommend my.yaml --save new.json -o link.json", "new.json: --output and --save would both write"),
    ],
)
def test_nothing_is_written_twice(command: str, told: str, safear: Safear, place: Path) -> None:
    (place / "link.json").symlink_to("new.json")
    refused = safear(*command.split()).refusal
    assert told in refused
    assert "name another file for one of them" in refused
    assert not any((place / name).exists() for name in ("s.csv", "r.html", "new.json"))


@pytest.mark.usefixtures("place")
def test_any_other_file_may_be_replaced(safear: Safear) -> None:
    for _ in range(2):
        assert safear("recommend", "my.yaml", "-o", "menu.json", "--save", "plan.json").code == 0


def test_what_a_pattern_finds_but_nobody_reads_may_be_replaced(safear: Safear, tmp_path: Path) -> None:
    """Bad rows of an earlier time, and what is in a folder among the files."""
    (tmp_path / "people.csv").write_text(PEOPLE, "utf-8")
    (tmp_path / "out").mkdir()
    for _ in range(2):
        done = safear("check", "loan", "--people", "./*", "--skip-bad", "bad.csv", "-o", "out/found.json")
        assert done.code == 0, done.err
    assert (tmp_path / "bad.csv").read_text("utf-8").count("\n") == 2


def test_people_are_never_replaced_by_bad_rows(safear: Safear, tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(PEOPLE, "utf-8")
    refused = safear("audit", "loan", "*.csv", "--group", "job", "--skip-bad", "b.csv").refusal
    assert "b.csv: exists and is not a file of bad rows" in refused
    assert (tmp_path / "b.csv").read_text("utf-8") == PEOPLE
