"""Beyond the horizon: all that somebody can ever come to, until a goal is met or nothing new is found.

States are searched breadth first, layer by layer, so the first goal that is met is met in the fewest steps. A search
that ends without one is a proof: nothing that these actions lead to, in however many steps, is a goal.

What happens at the nominal chances is searched, since that is what plans are made for; with `possible`, also what can
happen only if intervals are right and nominal chances are not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safear.mdp.compiled import CompiledMDP
from safear.mdp.expand import expand
from safear.mdp.lattice import find_lattice
from safear.mdp.space import CodeMatrix, StateArray

MOST_SEARCHED = 500_000  # states, beyond which a search gives up
MOST_ASKED = 100_000  # the same if the classifier takes its time
AT_ONCE = 10_000  # states whose edges are made at a time


@dataclass(frozen=True, eq=False)
class Reach:
    """The states that a search met, the first of them first; with `goal_in`, a goal was met after so many steps.

    If neither that nor `is_complete`, there were too many. The first `in_time` of them are met within the horizon.
    """

    mdp: CompiledMDP
    states: StateArray
    goal_in: int | None
    is_complete: bool
    in_time: int

    @property
    def codes(self) -> CodeMatrix:
        """Their level numbers [state, feature]."""
        return self.mdp.space.decode(self.states)

    @property
    def codes_in_time(self) -> CodeMatrix:
        """Those of the states within the horizon or, if no goal was met beyond it either, of all."""
        return self.codes if self.goal_in is None else self.codes[: self.in_time]

    @property
    def tried(self) -> int:
        """How many states besides the first one were tried; those that differ in bookkeeping alone count once."""
        shown = [number for number, feature in enumerate(self.mdp.features) if not feature.hidden]
        return len(np.unique(self.codes[:, shown], axis=0)) - 1


def search_on(mdp: CompiledMDP, *, possible: bool = False) -> Reach:
    """Search an MDP that was compiled for one person, and on from its last states."""
    depth = _find_depth(mdp, possible=possible)
    order = np.argsort(depth, kind="stable")[int((depth < 0).sum()) :]
    layers = [mdp.states[order]]
    met = depth[mdp.goal & (depth >= 0)]
    if len(met):
        return Reach(mdp, layers[0], int(met.min()), is_complete=False, in_time=len(order))
    most = MOST_ASKED if mdp.goals.is_slow else MOST_SEARCHED
    lattice, known, steps = find_lattice(mdp.problem), np.sort(layers[0]), mdp.horizon
    frontier = mdp.states[depth == mdp.horizon]
    goal_in, is_complete = None, True
    while len(frontier):
        parts = [frontier[first : first + AT_ONCE] for first in range(0, len(frontier), AT_ONCE)]
        edges = [expand(mdp.problem, lattice, mdp.space, part) for part in parts]
        targets = [np.unique(some.target[(some.chance > 0) | possible]) for some in edges]
        frontier = np.setdiff1d(np.concatenate(targets), known)
        if len(known) + len(frontier) > most:
            is_complete = False
            break
        steps += 1
        known = np.union1d(known, frontier)
        layers.append(frontier)
        if len(frontier) and mdp.goals.among(mdp.space.decode(frontier)).any():
            goal_in, is_complete = steps, False
            break
    return Reach(mdp, np.concatenate(layers), goal_in, is_complete, in_time=len(order))


def _find_depth(mdp: CompiledMDP, *, possible: bool) -> NDArray[np.int64]:
    """The fewest steps to each state of the MDP; -1 if none lead there within the horizon."""
    leads = np.flatnonzero((mdp.edge_chance > 0) | possible)
    source, target = mdp.row_state[mdp.edge_row[leads]], mdp.edge_next[leads]
    depth = np.full(mdp.n_states, -1)
    depth[mdp.start] = 0
    for step in range(1, mdp.horizon + 1):
        new = target[(depth[source] == step - 1) & (depth[target] < 0)]
        if not len(new):
            break
        depth[new] = step
    return depth
