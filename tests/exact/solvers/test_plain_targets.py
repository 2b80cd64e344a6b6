"""The plain steps of the target sweep give what the compiled sweep gives, to the last bit."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import safear as sa
from doors import (
    CERTAIN,
    EXCEEDED,
    EXCESS,
    SQUARE,
    Loss,
    TargetSweep,
    largest_spent,
    sweep_targets,
    targets,
)
from doors import (
    TARGETS_MISSED as MISSED,
)
from gambles import by_hand, compiled, gamble
from lanes import scaled
from small_problems import ladder
from strategies import problems


def sweep_both(mdp: sa.MDP, loss: Loss, **settings_: Any) -> tuple[TargetSweep, TargetSweep]:
    """The sweep with plain steps, and with compiled ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(targets, "numba_pays", lambda _: False)
        plain = sweep_targets(mdp, loss, **settings_)
        patch.setattr(targets, "numba_pays", lambda _: True)
        return plain, sweep_targets(mdp, loss, **settings_)


def assert_same(plain: TargetSweep, fast: TargetSweep, *, first: int = 0) -> None:
    """To the last bit, from a column on."""
    for name in ("score", "mean", "variance"):
        one, other = getattr(plain, name)[:, first:], getattr(fast, name)[:, first:]
        np.testing.assert_array_equal(one, other, strict=True, err_msg=name)
    assert sort_pieces(plain) == sort_pieces(fast)


def sort_pieces(found: TargetSweep) -> list[tuple[int, int, int]]:
    return sorted(zip(*(column.tolist() for column in found.pieces), strict=True))


def some_rows(mdp: sa.MDP, seed: int) -> NDArray[np.bool_]:
    """Some rows of each step, at least one of each state that has any."""
    rng = np.random.default_rng(seed)
    allowed: NDArray[np.bool_] = rng.random((mdp.horizon, mdp.n_rows)) < 0.6
    counts = np.diff(mdp.row_start)
    states = np.flatnonzero(counts)
    for step in range(mdp.horizon):
        allowed[step, mdp.row_start[states] + rng.integers(0, counts[states])] = True
    return allowed


@settings(max_examples=scaled(150))
@given(
    document=st.one_of(problems(tiny=True), problems()),
    loss=st.sampled_from([EXCESS, EXCEEDED, MISSED, CERTAIN, SQUARE]),
    low=st.sampled_from([0.0, -3.0, -2.625]),
    share=st.sampled_from([0.0, 0.3, 1.0]),
    weights=st.sampled_from([(1.0, 0.0), (1.0, 0.25), (20.0, 0.5)]),
    only=st.none() | st.integers(0, 99),
    alone=st.booleans(),
    last_only=st.booleans(),
)
def test_plain_steps_are_compiled_ones(
    document: dict[str, Any],
    loss: Loss,
    low: float,
    share: float,
    weights: tuple[float, float],
    only: int | None,
    alone: bool,
    last_only: bool,
) -> None:
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person if alone else None)
    count = round(share * (int(largest_spent(mdp).max(initial=0)) + mdp.failure_cost)) + 1
    allowed = None if only is None else some_rows(mdp, only)
    some = {"weights": weights, "allowed": allowed, "last": 1 if last_only and alone else None}
    assert_same(*sweep_both(mdp, loss, targets=(low, count), **some), first=count if last_only and alone else 0)


@given(seed=st.integers(0, 999), loss=st.sampled_from([EXCESS, CERTAIN, SQUARE]))
def test_the_chances_of_each_step_may_differ(seed: int, loss: Loss) -> None:
    """And some of them may be 0 where a loss is infinite."""
    mdp = sa.compile_mdp(sa.load_example("health-insurance"))
    rng = np.random.default_rng(seed)
    drawn = rng.random((mdp.horizon, mdp.n_edges)) * (rng.random((mdp.horizon, mdp.n_edges)) < 0.7)
    drawn[:, mdp.edge_start[:-1]] += 0.1  # something happens
    chances = drawn / np.add.reduceat(drawn, mdp.edge_start[:-1], axis=1)[:, mdp.edge_row]
    assert_same(*sweep_both(mdp, loss, targets=(0.0, 30), chances=chances))


