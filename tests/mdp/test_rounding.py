"""Coarser costs: what a total is off by at most."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import safear as sa
from safear.evaluation import StatePolicy
from safear.mdp.rounding import round_costs
from strategies import problems


@given(problems(), st.integers(1, 40))
def test_totals_are_off_by_no_more_than_said(document: dict[str, Any], units: int) -> None:
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    coarse = round_costs(mdp, units)
    assert coarse.quantum == units * mdp.quantum
    assert (coarse.cost_error == mdp.cost_error) or units > 1
    solution = sa.solve(mdp, sa.Mean())
    assert isinstance(solution.policy, StatePolicy)
    exact = sa.evaluate(solution).all_runs
    rounded = sa.evaluate(StatePolicy(coarse, solution.policy.choices)).all_runs
    off = float(coarse.cost_error - mdp.cost_error) + 1e-9
    assert abs(exact.mean - rounded.mean) <= off
    for level in (0.0, 0.5, 0.9, 1.0):
        assert abs(exact.cvar(level) - rounded.cvar(level)) <= off
        assert abs(exact.var(level) - rounded.var(level)) <= off


def test_nearest_multiples() -> None:
    problem = sa.load_example("loan")
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    coarse = round_costs(mdp, 2)  # months in fifths: 1 is 5 and 1.4 is 7 of them, so 3 and 4 units of 0.4
    assert {(int(a), int(b)) for a, b in zip(mdp.edge_cost, coarse.edge_cost, strict=True)} >= {(5, 3), (7, 4)}
    assert float(coarse.cost_error) == pytest.approx(24 * 0.2)
