"""Options that are numbers, of every command."""

from __future__ import annotations

import pytest

from promises.cli.conftest import Safear


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
