"""Figures of many blocks at once against distributions of one block, of one state, and plain recursion."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
from oracle import Oracle
from safear import memory
from safear.errors import ObjectiveError, TooLargeError
from safear.evaluation import StatePolicy, evaluate_states, evaluation_kernels
from safear.mdp import Family, check_mdp
from safear.mdp.arrays import Arrays
from safear.mdp.families import compile_families
from safear.population.family_figures import summarise
from safear.population.family_plans import FamilySolution, solve_families, solve_family
from safear.risk import Costs
from safear.risk.distribution import EPSILON
from safear.solvers.sweep import Stepwise
from strategies import problems

LEVELS = st.sampled_from([0.0, 0.5, 0.95, 1.0])
OBJECTIVES = st.sampled_from([sa.Mean(), sa.MeanStd(0.5), sa.MeanStd(2.0), sa.MeanLowerStd(1.0)])


def divide(problem: sa.Problem) -> sa.Problem:
    """The same problem with every feature immutable that nothing changes."""
    changing = problem.changed_features | {effect.cause for effect in problem.side_effects}
    return replace(problem, features=tuple(replace(f, mutable=f.name in changing) for f in problem.features))


# -------------------------------------------------------------------------------------------- against blocks and states


def assert_figures(ours: Any, theirs: Any) -> None:
    """The same numbers, masked in the same places, and finite even there."""
    assert np.ma.getmaskarray(ours).tolist() == np.ma.getmaskarray(theirs).tolist()
    assert np.isfinite(ours.data).all()
    assert np.ma.allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@given(problems(), OBJECTIVES, LEVELS, st.integers(1, 5))
def test_every_lane_as_if_alone(document: dict[str, Any], objective: Stepwise, level: float, lanes: int) -> None:
    problem = divide(sa.parse_problem(document))
    for family in compile_families(problem, lanes=lanes):
        solution = solve_family(family, objective)
        figures = summarise(solution, level=level)
        assert figures.success.shape == family.goal.shape
        for lane in range(family.n_lanes):
            alone = evaluate_states(solution.block(lane))
            assert np.allclose(figures.success[:, lane], alone.success, rtol=0, atol=1e-12)
            assert_figures(figures.mean[:, lane], alone.mean)
            assert_figures(figures.variance[:, lane], alone.variance)
            assert_figures(figures.var[:, lane], alone.var(level))
            assert_figures(figures.cvar[:, lane], alone.cvar(level))


@settings(max_examples=40)
@given(problems(), OBJECTIVES, LEVELS)
def test_every_state_as_if_alone(document: dict[str, Any], objective: Stepwise, level: float) -> None:
    problem = divide(sa.parse_problem(document))
    for solution in solve_families(problem, None, objective=objective, threads=1):
        figures = summarise(solution, level=level)
        for lane in range(solution.family.n_lanes):
            block = solution.block(lane)
            for state in range(block.mdp.n_states):
                cost = sa.evaluate(block, start=state)
                assert figures.success[state, lane] == pytest.approx(cost.success, abs=1e-12)
                for ours, theirs in (
                    (figures.mean, cost.mean),
                    (figures.variance, cost.variance),
                    (figures.var, cost.var(level)),
                    (figures.cvar, cost.cvar(level)),
                ):
                    if theirs is None:
                        assert ours[state, lane] is np.ma.masked
                    else:
                        assert float(ours[state, lane]) == pytest.approx(theirs, rel=1e-9, abs=1e-9)


@settings(max_examples=40)
@given(problems(max_horizon=3), OBJECTIVES, st.sampled_from(["0", "0.5", "0.95", "1"]))
def test_every_state_by_its_histories(document: dict[str, Any], objective: Stepwise, level: str) -> None:
    """Against an engine that shares no code with ours, in fractions."""
    judge = Oracle(document)
    for solution in solve_families(divide(sa.parse_problem(document)), None, objective=objective, threads=1):
        figures = summarise(solution, level=float(level))
        for lane in range(solution.family.n_lanes):
            block = solution.block(lane)
            policy = as_policy(block)
            for state in range(block.mdp.n_states):
                start = tuple(block.mdp.person(state).values())
                exact = judge.distribution(policy, start)
                assert figures.success[state, lane] == pytest.approx(float(oracle.success(exact)), abs=1e-12)
                for ours, theirs in (
                    (figures.mean, oracle.mean(exact, given_success=True)),
                    (figures.variance, oracle.variance(exact, given_success=True)),
                    (figures.var, oracle.value_at_risk(exact, level, given_success=True)),
                    (figures.cvar, oracle.cvar(exact, level, given_success=True)),
                ):
                    if theirs is None:
                        assert ours[state, lane] is np.ma.masked
                    else:
                        assert float(ours[state, lane]) == pytest.approx(float(theirs), rel=1e-9, abs=1e-9)


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
    assert figures.success.tolist() == [
        pytest.approx([1.0, 1.0, 0.0], abs=1e-12),
        pytest.approx([1.0, 1.0, 0.0], abs=1e-12),
        pytest.approx([1.0, 1.0, 0.0], abs=1e-12),
    ]
    assert figures.mean[:, 0].tolist() == pytest.approx([0.6, 0.0, 0.0], abs=1e-9)
    assert figures.mean[:, 1].tolist() == pytest.approx([1.2, 0.6, 0.0], abs=1e-9)
    assert figures.variance[:, 0].tolist() == pytest.approx([0.18, 0.0, 0.0], abs=1e-9)
    assert figures.variance[:, 1].tolist() == pytest.approx([0.36, 0.18, 0.0], abs=1e-9)
    assert figures.var[:, 0].tolist() == pytest.approx([0.3, 0.0, 0.0], abs=1e-9)
    assert figures.cvar[:, 0].tolist() == pytest.approx([0.3 * 3, 0.0, 0.0], abs=1e-9)  # one lost, then as before
    for figure in (figures.mean, figures.variance, figures.var, figures.cvar):
        assert np.ma.getmaskarray(figure).tolist() == [[False, False, True]] * 3
    assert (figures.success <= 1).all()


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
    assert figures.success[0, 0] == pytest.approx(14 / 16)
    assert float(figures.var[0, 0]) == pytest.approx(var)
    assert float(figures.cvar[0, 0]) == pytest.approx(cvar)


def test_the_usual_level_is_the_worst_twentieth() -> None:
    plain, stated = summarise(retries()), summarise(retries(), level=0.95)
    assert np.ma.allequal(plain.cvar, stated.cvar)
    assert not np.ma.allequal(plain.cvar, summarise(retries(), level=0.9).cvar)


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
    assert figures.success.shape == figures.cvar.shape == (0, 2)


# -------------------------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize("level", [-0.1, 1.5, math.nan, "0.95", None])
def test_a_level_that_is_none(level: Any) -> None:
    with pytest.raises(ObjectiveError, match="is not between 0 and 1"):
        summarise(retries(), level=level)


CAUSE = "the distributions of a block of 3 states with 31 possible totals would need about 2 KiB"
REMEDY = "    round costs with 'cost: {resolution: ...}', or evaluate one person at a time"


def test_refused_when_it_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two distributions of one block, and five figures for each state of each of three."""
    solution, need = retries(), 2 * 8 * 31 * 3 + 5 * 8 * 3 * 3
    assert summarise(solution, max_bytes=need).success.shape == (3, 3)
    with pytest.raises(TooLargeError) as refused:
        summarise(solution, max_bytes=need - 1)
    assert str(refused.value) == f"{CAUSE}; the limit is 2 KiB\n{REMEDY}"
    monkeypatch.setattr(memory, "available", lambda: 1024)
    monkeypatch.setattr(memory, "NEGLIGIBLE", 0)
    with pytest.raises(TooLargeError) as refused:
        summarise(solution)
    assert str(refused.value) == f"{CAUSE}; this machine has 1 KiB left\n{REMEDY}"


