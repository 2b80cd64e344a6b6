"""Plans and figures of many blocks at once against one block, one state, plain recursion and the oracle."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import oracle
import safear as sa
from compare import as_policy
from doors import (
    EPSILON,
    FAMILY_MEASURES,
    FamilySolution,
    Stepwise,
    memory,
    solve_family,
    summarise,
    sweep_success,
    sweeps,
)
from exact.core.test_figures import AnyArrays, plain_quantile
from lanes import scaled
from oracle import Oracle
from safear.errors import ObjectiveError, TooLargeError
from safear.evaluation import evaluate_states
from safear.mdp import Family, compile_families
from safear.risk import Objective
from strategies import problems

LEVELS = st.sampled_from([0.0, 0.5, 0.95, 1.0])
OBJECTIVES = st.sampled_from([sa.Mean(), sa.MeanStd(0.5), sa.MeanStd(2.0), sa.MeanLowerStd(1.0), sa.MeanLowerStd(0.25)])


def divide(problem: sa.Problem) -> sa.Problem:
    """The same problem with every feature immutable that nothing changes."""
    changing = problem.changed_features | {effect.cause for effect in problem.side_effects}
    return replace(
        problem, features=tuple(replace(f, mutable=f.name in changing or bool(f.at_most)) for f in problem.features)
    )


def assert_figures(ours: NDArray[np.float64], theirs: Any) -> None:
    """The same numbers, NaN where they are masked."""
    expected = np.ma.filled(np.ma.array(theirs, dtype=np.float64), np.nan)
    assert np.allclose(ours, expected, rtol=1e-9, atol=1e-9, equal_nan=True)


# ---------------------------------------------------------------------------------------- against blocks and states


@given(problems(), OBJECTIVES, LEVELS, st.integers(1, 5))
def test_every_lane_as_if_alone(document: dict[str, Any], objective: Stepwise, level: float, lanes: int) -> None:
    assert_as_alone(sa.parse_problem(document), objective, level, lanes)


def test_every_lane_as_if_alone_where_four_features_change() -> None:
    assert_as_alone(sa.load_example("loan"), sa.Mean(), 0.95, 4)


def assert_as_alone(problem: sa.Problem, objective: Stepwise, level: float, lanes: int) -> None:
    """Whatever the lanes of a family have is what each has in a block of its own."""
    problem = divide(problem)
    for family in compile_families(problem, lanes=lanes):
        solution = solve_family(family, objective)
        assert solution.choices.shape == (problem.horizon, *family.goal.shape)
        figures = summarise(solution, level=level)
        assert tuple(figures) == FAMILY_MEASURES
        for lane in range(family.n_lanes):
            block, plain = solution.block(lane), sa.solve(family.block(lane), objective, method="greedy")
            assert np.allclose(block.planned, plain.planned, rtol=1e-12, atol=1e-12)
            assert as_policy(block) == as_policy(plain)
            alone = evaluate_states(block)
            for name in ("success", "mean", "variance", "sparsity", "proximity"):
                assert_figures(figures[name][:, lane], getattr(alone, name))
            for name in ("var", "cvar", "tail_mean"):
                assert_figures(figures[name][:, lane], getattr(alone, name)(level))
            assert_figures(figures["best_success"][:, lane], sweep_success(family.block(lane))[0])


@settings(max_examples=scaled(40))
@given(problems(max_horizon=3), OBJECTIVES, st.sampled_from(["0", "0.5", "0.95", "1"]))
def test_every_state_by_its_histories(document: dict[str, Any], objective: Stepwise, level: str) -> None:
    """Against an engine that shares no code with ours, in fractions."""
    judge = Oracle(document)
    for family in compile_families(divide(sa.parse_problem(document))):
        solution = solve_family(family, objective)
        figures = summarise(solution, level=float(level))
        for lane in range(family.n_lanes):
            block = solution.block(lane)
            policy = as_policy(block)
            for state in range(block.mdp.n_states):
                start = tuple(block.mdp.person(state).values())
                exact = judge.distribution(policy, start)
                expected = {
                    "success": oracle.success(exact),
                    "mean": oracle.mean(exact, given_success=True),
                    "variance": oracle.variance(exact, given_success=True),
                    "var": oracle.value_at_risk(exact, level, given_success=True),
                    "cvar": oracle.cvar(exact, level, given_success=True),
                }
                for name, theirs in expected.items():
                    value = math.nan if theirs is None else float(theirs)
                    assert figures[name][state, lane] == pytest.approx(value, rel=1e-9, abs=1e-9, nan_ok=True)


@settings(max_examples=scaled(60))
@given(problems(), st.sampled_from([0.0, 0.5, 2.0]), st.booleans())
def test_plans_are_those_of_algorithm_1(document: dict[str, Any], aversion: float, lower: bool) -> None:
    """Against an engine that shares no code with ours, from every state."""
    objective = sa.MeanLowerStd(aversion) if lower else sa.MeanStd(aversion)
    judge = Oracle(document)
    for family in compile_families(divide(sa.parse_problem(document))):
        solution = solve_family(family, objective)
        for lane in range(family.n_lanes):
            block = solution.block(lane)
            ours = as_policy(block)
            for state in range(block.mdp.n_states):
                policy, value = judge.greedy(tuple(block.mdp.person(state).values()), aversion, lower=lower)
                assert block.planned[state] == pytest.approx(value, abs=1e-9)
                assert {key: ours[key] for key in policy} == policy


# -------------------------------------------------------------------------------------------------------------- by hand


def retries(horizon: int = 30, chance: float = 0.5) -> FamilySolution:
    """A step of cost 0.3 that works with this chance; whom the classifier takes depends on a feature that nobody has.

    In the first block a state above is enough, in the second the top is needed, in the third nothing is.
    """
    problem = sa.parse_problem(
        {
            "safear": 1,
            "title": "retries",
            "horizon": horizon,
            "features": {
                "a": {"kind": "ordinal", "levels": ["low", "mid", "top"]},
                "who": {"kind": "nominal", "levels": ["most", "some", "none"], "mutable": False},
            },
            "actions": {"try": {"cost": 0.3, "chance": chance, "change": {"a": "+1"}}},
            "classifier": {"rule": "who == most and a >= mid or who == some and a == top"},
        }
    )
    (family,) = compile_families(problem)
    return solve_family(family, sa.Mean())


def test_closed_forms() -> None:
    """Tries until the first success are geometric: mean 1 / p, variance (1 - p) / p^2; until the second, twice that."""
    figures = summarise(retries(horizon=200), level=0.5)
    assert figures["success"].tolist() == [
        pytest.approx([1.0, 1.0, 0.0], abs=1e-12),
        pytest.approx([1.0, 1.0, 0.0], abs=1e-12),
        pytest.approx([1.0, 1.0, 0.0], abs=1e-12),
    ]
    assert figures["mean"][:, 0].tolist() == pytest.approx([0.6, 0.0, 0.0], abs=1e-9)
    assert figures["mean"][:, 1].tolist() == pytest.approx([1.2, 0.6, 0.0], abs=1e-9)
    assert figures["variance"][:, 0].tolist() == pytest.approx([0.18, 0.0, 0.0], abs=1e-9)
    assert figures["variance"][:, 1].tolist() == pytest.approx([0.36, 0.18, 0.0], abs=1e-9)
    assert figures["var"][:, 0].tolist() == pytest.approx([0.3, 0.0, 0.0], abs=1e-9)
    assert figures["cvar"][:, 0].tolist() == pytest.approx([0.3 * 3, 0.0, 0.0], abs=1e-9)  # one lost, then as before
    for name in ("mean", "variance", "var", "cvar"):
        assert np.isnan(figures[name]).tolist() == [[False, False, True]] * 3
    assert (figures["success"] <= 1).all()


@pytest.mark.parametrize(
    ("level", "var", "cvar"),
    [
        (0.0, 0.3, 0.3 * (1 * 8 + 2 * 4 + 3 * 2) / 14),
        (0.5, 0.3, 0.3 * (2 * 4 + 3 * 2 + 1 * 1) / 7),
        (0.95, 0.9, 0.9),
        (1.0, 0.9, 0.9),
    ],
)
def test_three_tries_at_each_level(level: float, var: float, cvar: float) -> None:
    """One, two or three tries weigh 8, 4 and 2 of 14, and 2 of 16 times all three fail."""
    figures = summarise(retries(horizon=3), level=level)
    assert figures["success"][0, 0] == pytest.approx(14 / 16)
    assert float(figures["var"][0, 0]) == pytest.approx(var)
    assert float(figures["cvar"][0, 0]) == pytest.approx(cvar)


def test_a_block_without_states() -> None:
    solution = retries()
    shared = sa.compile_mdp(
        sa.parse_problem(
            {
                "safear": 1,
                "title": "nobody",
                "horizon": 2,
                "features": {"a": {"kind": "ordinal", "levels": ["x", "y"]}},
                "actions": {"go": {"cost": 1, "change": {"a": "+1"}}},
                "classifier": {"rule": "a == y"},
                "constraints": ["false"],
            }
        )
    )
    assert shared.n_states == 0
    family = Family(shared, np.zeros((0, 2), dtype=bool), np.zeros((2, 0), dtype=np.int16))
    figures = summarise(solve_family(family, solution.objective))
    assert figures["success"].shape == figures["cvar"].shape == (0, 2)


# -------------------------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("level", "told"),
    [
        *((number, "is not between 0 and 1") for number in (-0.1, 1.5, math.nan)),
        *((thing, "is not a float or a whole number") for thing in ("0.95", None)),
    ],
)
def test_a_level_that_is_none(level: Any, told: str) -> None:
    with pytest.raises(ObjectiveError, match=told):
        summarise(retries(), level=level)


CAUSE = "the distributions of a block of 3 states with 31 possible totals would need about 2 KiB"
REMEDY = "    costs cannot be rounded so far, the least is 0.3: evaluate one person at a time"


def test_refused_when_it_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two distributions of one block, and six figures for each state of each of three."""
    solution, need = retries(), 2 * 8 * 31 * 3 + 6 * 8 * 3 * 3
    assert summarise(solution, max_bytes=need)["success"].shape == (3, 3)
    with pytest.raises(TooLargeError) as refused:
        summarise(solution, max_bytes=need - 1)
    assert str(refused.value) == f"{CAUSE}; the limit is 2 KiB\n{REMEDY}"
    monkeypatch.setattr(memory, "available", lambda: 1024)
    monkeypatch.setattr(memory, "NEGLIGIBLE", 0)
    with pytest.raises(TooLargeError) as refused:
        summarise(solution)
    assert str(refused.value) == f"{CAUSE}; this machine has 1 KiB left\n{REMEDY}"


