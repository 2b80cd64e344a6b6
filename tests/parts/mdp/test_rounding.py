"""Coarser costs: what a total is off by at most."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import safear as sa
from doors import find_hints, find_lattice, require_columns, round_costs
from safear.errors import ProblemError, TooLargeError
from safear.evaluation import StatePolicy
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


def _failing_costs(amount: str) -> sa.Problem:
    problem = sa.load_example("loan")  # in which the least cost is 1
    return replace(problem, goal=replace(problem.goal, failure_cost=Decimal(amount)))


@pytest.mark.parametrize("amount", ["24.000000001", "1e9", "5e9", "1e12"])
def test_no_resolution_is_advised_that_makes_steps_cost_nothing(amount: str) -> None:
    problem = _failing_costs(amount)
    mdp = sa.compile_mdp(problem)
    columns = mdp.failure_cost + mdp.horizon * int(mdp.edge_cost.max())
    for room in (2**20, 2**24, 2**32):
        with pytest.raises(TooLargeError) as refused:
            require_columns(mdp, columns, tables=4, max_bytes=room)
        advice = re.search(r"resolution: ([^}]+)}", str(refused.value))
        if advice is None:
            assert "failure cost" in str(refused.value) or "shorten the horizon" in str(refused.value)
        else:
            assert Decimal(advice[1]) <= 1


def test_a_failure_cost_that_no_resolution_helps_is_to_be_lowered() -> None:
    with pytest.raises(TooLargeError) as refused:
        require_columns(sa.compile_mdp(_failing_costs("1e9")), 5 * 10**9, tables=4)
    assert "the least is 1: lower the failure cost (1e+09), shorten the horizon" in str(refused.value)
    assert "resolution" not in str(refused.value)


def test_costs_too_fine_to_add_up_are_not_rounded_to_nothing() -> None:
    problem = sa.load_example("loan")
    tiny = replace(problem, goal=replace(problem.goal, failure_cost=Decimal("1e15")))
    cheap = replace(tiny.actions[0], cost=type(tiny.actions[0].cost)(*([Decimal("1e-9")] * 3)))  # type: ignore[arg-type]
    with pytest.raises(ProblemError) as refused:
        find_lattice(replace(tiny, actions=(cheap, *tiny.actions[1:])))
    assert "the least is 1e-09" in str(refused.value)


def test_check_sees_a_resolution_that_makes_steps_free() -> None:
    problem = replace(sa.load_example("loan"), cost_resolution=Decimal(50))
    assert "rounded_away" in [hint.code for hint in find_hints(problem)]
    assert "free" in " ".join(map(str, find_hints(problem)))
    assert "rounded_away" not in [hint.code for hint in find_hints(replace(problem, cost_resolution=Decimal(1)))]
