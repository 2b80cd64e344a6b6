"""The target sweep by hand: what is told of it without a formula, and what can happen at the edges of its columns."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import safear as sa
from compare import columns_of, rows_of
from doors import CERTAIN, EXCEEDED, EXCESS, find_bands, sweep_targets
from gambles import by_hand, compiled, gamble
from small_problems import ladder

# -------------------------------------------------------------------------------------------------------------- by hand


def test_nothing_to_do() -> None:
    problem = ladder({"try": {"cost": 1, "when": "a == yes", "change": {"a": "yes"}}}, failure_cost=9)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert mdp.n_rows == 0
    found = sweep_targets(mdp, EXCESS, targets=(0.0, 3))
    assert found.score[mdp.locate()].tolist() == [10.0, 9.0, 8.0, 7.0]


def test_choices_may_change_at_every_target() -> None:
    """Eight tosses cost 0 or 256, 128, ..., 2, and before them it is 0, 512, 1024 or 1536: any even number below 2048.

    Who pays 1 more has any odd number; who pays 0 or 2 more has even ones, half as likely at both ends. So the one is
    ahead at even targets, the other at odd ones.
    """
    tosses = [[[(0.5, 0, i + 2), (0.5, 256 >> i, i + 2)]] for i in range(8)]
    odd = [(0.25, cost + 1, 1) for cost in range(0, 2048, 512)]
    even = [(0.125, cost + more, 1) for cost in range(0, 2048, 512) for more in (0, 2)]
    mdp = replace(by_hand([odd, even], *tosses, horizon=9), depth=np.arange(10, dtype=np.int16))
    found = sweep_targets(mdp, EXCEEDED, targets=(0.0, 2050))
    place, first, choice = columns_of(found.policy)
    assert choice[place == 0].tolist() == [0, *[1, 0] * 1024]
    assert first[place == 0].tolist() == list(range(-1, 2048))
    exceeded = [1 - (w + 1) / 2048 for w in range(2048)]
    assert found.score[0, 1:].tolist() == [*exceeded, 0, 0]


@pytest.mark.parametrize("never", [0, 1])
def test_what_never_happens_is_no_loss(never: int) -> None:
    """However dear it is, and be it infinitely bad."""
    outcomes = [(1.0, 1, 1), (1.0, 1, 1)]
    outcomes[never] = (0.0, 3, 0)
    found = sweep_targets(by_hand([outcomes], horizon=1, failure_cost=9), CERTAIN, targets=(0.0, 4))
    assert found.score[0].tolist() == [math.inf, math.inf, 0, 0, 0]
    assert found.mean[0].tolist() == [1] * 5


@pytest.mark.parametrize("low", [-2.5, -1.0, 0.5, 2.5, 3.0, 4.5])
def test_targets_need_not_be_whole(low: float) -> None:
    """0 or 3: each is above any target below it, by so much."""
    mdp = by_hand([[(0.5, 0, 1), (0.5, 3, 1)]], horizon=1)
    expected = [(max(-w, 0.0) + max(3 - w, 0.0)) / 2 for w in low + np.arange(8)]
    assert sweep_targets(mdp, EXCESS, targets=(low, 8)).score[0, 1:].tolist() == expected


@pytest.mark.parametrize("low", [-1.0, 0.0, 4.0, 4.5])
def test_what_is_left_may_be_just_what_runs_cost(low: float) -> None:
    """1, and then 0 or 3."""
    mdp = by_hand([[(1.0, 1, 1)]], [[(0.5, 0, 2), (0.5, 3, 2)]], horizon=2)
    expected = [(max(1 - w, 0.0) + max(4 - w, 0.0)) / 2 for w in low + np.arange(8)]
    assert sweep_targets(mdp, EXCESS, targets=(low, 8)).score[0, 1:].tolist() == expected


# ---------------------------------------------------------------------- steps that cost more than all that is asked for


def draw_dear(seed: int) -> sa.MDP:
    """Three states and a goal, rows of one to four outcomes, some of which never happen; most steps are dear."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 4, 3)
    outcomes = rng.integers(1, 5, rows.sum())
    edges = int(outcomes.sum())
    weights = rng.integers(1, 5, edges) * np.where(rng.random(edges) < 0.15, 0, 1)
    starts = np.cumsum([0, *outcomes])
    weights[starts[:-1]] += 1  # something happens
    return sa.MDP(
        horizon=3,
        goal=np.array([False, False, False, True]),
        row_start=np.cumsum([0, *rows, 0]),
        row_action=np.concatenate([np.arange(count) for count in rows]).astype(np.uint8),
        edge_start=starts,
        edge_next=rng.integers(0, 4, edges),
        edge_chance=weights / np.repeat(np.add.reduceat(weights, starts[:-1]), outcomes),
        edge_cost=rng.choice([0, 1, 2, 3, 30, 61], edges),
        edge_outcome=np.concatenate([np.arange(count) for count in outcomes]).astype(np.uint8),
        depth=np.zeros(4, dtype=np.int16),
        actions=("one", "two", "three"),
        failure_cost=int(rng.choice([0, 5, 100])),
    )


