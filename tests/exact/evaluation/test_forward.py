"""Exact evaluation against all histories, closed forms and simulation."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import safear as sa
from compare import as_policy, read_both
from doors import policy_of, require_few_moves, run_moved
from gambles import by_hand
from moody_policies import Ruled, by_pieces
from safear.errors import ObjectiveError, PersonError, TooLargeError
from safear.evaluation import StatePolicy, run_exactly
from small_problems import ladder
from strategies import problems

LEVELS = st.sampled_from([0.0, 0.5, 0.8, 0.9, 0.95, 1.0])


def retry(chance: float, horizon: int, *, cost: float = 1, failure_cost: float = 0) -> sa.Problem:
    """One action that is tried until it works."""
    actions = {"try": {"cost": cost, "chance": chance, "change": {"a": "yes"}}}
    return ladder(actions, horizon=horizon, failure_cost=failure_cost)


def solved(problem: sa.Problem, objective: sa.Mean | sa.MeanStd | None = None) -> sa.Solution:
    return sa.solve(sa.compile_mdp(problem, start=problem.default_person), objective or sa.Mean(), method="greedy")


def test_too_many_moves_are_told_before_they_are_made() -> None:
    policy = policy_of(solved(retry(0.5, 30)))
    require_few_moves(policy, policy.mdp.start, most=60)  # two outcomes at each step
    with pytest.raises(TooLargeError, match="more than 59 moves"):
        require_few_moves(policy, policy.mdp.start, most=59)


@pytest.mark.parametrize("chance", [0.1, 0.5, 0.93])
@pytest.mark.parametrize("horizon", [1, 4, 30])
def test_retries_are_geometric(chance: float, horizon: int) -> None:
    cost = sa.evaluate(solved(retry(chance, horizon, cost=0.3, failure_cost=2)))
    fail = (1 - chance) ** horizon
    assert cost.success == pytest.approx(1 - fail, abs=1e-12)
    points = cost.points()
    for tries, (total, probability, success) in enumerate(points[:-1], start=1):
        assert success
        assert total == pytest.approx(0.3 * tries, abs=1e-12)
        assert probability == pytest.approx(chance * (1 - chance) ** (tries - 1), abs=1e-12)
    assert points[-1][0] == pytest.approx(0.3 * horizon + 2)
    assert points[-1][1] == pytest.approx(fail)
    assert not points[-1][2]
    assert cost.all_runs.mean == pytest.approx(0.3 * (1 - fail) / chance + 2 * fail, abs=1e-12)


@given(problems(), LEVELS)
def test_measures_are_the_oracles(document: dict[str, Any], level: float) -> None:
    problem, judge, start = read_both(document)
    solution = solved(problem, sa.MeanStd(0.5))
    policy = as_policy(solution)
    expected = judge.distribution(policy, start)
    cost = sa.evaluate(solution)

    def same(ours: float | None, theirs: object) -> None:
        if theirs is None:
            assert ours is None
        else:
            assert ours == pytest.approx(float(theirs), abs=1e-9)  # type: ignore[arg-type]

    same(cost.success, oracle.success(expected))
    same(cost.mean, oracle.mean(expected, given_success=True))
    same(cost.variance, oracle.variance(expected, given_success=True))
    same(cost.var(level), oracle.value_at_risk(expected, level, given_success=True))
    same(cost.cvar(level), oracle.cvar(expected, level, given_success=True))
    same(cost.tail_mean(level), oracle.tail_mean(expected, level, given_success=True))
    same(cost.all_runs.mean, oracle.mean(expected))
    same(cost.all_runs.variance, oracle.variance(expected))
    same(cost.all_runs.var(level), oracle.value_at_risk(expected, level))
    same(cost.all_runs.cvar(level), oracle.cvar(expected, level))
    same(cost.all_runs.tail_mean(level), oracle.tail_mean(expected, level))
    runs = run_exactly(solution)
    same(runs.sparsity, judge.sparsity(policy, start))
    same(runs.proximity, judge.proximity(policy, start))


@given(problems())
def test_mass_adds_up_to_one(document: dict[str, Any]) -> None:
    cost = sa.evaluate(solved(sa.parse_problem(document)))
    assert math.fsum(chance for _, chance, _ in cost.points()) == pytest.approx(1, abs=1e-12)
    assert cost.all_runs.chances.sum() == pytest.approx(1, abs=1e-12)


@given(problems(), st.integers(0, 2**32))
def test_simulation_agrees_within_four_standard_errors(document: dict[str, Any], seed: int) -> None:
    solution = solved(sa.parse_problem(document), sa.MeanStd(0.5))
    exact = sa.evaluate(solution)
    rollouts = 20_000
    sampled = sa.simulate(solution, rollouts=rollouts, rng=np.random.default_rng(seed)).distribution
    error = math.sqrt(exact.all_runs.variance / rollouts)
    # Four standard errors, or six for the one test in 16,000 that is beyond: the seeds are drawn by hypothesis.
    assert abs(sampled.all_runs.mean - exact.all_runs.mean) <= 6 * error + 1e-9
    spread = math.sqrt(exact.success * (1 - exact.success) / rollouts)
    assert abs(sampled.success - exact.success) <= 6 * spread + 1e-9


@pytest.mark.parametrize("name", ["loan", "health-insurance"])
@pytest.mark.parametrize("aversion", [0, 0.5, 1])
def test_hundred_thousand_rollouts_agree(name: str, aversion: float) -> None:
    solution = solved(sa.load_example(name), sa.MeanStd(aversion))
    exact = sa.evaluate(solution)
    runs = sa.simulate(solution, rollouts=100_000, rng=np.random.default_rng(20240220))
    sampled = runs.distribution
    for ours, theirs in ((exact.given_success, sampled.given_success), (exact.all_runs, sampled.all_runs)):
        assert ours is not None
        assert theirs is not None
        assert abs(ours.mean - theirs.mean) <= 4 * math.sqrt(ours.variance / 100_000) + 1e-9
    assert abs(exact.success - sampled.success) <= 4 * math.sqrt(exact.success * (1 - exact.success) / 100_000) + 1e-12
    for total, chance, success in exact.points():
        seen = sum(c for t, c, s in sampled.points() if s == success and abs(t - total) < 1e-9)
        assert abs(seen - chance) <= 4.5 * math.sqrt(chance * (1 - chance) / 100_000) + 1e-4


def test_simulation_is_seeded() -> None:
    solution = solved(sa.load_example("loan"))
    one, same, other = (
        sa.simulate(solution, rollouts=500, rng=np.random.default_rng(seed)).spent.tolist() for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other
    with pytest.raises(ObjectiveError, match="0 rollouts"):
        sa.simulate(solution, rollouts=0, rng=np.random.default_rng(0))
    assert sa.simulate(solution, rollouts=1, rng=np.random.default_rng(0)).chance.tolist() == [1.0]


def test_no_success_is_undefined_not_nan() -> None:
    problem = ladder({"up": {"cost": 1, "change": {"a": "+1"}}}, levels="012", failure_cost=3)
    mdp = sa.compile_mdp(problem, start={"a": "0"})
    assert sa.evaluate(sa.solve(mdp, sa.Mean())).all_runs.mean == 3  # it stops at once
    runs = run_exactly(sa.solve(replace(mdp, stops=False), sa.Mean()))
    cost = runs.distribution
    assert cost.success == 0
    assert cost.given_success is None
    assert [cost.mean, cost.variance, cost.std, cost.var(0.9), cost.cvar(0.9), cost.tail_mean(0.9)] == [None] * 6
    assert [runs.sparsity, runs.proximity] == [None, None]
    assert cost.all_runs.mean == 4


def test_only_the_person_it_was_compiled_for() -> None:
    problem = sa.load_example("loan")
    solution = solved(problem)
    later = {**problem.default_person, "job": "unemployed"}  # type: ignore[dict-item]
    with pytest.raises(PersonError, match="compiled from another person"):
        sa.evaluate(solution, start=later)
    assert solution.policy.action(later, step=1) == "find work"
    with pytest.raises(ObjectiveError, match="cannot be reached before step 1"):
        solution.policy.action(later, step=0)


def test_costs_that_share_no_round_quantum_stay_exact() -> None:
    problem = retry(0.5, 10, cost=0.3333333333333333, failure_cost=1)
    cost = sa.evaluate(solved(problem))
    assert cost.points()[2][0] == pytest.approx(0.9999999999999999, abs=2e-16)
    assert len(cost.points()) == 11


def test_resolution_bounds_the_error() -> None:
    document = sa.dump_problem(retry(0.5, 10, cost=0.34, failure_cost=1.01))
    document["cost"]["resolution"] = 0.05
    mdp = sa.compile_mdp(sa.parse_problem(document), start={"a": "no"})
    assert float(mdp.cost_error) == pytest.approx(10 * 0.01 + 0.01)
    exact = sa.evaluate(solved(retry(0.5, 10, cost=0.34, failure_cost=1.01)))
    rounded = sa.evaluate(sa.solve(mdp, sa.Mean()))
    assert abs(exact.all_runs.mean - rounded.all_runs.mean) <= float(mdp.cost_error)
    assert rounded.points()[0][0] == pytest.approx(0.35)


def test_a_plan_decides_by_what_it_would_have_cost_before_costs_moved() -> None:
    # Try, for 1 if it works and for 2 if not; who has spent 3 or more pays 4. Then each of these costs 4, 1 or 3.
    actions = {
        "try": {"cost": 1, "outcomes": [{"chance": 0.5, "change": {"a": "+1"}}, {"cost": 2}]},
        "pay": {"cost": 4, "change": {"a": "+1"}},
    }
    problem = ladder(actions, levels="0123", horizon=3, failure_cost=100)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    places = np.arange(3 * mdp.n_states)[np.tile(~mdp.goal, 3)]
    rows = [(place, *piece) for place in places.tolist() for piece in ((-100, 1), (-2, 0))]  # pays, or tries
    policy = by_pieces(mdp, np.zeros(mdp.n_states, np.int64), rows)
    new = {(0, 0): (4, 0.25), (0, 1): (1, 0.75), (1, 0): (3, 1.0)}
    cost, chance = np.array(
        [new[int(mdp.row_action[row]), int(out)] for row, out in zip(mdp.edge_row, mdp.edge_outcome, strict=True)]
    ).T
    moved = replace(mdp, edge_cost=cost.astype(np.int64), edge_chance=chance, edge_low=chance, edge_high=chance)
    # Whose first two tries worked had spent 2 and tries again; of all others, who had spent 3 or 4, it is time to pay.
    runs = run_moved(policy, moved)
    found: dict[tuple[int, str], float] = {}
    for state, spent, share in zip(runs.state.tolist(), runs.spent.tolist(), runs.chance.tolist(), strict=True):
        key = spent, str(mdp.person(state)["a"])
        found[key] = found.get(key, 0.0) + share
    assert found == pytest.approx(
        {
            (12, "3"): 0.25**3,
            (9, "2"): 0.25**2 * 0.75,
            (4 + 1 + 3, "2"): 2 * 0.25 * 0.75,
            (1 + 1 + 3, "1"): 0.75**2,
        }
    )
    assert runs.distribution.success == pytest.approx(0.25**3)


def test_costs_too_fine_for_two_totals_in_one_number_are_refused() -> None:
    """A plan that does not look at what was spent needs only one total."""
    mdp = solved(retry(0.5, 8, failure_cost=9)).mdp
    fine = replace(mdp, edge_cost=mdp.edge_cost * 10**10)
    plain = solved(retry(0.5, 8, failure_cost=9)).policy
    assert isinstance(plain, StatePolicy)
    plain = StatePolicy(fine, plain.choices)
    assert run_moved(plain, fine).distribution.points() == run_exactly(plain).distribution.points()
    with pytest.raises(TooLargeError, match="costs are too fine"):
        run_moved(Ruled(fine, lambda *where: np.zeros_like(where[1])), fine)


@pytest.mark.parametrize("scale", [1, 2**60])  # of the second, one number cannot hold a state and an amount
def test_the_dearest_of_one_state_is_not_the_cheapest_of_the_next(scale: int) -> None:
    first, second = [(0.5, 3 * scale, 3), (0.5, 0, 3)], [(0.25, 3 * scale, 1), (0.25, 0, 2), (0.5, scale, 4)]
    runs = run_exactly(sa.solve(by_hand([first], [], [], [second], horizon=2), sa.Mean()), 0)
    assert runs.state.tolist() == [1, 1, 2, 2, 4, 4]
    assert runs.spent.tolist() == [3 * scale, 6 * scale, 0, 3 * scale, scale, 4 * scale]
    assert runs.chance.tolist() == [0.125] * 4 + [0.25] * 2


def test_totals_of_two_mdps_are_counted_while_one_number_holds_both() -> None:
    plans, moved = list[Ruled](), by_hand([[(1, 2**31 - 1, 1)]], horizon=1)
    for cost in (2**32 - 2, 2**32 - 1):
        own = replace(by_hand([[(1, cost, 1)]], horizon=1), depth=np.arange(2, dtype=np.int16))
        plans.append(Ruled(own, lambda *where: np.zeros_like(where[1])))
    assert run_moved(plans[0], moved).spent.tolist() == [2**31 - 1]
    with pytest.raises(TooLargeError, match="costs are too fine"):
        run_moved(plans[1], moved)
