"""All states at once against one state at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from doors import Method, restrict_to
from lanes import scaled
from safear.errors import MDPError, ObjectiveError, PersonError, TooLargeError
from safear.evaluation import SpentPolicy, StatePolicy, evaluate_states, run_exactly
from safear.mdp import check_mdp, compile_blocks
from safear.risk import Objective
from strategies import problems

PLANS: list[tuple[Objective, Method]] = [
    (sa.MeanStd(0.5), "greedy"),
    (sa.MeanStd(0.5), "optimal"),
    (sa.CVaR(0.9), "optimal"),
    (sa.Budget(3), "optimal"),
]


@given(
    problems(),
    st.sampled_from([0.0, 0.5, 0.8, 0.95, 1.0]),
    st.sampled_from(PLANS),
    st.sampled_from([None, None, 30, 10**6]),
)
def test_every_state_as_if_alone(
    document: dict[str, Any], level: float, plan: tuple[Objective, Method], failure_cost: int | None
) -> None:
    """A failure cost of 10^6 takes no more room than one of 30."""
    if failure_cost is not None:
        document = {**document, "goal": {**document["goal"], "failure_cost": failure_cost}}
    problem = sa.parse_problem(document)
    for mdp in compile_blocks(problem):
        solution = sa.solve(mdp, plan[0], method=plan[1])
        together = evaluate_states(solution)
        for state in range(mdp.n_states):
            alone = run_exactly(solution, state)
            cost = alone.distribution
            ours, theirs = together.distribution(state).points(), cost.points()
            assert [(total, success) for total, _, success in ours] == [
                (total, success) for total, _, success in theirs
            ]
            assert [point[1] for point in ours] == pytest.approx([point[1] for point in theirs], abs=1e-12)
            assert together.success[state] == pytest.approx(cost.success, abs=1e-12)
            pairs: list[tuple[Any, float | None]] = [
                (together.mean, cost.mean),
                (together.variance, cost.variance),
                (together.var(level), cost.var(level)),
                (together.cvar(level), cost.cvar(level)),
                (together.tail_mean(level), cost.tail_mean(level)),
                (together.std, cost.std),
                (together.all_runs.mean, cost.all_runs.mean),
                (together.all_runs.variance, cost.all_runs.variance),
                (together.all_runs.var(level), cost.all_runs.var(level)),
                (together.all_runs.cvar(level), cost.all_runs.cvar(level)),
                (together.all_runs.tail_mean(level), cost.all_runs.tail_mean(level)),
                (together.sparsity, alone.sparsity),
                (together.proximity, alone.proximity),
            ]
            for figures, figure in pairs:
                assert np.isfinite(figures.data).all()
                if figure is None:
                    assert np.ma.getmaskarray(figures)[state]
                else:
                    assert figures[state] == pytest.approx(figure, rel=1e-9, abs=1e-9)


@settings(max_examples=scaled(40))
@given(problems(), st.sampled_from(PLANS), st.integers(0, 99))
def test_some_states_as_if_all(document: dict[str, Any], plan: tuple[Objective, Method], seed: int) -> None:
    """The others have no figures, and no warning is given about them."""
    whole = sa.compile_mdp(sa.parse_problem(document))
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, whole.n_states, size=4)
    part = restrict_to(whole, starts)
    places = np.searchsorted(part.states, starts)
    solution = sa.solve(part.mdp, plan[0], method=plan[1])
    some, others = evaluate_states(solution, starts=places), np.delete(np.arange(part.mdp.n_states), places)
    for place in places.tolist():
        alone = run_exactly(solution, place)
        ours, theirs = (np.array(cost.points()) for cost in (some.distribution(place), alone.distribution))
        assert ours == pytest.approx(theirs, rel=1e-12)
        for figures, figure in ((some.sparsity, alone.sparsity), (some.proximity, alone.proximity)):
            assert figures[place] is np.ma.masked if figure is None else figures[place] == pytest.approx(figure)
    assert not some.success[others].any()
    for figures in (some.mean, some.variance, some.cvar(0.9), some.all_runs.mean, some.sparsity):
        assert np.ma.getmaskarray(figures)[others].all()


def test_refused_for_an_mdp_of_one_person() -> None:
    problem = sa.load_example("loan")
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    solution = sa.solve(mdp, sa.Mean())
    for starts in (None, np.flatnonzero(mdp.depth > 0)):
        with pytest.raises(ObjectiveError, match="compiled from one person"):
            evaluate_states(solution, starts=starts)
    found = evaluate_states(solution, starts=mdp.starts).success[mdp.start]
    assert found == pytest.approx(sa.evaluate(solution).success, rel=1e-12)


@pytest.mark.parametrize("objective", [sa.Mean(), sa.CVaR(0.5)])  # carried back, and followed from each state
def test_refused_from_states_that_are_not_there(objective: Objective) -> None:
    solution = sa.solve(TRIES, objective)
    for start in (-1, 2):
        with pytest.raises(PersonError, match=f"there is no state {start}; the MDP has 2"):
            evaluate_states(solution, starts=np.array([1, start]))
    assert evaluate_states(solution, starts=np.array([1])).success.tolist() == [0, 1]


def test_refused_when_it_does_not_fit() -> None:
    solution = sa.solve(sa.compile_mdp(sa.load_example("loan")), sa.Mean())
    with pytest.raises(TooLargeError, match="costs cannot be rounded so far, the least is 1: evaluate one person"):
        evaluate_states(solution, max_bytes=1000)


# State 0 is where one tries, 1 the goal. Row 0 costs 1 and succeeds by half, row 1 costs 10 and always succeeds.
TRIES = sa.MDP(
    horizon=2,
    goal=np.array([False, True]),
    row_start=np.array([0, 2, 2]),
    row_action=np.array([0, 1], dtype=np.uint8),
    edge_start=np.array([0, 2, 3]),
    edge_next=np.array([0, 1, 1]),
    edge_chance=np.array([0.5, 0.5, 1.0]),
    edge_cost=np.array([1, 1, 10]),
    edge_outcome=np.array([0, 1, 0], dtype=np.uint8),
    depth=np.zeros(2, dtype=np.int16),
    actions=("cheap", "dear"),
    failure_cost=30,
)


def test_a_plan_that_grows_dear_with_what_was_spent() -> None:
    """Cheap while nothing is spent, then dear: it spends 11, though from an open account no step costs more than 1."""
    pieces, none = np.array([0, 2, 2, 4, 4]), np.zeros(2, dtype=np.int64)
    plan = SpentPolicy(TRIES, none, pieces, np.array([-99, 0, -99, 0]), np.array([1, 0, 1, 0], dtype=np.uint8))
    assert evaluate_states(plan).distribution(0).points() == [(1, 0.5, True), (11, 0.5, True)]


def test_arrays_are_taken_from_wherever_they_are() -> None:
    """Columns of tables, in types of another machine, in lists: a plan that looks at what was spent costs the same."""
    table = np.array([[False, True], [True, True]])
    loose = replace(
        TRIES,
        goal=table[:, 0],
        row_start=TRIES.row_start.astype(np.int32),
        edge_next=[0, 1, 1],  # type: ignore[arg-type]
        edge_cost=np.array([1, 9, 1, 9, 10])[::2],
        edge_chance=np.array([0.5, 0, 0.5, 0, 1.0])[::2],
        edge_low=np.array([0.5, 0.5, 1], dtype=np.float32),
    )
    check_mdp(loose)
    for one, other in ((loose, TRIES), (replace(TRIES, edge_chance=loose.edge_chance), TRIES)):
        here, there = (evaluate_states(sa.solve(mdp, sa.CVaR(0.5))) for mdp in (one, other))
        assert here.succeeded.tobytes() == there.succeeded.tobytes()
        assert here.final_levels.tobytes() == there.final_levels.tobytes()
    with pytest.raises(MDPError, match=r"edge_cost: has values that int64 does not have"):
        replace(TRIES, edge_cost=np.array([1.5, 1, 10]))


def test_the_first_row_of_the_first_state_counts() -> None:
    found = evaluate_states(StatePolicy(TRIES, np.array([[0, 255]] * 2, dtype=np.uint8)))
    assert found.distribution(0).points() == [(1, 0.5, True), (2, 0.25, True), (32, 0.25, False)]
    assert found.distribution(1).points() == [(0, 1, True)]


def test_room_is_asked_for_to_the_byte() -> None:
    """Two states, totals from 0 to 2, and four numbers of 8 bytes for each of them."""
    plan = StatePolicy(TRIES, np.array([[0, 255]] * 2, dtype=np.uint8))
    evaluate_states(plan, max_bytes=2 * 3 * 32)
    with pytest.raises(TooLargeError):
        evaluate_states(plan, max_bytes=2 * 3 * 32 - 1)


def test_the_resolution_that_would_fit_is_advised() -> None:
    """Half of the room is there: ten times coarser, steps of 10 and 100 still cost something."""
    fine = replace(TRIES, edge_cost=10 * TRIES.edge_cost)
    plan = StatePolicy(fine, np.array([[0, 255]] * 2, dtype=np.uint8))
    with pytest.raises(TooLargeError, match="resolution: 10}' would fit"):
        evaluate_states(plan, max_bytes=2 * 21 * 32 // 2)
