"""The ground that people share who agree in what never changes: where each action would lead from each state.

Which states are goals, and what an action costs somebody or how often it works for them, makes no difference to that.
So every action has a row in every state where it can be tried, with all its outcomes, possible or not; who walks there
on which terms decides what is offered (`core.reach`).

Costs are in quanta of the problem's own lattice. Whether an edge `shows` and is `fine` is as `SideBySide` has it; what
is not fine leads nowhere (-1). An outcome that is `priced` has a cost of its own, whatever its action costs.

Ground is laid where people come: states have places in the order in which they are met, and rows once somebody leaves
them. So one person needs no more than what they reach, in a space of any size.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safear.core.reach import Ground
from safear.errors import ProblemError
from safear.mdp.arrays import stretch
from safear.mdp.compiled import CompiledMDP
from safear.mdp.expand import expand, find_allowed
from safear.mdp.lattice import Lattice
from safear.mdp.space import CodeMatrix, StateArray, StateSpace
from safear.problem.model import Problem

# States that are laid whole for each person who came: so many take as long as what one of them needs, step by step.
# Of 60 people in a space of 10,000, all are opened in 50 ms instead of the 210 ms if it is never laid whole.
WORTH_LAYING = 2_000
_KINDS = (np.int64, np.float64, np.float64, np.float64, np.int64, np.uint8, np.uint8, np.uint8, np.uint8)  # of `edges`


@dataclass(frozen=True, eq=False)
class Laid:
    """Ground as far as it is laid: states by place, with their level numbers, and the arrays of a `core.reach.Ground`.

    States without rows yet end at -1. When more is laid, places stay the same.
    """

    states: StateArray  # their indices in the space
    rising: StateArray  # these in order
    order: NDArray[np.int64]  # the places of those
    codes: CodeMatrix
    row_start: NDArray[np.int64]
    row_end: NDArray[np.int64]
    row_action: NDArray[np.uint8]
    edge_start: NDArray[np.int64]
    edges: tuple[NDArray[Any], ...]  # next, chance, low, high, cost, outcome, shows, fine, priced

    @classmethod
    def nothing(cls, space: StateSpace) -> Laid:
        """No states at all."""
        none, edges = np.empty(0, dtype=np.int64), tuple(np.empty(0, dtype=kind) for kind in _KINDS)
        codes, first = space.decode(none), np.zeros(1, dtype=np.int64)
        return cls(none, none, none, codes, none, none, none.astype(np.uint8), first, edges)

    def __len__(self) -> int:
        return len(self.states)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.row_action)

    @cached_property
    def ground(self) -> Ground:
        """The arrays as loops of the core take them."""
        pointers = self.row_start, self.row_end, self.row_action, self.edge_start
        return Ground(self.states, *pointers, *self.edges)

    def find(self, indices: StateArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where states belong in `order`, and their places, -1 for those that have none."""
        near = np.searchsorted(self.rising, indices)
        if not len(self):
            return near, np.full(len(indices), -1, dtype=np.int64)
        inside = np.minimum(near, len(self) - 1)
        return near, np.where(self.rising[inside] == indices, self.order[inside], -1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of an MDP of all states, rising, and rows."""
        starts, counts = self.row_start[self.order], np.maximum(self.row_end - self.row_start, 0)[self.order]
        rows: Any = stretch(starts, counts)
        edges: Any = slice(None)
        if (np.diff(rows) == 1).all():  # where all was laid at once, nothing is copied
            rows = edges
        else:
            edges = stretch(self.edge_start[rows], np.diff(self.edge_start)[rows])
        number = np.empty(len(self), dtype=np.int64)
        number[self.order] = np.arange(len(self))
        nexts, chance, low, high, cost, outcome = (part[edges] for part in self.edges[:6])
        has_intervals = (low < high).any()  # if there are none, nothing is kept twice
        return {
            "states": self.rising,
            "row_start": np.append(0, np.cumsum(counts)),
            "row_action": self.row_action[rows],
            "edge_start": np.append(0, np.cumsum(np.diff(self.edge_start)[rows])),
            "edge_next": number[nexts],
            "edge_chance": chance,
            "edge_low": low if has_intervals else chance,
            "edge_high": high if has_intervals else chance,
            "edge_cost": cost,
            "edge_outcome": outcome,
            "depth": np.zeros(len(self), dtype=np.int16),
        }

    def with_states(self, space: StateSpace, indices: StateArray) -> tuple[Laid, NDArray[np.int64]]:
        """Return the same with these states, rising, and their places; those that are new have no rows yet."""
        near, places = self.find(indices)
        is_new = places < 0
        if not is_new.any():
            return self, places
        new, room = indices[is_new], len(self) + int(is_new.sum())
        places[is_new] = more = np.arange(len(self), room)
        at, stays = near[is_new] + np.arange(len(new)), np.ones(room, dtype=bool)
        stays[at] = False
        rising, order = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        rising[at], rising[stays], order[at], order[stays] = new, self.rising, more, self.order
        wide = replace(
            self,
            states=np.concatenate([self.states, new]),
            rising=rising,
            order=order,
            codes=np.concatenate([self.codes, space.decode(new)]),
            row_start=np.concatenate([self.row_start, np.zeros_like(new)]),
            row_end=np.concatenate([self.row_end, np.full_like(new, -1)]),
        )
        return wide, places


class Site:
    """Where people walk who agree in what never changes, or one person alone, for whom only what is offered is laid.

    Threads may share it: each sees what was `laid` when it looked, and one at a time lays more.
    """

    def __init__(self, problem: Problem, lattice: Lattice, space: StateSpace, *, is_shared: bool) -> None:
        self.space, self.laid = space, Laid.nothing(space)
        self._problem, self._lattice, self._priced = problem, lattice, find_priced(problem)
        self._is_shared, self._is_whole, self._came, self._lock = is_shared, not is_shared, 0, Lock()

    def enter(self, index: int) -> int:
        """Return the place of the state of somebody who comes."""
        self._came, laid = self._came + 1, self.laid
        near = int(np.searchsorted(laid.rising, index))
        if near < len(laid) and laid.rising[near] == index:
            return int(laid.order[near])
        return int(self.find(np.array([index]))[0])

    def find(self, indices: StateArray) -> NDArray[np.int64]:
        """Return the places of states, which get one if they have none."""
        rising, which = np.unique(indices, return_inverse=True)
        with self._lock:
            self.laid, places = self.laid.with_states(self.space, rising)
        return places[which]

    def lay(self, places: NDArray[np.int64]) -> None:
        """Lay ground around these places, where there is none yet, or everywhere once enough people came."""
        with self._lock:
            if not self._is_whole and self._came * WORTH_LAYING >= self.space.size:
                self._is_whole = True
                with suppress(ProblemError):  # a mistake where nobody may ever come
                    whole, _ = self.laid.with_states(self.space, find_allowed(self._problem, self.space))
                    self.laid = self._with_rows(whole, np.flatnonzero(whole.row_end < 0))
            bare = places[self.laid.row_end[places] < 0]
            if len(bare):
                self.laid = self._with_rows(self.laid, bare)

    def _with_rows(self, laid: Laid, places: NDArray[np.int64]) -> Laid:
        """Return what is laid with the rows of these places, and the states that they lead to."""
        states = laid.states[places]
        order = np.argsort(states)
        states, places = states[order], places[order]
        edges = expand(self._problem, self._lattice, self.space, states, for_all=self._is_shared)
        edges = edges.take(np.argsort(edges.source, kind="stable"))  # and so by action and outcome
        source = np.searchsorted(states, edges.source)
        is_first = np.append(True, (np.diff(source) != 0) | (np.diff(edges.action) != 0))[: len(source)]
        first_edge = np.flatnonzero(is_first)
        first_row = laid.n_rows + np.searchsorted(source[first_edge], np.arange(len(states) + 1))
        target = np.where(edges.fine, laid.find(edges.target)[1], -1)
        is_new = edges.fine & (target < 0)
        new, _ = np.unique(edges.target[is_new], return_counts=True)  # as counts load no `np.ma`
        wide, ends = laid.with_states(self.space, new)
        target[is_new] = ends[np.searchsorted(new, edges.target[is_new])]
        row_start, row_end = wide.row_start.copy(), wide.row_end.copy()
        row_start[places], row_end[places] = first_row[:-1], first_row[1:]
        arrays: tuple[NDArray[Any], ...] = (
            *(target, edges.chance, edges.low, edges.high, edges.cost, edges.outcome.astype(np.uint8)),
            *(edges.shows.view(np.uint8), edges.fine.view(np.uint8), self._priced[edges.action, edges.outcome]),
        )
        if laid.n_rows:  # or nothing is copied: somebody may want the whole of a large space
            arrays = tuple(np.concatenate(both) for both in zip(laid.edges, arrays, strict=True))
        return replace(
            wide,
            row_start=row_start,
            row_end=row_end,
            row_action=np.concatenate([laid.row_action, edges.action[first_edge].astype(np.uint8)]),
            edge_start=np.concatenate([laid.edge_start[:-1], len(laid.edges[0]) + np.append(first_edge, len(source))]),
            edges=arrays,
        )


def ground_of(mdp: CompiledMDP) -> Ground:
    """Return an MDP without goals as ground: of its rows, whoever may do their action is offered all."""
    whole, index = np.ones(mdp.n_edges, dtype=np.uint8), np.arange(mdp.n_states, dtype=np.int64)
    priced = find_priced(mdp.problem)[mdp.row_action[mdp.edge_row], mdp.edge_outcome]
    arrays: list[NDArray[Any]] = [index, mdp.row_start[:-1], mdp.row_start[1:], mdp.row_action, mdp.edge_start]
    arrays += [mdp.edge_next, mdp.edge_chance, mdp.edge_low, mdp.edge_high, mdp.edge_cost, mdp.edge_outcome]
    arrays += [whole, whole, priced]
    return Ground(*arrays)


def find_priced(problem: Problem) -> NDArray[np.uint8]:
    """Return [action, outcome] whether an outcome has a cost of its own, which a personal cost does not replace."""
    most = max((len(action.outcomes) for action in problem.actions), default=0)
    table = np.zeros((len(problem.actions), most + 1), dtype=np.uint8)  # and one that an action may fail with
    for number, action in enumerate(problem.actions):
        table[number, : len(action.outcomes)] = [outcome.cost is not None for outcome in action.outcomes]
    return table
