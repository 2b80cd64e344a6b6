"""How far the runs of a sketch come, beside following them all from the start."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from doors import FOLLOW, Unfolder, find_options, list_acting, list_cells, propagate
from ladders import ladders
from lanes import scaled

OPEN = -2


@settings(max_examples=scaled(60))
@given(
    document=ladders(2, 7),
    objective=st.sampled_from(["mean", "cvar:0.8"]),
    picks=st.lists(st.integers(0, 1_000), max_size=8),
)
def test_decisions_one_by_one_give_what_all_of_them_do_at_once(
    document: dict[str, Any], objective: str, picks: list[int]
) -> None:
    problem = sa.parse_problem(document)
    base = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.parse_objective(objective)).policy
    mdp, start = base.mdp, base.mdp.start
    follow, acts = base.choosing(int(base.accounts[start])), list_acting(mdp)
    cells = list_cells(mdp, follow, start)
    used = {state: type(cells)(*(c[(cells.state == state) & (cells.row >= 0)] for c in cells)) for state in cells.state}
    unfolder = Unfolder(mdp, base, start)
    known = unfolder.begin()
    for pick in picks:
        if not known.waiting:
            break
        state = sorted(known.waiting)[pick % len(known.waiting)]
        options = find_options(base, start, state, {s: c for s, c in used.items() if len(c.row)})
        known = unfolder.decide(known, state, options[pick % len(options)])

    def choose(step: int, states: Any, spent: Any) -> Any:
        rows = follow(step, states, spent)
        for place, state in enumerate(states.tolist()):
            if state not in known.decided:
                rows[place] = OPEN if acts[step, state] else -1
            elif known.decided[state][step] != FOLLOW:
                rows[place] = known.decided[state][step]
        return rows

    waiting: dict[int, dict[tuple[int, int], float]] = {}
    ended: dict[tuple[int, bool], float] = {}
    taken: dict[int, float] = {}
    for layer in propagate(mdp, choose, start):
        columns = (layer.state, layer.spent, layer.row, layer.chance)
        for state, spent, row, chance in zip(*(column.tolist() for column in columns), strict=True):
            if row >= 0:
                taken[row] = taken.get(row, 0.0) + chance
            elif row == OPEN:
                waiting.setdefault(state, {})[layer.step, spent] = chance
            else:
                key = spent, bool(mdp.goal[state])
                ended[key] = ended.get(key, 0.0) + chance
    assert known.ended == pytest.approx(ended, abs=1e-12)
    assert known.taken == pytest.approx(taken, abs=1e-12)
    assert sorted(known.waiting) == sorted(waiting)
    for state, expected in waiting.items():
        assert known.waiting[state] == pytest.approx(expected, abs=1e-12)
