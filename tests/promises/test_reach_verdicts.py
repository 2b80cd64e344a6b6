"""Verdicts on a published set of actions: examples/reach."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # as `python -m examples.reach.verdicts` does

from examples.reach.verdicts import judge, read_applications, train, try_all, verify  # noqa: E402


def test_verdicts_are_those_of_every_reachable_point() -> None:
    found, tried = judge()
    assert found.tolist() == tried.tolist()
    assert (len(found), int((~found).sum())) == (212, 16)  # as published


def test_verdicts_on_a_few_people_are_those_of_every_reachable_point() -> None:
    table, decision = read_applications()
    model = train(table, decision)
    rejected = table[model.predict(table) == "bad"].sample(40, random_state=0)
    found = verify(rejected, model)
    assert found.tolist() == try_all(rejected, model).tolist()
    assert set(found.tolist()) == {True, False}
