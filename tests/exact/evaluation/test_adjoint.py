"""Derivatives against finite differences of exact fractions, and closed forms."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracle
import safear as sa
from doors import CompiledMDP, Parameter, expect_back, find_parameters
from doors import follow as follow_runs
from moody_policies import by_pieces
from moving import deciding, follow, with_amount
from oracle import Distribution, Oracle, State
from safear.evaluation import Derivatives, Policy, differentiate
from safear.risk import Objective
from small_problems import ladder, surprising
from strategies import FEWER, problems

LEVELS = st.sampled_from([0.0, 0.5, 0.8, 0.95, 1.0])
OBJECTIVES = st.sampled_from([sa.Mean(), sa.CVaR(0.8), sa.MeanCVaR(0.5, 0.95), sa.MeanStd(0.5)])
STEP = Fraction(1, 10**9)  # fractions round nothing, so it can be as small as we like


def as_oracle(problem: sa.Problem) -> Oracle:
    """The problem as the oracle reads it, short forms spelled as they are for a problem that was changed."""
    return Oracle(sa.dump_problem(problem))


def moved_edges(
    base: Oracle, problem: sa.Problem, parameter: Parameter, value: Fraction
) -> tuple[Callable[[str, State], list[tuple[Fraction, Fraction]]], Fraction]:
    """The chances and costs of all outcomes with another amount in the file, and what failing costs then."""
    wanted = Decimal(value.numerator) / Decimal(value.denominator)
    actions = problem.action_by_name
    stated = parameter.is_chance and all(o.chance is not None for o in actions[str(parameter.path[1])].outcomes)
    if not stated:  # the outcome without a chance gets the rest
        changed = as_oracle(with_amount(problem, parameter.path, wanted))
        return (
            lambda action, state: [(edge.chance, edge.cost) for edge in changed.edges(action, state)],
            changed.failure_cost,
        )
    mark = Decimal("0.123456789")  # tells where the amount holds
    marked, own = as_oracle(with_amount(problem, parameter.path, mark)), int(parameter.path[3])

    def edges(action: str, state: State) -> list[tuple[Fraction, Fraction]]:
        written = base.edges(action, state)
        if action != parameter.path[1] or written_chance(marked, action, own, state) != Fraction(mark):
            return [(edge.chance, edge.cost) for edge in written]
        left = 1 - written[own].chance
        return [
            (value if number == own else edge.chance * (1 - value) / left, edge.cost)
            for number, edge in enumerate(written)
        ]

    return edges, base.failure_cost


def written_chance(judge: Oracle, action: str, outcome: int, state: State) -> Fraction:
    """The chance that is written for an outcome, whether all of them add up or not."""
    entry, change = judge._outcomes(judge.actions[action])[outcome]
    return judge._value(entry["chance"], "chance", state, change)


def figures(distribution: Distribution, level: float) -> tuple[Fraction, ...]:
    return oracle.success(distribution), oracle.mean_of_all(distribution), oracle.cvar_of_all(level)(distribution)


@FEWER
@given(problems(max_horizon=3), OBJECTIVES, LEVELS, st.data())
def test_derivatives_are_finite_differences(
    document: dict[str, Any], objective: Objective, level: float, data: st.DataObject
) -> None:
    document = {**document, "cost": {}}  # a cost that is rounded does not move
    problem = sa.parse_problem(document)
    judge = as_oracle(problem)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    parameters = find_parameters(mdp)
    assume(parameters)
    solution = sa.solve(mdp, objective)
    parameter = data.draw(st.sampled_from(parameters))
    found = differentiate(solution, [parameter], level=level)[0]
    decide, value = deciding(solution), parameter.value

    def at(shift: Fraction) -> tuple[Fraction, ...]:
        return figures(follow(judge, decide, *moved_edges(judge, problem, parameter, value + shift)), level)

    here = at(Fraction(0))
    for sign, end in ((-1, parameter.low), (1, parameter.high)):
        if abs(value - end) < 2 * STEP or (parameter.is_chance and level == 1 and not 0 < value < 1):
            continue
        slopes = [float((there - now) / (sign * STEP)) for there, now in zip(at(sign * STEP), here, strict=True)]
        ours = found.success, found.mean, found.tail.up if sign > 0 else found.tail.down
        assert ours == pytest.approx(slopes, rel=1e-6, abs=1e-6)


def by_place(plan: sa.Solution | Policy, mdp: CompiledMDP, *, level: float) -> dict[str, Derivatives]:
    found = differentiate(plan, find_parameters(mdp), level=level)
    return {".".join(map(str, item.parameter.path)): item for item in found}


def retries(chance: float, horizon: int = 3, *, level: float = 0.95) -> dict[str, Derivatives]:
    actions = {"try": {"cost": 2, "chance": chance, "change": {"a": "yes"}}}
    problem = ladder(actions, horizon=horizon, failure_cost=10)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    return by_place(sa.solve(mdp, sa.Mean()), mdp, level=level)


def test_retries_have_their_closed_form() -> None:
    # success 1 - q^3, mean 2 (1 + q + q^2) + 10 q^3 with q = 1 - p; the worst 5% are failures, which cost 16
    found = retries(0.5)
    chance = found["actions.try.outcomes.0.chance"]
    assert chance.success == pytest.approx(3 * 0.25)
    assert chance.mean == pytest.approx(-2 * (1 + 2 * 0.5) - 10 * 3 * 0.25)
    assert chance.tail == pytest.approx((0.0, 0.0))
    assert found["actions.try.cost"].mean == pytest.approx(1 + 0.5 + 0.25)
    assert found["actions.try.cost"].tail == pytest.approx((3.0, 3.0))
    assert found["goal.failure_cost"].mean == pytest.approx(0.125)
    assert found["goal.failure_cost"].tail == pytest.approx((1.0, 1.0))


def test_the_worst_runs_become_rarer_with_a_chance() -> None:
    # One try: 2 with 0.9, else 12, and the worst fifth costs 2 + 10 q / 0.2 with q = 0.1.
    place = "actions.try.outcomes.0.chance"
    assert retries(0.9, 1, level=0.8)[place].tail == pytest.approx((-50.0, -50.0))
    # At q = 0.2 all of the worst fifth cost 12, which they still do if q rises.
    assert retries(0.8, 1, level=0.8)[place].tail == pytest.approx((0.0, -50.0))
    # Two tries: the worst half costs 2 + (2 q p + 12 q^2) / 0.5.
    assert retries(0.9, 2, level=0.5)[place].tail == pytest.approx((-8.0, -8.0))
    assert retries(0.9, 2, level=1)[place].tail == (0.0, 0.0)
    found = retries(0.9, 2, level=0)[place]
    assert found.tail == pytest.approx((found.mean, found.mean))


@pytest.mark.parametrize(
    ("level", "tries", "failures"), [(0, 1.75, 0.125), (0.5, 2.5, 0.25), (0.75, 3, 0.5), (0.9, 3, 1), (1, 3, 1)]
)
def test_the_worst_runs_pay_more_often(level: float, tries: float, failures: float) -> None:
    found = retries(0.5, level=level)  # half of the runs try once, a quarter twice, and the rest thrice
    assert found["actions.try.cost"].tail == pytest.approx((tries, tries))
    assert found["goal.failure_cost"].tail == pytest.approx((failures, failures))


def test_a_failure_that_nominally_never_happens_costs_nothing() -> None:
    problem = surprising()
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    for level in (0, 0.5, 1):
        found = by_place(sa.solve(mdp, sa.Mean()), mdp, level=level)
        assert found["goal.failure_cost"].tail == found["actions.ask.cost"].tail == (0.0, 0.0)
        assert found["actions.apply.cost"].tail == (1.0, 1.0)


def test_a_plan_that_looks_at_what_was_spent_keeps_to_what_it_did() -> None:
    # A toss for 0, 3 or 6; the exam is the cheap one for who has spent 3, and else the dear one.
    tosses = [
        {"chance": chance, "cost": cost, "change": {"a": "mid"}} for chance, cost in ((0.5, 0), (0.25, 3), (0.25, 6))
    ]
    actions = {
        "toss": {"cost": 0, "when": "a == new", "outcomes": tosses},
        "cheap": {"cost": 1, "when": "a == mid", "change": {"a": "done"}},
        "dear": {"cost": 2, "when": "a == mid", "change": {"a": "done"}},
    }
    problem = ladder(actions, levels=("new", "mid", "done"), horizon=2, failure_cost=9)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    start, mid = mdp.start, mdp.n_states + mdp.locate({"a": "mid"})
    rows = [(start, -9, 0), (mid, -9, 1), (mid, -5, 0), (mid, -2, 1)]
    found = by_place(by_pieces(mdp, np.zeros(mdp.n_states, np.int64), rows), mdp, level=0.5)
    assert (found["actions.cheap.cost"].mean, found["actions.dear.cost"].mean) == (0.25, 0.75)
    assert (
        found["actions.cheap.cost"].tail == found["actions.dear.cost"].tail == (0.5, 0.5)
    )  # of the worst half: 4 and 8


def test_what_is_expected_at_the_best_and_the_worst_of_several_chances() -> None:
    problem = ladder({"try": {"cost": 1, "chance": 0.5, "change": {"a": "yes"}}}, horizon=2)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    runs = follow_runs(mdp, sa.solve(mdp, sa.SuccessFirst()).policy.choosing(0), mdp.start)
    chances = [np.where(mdp.goal[mdp.edge_next], chance, 1 - chance) for chance in (0.5, 0.25)]
    ends = np.stack([mdp.goal[runs.cells.state], ~mdp.goal[runs.cells.state]], axis=1).astype(np.float64)
    most, least = (expect_back(runs, chances, ends, worst=worst)[0].tolist() for worst in (True, False))
    assert most == [1 - 0.5**2, 0.75**2]  # to succeed, and to fail
    assert least == [1 - 0.75**2, 0.5**2]


def test_a_kink_has_two_derivatives() -> None:
    # half of the runs cost 2 at once, half 1 and 1: a cost of the first kind moves the tail only upwards
    actions = {
        "toss": {"cost": 0, "outcomes": [{"chance": 0.5, "change": {"a": "heads"}}, {"change": {"a": "tails"}}]},
        "pay": {"cost": 2, "when": "a == heads", "change": {"a": "done"}},
        "pay too": {"cost": 2, "when": "a == tails", "change": {"a": "done"}},
    }
    problem = ladder(actions, levels=("new", "heads", "tails", "done"), horizon=2, failure_cost=50)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    costs = [parameter for parameter in find_parameters(mdp) if parameter.kind == "cost"]
    found = {item.parameter.path[1]: item for item in differentiate(sa.solve(mdp, sa.Mean()), costs, level=0.8)}
    assert found["pay"].tail == pytest.approx((0.0, 1.0))
    assert found["pay"].mean == pytest.approx(0.5)
    assert found["toss"].tail == pytest.approx((1.0, 1.0))
