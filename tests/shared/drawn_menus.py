"""Menus and plans to draw."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

import safear as sa
from doors import make_offer
from safear.recourse import Offer
from safear.risk import Objective
from safear.solvers import LearningCurve
from small_problems import guessed_loan

NASTY = 'a <b> & "c" \x00\x1b\ud800\n' + "with a very long name " * 4

# Costs without a common step of some size, 40 steps, outcomes that cost more than the step.
CRAFT = """
safear: 1
title: A master craftsman
horizon: 40
cost: {unit: euros}
features:
  skill: {kind: ordinal, levels: [none, a, b, c, d, e, f, g, h]}
  health: {kind: ordinal, levels: [ill, well]}
goal: {favourable: licensed, failure_cost: 5000}
classifier: {rule: skill == h and health == well}
actions:
  evening course: {cost: 137, chance: 0.7, change: {skill: +1}, when: health == well}
  intensive course:
    cost: 260
    when: health == well
    outcomes:
      - {chance: 0.85, change: {skill: +2}}
      - {chance: 0.1, change: {health: ill}, label: you fall ill, cost: 411}
      - {chance: 0.05}
  rest: {cost: 93, chance: 0.6, change: {health: well}, when: health == ill}
people:
  me: {skill: none, health: well}
"""

# Two tries, and most fail.
GAMBLE = """
safear: 1
title: A gamble
horizon: 2
cost: {unit: months}
features: {luck: {kind: ordinal, levels: [bad, good]}}
goal: {favourable: rich, failure_cost: 100}
classifier: {rule: luck == good}
actions: {play: {cost: 1, chance: 0.3, change: {luck: +1}}}
people: {me: {luck: bad}}
"""


def offer_of(problem: sa.Problem, objective: Objective | None = None) -> Offer:
    """A plan of the problem's first person, whether or not it can succeed."""
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    return make_offer(sa.solve(mdp, sa.Mean() if objective is None else objective))


@cache
def menu_of(name: str) -> sa.Menu:
    texts = {"craft": CRAFT, "gamble": GAMBLE}
    if name == "guesses":
        return sa.recommend(guessed_loan())
    return sa.recommend(sa.parse_problem(texts[name]) if name in texts else sa.load_example(name))


@cache
def hopeless() -> Offer:
    """A plan that never succeeds and does not stop: one step is not enough."""
    late = sa.parse_problem(CRAFT).with_horizon(1)
    return offer_of(replace(late, goal=replace(late.goal, stop=False)))


@cache
def nasty() -> tuple[Offer, ...]:
    """Plans whose names and actions would break a picture, counted in a unit that would too."""
    problem = sa.load_example("loan")
    actions = tuple(replace(action, name=f"{action.name} {NASTY}") for action in problem.actions)
    renamed = sa.recommend(replace(problem, actions=actions, cost_unit="months of " + NASTY, horizon=4))
    return tuple(replace(offer, label=NASTY * 3) for offer in renamed)


def learning_curve() -> LearningCurve:
    """200 episodes that become cheaper and cheaper."""
    return LearningCurve(np.linspace(9, 3, 200), np.ones(200, dtype=bool), np.zeros(200))


NAMES = ("loan", "health-insurance", "craft", "gamble", "guesses")
ALL = list(NAMES)
