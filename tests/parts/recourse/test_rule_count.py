"""Rules counted from the runs of a policy are those of its steps in words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from doors import count_rules, group_rules
from ladders import CLIMB, ladders
from lanes import scaled
from moody_policies import in_pieces, policies
from safear.evaluation import Policy
from safear.recourse import make_plan

MOST_STEPS = 1_000_000  # no plan has as many


def count_in_words(plan: sa.Solution | Policy) -> int:
    return len(group_rules(make_plan(plan, limit=MOST_STEPS)))


@settings(max_examples=scaled(150))
@given(policy=policies())
def test_policies_that_change_their_mind(policy: Policy) -> None:
    known = in_pieces(policy)
    assert count_rules(known) == count_in_words(known)
    assert count_rules(policy) == count_in_words(policy)


@settings(max_examples=scaled(60))
@given(document=ladders(2, 9), objective=st.sampled_from(["mean", "cvar:0.8", "var:0.7", "mean-std:1"]))
def test_solutions_with_reasons(document: dict[str, Any], objective: str) -> None:
    """A step that has a reason of its own is no part of a rule; where one has, the steps differ anyway."""
    problem = sa.parse_problem(document)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.parse_objective(objective))
    assert count_rules(solution) == count_in_words(solution)


@pytest.mark.parametrize("chance", [0.8, [0, 0, 0.6], [0.4, 1, 1]])
def test_what_only_intervals_let_happen_counts(chance: object) -> None:
    unsure = {**CLIMB, "actions": {name: {**action, "chance": chance} for name, action in CLIMB["actions"].items()}}
    problem = sa.parse_problem(unsure)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.CVaR(0.9))
    assert count_rules(solution) == count_in_words(solution)


def test_nobody_who_is_there_needs_a_rule() -> None:
    problem = sa.parse_problem({**CLIMB, "classifier": {"rule": "true"}})
    policy = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean()).policy
    assert count_rules(policy) == 0
