"""Derivatives against finite differences of exact fractions, and closed forms."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracle
import safear as sa
from moving import deciding, follow, with_amount
from oracle import Distribution, Oracle, State
from safear.evaluation.adjoint import Derivatives, differentiate
from safear.mdp.parameters import Parameter, find_parameters
from safear.risk.objectives import Objective
from small_problems import ladder
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


def retries(chance: float, horizon: int = 3, **more: Any) -> tuple[sa.Solution, dict[str, Derivatives]]:
    actions = {"try": {"cost": 2, "chance": chance, "change": {"a": "yes"}}}
    problem = ladder(actions, horizon=horizon, failure_cost=10, **more)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    solution = sa.solve(mdp, sa.Mean())
    found = differentiate(solution, find_parameters(mdp), level=0.95)
    return solution, {".".join(map(str, item.parameter.path)): item for item in found}


def test_retries_have_their_closed_form() -> None:
    # success 1 - q^3, mean 2 (1 + q + q^2) + 10 q^3 with q = 1 - p; the worst 5% are failures, which cost 16
    _, found = retries(0.5)
    chance = found["actions.try.outcomes.0.chance"]
    assert chance.success == pytest.approx(3 * 0.25)
    assert chance.mean == pytest.approx(-2 * (1 + 2 * 0.5) - 10 * 3 * 0.25)
    assert chance.tail == pytest.approx((0.0, 0.0))
    assert found["actions.try.cost"].mean == pytest.approx(1 + 0.5 + 0.25)
    assert found["actions.try.cost"].tail == pytest.approx((3.0, 3.0))
    assert found["goal.failure_cost"].mean == pytest.approx(0.125)
    assert found["goal.failure_cost"].tail == pytest.approx((1.0, 1.0))


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
