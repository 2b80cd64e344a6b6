"""Parts of an MDP: some of its states and rows, numbered anew."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from safear.mdp.arrays import MDP, stretches
from safear.problem.model import Record

Kind = TypeVar("Kind", bound=MDP)


class Slice(NamedTuple, Generic[Kind]):
    """A part of an MDP, and which states of the whole it has."""

    mdp: Kind
    states: NDArray[np.int64]


def restrict(mdp: Kind, start: Record | int | None = None, *, goal: NDArray[np.bool_] | None = None) -> Slice[Kind]:
    """What can be reached from a state within the horizon: as `compile_mdp(start=...)`, without asking anybody.

    With `goal`, an MDP that was compiled without goals gets these.
    """
    origin = mdp.locate_start(start)
    if goal is None and len(mdp.starts) == 1:  # then it is that already
        return Slice(mdp, np.arange(mdp.n_states))
    return restrict_to(mdp, np.array([origin]), goal=goal)


def restrict_to(mdp: Kind, starts: NDArray[np.int64], *, goal: NDArray[np.bool_] | None = None) -> Slice[Kind]:
    """The same from any of several states, in which alone runs then begin."""
    depth = np.full(mdp.n_states, -1, dtype=np.int16)
    depth[starts] = 0
    frontier = np.unique(starts)
    goal = mdp.goal if goal is None else goal
    for step in range(1, mdp.horizon + 1):
        frontier = frontier[~goal[frontier]]
        targets = mdp.edge_next[stretches(mdp.edge_start, stretches(mdp.row_start, frontier))]
        frontier = np.unique(targets[depth[targets] < 0])
        if not len(frontier):
            break
        depth[frontier] = step
    states = np.flatnonzero(depth >= 0)
    # What is met only at the very end does nothing any more.
    acting = (depth[states] < mdp.horizon) & ~goal[states]
    return take(mdp, states, acting=acting, depth=depth[states], goal=goal[states])


def take(mdp: Kind, states: NDArray[np.int64], *, acting: NDArray[np.bool_], **changes: Any) -> Slice[Kind]:
    """The part with these states, rising; only those that are `acting` keep their rows, which must stay inside."""
    rows = stretches(mdp.row_start, states[acting])
    edges = stretches(mdp.edge_start, rows)
    number = np.empty(mdp.n_states, dtype=np.int64)
    number[states] = np.arange(len(states))
    chance = mdp.edge_chance[edges]
    fields: dict[str, Any] = {
        "goal": mdp.goal[states],
        "depth": mdp.depth[states],
        "row_start": _point(np.where(acting, np.diff(mdp.row_start)[states], 0)),
        "row_action": mdp.row_action[rows],
        "edge_start": _point(np.diff(mdp.edge_start)[rows]),
        "edge_next": number[mdp.edge_next[edges]],
        "edge_chance": chance,
        "edge_low": mdp.edge_low[edges] if mdp.has_intervals else chance,
        "edge_high": mdp.edge_high[edges] if mdp.has_intervals else chance,
        "edge_cost": mdp.edge_cost[edges],
        "edge_outcome": mdp.edge_outcome[edges],
    }
    return Slice(replace(mdp, **(fields | dict(mdp.keep(states)) | changes)), states)


def _point(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where stretches of these lengths begin, and where the last ends."""
    return np.concatenate([[0], np.cumsum(counts)])
