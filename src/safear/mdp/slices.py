"""The part of a compiled MDP that one person can reach: as `compile_mdp(start=...)`, without asking anybody again."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.mdp.arrays import MDP, stretches
from safear.problem.model import Record


class Part(NamedTuple):
    """A part of an MDP, and which states and rows of the whole it has."""

    mdp: MDP
    states: NDArray[np.int64]
    rows: NDArray[np.int64]


def restrict(mdp: MDP, start: Record | int | None = None) -> Part:
    """What can be reached from a state within the horizon."""
    origin = mdp.locate_start(start)
    depth = np.full(mdp.n_states, -1, dtype=np.int16)
    depth[origin] = 0
    frontier = np.array([origin])
    for step in range(1, mdp.horizon + 1):
        targets = mdp.edge_next[stretches(mdp.edge_start, stretches(mdp.row_start, frontier))]
        frontier = np.unique(targets[depth[targets] < 0])
        if not len(frontier):
            break
        depth[frontier] = step
    states = np.flatnonzero(depth >= 0)
    acting = states[depth[states] < mdp.horizon]  # what is met only at the very end does nothing any more
    rows = stretches(mdp.row_start, acting)
    edges = stretches(mdp.edge_start, rows)
    counts = np.where(depth[states] < mdp.horizon, np.diff(mdp.row_start)[states], 0)
    part = replace(
        mdp,
        goal=mdp.goal[states],
        row_start=np.concatenate([[0], np.cumsum(counts)]),
        row_action=mdp.row_action[rows],
        edge_start=np.concatenate([[0], np.cumsum(np.diff(mdp.edge_start)[rows])]),
        edge_next=np.searchsorted(states, mdp.edge_next[edges]),
        edge_chance=mdp.edge_chance[edges],
        edge_cost=mdp.edge_cost[edges],
        edge_outcome=mdp.edge_outcome[edges],
        start=int(np.searchsorted(states, origin)),
        states=None if mdp.states is None else mdp.states[states],
        depth=depth[states],
    )
    return Part(part, states, rows)
