"""Verdicts on a published set of actions: examples/reach."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # as `python -m examples.reach.verdicts` does

from examples.reach.verdicts import judge  # noqa: E402


def test_verdicts_are_those_of_every_reachable_point() -> None:
    found, tried = judge()
    assert found.tolist() == tried.tolist()
    assert (len(found), int((~found).sum())) == (212, 16)  # as published
