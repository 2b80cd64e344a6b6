"""What a computation needs is said, and refused beforehand if there is not so much."""

from __future__ import annotations

import logging
import re

import pytest

import safear as sa
from safear.errors import TooLargeError


def test_compiling_and_solving_say_what_they_need(caplog: pytest.LogCaptureFixture) -> None:
    problem = sa.load_example("loan")
    with caplog.at_level(logging.INFO, logger="safear"):
        sa.compile_mdp(problem)
        sa.recommend(problem)
    said = "\n".join(record.getMessage() for record in caplog.records)
    assert re.search(r"^the state space of 96 states: about [1-9]\d* KiB of memory$", said, re.MULTILINE)
    assert re.search(r"^the 13 states that one person can reach: about [1-9]\d* KiB of memory$", said, re.MULTILINE)


def test_what_needs_more_than_the_limit_is_refused() -> None:
    with pytest.raises(TooLargeError) as refused:
        sa.compile_mdp(sa.load_example("loan"), max_bytes=2048)
    assert re.match(r"the state space of 96 states would need about \d+ KiB; the limit is 2 KiB\n", str(refused.value))
    assert refused.value.exit_code == 2
