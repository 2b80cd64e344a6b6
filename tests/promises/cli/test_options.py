"""What all commands do about their options, outputs and pictures in text."""

from __future__ import annotations

from pathlib import Path

import pytest

from promises.cli.conftest import Safear

# ----- What every command does about its outputs: one that cannot be written is told before anything is read or solved


COMMANDS = [
    "recommend none.yaml --output",
    "recommend none.yaml --save",
    "recommend none.yaml --report",
    "recommend none.yaml --figures",
    "walk none.yaml --output",
    "resume none.json --output",
    "durability none.yaml none.json --output",
    "sensitivity none.yaml --output",
    "sensitivity none.yaml --out",
    "plot traces none.yaml --out",
    "compare none.yaml --output",
    "check none.yaml --output",
    "check none.yaml --people none.csv --skip-bad",
    "audit none.yaml none.csv --group gender --output",
    "audit none.yaml none.csv --group gender --report",
    "audit none.yaml none.csv --group gender --skip-bad",
    "batch none.yaml none.csv --out out --skip-bad",
    "fit none.yaml none.csv --output",
    "init none.csv --classifier none.skops --output",
    "examples none --output",
    "schema --output",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_an_output_that_cannot_be_written_is_told_first(command: str, safear: Safear, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    told = safear(*command.split(), "no/such/file").refusal
    assert told.startswith("no/such/file: cannot be written: there is no such folder\n    make the folder '")
    told = safear(*command.split(), "file/inside").refusal
    assert told == "file/inside: cannot be written: Not a directory\n    name another file\n"
    assert "'folder' is a directory" in safear(*command.split(), "folder").refusal
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_outputs_through_links_and_into_devices(safear: Safear, tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("menu.json")
    (tmp_path / "null.svg").symlink_to("/dev/null")
    assert safear("recommend", "loan", "--output", "link.json", "--save", "/dev/null").code == 0
    assert (tmp_path / "menu.json").read_text(encoding="utf-8").startswith("{")
    assert safear("plot", "traces", "loan", "--out", "null.svg").code == 0
    assert safear("schema", "--output", "/dev/null").code == 0
    assert all((tmp_path / name).is_symlink() for name in ("link.json", "null.svg"))
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("command", ["batch loan none.csv --out", "reproduce loan --output"])
def test_a_folder_that_cannot_be_made_is_told_first(command: str, safear: Safear, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    told = safear(*command.split(), "file/inside").refusal
    assert told.startswith("file/inside: cannot be written: Not a directory\n")


# -------------------------------------------------------------------------- Options that are numbers, of every command


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--horizon", "1_0"),
        ("--horizon", "１０"),
        ("--threshold", "0_5"),
        ("--failure-cost", "inf"),
        ("--failure-cost", "nan"),
        ("--seed", "0x10"),
        ("--most", "٣"),
        ("--agree", "0_5"),
        ("--level", "nan"),
    ],
)
def test_options_take_no_other_numbers(safear: Safear, option: str, value: str) -> None:
    answer = safear("recommend", "loan", option, value)
    assert answer.code == 2
    assert f"'{value}' is not a" in answer.err


def test_options_take_numbers(safear: Safear) -> None:
    answer = safear("recommend", "loan", "--horizon", "5", "--failure-cost", "1e1", "--json")
    assert answer.code == 0, answer.err


@pytest.mark.parametrize(
    ("day", "said"),
    [
        ("2026-02-31", "there is no day '2026-02-31': day"),
        ("2026-13-01", "there is no day '2026-13-01': month must be in 1..12"),
        ("31.12.2026", "'31.12.2026' is not a day; write it as YYYY-MM-DD"),
        ("\uff12026-01-01", "is not a day"),
    ],
)
def test_days_that_there_are_not(safear: Safear, day: str, said: str) -> None:
    answer = safear("recommend", "loan", "--report", "letter.html", "--date", day)
    assert answer.code == 2
    assert said in answer.err


def test_one_model_has_nobody_to_agree_with(safear: Safear) -> None:
    answer = safear("recommend", "loan", "--classifier", "model.csv", "--agree", "0.5")
    assert answer.code == 2
    assert "--agree goes with several models: repeat --classifier" in answer.err


# --------------------------------------------------------------------------------------------- What the terminal shows


def test_names_stay_as_they_are(safear: Safear, tmp_path: Path) -> None:
    """They are neither markup nor pictures."""
    file, text = tmp_path / "problem.yaml", safear("examples", "loan").out
    file.write_text(text.replace("change job:", '"change [bold] job :smile:":'), encoding="utf-8")
    assert "change [bold] job :smile:" in safear("recommend", file).out
