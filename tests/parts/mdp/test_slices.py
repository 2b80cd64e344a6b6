"""What one person can reach of a compiled MDP, against compiling it from that person."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from doors import CompiledMDP, Slice, restrict, restrict_to
from lanes import scaled
from safear.datasets import load
from safear.errors import PersonError
from safear.mdp import check_mdp, compile_blocks
from strategies import problems

ARRAYS = (
    "goal",
    "depth",
    "row_start",
    "row_action",
    "edge_start",
    "edge_next",
    "edge_chance",
    "edge_cost",
    "edge_outcome",
)
PLAIN = ("horizon", "actions", "failure_cost", "quantum", "cost_error", "start", "problem")


def assert_same(part: sa.MDP, compiled: sa.MDP) -> None:
    """The same arrays; states are numbered in another space, but mean the same people in the same order."""
    assert part.n_states == compiled.n_states
    people = [part.person(state) for state in range(part.n_states)]
    assert people == [compiled.person(state) for state in range(compiled.n_states)]
    for name in ARRAYS:
        ours, theirs = getattr(part, name), getattr(compiled, name)
        assert ours.dtype == theirs.dtype, name
        assert np.array_equal(ours, theirs), name
    for name in PLAIN:
        assert getattr(part, name) == getattr(compiled, name), name


def assert_maps(part: Slice[CompiledMDP], whole: sa.MDP) -> None:
    """`states` says which of the whole they are; those that do anything have their rows, edge by edge."""
    mdp, states = part
    rows = np.flatnonzero(np.isin(whole.row_state, states[np.diff(mdp.row_start) > 0]))
    assert len(states) == mdp.n_states
    assert len(rows) == mdp.n_rows
    assert (np.diff(states) > 0).all()
    assert [whole.person(int(state)) for state in states] == [mdp.person(i) for i in range(mdp.n_states)]
    assert np.array_equal(whole.goal[states], mdp.goal)
    assert np.array_equal(whole.row_state[rows], states[mdp.row_state])
    assert np.array_equal(whole.row_action[rows], mdp.row_action)
    for i, row in enumerate(rows.tolist()):
        ours, theirs = slice(*mdp.edge_start[i : i + 2]), slice(*whole.edge_start[row : row + 2])
        assert np.array_equal(states[mdp.edge_next[ours]], whole.edge_next[theirs])
        for name in ("edge_chance", "edge_cost", "edge_outcome"):
            assert np.array_equal(getattr(mdp, name)[ours], getattr(whole, name)[theirs]), name


@settings(max_examples=scaled(60))
@given(problems(), st.booleans())
def test_the_same_as_compiled_from_that_person(document: dict[str, Any], of_block: bool) -> None:
    problem = sa.parse_problem(document)
    wholes = list(compile_blocks(problem)) if of_block else [sa.compile_mdp(problem)]
    for whole in wholes:
        for state in range(whole.n_states):
            part = restrict(whole, state)
            check_mdp(part.mdp)
            assert part.states[part.mdp.locate()] == state
            assert_same(part.mdp, sa.compile_mdp(problem, start=whole.person(state)))
            assert_maps(part, whole)


@settings(max_examples=scaled(40))
@given(problems())
def test_by_record_and_again(document: dict[str, Any]) -> None:
    problem = sa.parse_problem(document)
    whole = sa.compile_mdp(problem)
    assert problem.default_person is not None
    once = restrict(whole, problem.default_person)
    assert once.states[once.mdp.locate()] == whole.locate(problem.default_person)
    twice = restrict(once.mdp)
    assert_same(twice.mdp, once.mdp)
    assert np.array_equal(twice.states, np.arange(once.mdp.n_states))


@settings(max_examples=scaled(40))
@given(problems(), st.integers(0, 99))
def test_what_several_people_reach(document: dict[str, Any], seed: int) -> None:
    """All that one of them reaches, as early as the first does; nobody else begins there."""
    whole = sa.compile_mdp(sa.parse_problem(document))
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, whole.n_states, size=rng.integers(1, 6))
    part = restrict_to(whole, starts)
    check_mdp(part.mdp)
    assert_maps(part, whole)
    assert set(part.states[part.mdp.starts].tolist()) == set(starts.tolist())
    depth = np.full(whole.n_states, 99)
    for start in starts.tolist():
        alone = restrict(whole, start)
        depth[alone.states] = np.minimum(depth[alone.states], alone.mdp.depth)
        place = int(np.searchsorted(part.states, start))
        assert_same(restrict(part.mdp, place).mdp, alone.mdp)
    assert np.array_equal(part.states, np.flatnonzero(depth < 99))
    assert np.array_equal(part.mdp.depth, depth[part.states])


def test_what_is_met_only_at_the_end_does_nothing() -> None:
    problem = sa.load_example("loan").with_horizon(1)
    whole = sa.compile_mdp(problem)
    part = restrict(whole, problem.default_person)
    check_mdp(part.mdp)
    assert sorted(part.mdp.depth.tolist()) == [0, 1, 1, 1, 1, 1]
    assert (np.diff(part.mdp.row_start) > 0).tolist() == (part.mdp.depth == 0).tolist()
    assert (np.diff(whole.row_start)[part.states] > 0).sum() > 1  # in the whole, some of them have something to do
    assert_same(part.mdp, sa.compile_mdp(problem, start=problem.default_person))


def test_from_a_goal_there_is_nowhere_to_go() -> None:
    whole = sa.compile_mdp(sa.load_example("loan"))
    goal = int(np.flatnonzero(whole.goal)[0])
    part = restrict(whole, goal)
    check_mdp(part.mdp)
    assert (part.states.tolist(), part.mdp.n_rows) == ([goal], 0)
    assert part.mdp.goal.tolist() == [True]


def test_from_a_state_that_is_met_later_it_is_refused() -> None:
    problem = sa.load_example("loan")
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    with pytest.raises(PersonError, match="compiled from another person"):
        restrict(mdp, int(np.argmax(mdp.depth)))
    with pytest.raises(PersonError, match="no person is given"):
        restrict(sa.compile_mdp(problem))


def test_people_of_german() -> None:
    german = load("german")
    forest = german.classifier(0)
    for row in (44, 972):
        person = {str(name): level for name, level in german.levels.iloc[row].items()}
        block = sa.compile_mdp(german.problem, forest, block=person)
        part = restrict(block, person)
        check_mdp(part.mdp)
        assert 1 < part.mdp.n_states < block.n_states
        assert_same(part.mdp, sa.compile_mdp(german.problem, forest, start=person))
        assert_maps(part, block)
