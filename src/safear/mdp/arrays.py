"""`MDP`: a compiled recourse problem as arrays.

States have rows (an action that is offered there), rows have edges (an outcome with its chance, cost and next state)::

    state s  ->  rows   row_start[s] : row_start[s + 1],    row_action[row]
    row r    ->  edges  edge_start[r] : edge_start[r + 1],  edge_next, edge_chance, edge_cost, edge_outcome

Goal states have no rows: the run is over. Costs are whole numbers of `quantum`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safear.errors import PersonError
from safear.mdp.space import StateSpace, person_codes
from safear.problem.model import Problem, Record
from safear.problem.person import read_person


def stretches(start: NDArray[np.int64], which: NDArray[np.int64]) -> NDArray[np.int64]:
    """start[i], ..., start[i + 1] - 1 for each i of `which`, one after the other: edges of rows, or rows of states."""
    counts = start[which + 1] - start[which]
    before = np.cumsum(counts) - counts
    every: NDArray[np.int64] = np.arange(int(counts.sum())) + np.repeat(start[which] - before, counts)
    return every


@dataclass(frozen=True, eq=False, repr=False)
class MDP:
    """A finite-horizon Markov decision process with costs on its edges.

    `states` are sorted indices of `space`. If it was compiled from one person, `start` is their state and `depth[s]`
    the least number of steps to s; what happens at s before that step is not part of the MDP.
    """

    horizon: int
    goal: NDArray[np.bool_]
    row_start: NDArray[np.int64]
    row_action: NDArray[np.uint8]
    edge_start: NDArray[np.int64]
    edge_next: NDArray[np.int64]
    edge_chance: NDArray[np.float64]
    edge_cost: NDArray[np.int64]
    edge_outcome: NDArray[np.uint8]
    actions: tuple[str, ...]
    failure_cost: int = 0
    quantum: Fraction = Fraction(1)
    cost_error: Fraction = Fraction(0)
    start: int | None = None
    states: NDArray[np.int64] | None = None
    depth: NDArray[np.int16] | None = None
    space: StateSpace | None = None
    problem: Problem | None = None

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.goal)

    @property
    def n_rows(self) -> int:
        """The number of pairs of a state and an action that is offered there."""
        return len(self.row_action)

    @property
    def n_edges(self) -> int:
        """The number of outcomes of all rows."""
        return len(self.edge_next)

    @cached_property
    def row_state(self) -> NDArray[np.int64]:
        """The state of each row."""
        return np.repeat(np.arange(self.n_states), np.diff(self.row_start))

    @cached_property
    def edge_row(self) -> NDArray[np.int64]:
        """The row of each edge."""
        return np.repeat(np.arange(self.n_rows), np.diff(self.edge_start))

    @cached_property
    def dead_end(self) -> NDArray[np.bool_]:
        """States that are no goal and offer no action: the run ends there as a failure."""
        return ~self.goal & np.equal(np.diff(self.row_start), 0)

    def works(self, edge: int) -> bool:
        """Whether an edge counts as its action having worked: the first outcome does if no problem says more."""
        outcome = int(self.edge_outcome[edge])
        if self.problem is None:
            return outcome == 0
        return self.problem.actions[int(self.row_action[self.edge_row[edge]])].works(outcome)

    @property
    def unit(self) -> str:
        """What costs are counted in."""
        return "units" if self.problem is None else self.problem.cost_unit

    def to_cost(self, units: int) -> float:
        """Quanta as a cost in the problem's unit."""
        return float(units * self.quantum)

    def locate(self, person: Record | int | None = None) -> int:
        """The number of a person's state in this MDP; None is the person it was compiled for."""
        if isinstance(person, int | np.integer):
            if not 0 <= person < self.n_states:
                raise PersonError.at((), f"there is no state {person}; the MDP has {self.n_states}")
            return int(person)
        if person is None:
            if self.start is None:
                raise PersonError.at((), "no person is given", "give start=..., or compile the MDP from one person")
            return self.start
        if self.problem is None or self.space is None or self.states is None:
            raise PersonError.at((), "this MDP was not compiled from a problem", "give the number of the state")
        codes = person_codes(self.problem.features, read_person(self.problem, person))
        if self.space.contains(codes):
            index = int(self.space.encode(codes[None, :])[0])
            position = int(np.searchsorted(self.states, index))
            if position < self.n_states and self.states[position] == index:
                return position
        raise PersonError.at((), "this person is not in the MDP", "compile it with start=person")

    def locate_start(self, person: Record | int | None = None) -> int:
        """Like `locate`, for a state in which a run may begin: at step 0, not only later."""
        state = self.locate(person)
        if self.depth is not None and self.depth[state] > 0:
            cause = "this MDP was compiled from another person, who gets to this state only later"
            raise PersonError.at((), cause, "compile it with start=person")
        return state

    def __repr__(self) -> str:
        parts = f"{self.n_states:,} states, {self.n_rows:,} rows, {self.n_edges:,} edges"
        return f"MDP({parts}, {int(self.goal.sum()):,} goals, horizon {self.horizon})"

    def person(self, state: int) -> dict[str, str]:
        """The level names of a state."""
        if self.space is None or self.states is None:
            raise PersonError.at((), "this MDP was not compiled from a problem")
        return self.space.person(int(self.states[state]))
