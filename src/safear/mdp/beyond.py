"""Beyond the horizon: all that somebody can ever come to, until a goal is met or nothing new is found.

States are searched breadth first, layer by layer, so the first goal that is met is met in the fewest steps. A search
that ends without one is a proof: nothing that these actions lead to, in however many steps, is a goal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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

    If neither that nor `is_complete`, there were too many.
    """

    mdp: CompiledMDP
    states: StateArray
    goal_in: int | None
    is_complete: bool

    @property
    def codes(self) -> CodeMatrix:
        """Their level numbers [state, feature]."""
        return self.mdp.space.decode(self.states)

    @property
    def tried(self) -> int:
        """How many states besides the first one were tried; those that differ in bookkeeping alone count once."""
        shown = [number for number, feature in enumerate(self.mdp.features) if not feature.hidden]
        return len(np.unique(self.codes[:, shown], axis=0)) - 1


def search_on(mdp: CompiledMDP) -> Reach:
    """Search on from the last states of an MDP that was compiled for one person and has no goals."""
    most = MOST_ASKED if mdp.goals.is_slow else MOST_SEARCHED
    lattice, order = find_lattice(mdp.problem), np.argsort(mdp.depth, kind="stable")
    layers, known, steps = [mdp.states[order]], mdp.states, mdp.horizon
    frontier = mdp.states[mdp.depth == mdp.horizon]
    while len(frontier):
        parts = [frontier[first : first + AT_ONCE] for first in range(0, len(frontier), AT_ONCE)]
        targets = [np.unique(expand(mdp.problem, lattice, mdp.space, part).target) for part in parts]
        frontier = np.setdiff1d(np.concatenate(targets), known)
        if len(known) + len(frontier) > most:
            return Reach(mdp, np.concatenate(layers), None, is_complete=False)
        steps += 1
        known = np.union1d(known, frontier)
        layers.append(frontier)
        if len(frontier) and mdp.goals.among(mdp.space.decode(frontier)).any():
            return Reach(mdp, np.concatenate(layers), steps, is_complete=False)
    return Reach(mdp, np.concatenate(layers), None, is_complete=True)
