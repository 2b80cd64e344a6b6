"""A sketch as a policy of its own, beside what the sketch says."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from doors import settle
from ladders import ladders
from lanes import scaled
from moody_policies import in_pieces, policies
from plan_family import FOLLOW, Rows, as_arrays, choose_by, find_options, list_base, list_cells
from safear.evaluation import Policy, SpentPolicy, StatePolicy

PICKS = st.lists(st.integers(0, 1_000), max_size=5)


def check_settled(base: Policy, picks: list[int]) -> None:
    mdp, start, known = base.mdp, base.mdp.start, list_base(base, base.mdp.start)
    decided: dict[int, Rows] = {}
    for number, pick in enumerate(picks):
        state = pick % mdp.n_states
        options = [*find_options(base, start, state, known), (FOLLOW,) * mdp.horizon]
        decided[state] = options[(pick + number) % len(options)]
    policy, choose = settle(base, start, *as_arrays(mdp, decided)), choose_by(decided, base, start)
    expected = list_cells(mdp, choose, start, possible=True)
    found = list_cells(mdp, policy.choosing(int(policy.accounts[start])), start, possible=True)
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one, other)
    acting = expected.row >= 0
    columns = (column[acting].tolist() for column in (expected.step, expected.state, expected.row))
    done = set(zip(*columns, strict=True))
    met = {place[:2] for place in done}
    assert isinstance(policy, StatePolicy if len(met) == len(done) else SpentPolicy)
    assert np.array_equal(policy.accounts, base.accounts if isinstance(policy, SpentPolicy) else 0 * base.accounts)
    every, nothing = np.arange(mdp.n_states), np.zeros(mdp.n_states, dtype=np.int64)
    for now in range(mdp.horizon):  # where no run comes, whatever was spent
        elsewhere = np.array([(now, one) not in met for one in every.tolist()])
        wanted = choose(now, every, nothing)
        for spent in (0, 1, 7):
            rows = policy.rows(now, every, policy.accounts[start] - spent + nothing)
            assert np.array_equal(rows[elsewhere], wanted[elsewhere])
    if isinstance(policy, SpentPolicy):
        check_pieces(policy)


def check_pieces(policy: SpentPolicy) -> None:
    """Each piece begins where something else is done than below it."""
    for begin, end in zip(policy.piece_start[:-1].tolist(), policy.piece_start[1:].tolist(), strict=True):
        assert (np.diff(policy.first[begin:end]) > 0).all()
        assert (np.diff(policy.choice[begin:end].astype(int)) != 0).all()


@settings(max_examples=scaled(80))
@given(document=ladders(2, 7), objective=st.sampled_from(["mean", "cvar:0.8"]), picks=PICKS)
def test_of_optimal_plans(document: dict[str, Any], objective: str, picks: list[int]) -> None:
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    check_settled(sa.solve(mdp, sa.parse_objective(objective)).policy, picks)


@settings(max_examples=scaled(80))
@given(policy=policies(), picks=PICKS)
def test_of_plans_that_change_their_mind(policy: Policy, picks: list[int]) -> None:
    check_settled(in_pieces(policy), picks)