# -------------------------------------------------------------------------------------------------- within their arrays


@contextmanager
def in_python() -> Iterator[None]:
    """The compiled loops as plain Python, in which NumPy refuses what lies outside of an array."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("carry_back", "clear_outside", "quantile", "moments", "squares", "describe", "summarise_lanes"):
            patch.setattr(evaluation_kernels, name, getattr(evaluation_kernels, name).py_func)
        yield


@settings(max_examples=60)
@given(problems(), OBJECTIVES, LEVELS)
def test_nothing_is_written_outside_of_an_array(document: dict[str, Any], objective: Stepwise, level: float) -> None:
    """Compiled code would not notice, and break what lies there."""
    problem = divide(sa.parse_problem(document))
    for solution in solve_families(problem, None, objective=objective, threads=1):
        with in_python():
            slowly = summarise(solution, level=level)
            alone = [evaluate_states(solution.block(lane)) for lane in range(solution.family.n_lanes)]
        figures = summarise(solution, level=level)
        assert_figures(figures.cvar, slowly.cvar)
        for lane, states in enumerate(alone):
            assert np.allclose(slowly.success[:, lane], states.success, rtol=0, atol=1e-12)
            assert np.allclose(states.succeeded.sum(axis=1) + states.failed.sum(axis=1), 1)


def test_what_is_dearer_later() -> None:
    """Who is at the start walks twice, for 2. Only with one step left they would jump for 5: nobody is there then."""
    problem = sa.parse_problem(
        {
            "safear": 1,
            "title": "walk or jump",
            "horizon": 2,
            "goal": {"failure_cost": 100},
            "features": {"a": {"kind": "ordinal", "levels": ["start", "half way", "there"]}},
            "actions": {"walk": {"cost": 1, "change": {"a": "+1"}}, "jump": {"cost": 5, "change": {"a": "there"}}},
            "classifier": {"rule": "a == there"},
        }
    )
    (solution,) = solve_families(problem, None, objective=sa.Mean(), threads=1)
    with in_python():
        assert summarise(solution).mean[:, 0].tolist() == [2.0, 1.0, 0.0]
        assert evaluate_states(solution.block(0)).mean.tolist() == [2.0, 1.0, 0.0]


# ------------------------------------------------------------------------------------------------------ plain recursion


class AnyArrays:
    """Rows and edges of any MDP, choices in several lanes, and what holds after the last step; NaN where undefined."""

    def __init__(self, seed: int, states: int, horizon: int, lanes: int) -> None:
        rng = np.random.default_rng(seed)
        counts = rng.integers(0, 4, states)
        self.row_start = np.cumsum([0, *counts])
        outcomes = rng.integers(1, 5, counts.sum())
        self.edge_start = np.cumsum([0, *outcomes])
        edges = int(outcomes.sum())
        self.edge_next = rng.integers(0, states, edges)
        self.edge_cost = rng.choice([0, 0, 1, 2, 5], edges)
        weights = rng.integers(1, 9, edges).astype(float)
        total = np.add.reduceat(weights, self.edge_start[:-1]) if edges else np.empty(0)
        self.edge_chance = weights / np.repeat(total, outcomes)
        self.choices = np.full((horizon, states, lanes), 255, dtype=np.uint8)
        for index in np.ndindex(self.choices.shape):
            if counts[index[1]] and rng.random() < 0.8:  # at times nothing is done where something could be
                self.choices[index] = rng.integers(counts[index[1]])
        opening = 4
        self.low = rng.integers(0, opening, states)
        self.high = self.low + rng.integers(0, 3, states) * (rng.random(states) < 0.6)
        self.final = np.full((states, opening + 2 + 5 * horizon), np.nan)
        for state in range(states):
            self.final[state, self.low[state] : self.high[state]] = rng.random(self.high[state] - self.low[state])

    @property
    def named(self) -> Arrays:
        """What compiled loops take; they look at neither actions nor outcomes."""
        none = np.zeros(0, dtype=np.uint8)
        pointers = (self.row_start, none, self.edge_start)
        return Arrays(*pointers, self.edge_next, self.edge_chance, self.edge_cost, none)

    def follow(self, step: int, state: int, lane: int) -> dict[int, float]:
        """D_step(state, x) as {x: D}, one state and step at a time, without anything kept."""
        horizon = len(self.choices)
        if step == horizon:
            return {x: float(self.final[state, x]) for x in range(self.low[state], self.high[state])}
        choice = int(self.choices[step, state, lane])
        if choice == 255:
            return self.follow(step + 1, state, lane)
        result: dict[int, float] = {}
        row = self.row_start[state] + choice
        for edge in range(self.edge_start[row], self.edge_start[row + 1]):
            for x, mass in self.follow(step + 1, int(self.edge_next[edge]), lane).items():
                total = x + int(self.edge_cost[edge])
                result[total] = result.get(total, 0.0) + float(self.edge_chance[edge]) * mass
        return result

    def carry_back(self, lane: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        """The same by the compiled loop; the second array and what lies outside the first are NaN to begin with."""
        low, high = self.low.copy(), self.high.copy()
        later, now = self.final.copy(), np.full_like(self.final, np.nan)
        found = evaluation_kernels.carry_back(self.named, self.choices, lane, later, now, low, high)
        return found, low, high


@settings(max_examples=200)
@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3))
def test_carried_back_as_by_recursion(seed: int, states: int, horizon: int, lanes: int) -> None:
    """Nothing undefined is read, everything inside is written, and all that is not 0 is inside."""
    arrays = AnyArrays(seed, states, horizon, lanes)
    for lane in range(lanes):
        found, low, high = arrays.carry_back(lane)
        assert ((low >= 0) & (low <= high) & (high <= found.shape[1])).all()
        for state in range(states):
            expected = arrays.follow(0, state, lane)
            assert set(expected) <= set(range(low[state], high[state]))
            for x in range(low[state], high[state]):
                assert found[state, x] == pytest.approx(expected.get(x, 0.0), rel=1e-12, abs=1e-15)
        evaluation_kernels.clear_outside(found, low, high)
        for state in range(states):
            inside = np.arange(low[state], high[state])
            assert np.isfinite(found[state]).all()
            assert not np.delete(found[state], inside).any()


@settings(max_examples=100)
@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 4))
def test_plans_of_any_kind_stay_within_their_arrays(seed: int, states: int, horizon: int) -> None:
    """A plan that does something else, cheap or dear, at every step, where it can ever be and where it cannot."""
    arrays, rng = AnyArrays(seed, states, horizon, 1), np.random.default_rng(seed)
    counts = np.diff(arrays.row_start)
    mdp = sa.MDP(
        horizon,
        (counts == 0) & (rng.random(states) < 0.7),
        arrays.row_start,
        np.concatenate([np.arange(count) for count in counts]).astype(np.uint8),
        arrays.edge_start,
        arrays.edge_next,
        arrays.edge_chance,
        arrays.edge_cost,
        np.zeros(len(arrays.edge_next), dtype=np.uint8),
        np.zeros(states, dtype=np.int16),
        ("one", "two", "three"),
        failure_cost=3,
    )
    check_mdp(mdp)
    choices = rng.integers(0, np.maximum(counts, 1), (horizon, states)).astype(np.uint8)
    policy = StatePolicy(mdp, np.where(counts == 0, np.uint8(255), choices))
    with in_python():
        together = evaluate_states(policy)
    for state in range(states):
        ours, theirs = together.distribution(state).points(), sa.evaluate(policy, state).points()
        assert [(total, won) for total, _, won in ours] == [(total, won) for total, _, won in theirs]
        assert [chance for _, chance, _ in ours] == pytest.approx([chance for _, chance, _ in theirs], abs=1e-12)


@settings(max_examples=100)
@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3), LEVELS)
def test_figures_of_any_arrays(seed: int, states: int, horizon: int, lanes: int, level: float) -> None:
    """Figures of what the recursion gives from goals; here plans may stop before they have to."""
    arrays, rng = AnyArrays(seed, states, horizon, lanes), np.random.default_rng(seed)
    goal = rng.random((states, lanes)) < 0.4
    arrays.choices[:, goal] = 255
    figures = np.full((5, states, lanes), np.nan)
    evaluation_kernels.summarise_lanes(arrays.named, goal, arrays.choices, 1 + 5 * horizon, level, EPSILON, figures)
    arrays.final[:, 0] = 1.0
    for lane in range(lanes):
        arrays.low, arrays.high = np.zeros(states, dtype=np.int64), goal[:, lane].astype(np.int64)
        for state in range(states):
            masses = arrays.follow(0, state, lane)
            assert figures[:, state, lane].tolist() == pytest.approx(plain_figures(masses, level), abs=1e-9)


def plain_figures(masses: dict[int, float], level: float) -> list[float]:
    """Total mass and, of what is scaled to 1, mean, variance, VaR and CVaR; 0 if there is none."""
    total = math.fsum(masses.values())
    if not total:
        return [0.0] * 5
    shares = [(x, mass / total) for x, mass in sorted(masses.items())]
    mean = math.fsum(x * share for x, share in shares)
    variance = math.fsum(share * (x - mean) ** 2 for x, share in shares)
    position = plain_quantile([share for _, share in shares], level)
    var = shares[position][0]
    excess = math.fsum(share * (x - var) for x, share in shares if x > var)
    return [total, mean, variance, var, var + (excess / (1 - level) if level < 1 else 0.0)]


def plain_quantile(masses: Sequence[float], level: float) -> int:
    """The first place with mass at which the level is reached; the last with mass at level 1; 0 without any."""
    total, cumulated = math.fsum(masses), 0.0
    places = [i for i, mass in enumerate(masses) if mass > 0]
    for place in places:
        cumulated += masses[place]
        if level < 1 and cumulated >= level * total - 1e-12:
            return place
    return places[-1] if places else 0


# ------------------------------------------------------------------------------------------------------- small formulas


masses_ = st.lists(st.sampled_from([0.0, 0.0, 0.125, 0.25, 0.5, 1.0, 3.0]), min_size=1, max_size=8)


@given(st.lists(masses_, min_size=1, max_size=4), st.sampled_from([0.0, 0.25, 0.5, 0.75, 0.95, 1.0]), st.integers(0, 8))
def test_quantiles_moments_and_squares(rows: list[list[float]], level: float, first: int) -> None:
    """In eighths everything is exact, so that a level that is just reached is reached."""
    width = max(map(len, rows))
    mass = np.array([[*row, *[0.0] * (width - len(row))] for row in rows])
    positions = evaluation_kernels.quantile_positions(mass, level, EPSILON)
    assert positions.tolist() == [plain_quantile(row, level) for row in mass.tolist()]
    firsts = np.full(len(rows), min(first, width))
    total, weighted = evaluation_kernels.moments_beyond(mass, firsts)
    assert total.tolist() == [sum(row[first:]) for row in mass.tolist()]
    assert weighted.tolist() == [sum(x * m for x, m in enumerate(row) if x >= first) for row in mass.tolist()]
    centre = np.arange(len(rows)) / 2
    assert evaluation_kernels.centred_squares(mass, centre).tolist() == pytest.approx(
        [sum(m * (x - c) ** 2 for x, m in enumerate(row)) for row, c in zip(mass.tolist(), centre, strict=True)]
    )


@pytest.mark.parametrize("tenths", [(1, 7, 2), (7, 1, 2), (1,) * 10, (3, 3, 3, 1), (2, 1, 4, 3)], ids=str)
def test_tenths_that_add_up_to_a_level_reach_it(tenths: tuple[int, ...]) -> None:
    """0.1 + 0.7 is less than 0.8 in floating point; it counts as equal."""
    mass = np.array([[part / 10 for part in tenths]])
    for place, sum_of_tenths in enumerate(itertools.accumulate(tenths)):
        assert evaluation_kernels.quantile_positions(mass, sum_of_tenths / 10, EPSILON).tolist() == [place]
    assert evaluation_kernels.quantile_positions(mass, 0.0, EPSILON).tolist() == [0]


def test_what_is_left_by_rounding_is_no_cost_that_can_happen() -> None:
    """As in `Costs`: at level 0 a mass below 1e-12 does not count, at level 1 any does."""
    mass = np.array([[0.0, 1e-15, 0.0, 1.0, 0.0, 1e-15, 0.0]])
    costs = Costs(np.array([1.0, 3.0, 5.0]), np.array([1e-15, 1.0, 1e-15]))
    for level, place in ((0.0, 3), (0.5, 3), (1.0, 5)):
        assert evaluation_kernels.quantile_positions(mass, level, EPSILON).tolist() == [place]
        assert costs.var(level) == place
