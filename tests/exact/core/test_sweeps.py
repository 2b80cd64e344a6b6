"""The sweep over many lanes against the formulas of `greedy`, written down as plain loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import safear as sa
from doors import Stepwise, find_worst_chances, sweep, sweep_lanes, sweep_success, sweeps
from lanes import scaled
from safear.mdp import check_mdp

Edge = tuple[float, int, int]  # chance, cost, next state
Row = list[Edge]
TIE = 1e-13

OBJECTIVES = st.one_of(
    st.just(sa.Mean()),
    st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0]).map(sa.MeanStd),
    st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0]).map(sa.MeanLowerStd),
)


# ----------------------------------------------------------------------------------------------- MDPs of rows and edges


def make_mdp(rows: Sequence[Sequence[Row]], *, horizon: int, failure_cost: int = 0) -> sa.MDP:
    """The arrays of what can be done in each state; nothing is a goal."""
    flat = [row for state in rows for row in state]
    edges = [edge for row in flat for edge in row]
    most = max((len(state) for state in rows), default=0)
    return sa.MDP(
        horizon=horizon,
        goal=np.zeros(len(rows), dtype=bool),
        row_start=np.cumsum([0, *(len(state) for state in rows)]),
        row_action=np.array([number for state in rows for number in range(len(state))], dtype=np.uint8),
        edge_start=np.cumsum([0, *(len(row) for row in flat)]),
        edge_next=np.array([edge[2] for edge in edges], dtype=np.int64),
        edge_chance=np.array([edge[0] for edge in edges], dtype=np.float64),
        edge_cost=np.array([edge[1] for edge in edges], dtype=np.int64),
        edge_outcome=np.array([number for row in flat for number in range(len(row))], dtype=np.uint8),
        depth=np.zeros(len(rows), dtype=np.int16),
        actions=tuple(f"action {number}" for number in range(most)),
        failure_cost=failure_cost,
        quantum=Fraction(1, 10),
    )


def edges_of(mdp: sa.MDP, row: int) -> Row:
    """(chance, cost, next state) of each outcome."""
    return [
        (float(mdp.edge_chance[edge]), int(mdp.edge_cost[edge]), int(mdp.edge_next[edge]))
        for edge in range(mdp.edge_start[row], mdp.edge_start[row + 1])
    ]


def draw_row(rng: np.random.Generator, states: int) -> Row:
    """One to four outcomes with any chances above 0 and costs that are often equal."""
    weights = rng.integers(1, 10, rng.integers(1, 5))
    parts = zip(weights / weights.sum(), rng.integers(0, 6, len(weights)), strict=True)
    return [(float(chance), int(cost), int(rng.integers(states))) for chance, cost in parts]


@st.composite
def mdps(draw: st.DrawFn, most_states: int = 6) -> sa.MDP:
    """Any rows and edges: dead ends, circles, several edges to one state, the same row twice in another order."""
    states, horizon = draw(st.integers(1, most_states)), draw(st.integers(1, 4))
    failure_cost, rng = draw(st.sampled_from([0, 1, 7, 100])), np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = []
    for _ in range(states):
        here = [draw_row(rng, states) for _ in range(rng.integers(0, 4))]
        if here and rng.random() < 0.5:
            here.insert(int(rng.integers(len(here) + 1)), list(reversed(here[0])))
        rows.append(here)
    mdp = make_mdp(rows, horizon=horizon, failure_cost=failure_cost)
    check_mdp(mdp)
    return mdp


@st.composite
def goals_of(draw: st.DrawFn, mdp: sa.MDP, most_lanes: int = 9) -> NDArray[np.bool_]:
    """Other goals in every lane, now and then none or all."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lanes = draw(st.integers(1, most_lanes))
    goal: NDArray[np.bool_] = rng.random((mdp.n_states, lanes)) < rng.choice([0.0, 0.2, 0.6, 1.0], lanes)
    return goal


# --------------------------------------------------------------------------------------------------------- the formulas


