"""Where another offered plan becomes better, against a scan with fractions: both plans followed, nothing solved."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracle
import safear as sa
from doors import Direction, choose_grid, find_parameters, find_plan_leeway, make_offer
from moving import deciding, follow, with_amount
from oracle import Distribution, Oracle
from small_problems import ladder
from strategies import FEWER, problems

MEASURES = {
    sa.Mean(): oracle.mean_of_all,
    sa.CVaR(0.8): oracle.cvar_of_all("0.8"),
    sa.MeanCVaR(0.5, 0.9): oracle.mean_cvar("0.5", "0.9"),
}


@FEWER
@given(
    problems(max_horizon=3),
    st.permutations(list(MEASURES)),
    st.sampled_from(["down", "up"]),
    st.data(),
)
def test_a_scan_finds_the_same(
    document: dict[str, Any], objectives: list[sa.Mean | sa.CVaR], direction: Direction, data: st.DataObject
) -> None:
    problem = sa.parse_problem({**document, "cost": {}})
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assume(mdp.goal.any() and not mdp.goal[mdp.start])
    stated = {action.name for action in problem.actions if all(o.chance is not None for o in action.outcomes)}
    found = [item for item in find_parameters(mdp) if not (item.is_chance and item.path[1] in stated)]
    assume(found)
    parameter = data.draw(st.sampled_from(found))
    offer, other = (make_offer(sa.solve(mdp, objective)) for objective in objectives[:2])
    leeway = find_plan_leeway(offer, [offer, other], parameter, direction, tolerance=0.05)
    measure, base = MEASURES[objectives[0]], Oracle(sa.dump_problem(problem))

    def worth(solution: sa.Solution, value: Fraction) -> float | None:
        amount = Decimal(value.numerator) / Decimal(value.denominator)
        file = with_amount(problem, parameter.path, amount)
        if sa.check_problem(file):
            return None
        changed = Oracle(sa.dump_problem(file))
        runs: Distribution = follow(
            base,
            deciding(solution),
            lambda action, state: [(edge.chance, edge.cost) for edge in changed.edges(action, state)],
            changed.failure_cost,
        )
        return float(measure(runs))

    grid = choose_grid(mdp, objectives[0], parameter, 0.05)
    end, sign = (parameter.high, 1) if direction == "up" else (parameter.low, -1)
    for number in range(int(abs(end - parameter.value) / grid) + 1):
        value = parameter.value + sign * number * grid
        own, its = worth(offer.solution, value), worth(other.solution, value)
        if own is None or its is None:
            break
        if leeway.flip is not None and abs(float(value) - leeway.flip.value) < 1e-9:
            assert its < own
            break
        if sign * float(value) <= sign * leeway.certain_to + 1e-9:
            assert own <= its + 1e-7 * max(its, 1.0)


def test_the_nearest_plan_is_named() -> None:
    # A sure way for 4, or tries for 1 that work with p: on average 1 / p, if there is time for many.
    actions = {
        "try": {"cost": 1, "chance": 0.5, "change": {"a": "yes"}},
        "pay": {"cost": 4, "change": {"a": "yes"}},
    }
    problem = ladder(actions, horizon=40, failure_cost=100)
    found = sa.sensitivity(problem)
    cheapest = found["cheapest"]
    chance = next(flip for flip in cheapest.rivals if flip.parameter.is_chance)
    assert chance.plan is found.menu["safest"]
    assert chance.value < 0.5
    assert chance.value == pytest.approx(0.25, abs=0.05)
    assert "the plan “safest” is better" in str(cheapest)