@pytest.mark.parametrize("objective", [sa.CVaR(0.95), sa.MeanVariance(1.0), sa.SuccessFirst(sa.Mean())], ids=str)
def test_objectives_that_one_sweep_cannot_do(objective: Objective) -> None:
    with pytest.raises(ObjectiveError) as refused:
        solve_family(retries().family, objective)
    assert str(refused.value) == (
        f"'{objective}' cannot be solved for many blocks in one sweep\n"
        "    use Mean, MeanStd or MeanLowerStd here, and solve(mdp, ...) for the optimum of the others"
    )


# ------------------------------------------------------------------------------------------------------ plain recursion


@settings(max_examples=scaled(100))
@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3), LEVELS)
def test_figures_of_any_arrays(seed: int, states: int, horizon: int, lanes: int, level: float) -> None:
    """Figures of what the recursion gives from goals; here plans may stop before they have to."""
    any_, rng = AnyArrays(seed, states, horizon, lanes), np.random.default_rng(seed)
    goal = rng.random((states, lanes)) < 0.4
    any_.choices[:, goal] = 255
    figures = np.full((6, states, lanes), -1.0)
    costs = any_.named, goal.view(np.uint8), any_.choices, 1 + 5 * horizon, level, EPSILON, figures
    sweeps.summarise_costs(*costs)
    any_.final[:, 0] = 1.0
    for lane in range(lanes):
        any_.low, any_.high = np.zeros(states, dtype=np.int64), goal[:, lane].astype(np.int64)
        for state in range(states):
            expected = plain_figures(any_.follow(0, state, lane), level)
            assert figures[:, state, lane].tolist() == pytest.approx(expected, abs=1e-9, nan_ok=True)


def plain_figures(masses: dict[int, float], level: float) -> list[float]:
    """Total mass and, of what is scaled to 1, mean, variance, VaR, CVaR and what lies beyond VaR; NaN if undefined."""
    total = math.fsum(masses.values())
    if not total:
        return [0.0] + [math.nan] * 5
    shares = [(x, mass / total) for x, mass in sorted(masses.items())]
    mean = math.fsum(x * share for x, share in shares)
    variance = math.fsum(share * (x - mean) ** 2 for x, share in shares)
    var = shares[plain_quantile([share for _, share in shares], level)][0]
    beyond = [(x, share) for x, share in shares if x > var and share > 0]
    excess = math.fsum(share * (x - var) for x, share in beyond)
    weight = math.fsum(share for _, share in beyond)
    cvar = var + (excess / (1 - level) if level < 1 else 0.0)
    return [total, mean, variance, var, cvar, var + excess / weight if weight else math.nan]
