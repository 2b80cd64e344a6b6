"""Intervals hold as often as the documents say: in simulated logs, and in months that were held out."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest
from scipy import stats

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))  # as `python -m benchmarks.coverage` does

from benchmarks.coverage import LOGS, SETTINGS, Setting, measure, tell  # noqa: E402
from examples.taiwan_credit import held_out_months  # noqa: E402

METHODS = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_the_true_chance_is_held_at_least_95_times_in_100(setting: Setting) -> None:
    """With other draws than those of the document; fewer than this many would be rarer than once in 10,000."""
    count, covered, _ = measure(setting, seed=1, logs=2)
    assert covered * count >= stats.binom.ppf(1e-4, count, 0.95)


def test_the_document_has_a_line_for_every_setting() -> None:
    for setting in SETTINGS:
        assert METHODS.count(f"\n| {setting.name} | ") == 1


@pytest.mark.parametrize("setting", [SETTINGS[1], SETTINGS[6]], ids=lambda setting: setting.name)
def test_the_document_says_what_the_command_prints(setting: Setting) -> None:
    assert f"\n{tell(setting, logs=LOGS)}\n" in METHODS


def test_held_out_months_as_they_are() -> None:
    attempts = held_out_months.read_attempts(pd.read_csv(held_out_months.CLIENTS))
    assert len(attempts) == 99_390
    line = held_out_months.tell(attempts, None, 1)
    assert f"\n{line}\n" in METHODS
    assert f"\n{line}\n" in (ROOT / "examples" / "taiwan_credit" / "README.md").read_text(encoding="utf-8")
    held, tested = held_out_months.measure(attempts, size=300, logs=10)["same months"]
    assert held >= stats.binom.ppf(1e-4, tested, 0.95)


def test_attempts_are_what_the_months_show() -> None:
    """Three clients by hand: late to late, late to the minimum, the minimum to a cleared bill."""
    clients = pd.DataFrame(
        {
            "ID": [1, 2, 3],
            "LIMIT_BAL": [50_000, 150_000, 250_000],
            "AGE": [25, 35, 45],
            "PAY_6": [2, 2, 0],
            "PAY_5": [2, 0, -1],
            "PAY_4": [-2, -2, -2],
            "PAY_3": [-2, -2, -2],
            "PAY_2": [-2, -2, -2],
            "PAY_0": [-2, -2, -2],
        }
    )
    attempts = held_out_months.read_attempts(clients)
    assert attempts[["person", "date", "action", "worked"]].values.tolist() == [
        [1, "2005-04-01", "catch up", False],
        [2, "2005-04-01", "catch up", True],
        [3, "2005-04-01", "pay in full", True],
        [1, "2005-05-01", "catch up", True],
        [2, "2005-05-01", "pay in full", True],
    ]
