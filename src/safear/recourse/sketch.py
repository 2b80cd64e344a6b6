"""Plans that are decided in some states: what the search for a simple plan looks at.

A sketch says of each of its states what is done there at every step. In all other states it is open, and does what
another plan, the *base*, does once it is finished. It then becomes a policy of its own, which looks at what was spent
only where the runs that it allows need that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.fast_runs import is_fast, require_arrays, way_to_go
from safear.evaluation.forward import propagate
from safear.evaluation.policy import NOTHING, Choose, Pieces, Policy, SpentPolicy, StatePolicy
from safear.mdp.arrays import MDP

FOLLOW = -3  # in place of a row: what the base does

Rows = tuple[int, ...]  # [step]: what is done in a state at each step; below 0: nothing
Decided = Mapping[int, Rows]  # a sketch: by state


def choose_by(decided: Decided, base: Policy, start: int) -> Choose:
    """The rows that a sketch takes; what the base does where nothing is decided."""
    follow = base.choosing(int(base.accounts[start]))
    if not decided:
        return follow
    known = np.array(sorted(decided), dtype=np.int64)
    rows = np.array([decided[state] for state in known.tolist()], dtype=np.int64)

    def choose(step: int, states: NDArray[np.int64], spent: NDArray[np.int64]) -> NDArray[np.int64]:
        place = np.minimum(np.searchsorted(known, states), len(known) - 1)
        found = np.where(known[place] == states, rows[place, step], FOLLOW)
        follows = found == FOLLOW
        if follows.any():
            found[follows] = follow(step, states[follows], spent[follows])
        return found

    return choose


def always(mdp: MDP, row: int) -> Rows:
    """One thing at every step, as long as there is anything to do."""
    return switch(mdp, row, mdp.horizon, row)


def switch(mdp: MDP, before: int, step: int, after: int) -> Rows:
    """One thing before a step and another from it on, as long as there is anything to do."""
    hopeful = _last_hopeful(mdp, int(mdp.row_state[before]))
    return tuple((before if now < step else after) if now <= hopeful else -1 for now in range(mdp.horizon))


def _last_hopeful(mdp: MDP, state: int) -> int:
    """The last step at which anything is done in a state."""
    return mdp.horizon - int(mdp.steps_to_goal[state]) if mdp.stops else mdp.horizon


class RunCells(NamedTuple):
    """Where runs may be: step, state, what was spent, the row taken (below 0: none), and how probable that is."""

    step: NDArray[np.int64]
    state: NDArray[np.int64]
    spent: NDArray[np.int64]
    row: NDArray[np.int64]
    chance: NDArray[np.float64]


def list_cells(mdp: MDP, choose: Choose, start: int, *, possible: bool = False) -> RunCells:
    """All of them, step by step."""
    layers = list(propagate(mdp, choose, start, possible=possible))
    steps = np.repeat([layer.step for layer in layers], [len(layer.state) for layer in layers])
    columns = zip(*((layer.state, layer.spent, layer.row, layer.chance) for layer in layers), strict=True)
    return RunCells(steps, *(np.concatenate(column) for column in columns))


def settle(decided: Decided, base: Policy, start: int) -> Policy:
    """A sketch as a policy of its own: the base's where it is not decided.

    It looks at what was spent in those states and at those steps alone where runs with different accounts do different
    things; where no run comes, it does what the base does with nothing spent.
    """
    if is_fast(base):
        return _settle_fast(decided, base, start)
    mdp, account = base.mdp, int(base.accounts[start])
    every = np.arange(mdp.n_states)
    unspent = [base.choose(step, every, np.full(mdp.n_states, account)) for step in range(mdp.horizon)]
    choices = np.stack(unspent) if unspent else np.empty((0, mdp.n_states), dtype=np.uint8)
    for known, rows in decided.items():
        chosen = np.array(rows)
        own = np.where(chosen < 0, NOTHING, chosen - mdp.row_start[known]).astype(np.uint8)
        choices[:, known] = np.where(chosen == FOLLOW, choices[:, known], own)
    cells = list_cells(mdp, choose_by(decided, base, start), start, possible=True)
    met = (cells.step < mdp.horizon) & (cells.row >= 0)
    step, state, spent, row, _ = (column[met] for column in cells)
    place, choice = step * mdp.n_states + state, (row - mdp.row_start[state]).astype(np.uint8)
    choices.reshape(-1)[place] = choice
    order = np.lexsort((-spent, place))  # by rising account
    place, choice, spent = place[order], choice[order], spent[order]
    begins = np.append(True, np.diff(place) != 0)
    changes = begins | np.append(True, np.diff(choice.astype(np.int64)) != 0)
    if not (changes & ~begins).any():
        return StatePolicy(mdp, choices)
    elsewhere = np.setdiff1d(np.flatnonzero(choices.reshape(-1) != NOTHING), place)
    met_pieces = Pieces(place[changes], account - spent[changes], choice[changes])
    rest = Pieces(elsewhere, np.full(len(elsewhere), account), choices.reshape(-1)[elsewhere])
    return SpentPolicy.of(mdp, np.asarray(base.accounts), [met_pieces, rest])


def _settle_fast(decided: Decided, base: Policy, start: int) -> Policy:
    """The same in compiled loops."""
    from safear.recourse.settle_kernels import settle_rows  # noqa: PLC0415  # loads Numba

    mdp, account = base.mdp, int(base.accounts[start])
    states, rows = np.array(list(decided), dtype=np.int64), np.array(list(decided.values()), dtype=np.int64)
    going = way_to_go(mdp, possible=True)
    sketch = states, rows.reshape(len(states), mdp.horizon)
    depends, choices, start_of, first, choice = settle_rows(
        mdp.arrays, require_arrays(base), going, *sketch, start, account
    )
    return (
        SpentPolicy(mdp, np.asarray(base.accounts), start_of, first, choice) if depends else StatePolicy(mdp, choices)
    )


def find_options(base: Policy, start: int, state: int, used: Mapping[int, RunCells]) -> list[Rows]:
    """What can be done in a state, simplest first.

    One thing always; if the base does several things in this state, one of them up to some step and another from then
    on; and what the base does, with and without looking at what was spent. At the start, the first thing is the base's.
    """
    mdp, here = base.mdp, used.get(state)
    options = [always(mdp, row) for row in range(int(mdp.row_start[state]), int(mdp.row_start[state + 1]))]
    if here is not None and len(np.unique(here.row)) > 1:
        rows = np.unique(here.row).tolist()
        steps = range(int(here.step.min()) + 1, int(here.step.max()) + 1)
        pairs = [(one, other) for one in rows for other in rows if one != other]
        options += [switch(mdp, one, step, other) for one, other in pairs for step in steps]
        options += [_forget_spent(mdp, here), (FOLLOW,) * mdp.horizon]
    if state == start:
        first = int(base.rows(0, np.array([state]), base.accounts[[state]])[0])
        options = [rows for rows in options if rows[0] in {first, FOLLOW}]
    return options


def _forget_spent(mdp: MDP, here: RunCells) -> Rows:
    """What the base most often does in a state at each step; at others, what it did the last time (or does first)."""
    likeliest: dict[int, int] = {}
    for step in np.unique(here.step).tolist():
        now = here.step == step
        rows, which = np.unique(here.row[now], return_inverse=True)
        likeliest[step] = int(rows[np.argmax(np.bincount(which, here.chance[now]))])
    known = np.array(sorted(likeliest))
    latest = np.maximum(np.searchsorted(known, np.arange(mdp.horizon), side="right") - 1, 0)
    hopeful = _last_hopeful(mdp, int(here.state[0]))
    return tuple(
        likeliest[known_step] if now <= hopeful else -1 for now, known_step in enumerate(known[latest].tolist())
    )
