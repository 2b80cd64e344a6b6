"""The one door: a case is decided on the record as filed, and a desk with another horizon counts anew."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import safear as sa
from doors import diagnose_people, diagnose_space
from promises.test_margins import LEVEL_PEOPLE, LEVELS, asking, score
from safear.errors import ClassifierError
from safear.recourse import Desk

ROUNDED = """
safear: 1
title: Fine costs
horizon: 3
cost: {resolution: 1}
features: {a: {kind: ordinal, levels: [low, mid, high]}}
classifier: {rule: a == high}
actions: {climb: {cost: 1.3, chance: 0.5, change: {a: +1}}}
people: {me: {a: low}}
"""
FILED = """
safear: 1
title: Raw
horizon: 3
features: {income: {kind: numeric, edges: [20000, 35000], levels: [low, fair, good], values: [10000, 28000, 50000]}}
goal: {failure_cost: 9}
actions: {earn: {cost: 1, chance: 0.5, change: {income: +1}}}
people: {lucky: {income: 33000}, unlucky: {income: 12000}}
"""


@pytest.mark.parametrize("horizon", [1, 3, 30])
def test_another_horizon_has_its_own_error_of_rounding(horizon: int) -> None:
    problem = sa.parse_problem(ROUNDED)
    mdp = Desk.of(problem).with_horizon(horizon).open().mdp
    assert mdp.cost_error == sa.compile_mdp(problem.with_horizon(horizon), start={"a": "low"}).cost_error
    assert float(mdp.cost_error) == float(horizon * Decimal("0.3"))


def test_people_are_diagnosed_as_they_are_recommended_plans() -> None:
    problem, decider = sa.parse_problem(FILED), lambda frame: frame["income"] >= 30_000
    people, mistakes = diagnose_people(problem, decider)
    assert [person.favourable for person in people] == [True, False]
    assert [sa.recommend(problem, decider, person.name).favourable for person in people] == [True, False]
    assert not mistakes


def test_a_scale_that_fits_only_where_one_person_comes_is_no_plan_and_no_sound_problem() -> None:
    problem = sa.load_example("loan")

    def points(frame: pd.DataFrame) -> Any:
        return np.where(frame["age"] == "senior", 70.0, 0.8 * (frame["job"] == "employed"))

    person = {"age": "young", "education": "school", "savings": "little", "job": "unemployed", "housing": "rent"}
    with pytest.raises(ClassifierError, match="no probabilities between 0 and 1, such as 70"):
        sa.recommend(problem, points, person)
    with pytest.raises(ClassifierError, match="no probabilities between 0 and 1, such as 70"):
        diagnose_people(problem, points)


def test_no_state_is_a_goal_by_mistake() -> None:
    problem = sa.parse_problem(FILED.replace("goal: {", "goal: {favourable: approved, "))
    with pytest.raises(ClassifierError, match="none of that is 'approved'"):
        diagnose_space(problem, lambda frame: np.where(frame["income"] >= 30_000, "granted", "denied"))


def test_the_whole_space_counts_who_is_accepted() -> None:
    plain, strict = diagnose_space(LEVELS, score), diagnose_space(asking(LEVELS, {"aim": 0.62}), score)
    assert strict.goals == plain.goals == int((score(LEVEL_PEOPLE) >= 0.5).sum())
    assert strict.without_recourse >= plain.without_recourse
