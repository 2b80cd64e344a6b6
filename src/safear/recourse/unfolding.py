"""How far runs come that follow a sketch: where they have ended, and where they wait for a decision.

A decision on one state more carries on only those runs that wait there. So a sketch that is decided in one state more
than another is known after a few additions; for so few numbers plain dictionaries are several times as fast as arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from safear.evaluation.policy import Policy
from safear.mdp.arrays import MDP
from safear.mdp.hope import list_acting
from safear.recourse.sketch import FOLLOW, Rows

Edge = tuple[float, int, int, bool]  # chance, cost, where it leads, whether that is a goal


@dataclass(frozen=True, slots=True)
class Unfolded:
    """What is known of the runs of a sketch, each with its chance; no dictionary is changed later.

    `decided` are the rows of each decided state, step by step; `waiting` by open state at which step, with how much
    spent; `ended` by what was spent and whether a goal was reached; `taken` how often each row is taken, and `since`
    from which step on. `cells` is how many cells were gone through for the last decision.
    """

    decided: dict[int, Rows] = field(default_factory=dict)
    waiting: dict[int, dict[tuple[int, int], float]] = field(default_factory=dict)
    ended: dict[tuple[int, bool], float] = field(default_factory=dict)
    taken: dict[int, float] = field(default_factory=dict)
    since: dict[int, int] = field(default_factory=dict)
    cells: int = 0

    def come(self, state: int) -> dict[int, float]:
        """How probable it is that a run comes to an open state at each step."""
        found: dict[int, float] = {}
        for (step, _), chance in self.waiting[state].items():
            found[step] = found.get(step, 0.0) + chance
        return found


@dataclass(eq=False, slots=True)
class Unfolder:
    """Follows sketches in an MDP; `base` says what is done where a sketch leaves that to it."""

    mdp: MDP
    base: Policy
    start: int
    _edges: dict[int, list[Edge]] = field(default_factory=dict)
    _follows: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def begin(self) -> Unfolded:
        """Nothing is decided: all runs wait at the start, unless there is nothing to do."""
        if self.mdp.horizon and list_acting(self.mdp)[0, self.start]:
            return Unfolded(waiting={self.start: {(0, 0): 1.0}})
        return Unfolded(ended={(0, bool(self.mdp.goal[self.start])): 1.0})

    def decide(self, before: Unfolded, state: int, rows: Rows) -> Unfolded:
        """Carry on the runs that wait in a state, in which these rows are taken from now on."""
        horizon, acts = self.mdp.horizon, list_acting(self.mdp)
        decided = {**before.decided, state: rows}
        waiting, ended, taken, since = dict(before.waiting), dict(before.ended), dict(before.taken), dict(before.since)
        layers: list[dict[tuple[int, int], float]] = [{} for _ in range(horizon + 1)]
        for (step, spent), chance in waiting.pop(state).items():
            layers[step][state, spent] = chance
        own: set[int] = set()  # open states whose dictionary is a copy by now
        cells = 0
        for step, layer in enumerate(layers[:-1]):
            cells += len(layer)
            for (here, spent), chance in layer.items():
                row = decided[here][step]
                if row == FOLLOW:
                    row = self._follow(step, here, spent)
                if row < 0:
                    ended[spent, False] = ended.get((spent, False), 0.0) + chance
                    continue
                taken[row] = taken.get(row, 0.0) + chance
                since[row] = min(since.get(row, step), step)
                for part, cost, after, is_goal in self._edges.get(row) or self._list_edges(row):
                    total, flow = spent + cost, chance * part
                    if is_goal or step + 1 == horizon or not acts[step + 1, after]:
                        ended[total, is_goal] = ended.get((total, is_goal), 0.0) + flow
                    elif after in decided:
                        ahead = layers[step + 1]
                        ahead[after, total] = ahead.get((after, total), 0.0) + flow
                    else:
                        if after not in own:
                            own.add(after)
                            waiting[after] = dict(waiting.get(after, ()))
                        there = waiting[after]
                        there[step + 1, total] = there.get((step + 1, total), 0.0) + flow
        return Unfolded(decided, waiting, ended, taken, since, cells)

    def _list_edges(self, row: int) -> list[Edge]:
        """What may happen after a row, but for what never does."""
        self._edges[row] = list(self._read_edges(row))
        return self._edges[row]

    def _read_edges(self, row: int) -> Iterator[Edge]:
        mdp = self.mdp
        for edge in range(int(mdp.edge_start[row]), int(mdp.edge_start[row + 1])):
            if mdp.edge_chance[edge] > 0:
                after = int(mdp.edge_next[edge])
                yield float(mdp.edge_chance[edge]), int(mdp.edge_cost[edge]), after, bool(mdp.goal[after])

    def _follow(self, step: int, state: int, spent: int) -> int:
        key = step, state, spent
        if key not in self._follows:
            account = self.base.accounts[[self.start]] - spent
            self._follows[key] = int(self.base.rows(step, np.array([state]), account)[0])
        return self._follows[key]
