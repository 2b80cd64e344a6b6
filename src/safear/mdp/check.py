"""`check_mdp`: is this an MDP? For those who build or change one by hand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from safear.errors import MDPError, Mistake, mistake
from safear.mdp.arrays import MDP, first_wrong
from safear.mdp.compiled import CompiledMDP
from safear.problem.quantity_checks import TOLERANCE


def check_mdp(mdp: MDP) -> None:
    """Raise an MDPError with everything that is wrong with an MDP; return None if it is sound.

    Checked: a horizon, chances in [0, 1] that add up to 1, intervals that hold them and leave each edge possible, no
    rows at goals, an action at most once per state, sorted states, and a start for runs. An MDP with wrong lengths or
    indices cannot be made to begin with.
    """
    if mistakes := list(_check_content(mdp)):
        raise MDPError(mistakes)


def _check_content(mdp: MDP) -> Iterator[Mistake]:
    if mdp.horizon < 1:
        yield mistake(("horizon",), f"{mdp.horizon} is not positive", code="out_of_range")
    yield from first_wrong(
        "edge_chance", ~((mdp.edge_chance >= 0) & (mdp.edge_chance <= 1 + TOLERANCE)), "is not in [0, 1]"
    )
    yield from first_wrong(
        "edge_low", ~((mdp.edge_low >= 0) & (mdp.edge_low <= mdp.edge_chance)), "is not in [0, chance]"
    )
    yield from first_wrong(
        "edge_high",
        ~((mdp.edge_high >= mdp.edge_chance) & (mdp.edge_high <= 1 + TOLERANCE) & (mdp.edge_high > 0)),
        "is not in [chance, 1], or not above 0",
    )
    sums = np.bincount(mdp.edge_row, weights=mdp.edge_chance, minlength=mdp.n_rows)
    yield from first_wrong("row", np.abs(sums - 1) > TOLERANCE, "has chances that do not add up to 1", "sum_of_chances")
    if (np.diff(mdp.row_start)[mdp.goal] > 0).any():
        yield mistake(("goal",), "a goal state has actions", code="goal_with_actions")
    same_state = np.diff(mdp.row_state) == 0
    yield from first_wrong(
        "row_action", same_state & (np.diff(mdp.row_action.astype(int)) <= 0), "is out of order", "not_ascending"
    )
    if mdp.failure_cost < 0:
        yield mistake(("failure_cost",), f"{mdp.failure_cost} is negative", code="out_of_range")
    if isinstance(mdp, CompiledMDP) and (len(mdp.states) != mdp.n_states or (np.diff(mdp.states) <= 0).any()):
        yield mistake(("states",), f"should increase, one for each of {mdp.n_states}", code="not_ascending")
    yield from first_wrong("depth", mdp.depth < 0, "is negative")
    if mdp.n_states and not len(mdp.starts):
        yield mistake(("depth",), "is 0 nowhere, so no run can start", code="no_start")
    if not mdp.quantum > 0:
        yield mistake(("quantum",), f"{mdp.quantum} is not positive", code="out_of_range")
