"""The loops of the evaluation against plain transcriptions of their formulas."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import safear as sa
from doors import EPSILON, Arrays, PolicyArrays, figures, find_choice
from lanes import scaled
from safear.evaluation import StatePolicy, evaluate_states
from safear.mdp import check_mdp
from safear.risk import Costs


class Pieces(NamedTuple):
    """What a policy does by account (see `PolicyArrays`)."""

    piece_start: NDArray[np.int64]
    first: NDArray[np.int64]
    choice: NDArray[np.uint8]


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
        found = np.asarray(figures.carry_back(self.named, self.choices, lane, later, now, low, high))
        return found, low, high


@settings(max_examples=scaled(200))
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
        figures.clear_outside(found, low, high)
        for state in range(states):
            inside = np.arange(low[state], high[state])
            assert np.isfinite(found[state]).all()
            assert not np.delete(found[state], inside).any()


@settings(max_examples=scaled(100))
@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 4))
def test_plans_of_any_kind_are_followed(seed: int, states: int, horizon: int) -> None:
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
    together = evaluate_states(policy)
    for state in range(states):
        ours, theirs = together.distribution(state).points(), sa.evaluate(policy, state).points()
        assert [(total, won) for total, _, won in ours] == [(total, won) for total, _, won in theirs]
        assert [chance for _, chance, _ in ours] == pytest.approx([chance for _, chance, _ in theirs], abs=1e-12)


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
    positions = figures.quantile_positions(mass, level, EPSILON)
    assert positions.tolist() == [plain_quantile(row, level) for row in mass.tolist()]
    firsts, values = np.full(len(rows), min(first, width)), np.arange(width) ** 2
    total, weighted = figures.moments_beyond(values, mass, firsts)
    assert total.tolist() == [sum(row[first:]) for row in mass.tolist()]
    assert weighted.tolist() == [sum(x**2 * m for x, m in enumerate(row) if x >= first) for row in mass.tolist()]
    centre = np.arange(len(rows)) / 2
    assert figures.centred_squares(values, mass, centre).tolist() == pytest.approx(
        [sum(m * (x**2 - c) ** 2 for x, m in enumerate(row)) for row, c in zip(mass.tolist(), centre, strict=True)]
    )


@pytest.mark.parametrize("tenths", [(1, 7, 2), (7, 1, 2), (1,) * 10, (3, 3, 3, 1), (2, 1, 4, 3)], ids=str)
def test_tenths_that_add_up_to_a_level_reach_it(tenths: tuple[int, ...]) -> None:
    """0.1 + 0.7 is less than 0.8 in floating point; it counts as equal."""
    mass = np.array([[part / 10 for part in tenths]])
    for place, sum_of_tenths in enumerate(itertools.accumulate(tenths)):
        assert figures.quantile_positions(mass, sum_of_tenths / 10, EPSILON).tolist() == [place]
    assert figures.quantile_positions(mass, 0.0, EPSILON).tolist() == [0]


def test_what_is_left_by_rounding_is_no_cost_that_can_happen() -> None:
    """As in `Costs`: at level 0 a mass below 1e-12 does not count, at level 1 any does."""
    mass = np.array([[0.0, 1e-15, 0.0, 1.0, 0.0, 1e-15, 0.0]])
    costs = Costs(np.array([1.0, 3.0, 5.0]), np.array([1e-15, 1.0, 1e-15]))
    for level, place in ((0.0, 3), (0.5, 3), (1.0, 5)):
        assert figures.quantile_positions(mass, level, EPSILON).tolist() == [place]
        assert costs.var(level) == place


def test_a_table_that_grew_is_left_as_it_was_found() -> None:
    """Who is followed next finds equal pairs in the same table; what the last one left there would be theirs too."""
    states, horizon = 2, 40
    chances, costs = np.array([0.5, 0.5, 0.3, 0.7]), np.array([1, 100, 10_000, 7])
    arrays = Arrays(np.array([0, 1, 2]), NONE, np.array([0, 2, 4]), np.array([0, 1, 1, 0]), chances, costs, NONE)
    policy = PolicyArrays(np.zeros((horizon, states), dtype=np.uint8), NOWHERE, NOWHERE, NONE)
    goal, table = np.zeros(states, dtype=np.uint8), np.full(256, -1, dtype=np.int32)
    room = figures.Room()
    count = figures.follow(arrays, goal, horizon, policy, 0, 0, table, 0, 10**6, room)
    ends, total, mass = (np.asarray(each)[:count] for each in (room.end_state, room.end_spent, room.end_mass))
    assert len(total) > len(table)  # so it had to grow
    assert len(set(zip(ends.tolist(), total.tolist(), strict=True))) == len(total)
    assert mass.sum() == pytest.approx(1)
    assert (table == -1).all()


NONE, NOWHERE = np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.int64)


def add_fours(terms: list[float]) -> float:
    """Every fourth term to the same sum; then these, and what is left over."""
    sums, whole = [0.0] * 4, len(terms) // 4 * 4
    for place, term in enumerate(terms[:whole]):
        sums[place % 4] += term
    total = (sums[0] + sums[2]) + (sums[1] + sums[3])
    for term in terms[whole:]:
        total += term
    return total


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 8, 11, 64, 203])
def test_sums_have_one_order_to_the_last_bit(count: int) -> None:
    """Whatever the processor is and whatever else is compiled with them."""
    rng = np.random.default_rng(count)
    values, mass, centre = np.sort(rng.integers(0, 99, count)), rng.random((1, count)) / 3, rng.random(1) * 50
    (squares,) = figures.centred_squares(values, mass, centre)
    pairs = list(zip(values.tolist(), mass[0].tolist(), strict=True))
    assert squares == add_fours([one * (value - float(centre[0])) ** 2 for value, one in pairs])
    for first in {0, min(count, 2), count}:
        (total,), (weighted,) = figures.moments_beyond(values, mass, np.array([first]))
        assert total == add_fours([one for _, one in pairs[first:]])
        assert weighted == add_fours([value * one for value, one in pairs[first:]])


# ------------------------------------------------------------------------------------------ figures of one distribution


def plain_figures(pairs: list[tuple[int, float]], level: float) -> list[float]:
    """Total, mean, variance, VaR, CVaR (the least over w of w + E[(x - w)+] / (1 - a)) and tail mean."""
    total = sum(mass for _, mass in pairs)
    happens = sorted({value for value, mass in pairs if mass > 0})
    mean = sum(value * mass for value, mass in pairs) / total
    variance = sum(value**2 * mass for value, mass in pairs) / total - mean**2
    reached = [x for x in happens if sum(mass for value, mass in pairs if value <= x) >= level * total]
    at_risk = reached[0] if level < 1 else happens[-1]

    def weighed(target: int) -> float:
        return target + sum(max(value - target, 0) * mass for value, mass in pairs) / total / (1 - level)

    tail = min(weighed(target) for target in happens) if level < 1 else happens[-1]
    beyond = [(value, mass) for value, mass in pairs if value > at_risk and mass > 0]
    weight = sum(mass for _, mass in beyond)
    tail_mean = sum(value * mass for value, mass in beyond) / weight if beyond else math.nan
    return [total, mean, variance, at_risk, tail, tail_mean]


pairs_ = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0.0, 0.125, 0.25, 0.5, 3.0])), min_size=1, max_size=8)


@given(pairs_, st.sampled_from([0.0, 0.25, 0.5, 0.75, 0.875, 1.0]))
@example([(1, 0.5), (2, 0.25), (2, 0.125), (4, 0.125)], 0.75)
@example([(0, 0.25), (1, 0.25), (3, 0.25), (5, 0.25)], 0.25)
@example([(0, 3.0), (4, 0.0), (5, 3.0)], 0.875)
@example([(0, 0.125), (1, 0.125), (2, 0.25), (2, 0.5)], 0.5)
@example([(1, 0.5), (3, 0.5), (4, 0.0)], 1.0)
def test_figures_by_their_definitions(pairs: list[tuple[int, float]], level: float) -> None:
    """Also where a value stands twice, and where some have no mass."""
    values, mass = (np.array(column) for column in zip(*sorted(pairs), strict=True))
    found = figures.describe(values, mass, level, EPSILON)
    if mass.any():
        assert found == pytest.approx(plain_figures(pairs, level), rel=1e-9, abs=1e-12, nan_ok=True)
    else:
        assert found == pytest.approx([0.0] + [math.nan] * 5, nan_ok=True)


# ---------------------------------------------------------------------------------------------------------- one start


@given(st.lists(st.integers(-5, 5), max_size=6, unique=True), st.integers(0, 2), st.integers(-7, 7))
@example([-3, 0, 2, 4], 1, 2)
@example([-3, 0, 2, 4], 0, -4)
def test_the_piece_of_an_account(firsts: list[int], others: int, account: int) -> None:
    """The last that begins at or below the account; below all of them the first; 255 where there is none."""
    pieces = sorted(firsts)
    starts = np.array([0, others, others + len(pieces)])
    first = np.array([*range(others), *pieces], dtype=np.int64)
    choices = np.arange(100, 100 + len(first)).astype(np.uint8)
    policy = PolicyArrays(np.zeros((0, 0), dtype=np.uint8), starts, first, choices)
    begun = [place for place, begin in enumerate(pieces) if begin <= account]
    expected = 255 if not pieces else 100 + others + max(begun, default=0)
    assert find_choice(policy, 1, account) == expected


def follow_plainly(
    arrays: AnyArrays, goal: NDArray[np.bool_], plan: Pieces, start: int, opening: int
) -> tuple[dict[tuple[int, int], float], int]:
    """How probable each state and total is in the end, and how many of them there are at a time at most."""
    horizon, now, ended, most = len(arrays.choices), {(start, 0): 1.0}, dict[tuple[int, int], float](), 1
    for step in range(horizon + 1):
        later: dict[tuple[int, int], float] = {}
        for (state, spent), mass in now.items():
            place = step * len(goal) + state
            pieces = [] if step == horizon else list(range(plan.piece_start[place], plan.piece_start[place + 1]))
            if goal[state] or not pieces:
                ended[state, spent] = ended.get((state, spent), 0.0) + mass
                continue
            begun = [piece for piece in pieces if plan.first[piece] <= opening - spent]
            row = arrays.row_start[state] + plan.choice[max(begun, default=pieces[0])]
            for edge in range(arrays.edge_start[row], arrays.edge_start[row + 1]):
                if arrays.edge_chance[edge] > 0:
                    pair = int(arrays.edge_next[edge]), spent + int(arrays.edge_cost[edge])
                    later[pair] = later.get(pair, 0.0) + mass * float(arrays.edge_chance[edge])
        now, most = later, max(most, len(later))
    return ended, most


@pytest.mark.parametrize("seed", range(12))
def test_runs_are_followed_as_with_dictionaries(seed: int) -> None:
    """By place and by hash, in a table that must grow, with plans that look at what was spent."""
    states, horizon = 6, 6
    arrays, rng = AnyArrays(seed, states, horizon, 1), np.random.default_rng(seed)
    arrays.edge_cost = rng.integers(0, 40, len(arrays.edge_cost))
    if len(arrays.edge_chance) > 1:
        arrays.edge_chance[rng.integers(len(arrays.edge_chance))] = 0.0
    counts = np.tile(np.diff(arrays.row_start), horizon)
    n_pieces = rng.integers(1, 4, horizon * states) * (counts > 0)
    firsts = [sorted(rng.choice(90, size, replace=False) - 60) for size in n_pieces]
    choices = [rng.integers(0, count, size) for count, size in zip(counts, n_pieces, strict=True)]
    plan = Pieces(
        np.cumsum([0, *n_pieces]),
        np.concatenate([*firsts, []]).astype(np.int64),
        np.concatenate([*choices, []]).astype(np.uint8),
    )
    policy = PolicyArrays(np.zeros((0, 0), dtype=np.uint8), *plan)
    goal = rng.random(states) < 0.2
    goal[0] = False
    expected, most = follow_plainly(arrays, goal, plan, 0, 20)
    width = 40 * horizon + 1
    for table, wide in ((np.full(4, -1, np.int32), 0), (np.full(states * width, -1, np.int32), width)):
        room, where = figures.Room(), (arrays.named, goal.view(np.uint8), horizon, policy, 0, 20, table, wide)
        count, found = figures.follow(*where, most, room), dict[tuple[int, int], float]()
        assert (table == -1).all()
        for end in range(count):
            pair = room.end_state[end], room.end_spent[end]
            found[pair] = found.get(pair, 0.0) + room.end_mass[end]
        assert found == pytest.approx(expected, rel=1e-12)
        if most > 1:
            assert figures.follow(*where, most - 1, room) == 0
    levels, opening = rng.random((states, 2)), np.full(states, 20)
    succeeded, failed, final = np.zeros((states, width)), np.zeros((states, width)), np.zeros((states, 2))
    start, goals = np.array([0]), goal.view(np.uint8)
    figures.follow_all(arrays.named, goals, horizon, policy, start, opening, levels, succeeded, failed, final)
    for reached, masses in ((True, succeeded), (False, failed)):
        of_it = dict.fromkeys(np.flatnonzero(masses[0]).tolist(), 0.0)
        for (end, total), chance in expected.items():
            if goal[end] == reached:
                of_it[total] = of_it.get(total, 0.0) + chance
        assert {total: masses[0, total] for total in of_it} == pytest.approx(of_it, rel=1e-12)
    assert final[0] == pytest.approx(
        sum((chance * levels[end] for (end, _), chance in expected.items() if goal[end]), np.zeros(2))
    )
    assert not succeeded[1:].any()
    assert not failed[1:].any()
