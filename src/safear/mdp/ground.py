"""The ground that people share who agree in what never changes: where each action would lead from each state.

Which states are goals, and what an action costs somebody or how often it works for them, makes no difference to that.
So every action has a row in every state where it can be tried, with all its outcomes, possible or not; who walks there
on which terms decides what is offered (`core.reach`).

Costs are in quanta of the problem's own lattice. Whether an edge `shows` and is `fine` is as `SideBySide` has it; what
is not fine leads nowhere (-1). An outcome that is `priced` has a cost of its own, whatever its action costs.

Ground is laid where people come: states have places in the order in which they are met, and rows once somebody leaves
them. So one person needs no more than what they reach, in a space of any size. Every search over states is a search of
some ground, and the arrays of every MDP that is compiled, or part of one, are taken from it by `take_part`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from safear.core.reach import Ground, Personal, Said, Scratch, clear, gather, search
from safear.errors import ProblemError
from safear.mdp.arrays import MDP, once_per_mdp
from safear.mdp.compiled import CompiledMDP
from safear.mdp.expand import expand, find_allowed
from safear.mdp.filed_goals import FiledGoals
from safear.mdp.goals import NO, YES, Goals
from safear.mdp.lattice import Lattice
from safear.mdp.space import CodeMatrix, StateArray, StateSpace, distinct
from safear.problem.model import Problem, Record
from safear.problem.vector import CodeArray

# States that are laid whole for each person who came: so many take as long as what one of them needs, step by step.
# Of 60 people in a space of 10,000, all are opened in 50 ms instead of the 210 ms if it is never laid whole.
WORTH_LAYING = 2_000
_KINDS = (np.int64, np.float64, np.float64, np.float64, np.int64, np.uint8, np.uint8, np.uint8, np.uint8)  # of `edges`
_PARTS = "goal depth row_start row_action edge_start edge_next edge_chance edge_cost edge_outcome edge_low edge_high"
_ALL = np.arange(256, dtype=np.int64)  # an action is a byte
AS_EVER = Personal(_ALL, np.full_like(_ALL, -1), np.full((len(_ALL), 2), np.nan), 1, 1)  # for whom all is as laid
_NOWHERE = np.empty(0, dtype=np.int64)
Kind = TypeVar("Kind", bound=MDP)


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
        none, edges = _NOWHERE, tuple(np.empty(0, dtype=kind) for kind in _KINDS)
        codes, first = space.decode(none), np.zeros(1, dtype=np.int64)
        return cls(none, none, none, codes, none, none, none.astype(np.uint8), first, edges)

    @classmethod
    def of(cls, mdp: CompiledMDP) -> Laid:
        """What was laid for one person, whose last states are bare."""
        every = np.arange(mdp.n_states, dtype=np.int64)
        row_end = np.where(mdp.depth == mdp.horizon, -1, mdp.row_start[1:])
        rows = mdp.row_start[:-1], row_end, mdp.row_action, mdp.edge_start
        return cls(mdp.states, mdp.states, every, mdp.codes(every), *rows, _list_edges(mdp))

    def __len__(self) -> int:
        return len(self.states)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.row_action)

    @cached_property
    def ground(self) -> Ground:
        """The arrays as loops of the core take them."""
        return self._as_ground(self.edges)

    @property
    def nominal(self) -> Ground:
        """The same of what happens at the nominal chances; what is offered does not depend on them."""
        target, chance, low, high, cost, outcome, shows, fine, priced = self.edges
        first, possible, offered = self.edge_start[:-1], high > 0, np.empty(0, dtype=np.bool_)
        if self.n_rows:
            offered = np.logical_or.reduceat(possible & (shows > 0), first)
            offered &= np.logical_and.reduceat(~possible | (fine > 0), first)
        flags = np.repeat(offered, np.diff(self.edge_start)).view(np.uint8)
        return self._as_ground((target, chance, low, chance, cost, outcome, flags, flags, priced))

    def _as_ground(self, edges: tuple[NDArray[Any], ...]) -> Ground:
        return Ground(self.states, self.row_start, self.row_end, self.row_action, self.edge_start, *edges)

    def find(self, indices: StateArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where states belong in `order`, and their places, -1 for those that have none."""
        near = np.searchsorted(self.rising, indices)
        if not len(self):
            return near, np.full(len(indices), -1, dtype=np.int64)
        inside = np.minimum(near, len(self) - 1)
        return near, np.where(self.rising[inside] == indices, self.order[inside], -1)

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

    def __init__(
        self,
        problem: Problem,
        lattice: Lattice,
        space: StateSpace,
        *,
        is_shared: bool = False,
        laid: Laid | None = None,
    ) -> None:
        self.space, self.laid = space, Laid.nothing(space) if laid is None else laid
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

    def forget(self) -> None:
        """Give up all rows; states keep their places."""
        with self._lock:
            none, start = Laid.nothing(self.space), self.laid.row_start
            states = {name: getattr(self.laid, name) for name in ("states", "rising", "order", "codes")}
            self.laid = replace(none, **states, row_start=np.zeros_like(start), row_end=np.full_like(start, -1))

    def _with_rows(self, laid: Laid, places: NDArray[np.int64]) -> Laid:
        """Return what is laid with the rows of these places, and the states that they lead to."""
        states = laid.states[places]
        order = np.argsort(states)
        states, places = states[order], places[order]
        edges = expand(self._problem, self._lattice, self.space, states, for_all=self._is_shared)
        source = np.searchsorted(states, edges.source)
        is_first = np.append(True, (np.diff(source) != 0) | (np.diff(edges.action) != 0))[: len(source)]
        first_edge = np.flatnonzero(is_first)
        first_row = laid.n_rows + np.searchsorted(source[first_edge], np.arange(len(states) + 1))
        target = np.where(edges.fine, laid.find(edges.target)[1], -1)
        is_new = edges.fine & (target < 0)
        new = distinct(edges.target[is_new])
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