def least_plainly(
    mdp: sa.MDP, weights: tuple[float, float], step: int, state: int, target: float
) -> tuple[float, float]:
    """The least weighed sum of E[max(C - target, 0)] and E[C] from there on, and the E[C] that comes with it."""
    rows = range(mdp.row_start[state], mdp.row_start[state + 1])
    if step == mdp.horizon or not rows:
        total = 0.0 if mdp.goal[state] else float(mdp.failure_cost)
        return weights[0] * max(total - target, 0.0) + weights[1] * total, total
    found = []
    for row in rows:
        value = mean = 0.0
        for edge in range(mdp.edge_start[row], mdp.edge_start[row + 1]):
            cost, chance = int(mdp.edge_cost[edge]), float(mdp.edge_chance[edge])
            later = least_plainly(mdp, weights, step + 1, int(mdp.edge_next[edge]), target - cost)
            value += chance * (weights[1] * cost + later[0])
            mean += chance * (cost + later[1])
        found.append((value, mean))
    least = min(value for value, _ in found)
    return least, min(mean for value, mean in found if value <= least + 1e-9)


@pytest.mark.parametrize("weights", [(1.0, 0.0), (2.0, 0.5)], ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_steps_dearer_than_all_targets(seed: int, weights: tuple[float, float]) -> None:
    """After them nothing is left of any target, which all totals exceed: only the mean counts from there on."""
    mdp, low, count = draw_dear(seed), 0.0, 5
    sweep = sweep_targets(mdp, EXCESS, targets=(low, count), weights=weights)
    for state in range(mdp.n_states):
        for column in range(1, count + 1):
            expected = least_plainly(mdp, weights, 0, state, low + column - 1)
            assert (sweep.score[state, column], sweep.mean[state, column]) == pytest.approx(expected, rel=1e-9)


def cost_of_runs(mdp: sa.MDP, step: int, state: int) -> tuple[int, int]:
    """The least and the most that a run from there on can cost, whatever is done."""
    rows = rows_of(mdp)(state, step)
    edges = [edge for row in rows for edge in range(mdp.edge_start[row], mdp.edge_start[row + 1])]
    if not edges:
        return (0, 0) if mdp.goal[state] else (mdp.failure_cost, mdp.failure_cost)
    later = [cost_of_runs(mdp, step + 1, int(mdp.edge_next[edge])) for edge in edges]
    costs = mdp.edge_cost[edges].tolist()
    least = min(cost + low for cost, (low, _) in zip(costs, later, strict=True))
    return least, max(cost + high for cost, (_, high) in zip(costs, later, strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_floor_and_ceiling_are_what_runs_can_cost(seed: int) -> None:
    drawn = draw_dear(seed)
    for mdp in (drawn, replace(drawn, stops=True), compiled(gamble(seed))):
        bands = find_bands(mdp)
        for step in range(mdp.horizon + 1):
            for state in np.flatnonzero(mdp.depth <= step).tolist():
                found = bands.floor[step, state], bands.ceiling[step, state]
                assert found == cost_of_runs(mdp, step, state), (step, state)


# --------------------------------------------------------------------------------------- targets above what runs cost


@pytest.mark.parametrize("shift", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_the_lowest_target_may_be_above_what_runs_cost(seed: int, shift: float) -> None:
    """A step takes what is left below the lowest target, and still it is enough."""
    drawn, count = draw_dear(seed), 10
    mdp = replace(drawn, edge_cost=drawn.edge_cost % 4, failure_cost=seed % 2 * 9)
    low = int(np.asarray(find_bands(mdp).ceiling)[0].max()) + shift
    found = sweep_targets(mdp, EXCESS, targets=(low, count), weights=(2.0, 0.5))
    for state in range(mdp.n_states):
        score, mean = least_plainly(mdp, (2.0, 0.5), 0, state, low)
        assert score == pytest.approx(mean / 2)
        assert found.score[state, 1:] == pytest.approx([score] * count)
        assert found.mean[state, 1:] == pytest.approx([mean] * count)
