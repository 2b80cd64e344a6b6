"""Success first against brute force."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

import oracle
import safear as sa
from compare import read_both
from safear.errors import ObjectiveError
from strategies import problems


@settings(max_examples=40)
@given(problems(tiny=True))
def test_no_policy_succeeds_more_often_or_as_often_for_less(document: dict[str, Any]) -> None:
    problem, judge, start = read_both(document)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.SuccessFirst())
    ours = sa.evaluate(solution)
    outcomes = []
    for policy in judge.policies(start):
        distribution = judge.distribution(policy, start)
        outcomes.append((oracle.success(distribution), oracle.mean(distribution)))
    best = max(success for success, _ in outcomes)
    least = min(mean for success, mean in outcomes if success == best and mean is not None)
    assert ours.success == pytest.approx(float(best), abs=1e-12)
    assert ours.all_runs.mean == pytest.approx(float(least), abs=1e-9)
    assert solution.planned_value() == pytest.approx(float(least), abs=1e-9)


def test_methods() -> None:
    mdp = sa.compile_mdp(sa.load_example("loan"))
    assert sa.solve(mdp, sa.SuccessFirst()).method == "optimal"
    with pytest.raises(ObjectiveError, match="'success-first' needs method 'optimal'"):
        sa.solve(mdp, sa.SuccessFirst(), method="greedy")
    assert sa.solve(mdp, sa.MeanStd(0), method="optimal").method == "optimal"
