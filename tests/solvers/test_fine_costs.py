"""Costs with too many possible totals: the plan is looked for with rounded costs, and its figures are the real ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import safear as sa
from safear.errors import TooLargeError
from safear.mdp.slices import restrict
from safear.people.lists import read_people
from safear.population.crowd import Crowd
from safear.population.engine import Engine, Purpose
from safear.population.figures import MEASURES
from safear.recourse.case import Desk
from safear.risk import Objective
from safear.solvers.fine_costs import _count_edges_ahead, needs_rounding
from strategies import problems

CENTS: dict[str, Any] = {
    "safear": 1,
    "title": "dollars and cents",
    "horizon": 4,
    "cost": {"unit": "dollars"},
    "goal": {"favourable": "done", "failure_cost": 9000},
    "features": {"a": {"kind": "ordinal", "levels": ["0", "1", "2", "3"]}},
    "actions": {
        "course": {"cost": 1234.56, "chance": 0.9, "change": {"a": "+1"}},
        "book": {"cost": 333.33, "chance": 0.4, "change": {"a": "+1"}},
    },
    "classifier": {"rule": "a == 3"},
    "people": {"p": {"a": "0"}, "q": {"a": "1"}, "r": {"a": "2"}},
}
OBJECTIVES = ["mean-std:1", "mean-variance:0.001", "var:0.9", "cvar:0.9", "budget:3000", "success-first:cvar:0.9"]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """So little work at a time that costs in cents must be rounded for some."""
    monkeypatch.setattr("safear.solvers.fine_costs.MAX_WORK", 50_000)


def solve_exactly(problem: sa.Problem, objective: Objective) -> sa.Solution:
    """Plans for many people at once are not looked for with rounded costs."""
    exact = sa.solve(sa.compile_mdp(problem), objective, tolerance=1e-9)
    assert exact.search_unit is None
    return exact


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("text", OBJECTIVES)
def test_value_and_bound_are_those_of_the_real_costs(text: str) -> None:
    problem, objective = sa.parse_problem(CENTS), sa.parse_objective(text)
    exact = solve_exactly(problem, objective)
    person = problem.people["p"]
    solution = sa.solve(sa.compile_mdp(problem, start=person), objective)
    assert solution.search_unit is not None
    assert solution.search_unit > 0.01
    assert solution.mdp.cost_error == 0
    assert solution.bound <= exact.value_of(person) + 1e-9
    assert exact.bound_of(person) <= solution.value + 1e-9
    assert solution.value == pytest.approx(objective.of(sa.evaluate(solution)))


@pytest.mark.usefixtures("hasty")
def test_what_needs_no_targets_is_not_rounded() -> None:
    problem = sa.parse_problem(CENTS)
    mdp = sa.compile_mdp(problem, start=problem.people["p"])
    for solution in (sa.solve(mdp, sa.Mean()), sa.solve(mdp, sa.MeanStd(1), method="greedy")):
        assert solution.search_unit is None


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("text", OBJECTIVES)
def test_one_person_has_one_plan_wherever_they_ask(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone, and among all of their block."""
    problem, objective = sa.parse_problem(CENTS), sa.parse_objective(text)
    crowd = Crowd.of(problem, read_people(problem, [*problem.people.values()]))
    monkeypatch.setattr("safear.population.engine.FEW", 0)
    audited = Engine(Desk.of(problem)).work_out(crowd, Purpose(objective, level=0.9), MEASURES).figures
    for number, person in enumerate(problem.people.values()):
        solution = sa.solve(sa.compile_mdp(problem, start=person), objective)
        cost = sa.evaluate(solution)
        alone = [cost.success, cost.mean, cost.var(0.9), cost.cvar(0.9)]
        names = ["success", "mean", "var", "cvar"]
        assert alone == pytest.approx([audited[number, MEASURES.index(name)] for name in names], rel=1e-12)


def test_a_block_needs_rounding_if_somebody_in_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("safear.solvers.fine_costs.MAX_WORK", 3_000_000)
    problem = sa.parse_problem(CENTS)
    mdp = sa.compile_mdp(problem)
    far, near = (np.array([mdp.locate({"a": level})]) for level in "02")
    assert needs_rounding(mdp, sa.CVaR(0.9), far)
    assert not needs_rounding(mdp, sa.CVaR(0.9), near)
    assert not needs_rounding(mdp, sa.Mean(), far)


@settings(max_examples=60)
@given(problems())
def test_how_many_edges_are_ahead(document: dict[str, Any]) -> None:
    mdp = sa.compile_mdp(sa.parse_problem(document))
    starts = np.arange(mdp.n_states)
    assert _count_edges_ahead(mdp, starts).tolist() == [restrict(mdp, start).mdp.n_edges for start in starts.tolist()]


def test_what_does_not_fit_memory_for_all_is_solved_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    features = {**CENTS["features"], **{f"f{i}": {"kind": "ordinal", "levels": ["0", "1"]} for i in range(10)}}
    turns = {f"turn {i}": {"cost": 400.01 + i, "change": {f"f{i}": "+1"}} for i in range(10)}
    document = {**CENTS, "features": features, "actions": {**CENTS["actions"], **turns}}
    document["people"] = {"p": {"a": "1", **{f"f{i}": "1" for i in range(10)}}}
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem)
    with pytest.raises(TooLargeError):
        sa.solve(mdp, sa.CVaR(0.9))
    person = problem.people["p"]
    crowd = Crowd.of(problem, read_people(problem, [person]))
    monkeypatch.setattr("safear.population.engine.FEW", 0)
    figures = Engine(Desk.of(problem)).work_out(crowd, Purpose(sa.CVaR(0.9)), MEASURES).figures
    alone = sa.evaluate(sa.solve(sa.compile_mdp(problem, start=person), sa.CVaR(0.9)))
    assert figures[0, MEASURES.index("mean")] == pytest.approx(alone.mean, rel=1e-12)
