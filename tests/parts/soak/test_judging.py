"""The rule by which `make soak` judges what is read."""

from __future__ import annotations

import itertools
import time

import pytest
from soak.judging import WrongError, judge

from safear.errors import InputError, MissingExtraError, SafearError


def fail(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize(
    ("error", "what", "told"),
    [
        (InputError.at(("x",), "is wrong", "do better"), "refused", ""),
        (MissingExtraError("DuckDB", "audit"), "refused", ""),
        (InputError([]), "wrong", "without a mistake"),
        (InputError.at(("x",), " "), "wrong", "without a cause"),
        (InputError.at(("x\x00",), "a" * 2001), "refused", ""),  # which words are ours to cut and to spell out
        (SafearError("a" * 2001), "wrong", "2,001"),
        (SafearError("'\x1b[31m'"), "wrong", "control"),
        (SafearError("x\x00: is wrong"), "wrong", "control"),
        (SafearError(""), "wrong", "empty"),
        (WrongError("a chance of 2"), "wrong", "a chance of 2"),
        (ValueError("no"), "tracebacks", "ValueError"),
        (RecursionError(), "tracebacks", "RecursionError"),
        (SystemExit(1), "tracebacks", "SystemExit"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_errors(error: BaseException, what: str, told: str) -> None:
    verdict = judge(lambda: fail(error))
    assert verdict.what == what
    assert told in verdict.told


def test_what_takes_too_long() -> None:
    assert judge(lambda: time.sleep(60), 0.05).told == "takes longer than 0.05 s"
    assert judge(lambda: all(True for _ in itertools.count()), 0.05).told == "takes longer than 0.05 s"
    assert judge(lambda: None).is_fine