def test_rows_with_many_outcomes_are_added_up_in_order() -> None:
    """0.1 + 0.2 + 0.3 + ... depends on the order; NumPy alone would begin at the other end."""
    chances = [0.1, 0.2, 0.3, 0.05, 0.15, 0.1, 0.1]
    outcomes = [{"chance": chance, "cost": 3 * i + 1, "change": {"a": "yes"}} for i, chance in enumerate(chances)]
    problem = ladder({"try": {"cost": 1, "outcomes": outcomes}}, failure_cost=9)
    mdp = sa.compile_mdp(problem)
    for loss in (EXCESS, SQUARE):
        assert_same(*sweep_both(replace(mdp), loss, targets=(0.0, 25)))


def test_nothing_to_do() -> None:
    problem = ladder({"try": {"cost": 1, "when": "a == yes", "change": {"a": "yes"}}}, failure_cost=9)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert mdp.n_rows == 0
    plain, fast = sweep_both(mdp, EXCESS, targets=(0.0, 3))
    assert_same(plain, fast)
    assert plain.score[mdp.locate()].tolist() == [10.0, 9.0, 8.0, 7.0]


def test_choices_may_change_at_every_target() -> None:
    """Eight tosses cost 0 or 256, 128, ..., 2, and before them it is 0, 512, 1024 or 1536: any even number below 2048.

    Who pays 1 more has any odd number; who pays 0 or 2 more has even ones, half as likely at both ends. So the one is
    ahead at even targets, the other at odd ones.
    """
    tosses = [[[(0.5, 0, i + 2), (0.5, 256 >> i, i + 2)]] for i in range(8)]
    odd = [(0.25, cost + 1, 1) for cost in range(0, 2048, 512)]
    even = [(0.125, cost + more, 1) for cost in range(0, 2048, 512) for more in (0, 2)]
    mdp = replace(by_hand([odd, even], *tosses, horizon=9), depth=np.arange(10, dtype=np.int16))
    plain, fast = sweep_both(mdp, EXCEEDED, targets=(0.0, 2050))
    assert_same(plain, fast)
    choices = [choice for place, _, choice in sort_pieces(plain) if place == 0]
    assert choices == [0, *[1, 0] * 1024]
    exceeded = [1 - (w + 1) / 2048 for w in range(2048)]
    assert plain.score[0, 1:].tolist() == [*exceeded, 0, 0]
    assert (np.diff(fast.pieces.place) >= 0).all()


@pytest.mark.parametrize("never", [0, 1])
def test_what_never_happens_is_no_loss(never: int) -> None:
    """However dear it is, and be it infinitely bad."""
    outcomes = [(1.0, 1, 1), (1.0, 1, 1)]
    outcomes[never] = (0.0, 3, 0)
    mdp = by_hand([outcomes], horizon=1, failure_cost=9)
    for found in sweep_both(mdp, CERTAIN, targets=(0.0, 4)):
        assert found.score[0].tolist() == [math.inf, math.inf, 0, 0, 0]
        assert found.mean[0].tolist() == [1] * 5


@pytest.mark.parametrize("low", [-2.5, -1.0, 0.5, 2.5, 3.0, 4.5])
def test_targets_need_not_be_whole(low: float) -> None:
    """0 or 3: each is above any target below it, by so much."""
    mdp = by_hand([[(0.5, 0, 1), (0.5, 3, 1)]], horizon=1)
    expected = [(max(-w, 0.0) + max(3 - w, 0.0)) / 2 for w in low + np.arange(8)]
    for found in sweep_both(mdp, EXCESS, targets=(low, 8)):
        assert found.score[0, 1:].tolist() == expected


@pytest.mark.parametrize("low", [-1.0, 0.0, 4.0, 4.5])
def test_what_is_left_may_be_just_what_runs_cost(low: float) -> None:
    """1, and then 0 or 3."""
    mdp = by_hand([[(1.0, 1, 1)]], [[(0.5, 0, 2), (0.5, 3, 2)]], horizon=2)
    expected = [(max(1 - w, 0.0) + max(4 - w, 0.0)) / 2 for w in low + np.arange(8)]
    for found in sweep_both(mdp, EXCESS, targets=(low, 8)):
        assert found.score[0, 1:].tolist() == expected


@pytest.mark.parametrize("loss", [EXCESS, CERTAIN, SQUARE], ids=["excess", "certain", "square"])
@pytest.mark.parametrize("seed", range(4))
def test_some_rows_may_be_forbidden(seed: int, loss: Loss) -> None:
    mdp = compiled(gamble(seed))
    assert_same(*sweep_both(mdp, loss, targets=(-2.625, 40), allowed=some_rows(mdp, seed)))
    if loss is SQUARE:
        assert_same(*sweep_both(mdp, loss, targets=(-2.625, 40), last=3), first=38)
