"""The plans that the search for a simple plan looks through, made one by one in plain Python.

A sketch says of some states what is done there at every step; elsewhere it leaves that to another plan, the base.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import safear as sa
from doors import follow
from safear.evaluation import Policy

FOLLOW = -3  # in place of a row: what the base does

Choose = Callable[[int, NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]  # (step, states, spent) -> rows
Rows = tuple[int, ...]  # [step]: what is done in a state at each step; below 0: nothing
Decided = Mapping[int, Rows]  # a sketch: by state


class Cells(NamedTuple):
    """Where runs may be: step, state, what was spent, the row taken (below 0: none), and how probable that is."""

    step: NDArray[np.int64]
    state: NDArray[np.int64]
    spent: NDArray[np.int64]
    row: NDArray[np.int64]
    chance: NDArray[np.float64]


def list_cells(mdp: sa.MDP, choose: Choose, start: int, *, possible: bool = False) -> Cells:
    """Return all of them, step by step."""
    cells = follow(mdp, choose, start, possible=possible).cells
    step, state, spent, row = map(np.asarray, (cells.step, cells.state, cells.spent, cells.row))
    return Cells(step, state, spent, row, np.asarray(cells.chance))


def weigh(mdp: sa.MDP) -> sa.MDP:
    """Return an MDP in which what nominally never happens does so as often as it may."""
    return replace(mdp, edge_chance=np.where(mdp.edge_chance == 0, mdp.edge_high, mdp.edge_chance))


def choose_by(decided: Decided, base: Policy, start: int, mark: int | None = None) -> Choose:
    """Return what a sketch chooses; in open states what the base does, or a `mark` where there is anything to do."""
    follow, acts = base.choosing(int(base.accounts[start])), base.mdp.acting

    def choose(step: int, states: NDArray[np.int64], spent: NDArray[np.int64]) -> NDArray[np.int64]:
        rows = follow(step, states, spent)
        for place, state in enumerate(states.tolist()):
            if state not in decided and mark is not None:
                rows[place] = mark if acts[step, state] else -1
            if state in decided and decided[state][step] != FOLLOW:
                rows[place] = decided[state][step]
        return rows

    return choose


def list_base(base: Policy, start: int) -> Cells:
    """Return all cells of the base, also where only intervals let its runs go."""
    return list_cells(weigh(base.mdp), base.choosing(int(base.accounts[start])), start)


def find_options(base: Policy, start: int, state: int, cells: Cells) -> list[Rows]:
    """Return what can be done in a state, simplest first; `cells` are those of the base.

    One thing always; if the base does several things in this state, one of them up to some step and another from then
    on; and what the base does, with and without looking at what was spent. At the start, the first thing is the base's.
    """
    mdp = base.mdp
    here = Cells(*(column[(cells.state == state) & (cells.row >= 0)] for column in cells))
    every = range(int(mdp.row_start[state]), int(mdp.row_start[state + 1]))
    options = [_switch(mdp, state, row, mdp.horizon, row) for row in every]
    rows = np.unique(here.row).tolist()
    if len(rows) > 1:
        steps = range(int(here.step.min()) + 1, int(here.step.max()) + 1)
        pairs = [(one, other) for one in rows for other in rows if one != other]
        options += [_switch(mdp, state, one, step, other) for one, other in pairs for step in steps]
        options += [_forget_spent(mdp, state, here), (FOLLOW,) * mdp.horizon]
    if state == start:
        first = int(base.rows(0, np.array([state]), base.accounts[[state]])[0])
        options = [option for option in options if option[0] in {first, FOLLOW}]
    return options


def _switch(mdp: sa.MDP, state: int, before: int, step: int, after: int) -> Rows:
    """Return one thing before a step and another from it on, as long as there is anything to do."""
    return _stop(mdp, state, [before if now < step else after for now in range(mdp.horizon)])


def _forget_spent(mdp: sa.MDP, state: int, here: Cells) -> Rows:
    """Return what the base most often does at each step; at others, what it did the last time (or does first)."""
    likeliest: dict[int, int] = {}
    for step in np.unique(here.step).tolist():
        now = here.step == step
        rows, which = np.unique(here.row[now], return_inverse=True)
        likeliest[step] = int(rows[np.argmax(np.bincount(which, here.chance[now]))])
    known = [max((step for step in likeliest if step <= now), default=min(likeliest)) for now in range(mdp.horizon)]
    return _stop(mdp, state, [likeliest[step] for step in known])


def _stop(mdp: sa.MDP, state: int, rows: list[int]) -> Rows:
    """Return the same, but nothing from the step on at which a plan that stops has no hope left."""
    last = mdp.horizon - int(mdp.steps_to_goal[state]) if mdp.stops else mdp.horizon
    return tuple(row if step <= last else -1 for step, row in enumerate(rows))


def as_arrays(mdp: sa.MDP, decided: Decided) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the states of a sketch, and what it does there: [state, step]."""
    rows = np.array(list(decided.values()), dtype=np.int64).reshape(len(decided), mdp.horizon)
    return np.array(list(decided), dtype=np.int64), rows
