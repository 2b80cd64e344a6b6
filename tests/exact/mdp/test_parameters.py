"""Parameters: an MDP that was moved is the MDP of the changed file."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import safear as sa
from doors import Parameter, find_parameters
from moving import with_amount
from small_problems import better_job, ladder
from strategies import problems


def by_place(problem: sa.Problem, **person: str) -> dict[str, Parameter]:
    mdp = sa.compile_mdp(problem, start=person or problem.default_person)
    return {".".join(map(str, item.path)): item for item in find_parameters(mdp)}


@given(problems(max_horizon=3), st.integers(1, 9), st.data())
def test_what_is_moved_is_what_is_compiled(document: dict[str, Any], tenths: int, data: st.DataObject) -> None:
    problem = sa.parse_problem({**document, "cost": {}})
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    stated = {action.name for action in problem.actions if all(o.chance is not None for o in action.outcomes)}
    found = [item for item in find_parameters(mdp) if not (item.is_chance and item.path[1] in stated)]
    assume(found)
    parameter = data.draw(st.sampled_from(found))
    value = parameter.low + (parameter.high - parameter.low) * Fraction(tenths, 10)
    amount = Decimal(value.numerator) / Decimal(value.denominator)
    file = with_amount(problem, parameter.path, amount)
    assume(not sa.check_problem(file))  # chances may add up for this person, and not for others
    changed = sa.compile_mdp(file, start=problem.default_person)
    moved = parameter.move(mdp, Fraction(amount))
    assume(changed.n_edges == mdp.n_edges)  # what was an interval may have been possible at other chances only
    assert np.allclose(moved.edge_chance, changed.edge_chance, atol=1e-12)
    assert np.allclose(moved.edge_cost * float(moved.quantum), changed.edge_cost * float(changed.quantum), atol=1e-9)
    assert moved.failure_cost * moved.quantum == changed.failure_cost * changed.quantum


def test_stated_chances_give_way_in_proportion() -> None:
    outcomes = [{"chance": 0.5, "change": {"a": "yes"}}, {"chance": 0.3}, {"chance": 0.2, "cost": 4}]
    problem = ladder({"try": {"cost": 1, "outcomes": outcomes}}, horizon=2)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    chance = by_place(problem)["actions.try.outcomes.0.chance"]
    assert [chance.low, chance.high] == [0, 1]
    moved = chance.move(mdp, Fraction(3, 4))
    assert moved.edge_chance.tolist() == pytest.approx([0.75, 0.15, 0.1])
    costs = by_place(problem)
    assert costs["actions.try.cost"].edges.tolist() == [0, 1]
    assert costs["actions.try.outcomes.2.cost"].edges.tolist() == [2]


def test_the_rest_bounds_a_chance() -> None:
    outcomes = [{"chance": 0.5, "change": {"a": "yes"}}, {"chance": 0.2, "cost": 4}, {}]
    found = by_place(ladder({"try": {"cost": 1, "outcomes": outcomes}}, horizon=2))
    chance = found["actions.try.outcomes.0.chance"]
    assert [chance.low, chance.high] == [0, Fraction(4, 5)]


def test_where_nothing_is_left_to_the_rest_a_chance_stays_as_it_is() -> None:
    """In one state the others leave nothing to the last outcome: the chance moves in all others."""
    second = [{"when": "b == yes", "chance": 0.5}, 0.3]
    outcomes = [{"chance": 0.5, "change": {"a": "+1"}}, {"chance": second, "change": {"b": "yes"}}, {}]
    levels = ["no", "mid", "yes"]
    problem = ladder(
        {"try": {"cost": 1, "outcomes": outcomes}},
        levels=levels,
        features={"a": {"kind": "ordinal", "levels": levels}, "b": {"kind": "ordinal", "levels": ["no", "yes"]}},
        people={"p": {"a": "no", "b": "no"}},
        horizon=3,
    )
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    chance = by_place(problem)["actions.try.outcomes.0.chance"]
    moved = chance.move(mdp, Fraction(3, 5))
    assert set(np.round(moved.edge_chance[chance.edges], 9).tolist()) == {0.6, 0.1}
    stays = np.setdiff1d(np.arange(mdp.n_edges), chance.edges)
    assert moved.edge_chance[stays].tolist() == mdp.edge_chance[stays].tolist()
    assert 0.5 in mdp.edge_chance[stays]


def test_of_two_chances_that_add_up_there_is_one() -> None:
    found = by_place(better_job(), x="low", gender="female")
    assert "actions.try.outcomes.0.chance" in found
    assert "actions.try.outcomes.1.chance" not in found
    assert "actions.try.outcomes.1.cost" in found


@pytest.mark.parametrize("chance", [0, 1])
def test_what_is_certain_stays_certain(chance: float) -> None:
    actions = {
        "try": {"cost": 1, "chance": {"mid": 0.5, "yes": chance}, "change": {"a": "+1"}},
        "other": {"cost": 0, "chance": 0.5, "change": {"a": "yes"}},
    }
    found = by_place(ladder(actions, levels=("no", "mid", "yes"), horizon=2, failure_cost=3))
    assert "actions.try.outcomes.0.chance.a.mid" in found
    assert "actions.try.outcomes.0.chance.a.yes" not in found
    free = found["actions.other.cost"]
    assert [free.value, free.low, free.high] == [0, 0, 5]
    assert found["goal.failure_cost"].high == 15
