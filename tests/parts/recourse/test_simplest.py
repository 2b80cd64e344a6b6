"""The search for a simple plan, beside going through all plans of its family one by one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import safear as sa
from doors import Limits, count_rules, make_offer, plan_graph, simplest
from ladders import CLIMB, draw_ladder, ladders
from lanes import scaled
from plan_family import Rows, as_arrays, choose_by, find_options, list_base, list_cells, weigh
from safear.evaluation import Policy, evaluate
from strategies import problems

MOST = 4_000
OPEN = -2  # in place of a row: nothing is decided
OBJECTIVES = [
    "mean",
    "cvar:0.8",
    "mean-cvar:0.5:0.95",
    "entropic:0.5",
    "mean-std:1",
    "budget:3",
    "success-first:cvar:0.9",
]


def every_plan(base: Policy, start: int) -> list[Policy]:
    """All plans that the search knows of: each option in each state that runs come to often enough, and in time."""
    cells = list_base(base, start)
    done, waiting = list[Policy](), list[dict[int, Rows]]([{}])
    while waiting:
        decided = waiting.pop()
        often = find_open(base, start, decided)
        if often:
            state = max(often, key=lambda one: (often[one], -one))
            waiting += [{**decided, state: option} for option in find_options(base, start, state, cells)]
        else:
            done.append(simplest.settle(base, start, *as_arrays(base.mdp, decided)))
        if len(done) + len(waiting) > MOST:
            reject()
    return done


def find_open(base: Policy, start: int, decided: dict[int, Rows]) -> dict[int, float]:
    """The states in which a sketch is open, if runs come there in time and often enough: how often they do first."""
    mdp = base.mdp
    found: dict[int, float] = {}
    hopeful = set[int]()
    cells = list_cells(weigh(mdp), choose_by(decided, base, start, mark=OPEN), start)
    for step, state, _, row, chance in zip(*(column.tolist() for column in cells), strict=True):
        if row == OPEN:
            found[state] = found.get(state, 0.0) + chance
            if step + int(mdp.steps_to_goal[state]) <= mdp.horizon:
                hopeful.add(state)
    return {state: often for state, often in found.items() if state in hopeful and often >= plan_graph.RARE_STEP}


@settings(max_examples=scaled(40))
@given(
    document=st.one_of(ladders(2, 5), problems(max_horizon=4)),
    tolerance=st.sampled_from([0.0, 0.02, 0.2, 1.0]),
    objective=st.sampled_from(OBJECTIVES),
)
def test_no_plan_of_the_family_has_fewer_rules(document: dict[str, Any], tolerance: float, objective: str) -> None:
    found, least = search_and_enumerate(document, tolerance, objective)
    assert (found and found[0]) == (least and least[0])


@pytest.mark.parametrize(
    ("seed", "objective", "tolerance"),
    [(0, "mean", 0.0), (82, "budget:3", 0.2), (299, "budget:3", 1.0), (620, "mean-std:1", 0.0), (627, "mean-std:1", 1)],
)
def test_what_only_intervals_let_happen_counts(seed: int, objective: str, tolerance: float) -> None:
    """Another plan would be found, or none, if rules were counted by the chances alone."""
    rng = np.random.default_rng(seed)
    document = draw_ladder(rng, 2, 6)
    for name, action in document["actions"].items():
        if rng.integers(2):
            chance = [[0, 0, 0.6], [0.4, 1, 1], [0.2, 0.8, 0.9]][rng.integers(3)]
            document["actions"][name] = {**action, "chance": chance}
    found, least = search_and_enumerate(document, tolerance, objective)
    assert found is not None
    assert found == least


@pytest.mark.xfail(reason="plans that give up early have fewer rules than the search counts", raises=AssertionError)
def test_no_plan_of_the_family_with_as_few_rules_costs_less() -> None:
    """A quarter of a percent is missed here, whatever time the search has."""
    found, least = search_and_enumerate(draw_ladder(np.random.default_rng(1070330397), 2, 5), 1.0, "mean")
    assert found is not None
    assert least is not None
    assert found[1] <= least[1] + 1e-9


def search_and_enumerate(
    document: dict[str, Any], tolerance: float, objective: str
) -> tuple[tuple[int, float] | None, tuple[int, float] | None]:
    """Return rules and value of the plan that is found, and of the best of all plans with fewer rules."""
    problem = sa.parse_problem(document)
    best = make_offer(sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.parse_objective(objective)))
    if best.rules <= 1:
        reject()
    limits, rules = Limits.of(best, tolerance), count_rules(best.policy)
    found = simplest.find_simplest(best.policy, best.start, limits, rules, most_cells=600_000)
    plans = [
        (count_rules(plan), limits.objective.of(cost))
        for plan in every_plan(best.policy, best.start)
        if limits.allow(cost := evaluate(plan))
    ]
    least = min((plan for plan in plans if plan[0] < rules), default=None)
    return found and (found.rules, found.value), least


@pytest.fixture
def climb() -> sa.Offer:
    """The best plan to climb three rungs."""
    problem = sa.parse_problem(CLIMB)
    return make_offer(sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.CVaR(0.8)))


def test_room_is_made_when_it_is_needed(climb: sa.Offer, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Limits.of(climb, 0.2)
    expected = simplest.find_simplest(climb.policy, climb.start, limits, climb.rules, most_cells=60_000)
    monkeypatch.setattr(simplest, "FEW", 1)
    found = simplest.find_simplest(climb.policy, climb.start, limits, climb.rules, most_cells=60_000)
    assert found is not None
    assert expected is not None
    assert found[:2] == expected[:2]


@pytest.mark.parametrize("most", [1, 2, 4, 8])
def test_searches_end_where_there_is_no_more_room(climb: sa.Offer, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    limits = Limits.of(climb, 0.2)
    expected = simplest.find_simplest(climb.policy, climb.start, limits, climb.rules, most_cells=60_000)
    monkeypatch.setattr(simplest, "FEW", 1)
    monkeypatch.setattr(simplest, "MOST", most)
    found = simplest.find_simplest(climb.policy, climb.start, limits, climb.rules, most_cells=60_000)
    least, rules = expected.rules if expected else math.inf, found.rules if found else math.inf
    assert rules >= least