def score(edges: Row, later: Sequence[float], objective: Stepwise) -> float:
    """m + risk_aversion * d."""
    aversion = 0.0 if isinstance(objective, sa.Mean) else objective.risk_aversion
    points = [(chance, cost + later[target]) for chance, cost, target in edges]
    mean = math.fsum(chance * x for chance, x in points)
    counted = [(chance, x) for chance, x in points if x > mean or not isinstance(objective, sa.MeanLowerStd)]
    return mean + aversion * math.sqrt(math.fsum(chance * (x - mean) ** 2 for chance, x in counted))


def steps_plainly(mdp: sa.MDP, goal: Sequence[bool]) -> list[int]:
    """How many steps each state is from a goal at least; one more than there are where no run reaches any."""
    needed, reached = [0 if is_goal else mdp.horizon + 1 for is_goal in goal], {s for s in range(len(goal)) if goal[s]}
    for steps in range(1, mdp.horizon + 1):
        ahead = set(reached)
        for state in set(range(mdp.n_states)) - reached:
            rows = range(mdp.row_start[state], mdp.row_start[state + 1])
            if any(target in reached for row in rows for _, _, target in edges_of(mdp, row)):
                needed[state] = steps
                ahead.add(state)
        reached = ahead
    return needed


def sweep_plainly(
    mdp: sa.MDP, objective: Stepwise, goal: Sequence[bool]
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """One lane: choices [step, state], 255 for none, and values at step 0."""
    choices = np.full((mdp.horizon, mdp.n_states), 255, dtype=np.uint8)
    values = [0.0 if goal[state] else float(mdp.failure_cost) for state in range(mdp.n_states)]
    needed = steps_plainly(mdp, goal)
    for step in reversed(range(mdp.horizon)):
        later, values = values, list(values)
        for state in range(mdp.n_states):
            rows = range(mdp.row_start[state], mdp.row_start[state + 1])
            if goal[state] or not rows or (mdp.stops and needed[state] > mdp.horizon - step):
                continue
            scores = [score(edges_of(mdp, row), later, objective) for row in rows]
            values[state] = min(scores)
            choices[step, state] = next(i for i, found in enumerate(scores) if found <= min(scores) * (1 + TIE))
    return choices, np.array(values)


def assert_as_plain(mdp: sa.MDP, objective: Stepwise, goal: NDArray[np.bool_]) -> None:
    choices, values = sweep_lanes(mdp, objective, goal)
    assert choices.shape == (mdp.horizon, *goal.shape)
    assert values.shape == goal.shape
    for lane in range(goal.shape[1]):
        expected_choices, expected = sweep_plainly(mdp, objective, goal[:, lane].tolist())
        assert np.array_equal(choices[:, :, lane], expected_choices), lane
        assert np.allclose(values[:, lane], expected, rtol=1e-12, atol=1e-12), lane


# ----------------------------------------------------------------------------------------------------------- properties


@settings(max_examples=scaled(200))
@given(mdps(), OBJECTIVES, st.data())
def test_every_lane_is_the_formula(mdp: sa.MDP, objective: Stepwise, data: st.DataObject) -> None:
    assert_as_plain(mdp, objective, data.draw(goals_of(mdp)))


@settings(max_examples=scaled(60))
@given(mdps(), OBJECTIVES, st.data())
def test_whoever_cannot_arrive_in_time_stops(mdp: sa.MDP, objective: Stepwise, data: st.DataObject) -> None:
    """In many lanes and in one: nothing is done where more steps are needed than are left."""
    mdp, goal = replace(mdp, stops=True), data.draw(goals_of(mdp, most_lanes=4))
    assert_as_plain(mdp, objective, goal)
    assert_as_plain(mdp, objective, goal[:, :1])
    expected = [steps_plainly(mdp, lane.tolist()) for lane in goal.T]
    assert sweeps.count_steps(mdp.arrays, goal.view(np.uint8), mdp.horizon).T.tolist() == expected


def test_the_last_moment_to_act() -> None:
    """From 0 to 1 to 2, the goal of the first lane: with two steps left 0 still acts, with one only 1 does."""
    mdp = make_mdp([[[(1.0, 2, 1)]], [[(0.5, 3, 2), (0.5, 3, 1)]], []], horizon=3, failure_cost=50)
    goal = np.array([[False, False], [False, False], [True, False]])
    choices, values = sweep_lanes(replace(mdp, stops=True), sa.Mean(), goal)
    assert choices[:, :, 0].tolist() == [[0, 0, 255], [0, 0, 255], [255, 0, 255]]
    assert (choices[:, :, 1] == 255).all()
    assert values[:, 1].tolist() == [50, 50, 50]
    alone, alone_values = sweep_lanes(replace(mdp, stops=True), sa.Mean(), goal[:, :1])
    assert np.array_equal(alone[:, :, 0], choices[:, :, 0])
    assert np.array_equal(alone_values[:, 0], values[:, 0])


@pytest.mark.parametrize("lanes", [1, 2, 65])
@pytest.mark.parametrize("outcomes", [1, 2, 3, 4])
def test_ties_at_nothing_go_to_the_first(outcomes: int, lanes: int) -> None:
    free: Row = [(1 / outcomes, 0, 1)] * outcomes
    mdp = make_mdp([[free, free, free], []], horizon=2, failure_cost=9)
    choices, values = sweep_lanes(mdp, sa.MeanStd(1.0), np.array([[False] * lanes, [True] * lanes]))
    assert (choices[:, 0] == 0).all()
    assert not values.any()


@settings(max_examples=scaled(60))
@given(mdps(), OBJECTIVES, st.data())
def test_lanes_do_not_meet(mdp: sa.MDP, objective: Stepwise, data: st.DataObject) -> None:
    """Each as if alone, to the last digit, whatever stands beside it and however the array lies in memory."""
    goal = data.draw(goals_of(mdp, most_lanes=70))
    choices, values = sweep_lanes(mdp, objective, goal)
    turned_choices, turned = sweep_lanes(mdp, objective, np.asfortranarray(goal)[:, ::-1])
    assert np.array_equal(turned_choices[:, :, ::-1], choices)
    assert np.array_equal(turned[:, ::-1], values)
    for lane in range(goal.shape[1]):
        alone_choices, alone = sweep_lanes(mdp, objective, goal[:, [lane]])
        assert np.array_equal(alone_choices[:, :, 0], choices[:, :, lane])
        assert np.array_equal(alone[:, 0], values[:, lane])


@settings(max_examples=scaled(100))
@given(mdps(), OBJECTIVES, st.data())
def test_an_outcome_in_halves_is_the_same(mdp: sa.MDP, objective: Stepwise, data: st.DataObject) -> None:
    """Rows of one, two, three and four outcomes become rows of one more: all are the same formula."""
    goal = data.draw(goals_of(mdp))
    split = []
    for state in range(mdp.n_states):
        rows = [edges_of(mdp, row) for row in range(mdp.row_start[state], mdp.row_start[state + 1])]
        split.append([[(c / 2, x, s) for c, x, s in row[:1]] * 2 + row[1:] for row in rows])
    halved = make_mdp(split, horizon=mdp.horizon, failure_cost=mdp.failure_cost)
    choices, values = sweep_lanes(mdp, objective, goal)
    halved_choices, halved_values = sweep_lanes(halved, objective, goal)
    assert np.array_equal(halved_choices, choices)
    assert np.allclose(halved_values, values, rtol=1e-12, atol=1e-12)


@settings(max_examples=scaled(60))
@given(mdps(), OBJECTIVES, st.data())
def test_goals_of_the_mdp_are_not_looked_at(mdp: sa.MDP, objective: Stepwise, data: st.DataObject) -> None:
    goal = data.draw(goals_of(mdp))
    choices, values = sweep_lanes(mdp, objective, goal)
    mdp.goal[:] = ~mdp.goal
    again_choices, again = sweep_lanes(mdp, objective, goal)
    assert np.array_equal(again_choices, choices)
    assert np.array_equal(again, values)


@settings(max_examples=scaled(60))
@given(mdps(), OBJECTIVES, st.data())
def test_the_sweep_over_one_mdp_is_the_formula(mdp: sa.MDP, objective: Stepwise, data: st.DataObject) -> None:
    """In the sweep over lanes and, where it is said what is allowed, in the sweep back. Goals have no rows."""
    mdp = replace(mdp, goal=mdp.dead_end & data.draw(goals_of(mdp, most_lanes=1))[:, 0])
    check_mdp(mdp)
    expected_choices, expected = sweep_plainly(mdp, objective, mdp.goal.tolist())
    every = [np.ones((mdp.horizon, mdp.n_rows), dtype=bool)] if isinstance(objective, sa.Mean) else []
    for allowed in (None, *every):
        told: list[tuple[int, int]] = []

        def tell(done: int, total: int, told: list[tuple[int, int]] = told) -> None:
            told.append((done, total))

        policy, values = sweep(mdp, objective, allowed=allowed, progress=tell)
        assert np.array_equal(policy.choices, expected_choices)
        assert np.allclose(values, expected, rtol=1e-12, atol=1e-12)
        assert told[-1:] == ([(mdp.horizon, mdp.horizon)] if mdp.n_rows or allowed is None else [])


def fill(low: Sequence[float], high: Sequence[float], order: Sequence[int]) -> list[float]:
    """Every outcome has its least chance; what that leaves goes to them in this order."""
    chances, left = list(low), 1 - math.fsum(low)
    for i in order:
        more = min(high[i] - low[i], left)
        chances[i], left = chances[i] + more, left - more
    return chances


def sweep_worst_plainly(mdp: sa.MDP, ends: Sequence[float], aversion: float, *, paid: bool = True) -> list[float]:
    """Values at step 0; of each row the worst of all orders in which its chances are filled."""
    values = list(ends)
    for _ in range(mdp.horizon):
        later, values = values, list(values)
        for state in range(mdp.n_states):
            scores = []
            for row in range(mdp.row_start[state], mdp.row_start[state + 1]):
                edges = slice(mdp.edge_start[row], mdp.edge_start[row + 1])
                low, high = mdp.edge_low[edges].tolist(), mdp.edge_high[edges].tolist()
                ahead = [paid * cost + later[after] for _, cost, after in edges_of(mdp, row)]
                weights = [math.exp(aversion * x) if aversion else x for x in ahead]
                every = (fill(low, high, order) for order in permutations(range(len(low))))
                most = max(math.fsum(p * x for p, x in zip(chances, weights, strict=True)) for chances in every)
                scores.append(math.log(most) / aversion if aversion else most)
            values[state] = min(scores, default=values[state])
    return values


@settings(max_examples=scaled(60))
@given(mdps(), st.sampled_from([0.0, 0.1, 0.4]), st.integers(0, 2**32))
def test_the_sweep_back_at_the_worst_chances_is_the_formula(mdp: sa.MDP, aversion: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    low, high = mdp.edge_chance * rng.random(mdp.n_edges), mdp.edge_chance * (1 + rng.random(mdp.n_edges))
    ends = mdp.dead_end & (rng.random(mdp.n_states) < 0.6)
    mdp = replace(mdp, goal=ends, edge_low=low, edge_high=np.minimum(high, 1.0))
    per_quantum = aversion * float(mdp.quantum)
    expected = sweep_worst_plainly(mdp, np.where(ends, 0.0, mdp.failure_cost).tolist(), per_quantum)
    objective = sa.Entropic(aversion) if aversion else sa.Mean()
    assert sweep(mdp, objective, robust=True)[1].tolist() == pytest.approx(expected, rel=1e-12, abs=1e-9)
    failing = sweep_worst_plainly(mdp, np.where(ends, -1.0, 0.0).tolist(), 0.0, paid=False)
    assert sweep_success(mdp, robust=True)[0].tolist() == pytest.approx([-value for value in failing], abs=1e-12)
    if not aversion and mdp.n_rows:
        chances = find_worst_chances(mdp, None)
        assert np.allclose(np.add.reduceat(chances, mdp.edge_start[:-1], axis=1), 1.0)
        assert ((low - 1e-12 <= chances) & (chances <= mdp.edge_high + 1e-12)).all()
        active, values = np.flatnonzero(np.diff(mdp.row_start)), np.where(ends, 0.0, mdp.failure_cost)
        for chance in chances[::-1]:  # at these chances, the least mean is the worst
            scores = np.add.reduceat(chance * (mdp.edge_cost + values[mdp.edge_next]), mdp.edge_start[:-1])
            values[active] = np.minimum.reduceat(scores, mdp.row_start[active])
        assert values.tolist() == pytest.approx(expected, rel=1e-12, abs=1e-9)


@settings(max_examples=scaled(100))
@given(mdps(), st.booleans(), st.booleans(), st.booleans(), st.integers(0, 2**32))
def test_totals_are_bounded_as_by_plain_recursion(
    mdp: sa.MDP, is_most: bool, is_limited: bool, is_chosen: bool, seed: int
) -> None:
    """Over all rows or those of a plan, all edges or those that are possible, within the steps at which states act."""
    rng, never = np.random.default_rng(seed), 2**63 - 1
    counts = np.diff(mdp.row_start)
    depth, late = rng.integers(0, 2, mdp.n_states), rng.integers(0, mdp.horizon + 1, mdp.n_states)
    possible = rng.choice([0.0, 0.5], mdp.n_edges) if is_limited else np.empty(0)
    choices = np.array([[rng.integers(count + 1) for count in counts] for _ in range(mdp.horizon)], dtype=np.uint8)
    choices = np.where(choices == counts, 255, choices).astype(np.uint8)
    ends = np.where(rng.random(mdp.n_states) < 0.5, 0, never)

    def bound(step: int, state: int) -> int:
        rows = list(range(mdp.row_start[state], mdp.row_start[state + 1]))
        if is_chosen and step < mdp.horizon:
            rows = rows[choices[step, state] :][:1]
        if step == mdp.horizon or not rows or not depth[state] <= step < late[state]:
            return int(ends[state])
        edges = range(mdp.edge_start[rows[0]], mdp.edge_start[rows[-1] + 1])
        ahead = ((edge, bound(step + 1, int(mdp.edge_next[edge]))) for edge in edges)
        totals = [
            int(mdp.edge_cost[edge]) + total
            for edge, total in ahead
            if total != never and not (is_limited and possible[edge] == 0)
        ]
        return max(totals, default=0) if is_most else min(totals, default=never)

    totals = np.repeat(ends[None], mdp.horizon + 1, axis=0)
    given = choices if is_chosen else np.empty((0, 0), dtype=np.uint8)
    sweeps.bound_totals(mdp.arrays, possible, depth, late, given, is_most, totals, mdp.horizon)
    assert totals[0].tolist() == [bound(0, state) for state in range(mdp.n_states)]


# -------------------------------------------------------------------------------------------------------------- by hand


def test_the_scores_of_two_outcomes_in_closed_form() -> None:
    """x is 10 with chance 0.36 and 0 with 0.64: mean 3.6, deviation 4.8, that of the upper half alone 0.6 * 6.4."""
    for row in ([(0.36, 10, 1), (0.64, 0, 1)], [(0.64, 0, 1), (0.36, 10, 1)]):
        mdp = make_mdp([[row], []], horizon=1, failure_cost=100)
        goal = np.array([[False], [True]])
        for objective, expected in (
            (sa.Mean(), 3.6),
            (sa.MeanStd(0.5), 3.6 + 0.5 * 4.8),
            (sa.MeanLowerStd(0.5), 3.6 + 0.5 * 3.84),
        ):
            choices, values = sweep_lanes(mdp, objective, goal)
            assert values[:, 0].tolist() == pytest.approx([expected, 0.0], abs=1e-12)
            assert choices[0, :, 0].tolist() == [0, 255]


@pytest.mark.parametrize("upper_only", [False, True])
def test_how_two_outcomes_count_to_the_bit(upper_only: bool) -> None:
    """For one person and for many, who have this from one loop."""
    chances = [(number / 100, 1 - number / 100) for number in range(1, 100)]
    mdp = make_mdp([[[(p, 1, 0), (q, 2, 0)] for p, q in chances]], horizon=1)
    rise, fall = np.empty((2, len(chances)))
    sweeps.weigh_two_outcomes(mdp.arrays, len(chances), 0.3, upper_only, rise, fall)
    both = [0.3 * math.sqrt(p * q) for p, q in chances]
    assert rise.tolist() == ([0.3 * math.sqrt(p) * q for p, q in chances] if upper_only else both)
    assert fall.tolist() == ([-0.3 * math.sqrt(q) * p for p, q in chances] if upper_only else [-one for one in both])


def test_goals_dead_ends_and_the_end_of_time() -> None:
    """Four states in three lanes: one step, sure, from 0 to 1 to 2; 3 has nothing to do. Failing costs 50."""
    mdp = make_mdp([[[(1.0, 2, 1)]], [[(1.0, 3, 2)]], [[(1.0, 1, 0)]], []], horizon=2, failure_cost=50)
    goal = np.array([[0, 0, 1], [0, 0, 1], [1, 0, 1], [0, 0, 1]], dtype=bool)
    choices, values = sweep_lanes(mdp, sa.MeanStd(1.0), goal)
    assert values[:, 0].tolist() == [5.0, 3.0, 0.0, 50.0]
    assert values[:, 1].tolist() == [55.0, 54.0, 53.0, 50.0]
    assert values[:, 2].tolist() == [0.0, 0.0, 0.0, 0.0]
    assert choices[:, :, 0].tolist() == [[0, 0, 255, 255]] * 2
    assert choices[:, :, 1].tolist() == [[0, 0, 0, 255]] * 2
    assert choices[:, :, 2].tolist() == [[255] * 4] * 2


SURE: Row = [(1.0, 3, 1)]
TWO: Row = [(0.3, 3, 1), (0.7, 3, 1)]
THREE: Row = [(0.1, 3, 1), (0.2, 3, 1), (0.7, 3, 1)]
FOUR: Row = [(0.4, 3, 1), (0.3, 3, 1), (0.2, 3, 1), (0.1, 3, 1)]


@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("objective", [sa.Mean(), sa.MeanStd(2.0), sa.MeanLowerStd(2.0)], ids=str)
def test_ties_go_to_the_first_whatever_the_number_of_outcomes(turn: int, objective: Stepwise) -> None:
    """All four cost exactly 3, but for what is lost in rounding; a worse one before them does not count."""
    rows = [SURE, TWO, THREE, FOUR]
    rows = rows[turn:] + rows[:turn]
    mdp = make_mdp([[[(1.0, 4, 1)], *rows], []], horizon=3, failure_cost=9)
    goal = np.array([[False] * 5, [True] * 5])
    choices, values = sweep_lanes(mdp, objective, goal)
    assert (choices[:, 0] == 1).all()
    assert values[0].tolist() == pytest.approx([3.0] * 5, abs=1e-12)


@pytest.mark.parametrize(("cost", "choice"), [(10**12, 0), (10**12 - 1, 1), (10**12 + 1, 0)])
def test_one_quantum_is_no_tie(cost: int, choice: int) -> None:
    """Costs are whole numbers: even a trillion of them and one fewer are told apart."""
    mdp = make_mdp([[[(1.0, 10**12, 1)], [(1.0, cost, 1)]], []], horizon=1)
    choices, values = sweep_lanes(mdp, sa.Mean(), np.array([[False], [True]]))
    assert choices[0, 0, 0] == choice
    assert values[0, 0] == min(cost, 10**12)


@pytest.mark.parametrize("best", [0, 1, 127, 128, 252, 253])
def test_as_many_actions_as_there_may_be(best: int) -> None:
    """254 of them: 255 stands for none."""
    rows: list[Row] = [[(1.0, 5, 1)] if number != best else [(0.5, 5, 1), (0.5, 4, 1)] for number in range(254)]
    mdp = make_mdp([rows, []], horizon=2, failure_cost=9)
    goal = np.array([[False, True, False], [True, True, False]])
    choices, values = sweep_lanes(mdp, sa.Mean(), goal)
    assert choices[:, 0, 0].tolist() == [best, best]
    assert choices[:, 0, 1].tolist() == [255, 255]
    assert choices[:, 0, 2].tolist() == [best, best]
    assert values[0].tolist() == [4.5, 0.0, 4.5 + 9]


@pytest.mark.parametrize("states", [0, 1, 3])
def test_nothing_to_do_anywhere(states: int) -> None:
    mdp = make_mdp([[]] * states, horizon=2, failure_cost=4)
    goal = np.zeros((states, 2), dtype=bool)
    goal[:1, 1] = True
    choices, values = sweep_lanes(mdp, sa.MeanStd(1.0), goal)
    assert (choices == 255).all()
    assert choices.shape == (2, states, 2)
    assert np.array_equal(values, np.where(goal, 0.0, 4.0))
