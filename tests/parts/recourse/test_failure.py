"""What failing must cost for trying to be worth it, where that can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import safear as sa
from doors import find_giving_up, gives_up
from lanes import scaled
from strategies import problems


def lazy(cost: int, chance: float, failure_cost: float, *, wait: int = 0, horizon: int = 1) -> sa.MDP:
    """Try, or wait for nothing."""
    document = {
        "safear": 1,
        "title": "lazy",
        "horizon": horizon,
        "cost": {"unit": "days"},
        "goal": {"favourable": "done", "failure_cost": failure_cost},
        "features": {
            "a": {"kind": "ordinal", "levels": ["0", "1"]},
            "mood": {"kind": "nominal", "levels": ["good", "bad"]},
        },
        "actions": {
            "try": {"cost": cost, "chance": chance, "change": {"a": "+1"}},
            "wait": {"cost": wait, "when": "mood == good", "change": {"mood": "bad"}},
            "wait on": {"cost": wait, "when": "mood == bad", "change": {"mood": "good"}},
        },
        "classifier": {"rule": "a == 1"},
        "people": {"p": {"a": "0", "mood": "good"}},
    }
    problem = sa.parse_problem(document)
    return sa.compile_mdp(problem, start=problem.default_person)


def success_at(mdp: sa.MDP, failure_cost: float) -> float:
    """The success of the cheapest plan, if a failure costs so much."""
    units = round(failure_cost / float(mdp.quantum))
    return sa.evaluate(sa.solve(replace(mdp, failure_cost=units), sa.Mean())).success


def check_enough(mdp: sa.MDP, enough: float) -> None:
    """It is the least multiple of the quantum for which the cheapest plan does not give up."""
    possible = sa.evaluate(sa.solve(mdp, sa.SuccessFirst())).success
    quantum = float(mdp.quantum)
    assert not gives_up(success_at(mdp, enough), possible)
    assert gives_up(success_at(mdp, enough - quantum), possible)


@given(st.integers(1, 60), st.integers(0, 5), st.integers(2, 20), st.integers(0, 40))
@settings(max_examples=scaled(60))
def test_one_try(cost: int, wait: int, twentieths: int, failure_cost: int) -> None:
    """To try costs c + (1 - p) F, to wait w + F: from F = (c - w) / p on trying is cheaper."""
    chance = twentieths / 20
    mdp = lazy(cost, chance, failure_cost, wait=wait)
    found = find_giving_up(mdp)
    worth = (cost - wait) / chance
    if failure_cost > worth + 1e-9:
        assert found is None
    elif failure_cost < worth - 1e-9:
        assert found is not None
        assert [found.success, found.possible, found.failure_cost] == pytest.approx([0, chance, failure_cost])
        assert found.enough is not None
        quantum = float(mdp.quantum)
        assert found.enough / quantum == pytest.approx(round(found.enough / quantum))
        assert found.enough >= worth - 1e-9
        assert found.enough - quantum <= worth + 1e-9
        check_enough(mdp, found.enough)


def test_a_large_failure_cost_is_found() -> None:
    """50,000 / 0.06 = 833,333.3 is far above the 1 that the search sets out from."""
    found = find_giving_up(lazy(50_000, 0.06, 1))
    assert found is not None
    assert found.enough == 833_334


def test_several_tries() -> None:
    """Each try is worth c / p, so a second one changes nothing; one try alone would succeed too seldom."""
    mdp = lazy(3, 0.5, 1, horizon=4)
    found = find_giving_up(mdp)
    assert found is not None
    assert found.possible == pytest.approx(1 - 0.5**4)
    assert found.enough is not None
    assert 6 <= found.enough <= 7
    check_enough(mdp, found.enough)


def test_in_words() -> None:
    found = find_giving_up(lazy(5, 0.6, 1))
    assert str(found) == (
        "giving up is cheaper than trying when a failure costs 1 day (goal.failure_cost): the cheapest plan "
        "succeeds in 0% of cases, though 60% is possible; at 9 days or more it would not give up"
    )
    assert found is not None
    assert str(replace(found, enough=None)).endswith("though 60% is possible")


def test_a_small_loss_of_success_is_not_giving_up() -> None:
    """Within 0.05 of what is possible, and at least half of it."""
    assert not gives_up(0.96, 1.0)
    assert gives_up(0.94, 1.0)
    assert not gives_up(0.03, 0.06)
    assert gives_up(0.02, 0.06)
    assert find_giving_up(lazy(5, 0.04, 1)) is not None


@pytest.mark.parametrize("name", ["loan", "health-insurance"])
def test_the_examples_do_not_give_up(name: str) -> None:
    problem = sa.load_example(name)
    assert find_giving_up(sa.compile_mdp(problem, start=problem.default_person)) is None


@given(problems())
@settings(max_examples=scaled(40))
def test_any_problem(document: dict[str, Any]) -> None:
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assume(mdp.goal.any() and not mdp.goal[mdp.locate()])
    found = find_giving_up(mdp)
    cheapest = sa.evaluate(sa.solve(mdp, sa.Mean())).success
    possible = sa.evaluate(sa.solve(mdp, sa.SuccessFirst())).success
    assert (found is None) == (not gives_up(cheapest, possible))
    if found is not None:
        assert found.success == pytest.approx(cheapest)
        assert found.possible == pytest.approx(possible)
        assert found.enough is not None
        assert found.enough > found.failure_cost
        check_enough(mdp, found.enough)
