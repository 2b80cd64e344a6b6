"""A sketch as a policy: the same in compiled loops as in plain ones."""

from __future__ import annotations

from typing import Any

import numba  # noqa: F401  # so that compiled loops are used
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from without_numba import without_numba

import safear as sa
from doors import FOLLOW, find_options, list_cells, settle
from ladders import ladders
from lanes import scaled
from moody_policies import in_pieces, policies
from safear.evaluation import Policy, SpentPolicy, StatePolicy

pytestmark = pytest.mark.usefixtures("compiled_search")


def check_settled(base: Policy, picks: list[int]) -> None:
    mdp, start = base.mdp, base.mdp.start
    cells = list_cells(mdp, base.choosing(int(base.accounts[start])), start)
    used = {state: type(cells)(*(c[(cells.state == state) & (cells.row >= 0)] for c in cells)) for state in cells.state}
    decided = {}
    for number, pick in enumerate(picks):
        state = pick % mdp.n_states
        options = find_options(base, start, state, {s: c for s, c in used.items() if len(c.row)})
        options += [(FOLLOW,) * mdp.horizon]
        decided[state] = options[(pick + number) % len(options)]
    fast = settle(decided, base, start)
    with without_numba():
        plain = settle(decided, base, start)
    assert type(fast) is type(plain)
    if isinstance(fast, StatePolicy) and isinstance(plain, StatePolicy):
        assert np.array_equal(fast.choices, plain.choices)
    if isinstance(fast, SpentPolicy) and isinstance(plain, SpentPolicy):
        for name in ("opening", "piece_start", "first", "choice"):
            assert np.array_equal(getattr(fast, name), getattr(plain, name)), name


PICKS = st.lists(st.integers(0, 1_000), max_size=5)


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
