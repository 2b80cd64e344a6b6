"""Costs with too many possible totals: the plan is looked for with rounded costs, and its figures are the real ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import safear as sa
from doors import FIGURE_MEASURES as MEASURES
from doors import (
    Crowd,
    Engine,
    Purpose,
    count_edges_ahead,
    engine,
    find_optimal,
    needs_rounding,
    restrict,
    round_costs,
    unit_for,
)
from lanes import scaled
from limits import limit_work
from safear.errors import TooLargeError
from safear.people import read_people
from safear.recourse import Desk
from safear.risk import Objective
from small_problems import ladder
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
SOMETIMES_FREE = [{"chance": 0.5, "cost": 12, "change": {"a": "yes"}}, {"chance": 0.3, "cost": 30}, {}]
FREE_OR_NOT: dict[str, Any] = {"go": {"cost": 0, "outcomes": SOMETIMES_FREE}}
OBJECTIVES = ["mean-std:1", "mean-variance:0.001", "var:0.9", "cvar:0.9", "budget:3000", "success-first:cvar:0.9"]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """So little work at a time that costs in cents must be rounded for some."""
    limit_work(50_000, monkeypatch)


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
    monkeypatch.setattr(engine, "FEW", 0)
    audited = Engine(Desk.of(problem)).work_out(crowd, Purpose(objective, level=0.9), MEASURES).figures
    for number, person in enumerate(problem.people.values()):
        solution = sa.solve(sa.compile_mdp(problem, start=person), objective)
        cost = sa.evaluate(solution)
        alone = [cost.success, cost.mean, cost.var(0.9), cost.cvar(0.9)]
        names = ["success", "mean", "var", "cvar"]
        assert alone == pytest.approx([audited[number, MEASURES.index(name)] for name in names], rel=1e-12)


def test_a_block_needs_rounding_if_somebody_in_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    limit_work(3_000_000, monkeypatch)
    problem = sa.parse_problem(CENTS)
    mdp = sa.compile_mdp(problem)
    far, near = (np.array([mdp.locate({"a": level})]) for level in "02")
    assert needs_rounding(mdp, sa.CVaR(0.9), far)
    assert not needs_rounding(mdp, sa.CVaR(0.9), near)
    assert not needs_rounding(mdp, sa.Mean(), far)


@settings(max_examples=scaled(60))
@given(problems())
def test_how_many_edges_are_ahead(document: dict[str, Any]) -> None:
    mdp = sa.compile_mdp(sa.parse_problem(document))
    starts = np.arange(mdp.n_states)
    assert count_edges_ahead(mdp, starts).tolist() == [restrict(mdp, start).mdp.n_edges for start in starts.tolist()]


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
    monkeypatch.setattr(engine, "FEW", 0)
    figures = Engine(Desk.of(problem)).work_out(crowd, Purpose(sa.CVaR(0.9)), MEASURES).figures
    alone = sa.evaluate(sa.solve(sa.compile_mdp(problem, start=person), sa.CVaR(0.9)))
    assert figures[0, MEASURES.index("mean")] == pytest.approx(alone.mean, rel=1e-12)


def test_costs_are_rounded_as_far_as_the_work_takes_and_the_steps_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least step that costs anything stays at least 4 units, here of 3."""
    problem = ladder(FREE_OR_NOT, failure_cost=31)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    work = mdp.n_edges * mdp.horizon * 50
    for most, units in [(work, 1), (work - 1, 2), (-(-work // 2), 2), (work // 3 - 1, 3), (1, 3)]:
        limit_work(most, monkeypatch)
        assert unit_for(mdp, 50) == units
    solution = sa.solve(mdp, sa.CVaR(0.9))
    assert solution.search_unit == 3


@pytest.mark.parametrize(
    ("actions", "failure_cost", "needs"),
    [
        (FREE_OR_NOT, 31, True),
        ({"go": {"cost": 8, "chance": 0.5, "change": {"a": "yes"}}}, 9, True),  # 4 units of 2
        ({"go": {"cost": 7, "chance": 0.5, "change": {"a": "yes"}}}, 9, False),
    ],
)
def test_who_needs_rounding_is_who_would_have_it_alone(
    actions: dict[str, Any], failure_cost: float, needs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_work(1, monkeypatch)
    problem = ladder(actions, failure_cost=failure_cost)
    mdp = sa.compile_mdp(problem)
    assert mdp.quantum == 1
    assert needs_rounding(mdp, sa.CVaR(0.9), mdp.starts) == needs
    alone = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.CVaR(0.9))
    assert (alone.search_unit is not None) == needs


def test_edges_beyond_the_horizon_are_not_ahead() -> None:
    problem = ladder({"go": {"cost": 1, "change": {"a": "+1"}}}, levels="abcdef", horizon=2)
    assert count_edges_ahead(sa.compile_mdp(problem), np.arange(6)).tolist() == [2, 2, 2, 2, 1, 0]


@pytest.mark.parametrize("cost", [97, 97.4])
def test_the_bound_gives_way_by_what_the_rounding_of_the_search_can_change(
    cost: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """97 becomes 96 = 4 * 24, and 300 becomes 312 = 13 * 24; what the problem itself rounds is told elsewhere."""
    limit_work(1, monkeypatch)
    actions = {"go": {"cost": cost, "change": {"a": "yes"}}}
    problem = ladder(actions, failure_cost=300, cost={"resolution": 1})
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.CVaR(0.9))
    assert solution.search_unit == 24
    assert solution.value == 97
    assert solution.bound == 96 - (1 + 12)
    assert solution.value_error == pytest.approx(cost - 97)


def test_an_account_counts_as_the_nearest_number_of_units(monkeypatch: pytest.MonkeyPatch) -> None:
    units = 13
    toss = [{"chance": 0.5, "cost": 100, "change": {"a": "mid"}}, {"cost": 200, "change": {"a": "mid"}}]
    actions = {
        "toss": {"cost": 0, "when": "a == low", "outcomes": toss},
        "safe": {"cost": 103, "when": "a == mid", "chance": 0.9, "change": {"a": "goal"}},
        "cheap": {"cost": 53, "when": "a == mid", "chance": 0.5, "change": {"a": "goal"}},
    }
    problem = ladder(actions, levels=("low", "mid", "goal"), horizon=2, failure_cost=501)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    limit_work(1, monkeypatch)
    solution = sa.solve(mdp, sa.Budget(280))
    assert solution.search_unit == units
    assert solution.value == pytest.approx(1 - 0.5 * 0.9 - 0.5 * 0.5)  # safe after 100, cheap after 200
    coarse = find_optimal(round_costs(mdp, units), sa.Budget(280), tolerance=0).policy
    assert solution.policy.accounts.tolist() == (coarse.accounts * units).tolist()
    accounts, states = np.arange(-30, 400), np.full(430, mdp.locate({"a": "mid"}))
    nearest = np.floor(accounts / units + 0.5).astype(np.int64)
    chosen = solution.policy.choose(1, states, accounts).tolist()
    assert len(set(chosen)) == 2
    assert chosen == coarse.choose(1, states, nearest).tolist()
