"""Saved plans, as they are read and resumed."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from doors import make_offer, plan_reading, run_on
from drawn_menus import offer_of
from lanes import scaled
from promises.plans.test_plan_file import PLANS, text_of
from promises.plans.test_resume import PROBLEM, kept
from promises.plans.test_saved_plan import LOAN, OBJECTIVES, PERSON, decide
from safear import SavedPlan
from safear.errors import PlanError, TooLargeError
from safear.evaluation import evaluate_ranges, run_exactly
from safear.plans import find_restart
from strategies import problems

# -------------- Kept plans inside: their policies have the figures of the plans, and arrays made by hand are not saved


@settings(max_examples=scaled(40))
@given(problems(), st.sampled_from(OBJECTIVES), st.booleans())
def test_a_kept_plan_takes_as_many_steps_and_changes(document: dict[str, Any], objective: Any, personal: bool) -> None:
    offer = offer_of(sa.parse_problem(document), objective)
    kept = SavedPlan.of(offer, personal_data=personal)
    assert run_exactly(kept.policy, kept.start).sparsity == offer.runs.sparsity


def test_a_kept_plan_knows_which_outcomes_work() -> None:
    outcomes = [{"chance": 0.2, "works": False}, {"change": {"term": -1}, "works": True}]
    problem = sa.parse_problem(LOAN | {"actions": {"shorten": {"cost": 1, "outcomes": outcomes}}})
    kept = SavedPlan.of(sa.recommend(problem, decide, PERSON, objectives="mean")[0])
    assert kept.mdp.working.tolist() == [kept.mdp.edge_outcome[edge] == 1 for edge in range(len(kept.mdp.edge_outcome))]
    assert not kept.mdp.works(0)
    assert kept.mdp.works(1)


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


# -------------------------------------------------------------------- Reading plan files: how much they may tell apart


def test_what_does_not_look_at_what_was_spent_is_never_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan for many states and steps is read back when it is saved: it must not be called damaged."""
    looking, plain = (text_of(*plan) for plan in PLANS)
    monkeypatch.setattr(plan_reading, "MOST_SPANS", 1)
    assert SavedPlan.read(plain).text == plain
    with pytest.raises(TooLargeError, match="in more than 1 cases"):
        SavedPlan.read(looking)


# ------------------ Going on with a kept plan, beside the policy that it was made of; and plans that go on with others


@pytest.mark.parametrize("objective", ["budget:5", "cvar:0.95"])
def test_amounts_that_never_come_up_get_the_plans_own_answer_or_none(objective: str) -> None:
    """Wherever the plan comes, with whatever spent: the file says what the policy does there and after, or nothing."""
    offer = sa.recommend(sa.load_example("loan"), objectives=objective)[0]
    plan, policy = SavedPlan.of(offer), offer.policy
    mdp, answered, refused = policy.mdp, 0, 0
    assert policy.looks_at_spent
    for person, step, units in product(plan.mdp.people, range(1, 4), range(0, 60, 3)):
        state = mdp.locate(person)
        account = int(policy.accounts[offer.start]) - units
        row = -1 if mdp.goal[state] else int(policy.rows(step, np.array([state]), np.array([account]))[0])
        try:
            there = sa.resume(plan, turn=sa.Turn(person, cost=float(units * mdp.quantum), steps=step))
        except PlanError:
            refused += 1
            continue
        answered += 1
        assert there.action == (None if row < 0 else mdp.actions[mdp.row_action[row]])
        wanted = run_on(policy, state, step=step, account=account).distribution
        assert there.ahead.points() == wanted.points()
    assert answered > refused > 0


def test_a_plan_that_goes_on_with_another_remembers_what_came_before() -> None:
    """Restarted twice: the problem is the same, nothing spent is forgotten, and it is the same person."""
    first = find_restart(kept(), PROBLEM, decide, outcomes=["failed"])
    assert first.spent == 1
    again = SavedPlan.of(sa.replan(kept(), PROBLEM, decide, outcomes=["failed"])[0], before=first.before)
    assert (sa.resume(again).spent, sa.resume(again, ["failed"]).spent) == (
        1,
        1 + again.form.actions[0].outcomes[1].cost,
    )
    assert str(sa.resume(again)).splitlines()[-1].startswith("Spent so far: 1 month.")
    assert again.person_hash == kept().person_hash
    second = find_restart(again, PROBLEM, decide, outcomes=["failed"], turn=sa.Turn(cost=0.5))
    assert second.spent == sa.resume(again, ["failed"]).spent + 0.5
    assert second.steps_left == 1
    assert second.before.hash == kept().person_hash
    hidden = SavedPlan.of(
        sa.replan(kept(), PROBLEM, decide, outcomes=["failed"])[0], before=first.before, personal_data=False
    )
    assert (hidden.spent_before, hidden.person_hash) == (1, None)
    with pytest.raises(PlanError, match="'horizon'"):
        sa.replan(kept(), PROBLEM.with_horizon(9), decide)
