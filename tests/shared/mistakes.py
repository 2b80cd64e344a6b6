"""A small sound problem file, and what is said of it once a part of it is changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from safear.errors import ProblemError
from safear.problem import parse_problem

LOAN = """\
safear: 1
title: Loan
horizon: 12
cost: {unit: months}
features:
  age: {kind: ordinal, levels: [young, adult, senior], actionable: false}
  skill: {kind: ordinal, levels: [basic, skilled, manager]}
  job: {kind: nominal, levels: [employed, unemployed]}
  sex: {kind: nominal, levels: [female, male], mutable: false}
  bmi: {kind: numeric, edges: [20, 25], seen_by_classifier: false}
goal: {favourable: approved, threshold: 0.5, failure_cost: 24}
classifier:
  rule: job == employed and skill >= skilled
actions:
  learn:
    cost: 1.5
    chance: 0.8
    change: {skill: +1, age: +1}
    when: skill < manager
  change job:
    cost: 1
    outcomes:
      - {chance: 0.9, change: {job: employed}}
      - {chance: 0.1, change: {job: unemployed}, cost: 3}
  diet: {cost: 2, chance: [0.7, 0.9], change: {bmi: -1}}
side_effects:
  - {cause: skill, direction: up, change: {age: +1}}
constraints:
  - not (job == unemployed and skill == manager)
people:
  ann: {age: young, skill: basic, job: employed, sex: female, bmi: 22.5}
"""


def edited(*edits: tuple[str, str]) -> str:
    """The file with parts of it replaced; each of them stands there exactly once."""
    text = LOAN
    for old, new in edits:
        assert text.count(old) == 1, f"{old!r} stands there {text.count(old)} times"
        text = text.replace(old, new)
    return text


def listed_mistakes(*sections: str) -> list[tuple[str, str, str, str | None]]:
    """What stands in the file, what stands there instead, the mistake and its remedy: some or all of `mistakes.txt`."""
    listed = Path(__file__).with_name("mistakes.txt").read_text(encoding="utf-8")
    found = []
    for section in listed.split("\n## ")[1:]:
        title, *lines = section.splitlines()
        for edit, said in zip(lines[::2], lines[1::2], strict=False):
            old, _, new = edit.removeprefix("@ ").replace("\\n", "\n").partition(" =>")
            mistake, _, remedy = said.partition(" | ")
            if not sections or title in sections:
                found.append((old, new.removeprefix(" "), mistake, remedy or None))
    return found


def told(source: str | Mapping[str, Any], name: str = "loan.yaml") -> str:
    """The whole text of the error that a problem gives."""
    with pytest.raises(ProblemError) as caught:
        parse_problem(source, name)
    assert all(item.code != "invalid" for item in caught.value.mistakes), "a mistake without a code of its own"
    return str(caught.value)


def shown(text: str, *mistakes: tuple[str, str | None], file: str = "loan.yaml") -> str:
    """What should be said of mistakes in a text, each given as (`line:column: path: cause`, remedy)."""
    said: list[str] = []
    for mistake, remedy in mistakes:
        line, column, _ = mistake.split(":", 2)
        source = text.splitlines()[int(line) - 1]
        said += [f"{file}:{mistake}", f"    {source}", f"    {' ' * (int(column) - 1)}^"]
        said += [f"    {remedy}"] if remedy else []
    return "\n".join(said)


def whole(expected: str) -> str:
    """A text as it is written in these tests, without the indentation that all of its lines share."""
    return dedent(expected).strip("\n").rstrip()
