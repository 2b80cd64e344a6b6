"""What can at best still come, beside a sweep from every step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings

import safear as sa
from doors import highest_success, look_ahead
from lanes import scaled
from strategies import problems


@settings(max_examples=scaled(40))
@given(document=problems(max_horizon=5))
def test_no_plan_costs_less_or_succeeds_more_often_from_there_on(document: dict[str, Any]) -> None:
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    ahead = look_ahead(mdp)
    assert (ahead.mean[-1] == np.where(mdp.goal, 0, mdp.failure_cost)).all()
    for step in range(mdp.horizon):
        # With fewer steps, from every state that can be met by then.
        later = replace(mdp, horizon=mdp.horizon - step, depth=np.zeros_like(mdp.depth))
        best = sa.solve(later, sa.Mean())
        for state in np.flatnonzero(mdp.depth <= step).tolist():
            assert np.isclose(ahead.mean[step, state] * float(mdp.quantum), best.value_of(state), rtol=1e-12)
            assert np.isclose(ahead.success[step, state], highest_success(later, state), atol=1e-12)
