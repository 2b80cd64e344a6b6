"""Options that are numbers, of every command."""

from __future__ import annotations

import pytest

from cli.conftest import Safear


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
