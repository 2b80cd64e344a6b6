"""The most that can be spent, against its formula."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import given, settings

import safear as sa
from doors import largest_spent
from lanes import scaled
from strategies import problems


@settings(max_examples=scaled(40))
@given(problems())
def test_the_most_that_is_spent_from_every_state(document: dict[str, Any]) -> None:
    mdp = sa.compile_mdp(sa.parse_problem(document))

    @cache
    def most(step: int, state: int) -> int:
        rows = range(*mdp.row_start[state : state + 2].tolist())
        if mdp.goal[state] or step == mdp.horizon or not rows:
            return 0
        edges = [edge for row in rows for edge in range(*mdp.edge_start[row : row + 2].tolist())]
        return max(int(mdp.edge_cost[edge]) + most(step + 1, int(mdp.edge_next[edge])) for edge in edges)

    assert largest_spent(mdp).tolist() == [most(0, state) for state in range(mdp.n_states)]
