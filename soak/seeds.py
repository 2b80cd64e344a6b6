"""What the broken inputs are made of: the bundled problems and a small one that says much in few lines."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import safear as sa
from safear.problem.dump import dump_problem

ROOT = Path(__file__).parent.parent
BUNDLED = Path(sa.__file__).parent / "datasets"
SMALL = """\
safear: 1
title: {en: A better job, de: Eine bessere Stelle}
description: "From basic to expert: two ways"
horizon: 4
cost: {unit: months}
features:
  skill: {kind: ordinal, levels: [basic, skilled, expert], labels: {basic: none}}
  age: {kind: numeric, edges: [30, 50], min: 18, mutable: false}
  gender: {kind: nominal, levels: [female, male], mutable: false}
goal: {favourable: hired, failure_cost: 12}
classifier: {rule: skill == expert or (skill == skilled and gender == male)}
actions:
  learn:
    cost: 1
    duration: 3 months
    outcomes: [{chance: 0.6, change: {skill: +1}}, {chance: 0.4, cost: 4, label: failed}]
  study:
    cost: [{when: age < 30, cost: 2}, 3]
    chance: [0.9, 0.95, 1]
    change: {skill: +1}
    when: skill != expert
  gamble:
    cost: {value: 0.5, source: guess}
    at_most: 2
    outcomes: [{chance: 0.1, change: {skill: expert}}, {chance: 0.5}, {change: {skill: basic}}]
constraints: [not (age < 30 and skill == expert) or true]
people:
  Ada: {skill: basic, age: 33, gender: female}
"""
TINY = """\
safear: 1
title: A job
horizon: 3
cost: {unit: months}
features:
  skill: {kind: ordinal, levels: [basic, skilled, expert]}
  age: {kind: numeric, edges: [30, 50], min: 18, mutable: false}
  gender: {kind: nominal, levels: [female, male], mutable: false}
goal: {favourable: hired, failure_cost: 12}
classifier: {rule: skill == expert}
actions:
  learn: {cost: 1, chance: 0.6, change: {skill: +1}}
  study: {cost: 3, chance: 0.9, change: {skill: +1}}
  gamble: {cost: 0.5, chance: 0.1, change: {skill: expert}, when: age < 30}
people:
  Ada: {skill: basic, age: 33, gender: female}
"""
TERMS = """\
actions:
  learn: {cost: 2, chance: 0.5}
  study: {cost: [{when: age < 30, cost: 1}, 2]}
forbid: [gamble]
"""
RANKED = "rank: [gamble, [learn, study]]\n"


@cache
def problem_texts() -> tuple[str, ...]:
    """The files of problems that are there; the small one counts most."""
    files = [*sorted(BUNDLED.glob("problems/*.yaml")), *sorted(BUNDLED.glob("presets/*.yaml"))]
    return (*[SMALL, TINY] * len(files), *(file.read_text(encoding="utf-8") for file in files))


@cache
def small_problem() -> sa.Problem:
    """The small one."""
    return sa.parse_problem(SMALL)


@cache
def tiny_problem() -> sa.Problem:
    """One whose plans are found at once, with the same features and actions."""
    return sa.parse_problem(TINY)


@cache
def problem_documents() -> tuple[dict[str, object], ...]:
    """The same problems as dictionaries."""
    return tuple(dump_problem(sa.parse_problem(text)) for text in problem_texts())


@cache
def plan_texts() -> tuple[str, ...]:
    """Saved plans of the small problem and of the bundled loan."""
    menus = [sa.recommend(small_problem()), sa.recommend(sa.load_example("loan"))]
    return tuple(sa.SavedPlan.of(offer).text for menu in menus for offer in menu)