class Walk:
    """Somebody's way over a site, which asks for goals and has ground laid.

    `laid` is what is laid so far; what was found last is in `scratch`. On `nominal` ground, what happens only if
    intervals are right and nominal chances are not does not happen.
    """

    def __init__(
        self, site: Site, own: Personal, goals: Goals | FiledGoals, codes: CodeArray, *, nominal: bool = False
    ) -> None:
        self._site, self._own, self._goals, self._codes, self._is_nominal = site, own, goals, codes, nominal
        self._constant = [i for i, item in enumerate(site.space.features) if item.name in site.space.fixed]
        # Those who decide may keep what is known by number: people who differ in what is constant differ by as much
        # in all of their numbers. Else it is kept here, by place.
        self._table = None if isinstance(goals, FiledGoals) else goals.table
        self._answers = np.empty(0, dtype=np.int8) if self._table is None else self._table
        self._number, self._shift = np.empty(0, dtype=np.int64), 0
        self._start = np.array([site.enter(int(site.space.encode(codes)))], dtype=np.int64)
        self._look()

    def _look(self) -> None:
        """See what is laid by now."""
        self.laid = self._site.laid
        new = self.laid.codes[len(self._number) :]
        if self._table is None or isinstance(self._goals, FiledGoals):
            self._number = np.arange(len(self.laid), dtype=np.int64)
            self._answers = np.concatenate([self._answers, np.zeros(len(new), dtype=np.int8)])
        else:
            self._number = np.concatenate([self._number, self._goals.number(new)])
            self._shift = int(self._goals.number(self._codes) - self._number[self._start[0]])
        self._said = Said(self._answers, self._number, self._shift)
        self._ground = self.laid.nominal if self._is_nominal else self.laid.ground
        self.scratch, self._count = Scratch(self._ground), 0

    def find(
        self, horizon: int, most: int = 0, *, starts: NDArray[np.int64] | None = None
    ) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
        """Search (see `core.reach.search`); return how many states are found, which are undecided, which are bare."""
        clear(self.scratch, self._count)
        starts = self._start if starts is None else starts
        self._count, doubts, bare = search(self._ground, self._own, self._said, starts, horizon, most, self.scratch)
        undecided = np.sort(np.asarray(self.scratch.unknown)[:doubts]) if doubts else _NOWHERE
        return self._count, undecided, np.sort(np.asarray(self.scratch.bare)[:bare]) if bare else _NOWHERE

    def answers(self, places: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return what is known of goals at these places: YES, NO or UNKNOWN."""
        return self._answers[self._number[places] + self._shift]

    def ask(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Have some states decided, in one go; return which are goals."""
        codes = self.laid.codes[places]
        codes[:, self._constant] = self._codes[self._constant]
        goal = self._goals.among(codes)
        self.tell(places, goal)
        return goal

    def tell(self, places: NDArray[np.int64], goal: NDArray[np.bool_]) -> None:
        """Note which of some states are goals."""
        if self._table is None:
            self._answers[places] = np.where(goal, YES, NO)

    def lay(self, bare: NDArray[np.int64]) -> None:
        """Have ground laid where it is missing."""
        self._site.lay(bare)
        self._look()

    def step(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where one step leads from some places that are no goals, and give up the ground in between."""
        self.lay(places)
        count, _, _ = self.find(1, starts=places)
        self._site.forget()
        return np.asarray(self.scratch.found)[len(places) : count]

    def take(self) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
        """Return what was found last, as `take_part`."""
        return take_part(self._ground, self._own, self._said, self._count, self.scratch)


def find_priced(problem: Problem) -> NDArray[np.uint8]:
    """Return [action, outcome] whether an outcome has a cost of its own, which a personal cost does not replace."""
    most = max((len(action.outcomes) for action in problem.actions), default=0)
    table = np.zeros((len(problem.actions), most + 1), dtype=np.uint8)  # and one that an action may fail with
    for number, action in enumerate(problem.actions):
        table[number, : len(action.outcomes)] = [outcome.cost is not None for outcome in action.outcomes]
    return table


# --------------------------------------------------------------------------------------------------------------- taking


class Slice(NamedTuple, Generic[Kind]):
    """A part of an MDP, and which states of the whole it has."""

    mdp: Kind
    states: NDArray[np.int64]


def restrict(mdp: Kind, start: Record | int | None = None, *, goal: NDArray[np.bool_] | None = None) -> Slice[Kind]:
    """Return what can be reached from a state within the horizon: as `compile_mdp(start=...)`, without asking anybody.

    With `goal`, an MDP that was compiled without goals gets these.
    """
    origin = mdp.locate_start(start)
    if goal is None and len(mdp.starts) == 1:  # then it is that already
        return Slice(mdp, np.arange(mdp.n_states, dtype=np.int64))
    return restrict_to(mdp, np.array([origin], dtype=np.int64), goal=goal)


def restrict_to(
    mdp: Kind, starts: NDArray[np.int64], *, goal: NDArray[np.bool_] | None = None, **changes: Any
) -> Slice[Kind]:
    """Return the same from any of several states, in which alone runs then begin; what is met last does nothing."""
    goal = mdp.goal if goal is None else goal
    states, arrays = take_reached(ground_of(mdp), goal, starts, mdp.horizon)
    return Slice(replace(mdp, **(arrays | dict(mdp.keep(states)) | changes)), states)


@once_per_mdp
def ground_of(mdp: MDP) -> Ground:
    """Return an MDP as ground: of its rows, whoever may do their action is offered all."""
    index = np.arange(mdp.n_states, dtype=np.int64)
    return Ground(index, mdp.row_start[:-1], mdp.row_start[1:], mdp.row_action, mdp.edge_start, *_list_edges(mdp))


def _list_edges(mdp: MDP) -> tuple[NDArray[Any], ...]:
    """Return the `edges` of an MDP as those of ground."""
    whole = priced = np.ones(mdp.n_edges, dtype=np.uint8)
    if isinstance(mdp, CompiledMDP):
        priced = find_priced(mdp.problem)[mdp.row_action[mdp.edge_row], mdp.edge_outcome]
    chances = mdp.edge_chance, mdp.edge_low, mdp.edge_high
    return mdp.edge_next, *chances, mdp.edge_cost, mdp.edge_outcome, whole, whole, priced


def take_reached(
    ground: Ground, goal: NDArray[np.bool_], starts: NDArray[np.int64], horizon: int
) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
    """Return, as `take_part`, what is reached from any of several places, where it is known which are goals."""
    said, scratch = Said(goal.astype(np.int8) + NO, np.arange(len(goal), dtype=np.int64), 0), Scratch(ground)
    return take_part(ground, AS_EVER, said, search(ground, AS_EVER, said, starts, horizon, 0, scratch)[0], scratch)


def take_part(
    ground: Ground, own: Personal, said: Said, count: int, scratch: Scratch
) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
    """Return the places of what a search found, in the order of their states, and the arrays of an MDP of them."""
    part = gather(ground, own, said, count, scratch)
    arrays = {name: np.asarray(getattr(part, name)) for name in _PARTS.split()}
    if not part.has_intervals:  # then nothing is kept twice
        arrays |= dict.fromkeys(("edge_low", "edge_high"), arrays["edge_chance"])
    return np.asarray(part.place), arrays | {"goal": arrays["goal"].view(np.bool_)}
