"""The search in compiled loops looks at the same sketches as the plain one, and finds the same plans."""

from __future__ import annotations

from typing import Any

import numba  # noqa: F401  # so that compiled loops are used
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from without_numba import without_numba

import safear as sa
from doors import FastSearch, Limits, Search, find_cvar, find_entropic, list_cells, make_offer
from ladders import CLIMB, ladders
from lanes import scaled
from safear.risk import Costs
from strategies import problems

pytestmark = pytest.mark.usefixtures("compiled_search")

OBJECTIVES = [
    "mean",
    "cvar:0.8",
    "mean-cvar:0.5:0.95",
    "entropic:0.5",
    "mean-std:1",
    "budget:3",
    "success-first:cvar:0.9",
]


def search_both(best: sa.Offer, tolerance: float, most_cells: int | None = None) -> None:
    """Both searches have the same result after as many cells."""
    limits = Limits.of(best, tolerance)
    plain, fast = (kind(best.policy, best.start, limits) for kind in (Search, FastSearch))
    with without_numba():
        expected, rules = plain.find(best.rules, most_cells=most_cells), best.rules
    found = fast.find(rules, most_cells=most_cells)
    assert fast.cells == plain.cells
    assert (found is None) == (expected is None)
    if found is None or expected is None:
        return
    assert found.rules == expected.rules
    assert found.value == expected.value
    for one, other in zip(*(cells_of(plan.policy, best.start) for plan in (found, expected)), strict=True):
        assert one == other


def cells_of(policy: Any, start: int) -> list[Any]:
    return [column.tolist() for column in list_cells(policy.mdp, policy.choosing(int(policy.accounts[start])), start)]


@settings(max_examples=scaled(100))
@given(
    document=st.one_of(ladders(2, 8), problems(max_horizon=6)),
    tolerance=st.sampled_from([0.0, 0.02, 0.2, 1.0]),
    objective=st.sampled_from(OBJECTIVES),
)
def test_both_searches_go_the_same_way(document: dict[str, Any], tolerance: float, objective: str) -> None:
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    best = make_offer(sa.solve(mdp, sa.parse_objective(objective)))
    search_both(best, tolerance)
    search_both(best, tolerance, most_cells=60_000)


@pytest.mark.parametrize("chance", [0.8, [0, 0, 0.6], [0.4, 1, 1]])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_both_go_where_only_intervals_let_them(chance: object, objective: str) -> None:
    actions = {**CLIMB["actions"], "jump": {**CLIMB["actions"]["jump"], "chance": chance}}
    problem = sa.parse_problem({**CLIMB, "actions": actions})
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    search_both(make_offer(sa.solve(mdp, sa.parse_objective(objective))), 0.1)


def test_room_is_made_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("safear.recourse.fast_search.FEW", 1)
    problem = sa.parse_problem(CLIMB)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    search_both(make_offer(sa.solve(mdp, sa.CVaR(0.8))), 0.2, most_cells=60_000)


@settings(max_examples=scaled(200))
@given(
    values=st.lists(st.integers(0, 9), min_size=1, max_size=12),
    seed=st.integers(0, 1000),
    level=st.sampled_from([0.0, 0.3, 0.5, 0.8, 0.95, 1.0]),
)
def test_tails_without_sorting(values: list[int], seed: int, level: float) -> None:
    chances = np.random.default_rng(seed).dirichlet(np.ones(len(values)))
    order, units = np.argsort(values), np.array(values, dtype=np.float64)
    costs = Costs(units[order], chances[order])
    assert find_entropic(units, chances, 0.5) == pytest.approx(costs.entropic(0.5), abs=1e-12)
    assert find_cvar(units.copy(), chances.copy(), level) == pytest.approx(costs.cvar(level), abs=1e-9)
