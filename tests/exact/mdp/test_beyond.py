"""Searching on past the horizon: against a plain search by the oracle, and where there is too much to search."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.typing import NDArray

import safear as sa
from doors import least_to_goal, stuck
from oracle import Oracle, State
from safear.recourse import Case, Desk
from small_problems import ladder
from strategies import Document, problems

CLIMB = {"climb": {"cost": 2, "chance": 0.5, "change": {"a": "+1"}}}


def find_steps(oracle: Oracle, start: State) -> tuple[int | None, set[State]]:
    """The fewest steps to a goal, if any, and all states met on the way; layer by layer, with no horizon."""
    met, layer, steps = {start}, {start}, 0
    while layer and not any(map(oracle.is_goal, layer)):
        following = {edge.next for state in layer for choice in oracle.offered(state) for edge in choice.edges}
        layer, steps = following - met, steps + 1
        met |= layer
    return (steps if layer else None), met


def find_least(oracle: Oracle, state: State, steps: int) -> Fraction | None:
    """The least that a run spends that ends at a goal in time."""
    if oracle.is_goal(state):
        return Fraction(0)
    edges = [edge for choice in oracle.offered(state) for edge in choice.edges] if steps else []
    rest = [(edge.cost, find_least(oracle, edge.next, steps - 1)) for edge in edges]
    return min((cost + more for cost, more in rest if more is not None), default=None)


def climb_or_luck(horizon: int) -> sa.Problem:
    """Four steps up lead to the goal, and so does a lucky one after the first, which has worked in none of 5 tries."""
    levels = [f"l{number}" for number in range(5)]
    luck = {"cost": 1, "chance": {"worked": 0, "tried": 5}, "when": "a == l1", "change": {"b": "yes"}}
    return ladder(
        {"luck": luck, "climb": {"cost": 1, "chance": 0.9, "change": {"a": "+1"}}},
        levels=levels,
        features={"a": {"kind": "ordinal", "levels": levels}, "b": {"kind": "ordinal", "levels": ["no", "yes"]}},
        classifier={"rule": "a == l4 or b == yes"},
        people={"p": {"a": "l0", "b": "no"}},
        horizon=horizon,
    )


@pytest.mark.parametrize(("horizon", "code"), [(1, "horizon"), (2, "no_chance"), (3, "no_chance")])
def test_what_never_happens_by_the_best_estimate_is_no_way_to_a_goal(horizon: int, code: str) -> None:
    menu = sa.recommend(climb_or_luck(horizon))
    assert menu.no_recourse is not None
    assert (menu.no_recourse.code, menu.no_recourse.horizon) == (code, 4)
    assert menu.advice is not None
    (found,) = menu.advice.relaxations
    assert (found.code, found.horizon) == ("horizon", 4)
    assert found.success == pytest.approx(0.9**4)
    assert sa.recommend(climb_or_luck(4)).no_recourse is None


@pytest.mark.parametrize(("chance", "code"), [({"worked": 0, "tried": 5}, "no_chance"), (0, "never")])
def test_never_is_said_only_where_nothing_is_possible(chance: object, code: str) -> None:
    """The only way to the goal, in two steps, has never worked."""
    step = {"cost": 1, "chance": 0.5, "change": {"a": "1"}}
    last = {"cost": 1, "chance": chance, "when": "a == 1", "change": {"a": "2"}}
    reason = sa.recommend(ladder({"step": step, "last": last}, levels=["0", "1", "2"])).no_recourse
    assert reason is not None
    assert reason.code == code


@pytest.mark.parametrize("horizon", [1, 2])
def test_what_is_offered_does_not_depend_on_nominal_chances(horizon: int) -> None:
    """A step that shows nothing, unless it has a luck that it never had, is one that opens the way to the next."""
    luck = {"chance": {"worked": 0, "tried": 5}, "change": {"a": "2"}}
    levels = ["0", "1", "2", "goal"]
    problem = ladder(
        {
            "begin": {"cost": 1, "when": "a == 0", "change": {"a": "1"}},
            "ask": {"cost": 1, "when": "a == 1", "outcomes": [luck, {"change": {"asked": "yes"}}]},
            "go": {"cost": 1, "when": "asked == yes", "change": {"a": "goal"}},
        },
        levels=levels,
        features={
            "a": {"kind": "nominal", "levels": levels},
            "asked": {"kind": "nominal", "levels": ["no", "yes"], "hidden": True},
        },
        people={"p": {"a": "0"}},
        horizon=horizon,
    )
    reason = sa.recommend(problem).no_recourse
    assert reason is not None
    assert (reason.code, reason.horizon) == ("horizon", 3)
    assert sa.recommend(problem.with_horizon(3)).no_recourse is None


@given(problems(max_horizon=2))
def test_what_is_said_of_those_without_recourse_is_what_a_plain_search_finds(document: Document) -> None:
    oracle, case = Oracle(document), Desk.of(sa.parse_problem(document)).open()
    (steps, met), reason = find_steps(oracle, oracle.start()), case.no_recourse
    assert (reason is None) == (steps is not None and steps <= case.problem.horizon)
    if reason is None:
        return
    ever = oracle.reachable(oracle.start())
    is_possible = any(map(oracle.is_goal, ever))
    if reason.code == "horizon" or (reason.code == "no_chance" and steps is not None):
        assert (reason.horizon, reason.states) == (steps, len(name_all(case, oracle, met)) - 1)
        assert Desk.of(case.problem.with_horizon(steps or 0)).open().needs_plan
        return
    assert steps is None
    assert is_possible == (reason.code == "no_chance")
    if not is_possible:
        assert reason.code == ("never" if oracle.offered(oracle.start()) else "no_action")
        assert reason.states == len(name_all(case, oracle, ever)) - 1


def name_all(case: Case, oracle: Oracle, states: set[State]) -> set[tuple[str, ...]]:
    """What people are told of states."""
    return {tuple(case.problem.shown(oracle.named(state)).values()) for state in states}


@given(problems(max_horizon=3))
def test_the_least_budget_is_that_of_the_cheapest_run_that_ends_well(document: Document) -> None:
    oracle, case = Oracle(document), Desk.of(sa.parse_problem(document)).open()
    least = find_least(oracle, oracle.start(), case.problem.horizon)
    found = int(least_to_goal(case.mdp)[case.mdp.start])
    assert found * case.mdp.quantum == (-1 * case.mdp.quantum if least is None else least)
    error = case.mdp.cost_error  # by which runs may have cost more or less than they count
    if case.needs_plan and least:
        enough = recommend_within(case.problem, float(least + error))
        assert enough.no_recourse is None
        assert enough.offers[0].value < 1
    if case.needs_plan and least is not None and least > error:
        short = recommend_within(case.problem, float(least - error) * 0.99)
        assert short.no_recourse is not None
        assert (short.no_recourse.code, len(short)) == ("budget", 0)
        assert short.no_recourse.least == pytest.approx(float(least - error))


def recommend_within(problem: sa.Problem, budget: float) -> sa.Menu:
    return sa.recommend(problem, objectives=sa.Budget(budget))


@pytest.mark.parametrize(
    ("most", "code", "states"), [(5, "unknown", 2), (6, "unknown", 5), (11, "unknown", 10), (12, "never", 11)]
)
def test_a_search_gives_up_where_there_is_too_much(
    most: int, code: str, states: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stuck, "MOST_SEARCHED", most)
    levels = [str(level) for level in range(4)]
    problem = ladder(
        {name: {"cost": 1, "change": {name: "+1"}} for name in "ab"},
        features={name: {"kind": "ordinal", "levels": levels} for name in "ab"},
        constraints=["a != 3"],
        classifier={"rule": "a == 3"},
        people={"p": {"a": "0", "b": "0"}},
    )
    reason = Desk.of(problem).open().no_recourse
    assert reason is not None
    assert (reason.code, reason.states) == (code, states)


@pytest.mark.parametrize(("limit", "code"), [(2, "never"), (3, "horizon")])
def test_tries_that_run_out_end_a_search(limit: int, code: str) -> None:
    """States that differ in how often something was tried are searched, and count once."""
    action = {**CLIMB["climb"], "at_most": limit}
    reason = Desk.of(ladder({"climb": action}, levels=["0", "1", "2", "3"])).open().no_recourse
    assert reason is not None
    assert (reason.code, reason.states) == (code, limit)


def test_a_model_is_asked_once_for_each_layer() -> None:
    asked = []

    def decide(frame: pd.DataFrame) -> NDArray[np.bool_]:
        asked.append(len(frame))
        return np.asarray(frame["a"] == "40")

    levels = [str(level) for level in range(50)]
    case = Desk.of(ladder(CLIMB, levels=levels), decide).open()
    asked.clear()
    assert case.no_recourse is not None
    assert case.no_recourse.horizon == 40
    assert asked == [1] * 39
