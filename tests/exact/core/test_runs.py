"""The core follows runs as dictionaries do, to the last bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import safear as sa
from doors import NOTHING, follow, often_if_off, run_on
from gambles import by_hand
from lanes import scaled
from moody_policies import in_pieces, policies
from plain_runs import PlainLayer, follow_plainly
from safear.evaluation import Policy, StatePolicy, run_exactly
from small_problems import ladder, surprising


def list_layers(policy: Policy, *, counts_spent: bool = True, possible: bool = False) -> list[PlainLayer]:
    """Follow a policy from the start."""
    mdp, choose = policy.mdp, policy.choosing(int(policy.accounts[policy.mdp.start]))
    return follow_plainly(mdp, choose, mdp.start, counts_spent=counts_spent, possible=possible)


@settings(max_examples=scaled(150))
@given(policy=policies())
def test_runs_end_as_those_that_are_followed_plainly(policy: Policy) -> None:
    for known in (policy, in_pieces(policy)):  # by a rule in Python, or by pieces
        ends = run_exactly(known)
        expected = [
            (*pair, chance)
            for layer in list_layers(policy)
            for pair, chance, row in zip(layer.pairs, layer.chance, layer.row, strict=True)
            if row < 0
        ]
        assert list(zip(ends.state, ends.spent, ends.chance, strict=True)) == expected


def retries(horizon: int) -> Policy:
    """An even chance at each step, which costs 1."""
    problem = ladder({"try": {"cost": 1, "chance": 0.5, "change": {"a": "yes"}}}, horizon=horizon, failure_cost=9)
    return sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean()).policy


def test_a_run_that_has_begun_has_only_the_steps_that_are_left() -> None:
    policy = retries(3)
    for step, points in [
        (0, [(1, 0.5, True), (2, 0.25, True), (3, 0.125, True), (12, 0.125, False)]),
        (1, [(1, 0.5, True), (2, 0.25, True), (11, 0.25, False)]),
        (2, [(1, 0.5, True), (10, 0.5, False)]),
        (3, [(9, 1.0, False)]),
    ]:
        assert run_on(policy, policy.mdp.start, step=step, account=0).distribution.points() == points


def test_amounts_that_one_number_cannot_tell_apart_from_states() -> None:
    """Then moves are sorted by both, one after the other."""
    policy = detours(sa.Mean())
    rough = list_layers(policy)
    factor = 2**56 // int(policy.mdp.edge_cost.max())
    fine = replace(policy.mdp, edge_cost=policy.mdp.edge_cost * factor)
    assert fine.n_states * fine.horizon * int(fine.edge_cost.max()) >= 2**61
    found = follow(fine, lambda step, states, spent: policy.choosing(0)(step, states, spent // factor), fine.start)
    check_runs(found, rough, factor)


def check_runs(runs: Any, plain: list[PlainLayer], factor: int = 1) -> None:
    """Compare cells and moves, up to a factor of what was spent."""
    cells, moves = runs.cells, runs.moves
    before = np.cumsum([0, *(len(layer.pairs) for layer in plain)]).tolist()
    assert list(cells.step) == [step for step, layer in enumerate(plain) for _ in layer.pairs]
    assert list(zip(cells.state, np.asarray(cells.spent) // factor, strict=True)) == [
        pair for layer in plain for pair in layer.pairs
    ]
    assert list(cells.row) == [row for layer in plain for row in layer.row]
    assert list(cells.chance) == [chance for layer in plain for chance in layer.chance]
    assert list(zip(moves.origin, moves.edge, moves.target, moves.chance, strict=True)) == [
        (before[step] + origin, edge, before[step + 1] + target, flow)
        for step, layer in enumerate(plain)
        for origin, edge, target, flow in layer.moves
    ]


def test_what_nominally_never_happens_counts_as_often_as_it_may() -> None:
    problem = surprising()  # of 5 who applied all were hired: it may fail in 1 - 0.025 ** (1 / 5) of all cases
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert often_if_off(mdp) == pytest.approx([1, 1 - 0.025**0.2, 0.8, 0.2])
    assert often_if_off(retries(1).mdp).tolist() == [0.5, 0.5]


# ------------------------------------------------------------------------------------------------------ cells and moves


def detours(objective: sa.Mean | sa.CVaR) -> Policy:
    """Ways up and down of many prices, of which some happen only if chances are other than expected."""
    problem = ladder(
        {
            "try": {
                "cost": 1,
                "outcomes": [{"chance": 0.5, "change": {"a": "+1"}}, {"cost": 1.3, "change": {"a": "-1"}}],
            },
            "pay": {
                "cost": 2,
                "outcomes": [
                    {"chance": 0.6, "change": {"a": "+1"}},
                    {"chance": [0, 0, 0.2], "cost": 2.7, "change": {"a": "+2"}},
                    {"cost": 2.1},
                ],
            },
        },
        levels="0123",
        horizon=9,
        failure_cost=15,
    )
    return sa.solve(sa.compile_mdp(problem, start=problem.default_person), objective).policy


@pytest.mark.parametrize("objective", [sa.Mean(), sa.CVaR(0.9)])
@pytest.mark.parametrize("counts_spent", [True, False])
@pytest.mark.parametrize("possible", [True, False])
def test_cells_and_moves_are_those_that_are_followed_plainly(
    objective: sa.Mean | sa.CVaR, counts_spent: bool, possible: bool
) -> None:
    policy = detours(objective)
    mdp, choose = policy.mdp, policy.choosing(int(policy.accounts[policy.mdp.start]))
    often = np.where(mdp.edge_chance > 0, np.linspace(0.2, 0.7, mdp.n_edges), 0.1)
    runs = follow(mdp, choose, mdp.start, often=often, counts_spent=counts_spent, possible=possible)
    weights = np.where(possible | (mdp.edge_chance > 0), often, 0)
    plain, weighed = (
        follow_plainly(each, choose, mdp.start, counts_spent=counts_spent, possible=possible)
        for each in (mdp, replace(mdp, edge_chance=weights))
    )
    check_runs(runs, plain)
    assert list(runs.cells.weight) == [chance for layer in weighed for chance in layer.chance]
    assert list(runs.moves.weight) == [flow for layer in weighed for *_, flow in layer.moves]


def test_there_is_room_for_many_cells_at_once() -> None:
    """A cell, 20 of them, and 600, which is more than there was room for, in cells, moves and what sorts them."""
    spread = [
        [[(1 / count, cost * step, state) for step in range(count)]] for count, cost, state in [(20, 1, 1), (30, 20, 2)]
    ]
    mdp = by_hand(*spread, horizon=2)
    policy = StatePolicy(mdp, np.array([[0, NOTHING, NOTHING], [NOTHING, 0, NOTHING]], dtype=np.uint8))
    check_runs(follow(mdp, policy.choosing(0), 0), follow_plainly(mdp, policy.choosing(0), 0))
    assert len(run_exactly(policy, 0).spent) == 600


def test_a_limit_to_moves_is_kept() -> None:
    policy = retries(3)
    choose = policy.choosing(int(policy.accounts[policy.mdp.start]))
    assert len(follow(policy.mdp, choose, policy.mdp.start, most=6).moves.edge) == 6  # two outcomes at each step
    with pytest.raises(OverflowError, match="the runs make more than 5 moves"):
        follow(policy.mdp, choose, policy.mdp.start, most=5)
