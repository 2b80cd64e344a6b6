"""`check_mdp`: is this an MDP? For those who build or change one by hand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from safear.errors import MDPError, Mistake, mistake
from safear.mdp.arrays import MDP
from safear.mdp.compiled import CompiledMDP
from safear.problem.quantity_checks import TOLERANCE


def check_mdp(mdp: MDP) -> None:
    """Raise an MDPError with everything that is wrong with an MDP; return None if it is sound.

    Checked: lengths and order of the pointers, next states and actions in range, chances in [0, 1] that add up to 1,
    intervals that hold them and leave each edge possible, no negative costs, no rows at goals, an action at most once
    per state, sorted states, and a start for runs.
    """
    mistakes = list(_check_shape(mdp))
    if not mistakes:
        mistakes = list(_check_content(mdp))
    if mistakes:
        raise MDPError(mistakes)


def _check_shape(mdp: MDP) -> Iterator[Mistake]:
    if mdp.horizon < 1:
        yield mistake(("horizon",), f"{mdp.horizon} is not positive", code="out_of_range")
    for name, pointers, count, total in (
        ("row_start", mdp.row_start, mdp.n_states, mdp.n_rows),
        ("edge_start", mdp.edge_start, mdp.n_rows, mdp.n_edges),
    ):
        if len(pointers) != count + 1:
            yield mistake((name,), f"has {len(pointers)} entries, not {count + 1}", code="wrong_length")
        elif pointers[0] != 0 or pointers[-1] != total or (np.diff(pointers) < 0).any():
            yield mistake((name,), f"should increase from 0 to {total}", code="not_ascending")
    for name in ("edge_chance", "edge_low", "edge_high", "edge_cost", "edge_outcome"):
        if len(getattr(mdp, name)) != mdp.n_edges:
            yield mistake(
                (name,), f"has {len(getattr(mdp, name))} entries for {mdp.n_edges} edges", code="wrong_length"
            )
    for name in ("depth", "states") if isinstance(mdp, CompiledMDP) else ("depth",):
        if len(getattr(mdp, name)) != mdp.n_states:
            yield mistake(
                (name,), f"has {len(getattr(mdp, name))} entries for {mdp.n_states} states", code="wrong_length"
            )


def _check_content(mdp: MDP) -> Iterator[Mistake]:
    empty_rows = np.flatnonzero(np.diff(mdp.edge_start) == 0)
    if len(empty_rows):
        yield mistake(("edge_start", int(empty_rows[0])), "a row without an edge", code="empty")
    yield from _first_wrong("edge_next", (mdp.edge_next < 0) | (mdp.edge_next >= mdp.n_states), "is not a state")
    yield from _first_wrong("row_action", mdp.row_action >= len(mdp.actions), "is not an action")
    yield from _first_wrong(
        "edge_chance", ~((mdp.edge_chance >= 0) & (mdp.edge_chance <= 1 + TOLERANCE)), "is not in [0, 1]"
    )
    yield from _first_wrong(
        "edge_low", ~((mdp.edge_low >= 0) & (mdp.edge_low <= mdp.edge_chance)), "is not in [0, chance]"
    )
    yield from _first_wrong(
        "edge_high",
        ~((mdp.edge_high >= mdp.edge_chance) & (mdp.edge_high <= 1 + TOLERANCE) & (mdp.edge_high > 0)),
        "is not in [chance, 1], or not above 0",
    )
    yield from _first_wrong("edge_cost", mdp.edge_cost < 0, "is negative")
    sums = np.bincount(mdp.edge_row, weights=mdp.edge_chance, minlength=mdp.n_rows)
    yield from _first_wrong(
        "row", np.abs(sums - 1) > TOLERANCE, "has chances that do not add up to 1", "sum_of_chances"
    )
    if (np.diff(mdp.row_start)[mdp.goal] > 0).any():
        yield mistake(("goal",), "a goal state has actions", code="goal_with_actions")
    same_state = np.diff(mdp.row_state) == 0
    yield from _first_wrong(
        "row_action", same_state & (np.diff(mdp.row_action.astype(int)) <= 0), "is out of order", "not_ascending"
    )
    if mdp.failure_cost < 0:
        yield mistake(("failure_cost",), f"{mdp.failure_cost} is negative", code="out_of_range")
    if isinstance(mdp, CompiledMDP) and (np.diff(mdp.states) <= 0).any():
        yield mistake(("states",), "should increase", code="not_ascending")
    yield from _first_wrong("depth", mdp.depth < 0, "is negative")
    if mdp.n_states and not len(mdp.starts):
        yield mistake(("depth",), "is 0 nowhere, so no run can start", code="no_start")
    if not mdp.quantum > 0:
        yield mistake(("quantum",), f"{mdp.quantum} is not positive", code="out_of_range")


def _first_wrong(
    name: str, wrong: np.ndarray[tuple[int], np.dtype[np.bool_]], cause: str, code: str = "out_of_range"
) -> Iterator[Mistake]:
    if wrong.any():
        more = f" ({int(wrong.sum())} in all)" if wrong.sum() > 1 else ""
        yield mistake((name, int(np.argmax(wrong))), f"{cause}{more}", code=code)
