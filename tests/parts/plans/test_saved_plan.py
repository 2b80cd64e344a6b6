"""Kept plans inside: their policies have the figures of the plans, and arrays made by hand are not saved."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from doors import make_offer
from drawn_menus import offer_of
from lanes import scaled
from promises.plans.test_saved_plan import LOAN, OBJECTIVES, PERSON, decide
from safear import SavedPlan
from safear.errors import PlanError
from safear.evaluation import evaluate_ranges, run_exactly
from strategies import problems


@settings(max_examples=scaled(40))
@given(problems(), st.sampled_from(OBJECTIVES), st.booleans())
def test_a_kept_plan_takes_as_many_steps_and_changes(document: dict[str, Any], objective: Any, personal: bool) -> None:
    offer = offer_of(sa.parse_problem(document), objective)
    kept = SavedPlan.of(offer, personal_data=personal)
    assert run_exactly(kept.policy, kept.start).sparsity == offer.runs.sparsity


@pytest.mark.parametrize("chance", [{"worked": 5, "tried": 5}, [0.0, 0.0, 0.9], [0.5, 0.8, 1.0]])
def test_ranges_follow_from_the_intervals_that_are_kept(chance: Any) -> None:
    actions = {
        "try": {"cost": 1, "outcomes": [{"chance": chance, "change": {"job": "+1"}}, {"change": {"term": -1}}]},
        "shorten": {"cost": 1, "change": {"term": -1}},
    }
    problem = sa.parse_problem(LOAN | {"actions": actions, "horizon": 5})
    offer = sa.recommend(problem, decide, PERSON, objectives="mean")[0]
    kept = SavedPlan.of(offer)
    assert evaluate_ranges(kept.policy, kept.start, level=kept.level) == offer.ranges


def test_plans_for_arrays_made_by_hand_are_not_saved() -> None:
    mdp = sa.compile_mdp(sa.load_example("loan"), start=sa.load_example("loan").default_person)
    names = ("horizon", "goal", "row_start", "row_action", "edge_start", "edge_next", "edge_chance", "edge_cost")
    plain = sa.MDP(**{name: getattr(mdp, name) for name in (*names, "edge_outcome", "depth", "actions")})
    with pytest.raises(PlanError, match="made by hand"):
        SavedPlan.of(make_offer(sa.solve(plain, sa.Mean())))
