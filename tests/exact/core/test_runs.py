"""Runs that are followed in compiled loops end as those that are followed layer by layer, to the last bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import safear as sa
from doors import Layer, follow_policy, is_fast, often_if_off, propagate, require_arrays, run_on, way_to_go
from lanes import scaled
from moody_policies import in_pieces, policies
from safear.evaluation import Policy, StatePolicy, run_exactly
from small_problems import ladder, surprising


@settings(max_examples=scaled(150))
@given(policy=policies())
def test_runs_end_alike(policy: Policy) -> None:
    known = in_pieces(policy)
    assert is_fast(known)
    fast = run_exactly(known)
    choose = policy.choosing(int(policy.accounts[policy.mdp.start]))
    layers = list(propagate(policy.mdp, choose, policy.mdp.start))
    for name in ("state", "spent", "chance"):
        plain = np.concatenate([getattr(layer, name)[layer.row < 0] for layer in layers])
        assert np.array_equal(getattr(fast, name), plain)


def retries(horizon: int) -> Policy:
    """An even chance at each step, which costs 1."""
    problem = ladder({"try": {"cost": 1, "chance": 0.5, "change": {"a": "yes"}}}, horizon=horizon, failure_cost=9)
    return sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean()).policy


def test_a_run_that_has_begun_has_only_the_steps_that_are_left() -> None:
    policy = retries(3)
    assert is_fast(policy)
    for step, points in [
        (0, [(1, 0.5, True), (2, 0.25, True), (3, 0.125, True), (12, 0.125, False)]),
        (1, [(1, 0.5, True), (2, 0.25, True), (11, 0.25, False)]),
        (2, [(1, 0.5, True), (10, 0.5, False)]),
        (3, [(9, 1.0, False)]),
    ]:
        assert run_on(policy, policy.mdp.start, step=step, account=0).distribution.points() == points


def test_amounts_that_one_number_cannot_tell_apart_are_left_to_the_plain_way() -> None:
    policy = retries(1)
    assert policy.mdp.n_states == 2
    for most, expected in ((2**61 - 2, True), (2**61 - 1, False), (2**61, False)):  # 2 states, 0 to most: below 2**62
        mdp = replace(policy.mdp, edge_cost=np.full(policy.mdp.n_edges, most))
        assert is_fast(StatePolicy(mdp, np.zeros((1, 2), dtype=np.uint8))) == expected


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
def test_cells_and_moves_are_those_of_the_layers(
    objective: sa.Mean | sa.CVaR, counts_spent: bool, possible: bool
) -> None:
    policy = detours(objective)
    mdp, choose = policy.mdp, policy.choosing(int(policy.accounts[policy.mdp.start]))
    often = np.where(mdp.edge_chance > 0, np.linspace(0.2, 0.7, mdp.n_edges), 0.1)

    def layers(mdp: sa.MDP) -> list[Layer]:
        return list(propagate(mdp, choose, mdp.start, counts_spent=counts_spent, possible=possible))

    going = way_to_go(mdp, often=often, counts_spent=counts_spent, possible=possible)
    runs = follow_policy(mdp.arrays, require_arrays(policy), going, mdp.start, int(policy.accounts[mdp.start]))
    cells, moves = runs.cells, runs.moves
    plain, weighed = layers(mdp), layers(replace(mdp, edge_chance=np.where(possible | (mdp.edge_chance > 0), often, 0)))
    assert list(cells.step) == [layer.step for layer in plain for _ in layer.state]
    for name in ("state", "spent", "row", "chance"):
        assert np.array_equal(getattr(cells, name), np.concatenate([getattr(layer, name) for layer in plain]))
    assert np.asarray(cells.weight) == pytest.approx(np.concatenate([layer.chance for layer in weighed]))
    before = np.cumsum([0, *(len(layer.state) for layer in plain)])
    for ends, name, shift in ((moves.origin, "origin", 0), (moves.target, "target", 1), (moves.edge, "edge", None)):
        numbers = [
            getattr(layer, name) + (0 if shift is None else before[place + shift]) for place, layer in enumerate(plain)
        ]
        assert np.array_equal(ends, np.concatenate(numbers))
    assert np.array_equal(moves.chance, np.concatenate([layer.flow for layer in plain]))
    assert np.asarray(moves.weight) == pytest.approx(np.concatenate([layer.flow for layer in weighed]))
