"""`MDP`: a recourse problem as arrays.

States have rows (an action that is offered there), rows have edges (an outcome with its chance, cost and next state)::

    state s  ->  rows   row_start[s] : row_start[s + 1],    row_action[row]
    row r    ->  edges  edge_start[r] : edge_start[r + 1],  edge_next, edge_chance, edge_cost, edge_outcome

The chances of a row may be any between `edge_low` and `edge_high` that add up to 1; `edge_chance` are the nominal ones.
An edge is possible if its `edge_high` is above 0, even where nominally it never happens.

Goal states have no rows: the run is over. Costs are whole numbers of `quantum`. What the states and outcomes mean, a
`CompiledMDP` knows; arrays made by hand give the plainest answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from safear.arguments import ArgumentKind
from safear.core.arrays import Arrays
from safear.core.sweeps import Ranges, count_steps
from safear.errors import MDPError, Mistake, PersonError, mistake
from safear.problem.glossary import NO_LABELS, Glossary
from safear.problem.model import MAX_ACTIONS, Feature, Outcome, Record

Settings = ParamSpec("Settings")
Found = TypeVar("Found")
# The type of each array, and of what it has one entry, or so many more; loops take the first seven, in this order.
_KINDS: dict[str, tuple[type[np.generic], str, int]] = {
    "row_start": (np.int64, "states", 1),
    "row_action": (np.uint8, "rows", 0),
    "edge_start": (np.int64, "rows", 1),
    "edge_next": (np.int64, "edges", 0),
    "edge_chance": (np.float64, "edges", 0),
    "edge_cost": (np.int64, "edges", 0),
    "edge_outcome": (np.uint8, "edges", 0),
    "edge_low": (np.float64, "edges", 0),
    "edge_high": (np.float64, "edges", 0),
    "goal": (np.bool_, "states", 0),
    "depth": (np.int16, "states", 0),
}
MOST_UNITS = 2**63 - 2  # that a run may cost, a failure included; one more says that there is no run
_EXACTLY: NDArray[np.float64] = np.empty(0)  # stands for the chances themselves


def stretches(start: NDArray[np.int64], which: NDArray[np.int64]) -> NDArray[np.int64]:
    """start[i], ..., start[i + 1] - 1 for each i of `which`, one after the other: edges of rows, or rows of states."""
    first, counts = start[which], start[which + 1] - start[which]
    before = np.cumsum(counts) - counts
    every: NDArray[np.int64] = np.arange(int(counts.sum())) + np.repeat(first - before, counts)
    return every


@dataclass(frozen=True, eq=False, repr=False)
class MDP:
    """A finite-horizon Markov decision process with costs on its edges.

    `depth[s]` is the least number of steps in which a run reaches s: 0 where a run may start. What would happen at s
    before that step is not part of the MDP. Without `edge_low` and `edge_high` no chance is an
    interval. With `stops`, a plan does nothing where no goal can be reached in the steps that are left (see `acting`).
    Arrays are kept as loops take them: contiguous, in their types.
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
    depth: NDArray[np.int16]
    actions: tuple[str, ...]
    failure_cost: int = 0
    quantum: Fraction = Fraction(1)
    cost_error: Fraction = Fraction(0)
    stops: bool = False
    edge_low: NDArray[np.float64] = field(default_factory=lambda: _EXACTLY)
    edge_high: NDArray[np.float64] = field(default_factory=lambda: _EXACTLY)

    def __post_init__(self) -> None:
        chance = self.edge_chance
        for name, (kind, _, _) in _KINDS.items():
            given = getattr(self, name)
            if name in ("edge_low", "edge_high") and (given is _EXACTLY or given is chance):
                given = made = self.edge_chance  # nothing is kept twice
            else:
                made = np.ascontiguousarray(given, kind)
            if made is not given and not np.array_equal(made, given, equal_nan=kind is np.float64):
                raise MDPError.at((name,), f"has values that {np.dtype(kind)} does not have", code="wrong_type")
            object.__setattr__(self, name, made)
        mistakes = list(self._find_wrong_lengths()) or list(self._find_wrong_indices())
        if mistakes:
            raise MDPError(mistakes)

    def _find_wrong_lengths(self) -> Iterator[Mistake]:
        counts = {"states": self.n_states, "rows": self.n_rows, "edges": self.n_edges}
        for name, (_, what, more) in _KINDS.items():
            shape, count = getattr(self, name).shape, counts[what]
            if shape != (count + more,):
                cause = f"has length {' x '.join(map(str, shape))}, not {count + more}"
                remedy = f"give one entry for each of the {what}{', and one more' if more else ''}"
                yield mistake((name,), cause, remedy, code="wrong_length")

    def _find_wrong_indices(self) -> Iterator[Mistake]:
        """Yield what would lead loops beyond an array, since they check no index, or is more than a number can tell."""
        for name, total in (("row_start", self.n_rows), ("edge_start", self.n_edges)):
            pointers = getattr(self, name)
            if pointers[0] != 0 or pointers[-1] != total or np.count_nonzero(pointers[1:] < pointers[:-1]):
                yield mistake((name,), f"should increase from 0 to {total}", code="not_ascending")
        yield from first_wrong(
            "edge_start", self.edge_start[1:] == self.edge_start[:-1], "a row without an edge", "empty"
        )
        many = self.row_start[1:] - self.row_start[:-1] > MAX_ACTIONS
        yield from first_wrong("row_start", many, f"a state with more than {MAX_ACTIONS} rows", "too_many")
        no_state = self.edge_next.view(np.uint64) >= self.n_states  # also below 0
        yield from first_wrong("edge_next", no_state, f"is not a state from 0 to {self.n_states - 1}")
        yield from first_wrong("row_action", self.row_action >= len(self.actions), "is not an action")
        yield from first_wrong("edge_cost", self.edge_cost < 0, "is negative")
        largest = int(self.edge_cost.max(initial=0))
        if int(self.horizon) * largest + int(self.failure_cost) > MOST_UNITS:
            cause = f"up to {largest:,} per step, and {self.failure_cost:,} for a failure, are too much to add up"
            remedy = f"use a coarser quantum: a run may cost {MOST_UNITS:,} quanta at most"
            yield mistake(("edge_cost",), cause, remedy, code="too_fine")

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
    def arrays(self) -> Arrays:
        """The arrays as loops of the core take them."""
        return Arrays(*(getattr(self, name) for name in list(_KINDS)[:7]))

    @cached_property
    def has_intervals(self) -> bool:
        """Whether the chance of any edge is an interval."""
        return bool((self.edge_low < self.edge_high).any())

    def ranges(self, *, robust: bool = True) -> Ranges:
        """Bounds of all chances, or else the nominal ones; with room for one loop at a time."""
        low, high = (self.edge_low, self.edge_high) if robust else (self.edge_chance, self.edge_chance)
        return Ranges(low, high, int(np.diff(self.edge_start).max(initial=2)))

    @cached_property
    def row_state(self) -> NDArray[np.int64]:
        """The state of each row."""
        return np.repeat(np.arange(self.n_states, dtype=np.int64), np.diff(self.row_start))

    @cached_property
    def edge_row(self) -> NDArray[np.int64]:
        """The row of each edge."""
        return np.repeat(np.arange(self.n_rows, dtype=np.int64), np.diff(self.edge_start))

    @cached_property
    def dead_end(self) -> NDArray[np.bool_]:
        """States that are no goal and offer no action: the run ends there as a failure."""
        return ~self.goal & np.equal(np.diff(self.row_start), 0)

    @cached_property
    def steps_to_goal(self) -> NDArray[np.int64]:
        """The fewest steps in which a goal may be reached from each state; horizon + 1 if none can be."""
        return count_steps(self.arrays, self.goal[:, None].view(np.uint8), self.horizon)[:, 0].astype(np.int64)

    @cached_property
    def late(self) -> NDArray[np.int64]:
        """The step from which on nothing is done in each state: no action, or, if plans stop, no goal in time."""
        last = np.where(np.diff(self.row_start) > 0, self.horizon, 0)
        return (np.minimum(last, self.horizon + 1 - self.steps_to_goal) if self.stops else last).astype(np.int64)

    @cached_property
    def acting(self) -> NDArray[np.bool_]:
        """In which states something is done: [step, state]."""
        return np.less(np.arange(self.horizon)[:, None], self.late)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The states in which a run may begin."""
        return np.flatnonzero(self.depth == 0)

    @cached_property
    def found(self) -> dict[object, Any]:
        """What `once_per_mdp` keeps; a changed copy (`replace`) begins without."""
        return {}

    @property
    def start(self) -> int:
        """The only state in which a run may begin: that of the person for whom the MDP was compiled."""
        if len(self.starts) != 1:
            raise PersonError.at(
                (), "no person is given", "give start=..., or compile the MDP from one person", code="nobody"
            )
        return int(self.starts[0])

    def to_cost(self, units: int) -> float:
        """Quanta as a cost in the problem's unit."""
        return float(units * self.quantum)

    def locate(self, person: Record | int | None = None) -> int:
        """The number of a person's state in this MDP; None is the person it was compiled for."""
        if person is None:
            return self.start
        if not isinstance(person, int | np.integer):
            return self._find(person)
        if not 0 <= person < self.n_states:
            raise PersonError.at((), f"there is no state {person}; the MDP has {self.n_states}", code="unknown_state")
        return int(person)

    def locate_start(self, person: Record | int | None = None) -> int:
        """Like `locate`, for a state in which a run may begin: at step 0, not only later."""
        state = self.locate(person)
        if self.depth[state] > 0:
            cause = "this MDP was compiled from another person, who reaches this state only later"
            raise PersonError.at((), cause, "compile it with start=person", code="not_reached")
        return state

    def __repr__(self) -> str:
        parts = f"{self.n_states:,} states, {self.n_rows:,} rows, {self.n_edges:,} edges"
        return f"MDP({parts}, {int(self.goal.sum()):,} goals, horizon {self.horizon})"

    # ------------------------------------------------------------------------- what a `CompiledMDP` knows more about

    @property
    def record(self) -> Record | None:
        """The record that it was compiled for, as filed."""
        return None

    @property
    def unit(self) -> str:
        """What costs are counted in."""
        return "units"

    @property
    def glossary(self) -> Glossary:
        """What people read instead of names: nothing else here."""
        return NO_LABELS

    @property
    def goal_name(self) -> str | None:
        """What the person wants, in the problem's words, if it has any."""
        return None

    def person(self, state: int) -> dict[str, str]:
        """The level names of a state."""
        return {"state": str(state)}

    def shown_person(self, state: int) -> dict[str, str]:
        """The same without what is hidden."""
        return self.person(state)

    @property
    def features(self) -> tuple[Feature, ...]:
        """What `codes` are about: here, of being at a goal."""
        return (Feature("goal", "nominal", ("no", "yes")),)

    def codes(self, states: NDArray[np.int64]) -> NDArray[np.int16]:
        """The level number of each feature [state, feature]."""
        return self.goal[states, None].astype(np.int16)

    def distance(self, one: NDArray[np.int64], other: NDArray[np.int64], *, ordered: bool) -> NDArray[np.int64]:
        """How far states are apart: the number of features that differ or, if `ordered`, of levels between them.

        Features without an order count 1 if they differ; hidden ones do not count.
        """
        difference = np.abs(self.codes(one).astype(np.int64) - self.codes(other))
        counts_levels = np.array([ordered and feature.is_ordered for feature in self.features], dtype=bool)
        shown = np.array([not feature.hidden for feature in self.features], dtype=bool)
        total: NDArray[np.int64] = np.where(counts_levels, difference, np.minimum(difference, 1))[:, shown].sum(axis=1)
        return total

    def outcome(self, edge: int) -> Outcome:
        """What an edge stands for."""
        del edge
        return Outcome()

    def __getstate__(self) -> dict[str, object]:
        """What is sent to another process: the fields alone, without what was worked out from them."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def works(self, edge: int) -> bool:
        """Whether an edge counts as its action having worked."""
        return bool(self.working[edge])

    @cached_property
    def working(self) -> NDArray[np.bool_]:
        """Of each edge, whether it does."""
        found: NDArray[np.bool_] = self.edge_outcome == 0
        return found

    def _find(self, person: Record) -> int:
        del person
        raise PersonError.at(
            (), "this MDP was not compiled from a problem", "give the number of the state", code="not_compiled"
        )

    def keep(self, states: NDArray[np.int64]) -> Mapping[str, Any]:
        """The fields that a part with these states has besides those of every MDP (see `slices`)."""
        del states
        return {}


def first_wrong(name: str, wrong: NDArray[np.bool_], cause: str, code: str = "out_of_range") -> Iterator[Mistake]:
    """Yield a mistake at the first entry that is wrong, if there is one."""
    if count := np.count_nonzero(wrong):  # on a few entries ten times as fast as wrong.any()
        more = f" ({count} in all)" if count > 1 else ""
        yield mistake((name, int(np.argmax(wrong))), f"{cause}{more}", code=code)


def once_per_mdp(function: Callable[Concatenate[MDP, Settings], Found]) -> Callable[Concatenate[MDP, Settings], Found]:
    """Keep what a function finds for an MDP and its settings, as long as the MDP lives; nobody may change it."""

    @wraps(function)
    def find(mdp: MDP, /, *args: Settings.args, **options: Settings.kwargs) -> Found:
        key = (function, args, tuple(options.items()))
        if key not in mdp.found:
            mdp.found[key] = function(mdp, *args, **options)
        found: Found = mdp.found[key]
        return found

    return find


ARRAYS = ArgumentKind("an MDP", "use compile_mdp(problem)", (MDP,), error=MDPError)
