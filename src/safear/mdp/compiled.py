"""`CompiledMDP`: the arrays of an MDP with the problem that they were compiled from, so that numbers have names.

`check_mdp` says whether arrays are an MDP, for those who build or change one by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safear.errors import MDPError, Mistake, PersonError, mistake
from safear.mdp.arrays import MDP, first_wrong
from safear.mdp.filed_goals import FiledGoals
from safear.mdp.goals import Goals
from safear.mdp.lattice import Lattice
from safear.mdp.space import CodeMatrix, StateArray, StateSpace, person_codes
from safear.problem.glossary import Glossary
from safear.problem.model import Action, Feature, Outcome, Problem, Record
from safear.problem.person import read_person
from safear.problem.quantity_checks import TOLERANCE

_BYTES_PER_EDGE = 160  # arrays of the result and those of the way there, measured
_BYTES_PER_STATE = 120


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CompiledMDP(MDP):
    """An MDP whose states are those of a problem: `states` are their indices in `space`, rising.

    `goals` is who said which of them are goals; `record` is the person for whom it was compiled, as filed.
    """

    problem: Problem
    space: StateSpace
    states: StateArray
    goals: Goals | FiledGoals
    record: Record | None = None

    @property
    def unit(self) -> str:
        """What costs are counted in."""
        return self.problem.cost_unit

    @property
    def glossary(self) -> Glossary:
        """What people read instead of the problem's names."""
        return self.problem.glossary

    @property
    def goal_name(self) -> str | None:
        """What the person wants, in the problem's words, if it has any."""
        return self.problem.goal.favourable

    def person(self, state: int) -> dict[str, str]:
        """The level names of a state."""
        return self.space.person(int(self.states[state]))

    def shown_person(self, state: int) -> dict[str, str]:
        """The same without what is hidden."""
        return self.problem.shown(self.person(state))

    @property
    def features(self) -> tuple[Feature, ...]:
        """The problem's."""
        return self.problem.features

    def codes(self, states: NDArray[np.int64]) -> CodeMatrix:
        """The level number of each feature [state, feature]."""
        return self.space.decode(self.states[states])

    def positions(self, codes: CodeMatrix) -> NDArray[np.int64]:
        """The states with these level numbers, which must be among them."""
        return np.searchsorted(self.states, self.space.encode(codes))

    def outcome(self, edge: int) -> Outcome:
        """The outcome as the problem has it."""
        return self._action(edge).outcomes[int(self.edge_outcome[edge])]

    @cached_property
    def working(self) -> NDArray[np.bool_]:
        """Of each edge, whether it does."""
        found: NDArray[np.bool_] = self.edge_outcome == 0
        for number, action in enumerate(self.problem.actions):
            for outcome, stated in enumerate(action.outcomes):
                if stated.works is not None:
                    found[(self.row_action[self.edge_row] == number) & (self.edge_outcome == outcome)] = stated.works
        return found

    def _action(self, edge: int) -> Action:
        return self.problem.actions[int(self.row_action[self.edge_row[edge]])]

    def _find(self, person: Record) -> int:
        codes = person_codes(self.problem.features, read_person(self.problem, person))
        if self.space.contains(codes):
            index = int(self.space.encode(codes))
            position = int(np.searchsorted(self.states, index))
            if position < self.n_states and self.states[position] == index:
                return position
        raise PersonError.at((), "this person is not in the MDP", "compile it with start=person", code="not_reached")

    def keep(self, states: NDArray[np.int64]) -> Mapping[str, Any]:
        """Their indices."""
        return {"states": self.states[states]}


def common_fields(problem: Problem, lattice: Lattice) -> dict[str, Any]:
    """Return what every MDP of a problem has, whatever its states."""
    return {
        "problem": problem,
        "horizon": problem.horizon,
        "actions": tuple(action.name for action in problem.actions),
        "failure_cost": lattice.units(problem.goal.failure_cost),
        "quantum": lattice.quantum,
        "cost_error": lattice.error,
        "stops": problem.goal.stop,
    }


def count_bytes(problem: Problem) -> int:
    """Return how many bytes compiling takes for each state, about."""
    return _BYTES_PER_STATE + _BYTES_PER_EDGE * sum(len(action.outcomes) for action in problem.actions)


def check_mdp(mdp: MDP) -> None:
    """Raise an MDPError with everything that is wrong with an MDP; return None if it is sound.

    Checked: a horizon, chances in [0, 1] that add up to 1, intervals that hold them and leave each edge possible, no
    rows at goals, an action at most once per state, sorted states, and a start for runs. An MDP with wrong lengths or
    indices cannot be made to begin with.
    """
    if mistakes := list(_check_content(mdp)):
        raise MDPError(mistakes)


def _check_content(mdp: MDP) -> Iterator[Mistake]:
    if mdp.horizon < 1:
        yield mistake(("horizon",), f"{mdp.horizon} is not positive", code="out_of_range")
    yield from first_wrong(
        "edge_chance", ~((mdp.edge_chance >= 0) & (mdp.edge_chance <= 1 + TOLERANCE)), "is not in [0, 1]"
    )
    yield from first_wrong(
        "edge_low", ~((mdp.edge_low >= 0) & (mdp.edge_low <= mdp.edge_chance)), "is not in [0, chance]"
    )
    yield from first_wrong(
        "edge_high",
        ~((mdp.edge_high >= mdp.edge_chance) & (mdp.edge_high <= 1 + TOLERANCE) & (mdp.edge_high > 0)),
        "is not in [chance, 1], or not above 0",
    )
    sums = np.bincount(mdp.edge_row, weights=mdp.edge_chance, minlength=mdp.n_rows)
    yield from first_wrong("row", np.abs(sums - 1) > TOLERANCE, "has chances that do not add up to 1", "sum_of_chances")
    if (np.diff(mdp.row_start)[mdp.goal] > 0).any():
        yield mistake(("goal",), "a goal state has actions", code="goal_with_actions")
    same_state = np.diff(mdp.row_state) == 0
    yield from first_wrong(
        "row_action", same_state & (np.diff(mdp.row_action.astype(int)) <= 0), "is out of order", "not_ascending"
    )
    if mdp.failure_cost < 0:
        yield mistake(("failure_cost",), f"{mdp.failure_cost} is negative", code="out_of_range")
    if isinstance(mdp, CompiledMDP) and (len(mdp.states) != mdp.n_states or (np.diff(mdp.states) <= 0).any()):
        yield mistake(("states",), f"should increase, one for each of {mdp.n_states}", code="not_ascending")
    yield from first_wrong("depth", mdp.depth < 0, "is negative")
    if mdp.n_states and not len(mdp.starts):
        yield mistake(("depth",), "is 0 nowhere, so no run can start", code="no_start")
    if not mdp.quantum > 0:
        yield mistake(("quantum",), f"{mdp.quantum} is not positive", code="out_of_range")
