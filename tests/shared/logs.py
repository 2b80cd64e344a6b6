"""A problem with a chance and a cost in every form, its text with comments, and logs of attempts."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, repeat

import pandas as pd

from safear.problem import parse_problem

TEXT = """\
# The loan of our branch
safear: 1
title: Loan   # what people read
horizon: 12
cost: {unit: months}
features:
  age: {kind: ordinal, levels: [young, adult, senior], actionable: false}
  skill: {kind: ordinal, levels: [basic, skilled, manager]}
  job: {kind: nominal, levels: [employed, unemployed]}
  savings: {kind: numeric, edges: [100, 500], min: 0}
goal: {favourable: approved, failure_cost: 24}
classifier: {rule: job == employed and skill >= skilled}
actions:
  # courses
  learn:
    cost: {value: 1.5, source: guess}  # to be asked
    chance:
      skilled: 0.8   # from the brochure
      manager: {value: [0.5, 0.95], source: guess}
    change: {skill: +1}
    when: skill < manager

  change job:
    cost: 1
    outcomes:
      - {chance: 0.9, change: {job: employed}}
      - {chance: 0.1, change: {job: unemployed}, cost: 3}  # bad luck
  save: {cost: 1, change: {savings: +1}}
  hope:
    cost: 1
    chance:
      - {when: age == senior, chance: 0.5}  # who knows
      - {when: age == adult, worked: 3, tried: 4}
      - 0.7
    change: {skill: +1}
  gamble:
    cost: 2
    outcomes:
      - {chance: 0.2, change: {savings: +2}}
      - {chance: 0.3, change: {savings: -1}}
      - {}
people:
  ann: {age: young, skill: basic, job: employed, savings: 50}
"""
PROBLEM = parse_problem(TEXT)
START = {"age": "young", "skill": "basic", "job": "unemployed", "savings": "50"}


def log_of(*attempts: tuple[str, int, int] | tuple[str, int, int, Mapping[str, object]]) -> pd.DataFrame:
    """Attempts given as (action, worked, tried, cells that differ from the usual ones)."""
    rows = []
    for action, worked, tried, *more in attempts:
        cells = START | dict(more[0] if more else {})
        answers = chain(repeat("yes", worked), repeat("no", tried - worked))
        rows += [{"action": action, "worked": answer} | cells for answer in answers]
    return pd.DataFrame(rows)
