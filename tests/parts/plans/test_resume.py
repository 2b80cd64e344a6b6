"""Going on with a kept plan, beside the policy that it was made of; and plans that go on with others."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import safear as sa
from doors import run_on
from promises.plans.test_resume import PROBLEM, kept
from promises.plans.test_saved_plan import decide
from safear import SavedPlan
from safear.errors import PlanError
from safear.plans import find_restart


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
