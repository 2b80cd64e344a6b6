"""Plans that are decided in some states: what the search for a simple plan looks at.

A sketch says of each of its states what is done there at every step. In all other states it is open, or what another
plan, the *base*, does. A sketch that is finished becomes a policy of its own, which looks at what was spent only where
the runs that it allows need that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.forward import propagate
from safear.evaluation.policy import NOTHING, Choose, Pieces, Policy, SpentPolicy, StatePolicy
from safear.mdp.arrays import MDP
from safear.mdp.hope import list_acting

OPEN, FOLLOW = -2, -3  # in place of a row: nothing is decided; what the base does

Rows = NDArray[np.int64]  # [step]: what is done in a state at each step


@dataclass(frozen=True, eq=False)
class Sketch:
    """What is done in some states: `rows[i, step]` in `states[i]`, which rise; elsewhere as `base` does, or open."""

    base: Policy
    start: int
    states: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, base: Policy, start: int) -> Sketch:
        """One in which nothing is decided."""
        return cls(base, start, np.empty(0, dtype=np.int64), np.empty((0, base.mdp.horizon), dtype=np.int64))

    def decide(self, state: int, rows: Rows) -> Sketch:
        """The same with one state more."""
        place = int(np.searchsorted(self.states, state))
        states, rows = np.insert(self.states, place, state), np.insert(self.rows, place, rows, axis=0)
        return Sketch(self.base, self.start, states, rows)

    def choosing(self, *, is_open: bool) -> Choose:
        """The rows taken; where nothing is decided, `OPEN` (where something can be done), or what the base does."""
        follow, mdp = self.base.choosing(int(self.base.accounts[self.start])), self.base.mdp
        acts = list_acting(mdp)
        elsewhere = OPEN if is_open else FOLLOW

        def choose(step: int, states: NDArray[np.int64], spent: NDArray[np.int64]) -> NDArray[np.int64]:
            if len(self.states):
                place = np.minimum(np.searchsorted(self.states, states), len(self.states) - 1)
                found = np.where(self.states[place] == states, self.rows[place, step], elsewhere)
            else:
                found = np.full(len(states), elsewhere)
            if is_open:
                found[(found == OPEN) & ~acts[step][states]] = -1
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
    state, steps = int(mdp.row_state[before]), np.arange(mdp.horizon)
    rows = np.where(steps < step, before, after)
    return np.where(mdp.steps_to_goal[state] <= mdp.horizon - steps, rows, -1) if mdp.stops else rows


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


def settle(sketch: Sketch) -> Policy:
    """A sketch as a policy of its own: the base's where it is not decided.

    It looks at what was spent in those states and at those steps alone where runs with different accounts do different
    things; where no run comes, it does what the base does with nothing spent.
    """
    base, start = sketch.base, sketch.start
    mdp, account = base.mdp, int(base.accounts[start])
    every = np.arange(mdp.n_states)
    unspent = [base.choose(step, every, np.full(mdp.n_states, account)) for step in range(mdp.horizon)]
    choices = np.stack(unspent) if unspent else np.empty((0, mdp.n_states), dtype=np.uint8)
    first = np.where(sketch.rows < 0, NOTHING, sketch.rows - mdp.row_start[sketch.states][:, None]).astype(np.uint8)
    for number, state in enumerate(sketch.states.tolist()):
        choices[:, state] = np.where(sketch.rows[number] == FOLLOW, choices[:, state], first[number])
    cells = list_cells(mdp, sketch.choosing(is_open=False), start, possible=True)
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


def find_options(sketch: Sketch, state: int, used: Mapping[int, RunCells]) -> list[Rows]:
    """What can be done in a state, simplest first.

    One thing always; if the base does several things in this state, one of them up to some step and another from then
    on; and what the base does, with and without looking at what was spent. At the start, the first thing is the base's.
    """
    mdp, here = sketch.base.mdp, used.get(state)
    options = [always(mdp, row) for row in range(int(mdp.row_start[state]), int(mdp.row_start[state + 1]))]
    if here is not None and len(np.unique(here.row)) > 1:
        rows = np.unique(here.row).tolist()
        steps = range(int(here.step.min()) + 1, int(here.step.max()) + 1)
        pairs = [(one, other) for one in rows for other in rows if one != other]
        options += [switch(mdp, one, step, other) for one, other in pairs for step in steps]
        options += [_forget_spent(mdp, here), np.full(mdp.horizon, FOLLOW)]
    if state == sketch.start:
        first = int(sketch.base.rows(0, np.array([state]), sketch.base.accounts[[state]])[0])
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
    rows = np.array([likeliest[step] for step in known[latest].tolist()])
    hopeful = mdp.steps_to_goal[int(here.state[0])] <= mdp.horizon - np.arange(mdp.horizon)
    return np.where(hopeful, rows, -1) if mdp.stops else rows
