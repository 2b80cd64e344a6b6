"""`safear sensitivity`: the same as in Python, as a table, as JSON and as a picture."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

import safear as sa
from promises.cli.conftest import Safear

CALL = ("sensitivity", "loan", "--objective", "mean", "--tolerance", "0.02")


@cache
def expected() -> sa.Sensitivity:
    return sa.sensitivity(sa.load_example("loan"), objectives="mean", tolerance=0.02)


@pytest.mark.parametrize("language", ["en", "de", "es"])
def test_the_tables(language: str, safear: Safear, snapshot: SnapshotAssertion) -> None:
    answer = safear(*CALL, "--language", language)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot


def test_json_and_picture(safear: Safear, tmp_path: Path) -> None:
    answer = safear(*CALL, "--json", "--output", "found.json", "--out", "tornado.svg")
    assert (answer.json["level"], answer.json["tolerance"]) == (0.95, 0.02)
    (told,), (plan,) = answer.json["plans"], expected()
    assert plan.flips
    assert [(flip["same"], flip["value"], flip["action"], flip["success"]) for flip in told["flips"]] == [
        (flip.same, flip.value, flip.action, flip.cost.success) for flip in plan.flips
    ]
    frame = expected().to_frame().set_index("place")
    rows = frame.astype(object).where(frame.notna(), None)
    for leeway in told["leeways"]:
        found = rows.loc[leeway["place"]]
        assert leeway["certain_to"] == found[f"{leeway['direction']}_certain_to"]
        assert leeway["flips_at"] == found[f"{leeway['direction']}_to"]
    derivatives = pd.DataFrame(told["derivatives"]).set_index("place")
    assert derivatives["mean"].to_dict() == frame["mean"].to_dict()
    assert derivatives["cvar_up"].to_dict() == frame["cvar"].to_dict()
    assert (tmp_path / "found.json").read_text(encoding="utf-8") == answer.out
    assert (tmp_path / "tornado.svg").read_text(encoding="utf-8") == sa.plots.tornado(expected()[0]).svg


@pytest.mark.parametrize(
    "arguments", [["--plan", "safe"], ["--method", "greedy"], ["--out", "tornado.doc"]], ids=lambda given: given[0]
)
def test_mistakes(safear: Safear, arguments: list[str], snapshot: SnapshotAssertion) -> None:
    assert safear(*CALL, *arguments).refusal == snapshot


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
