"""From a `Problem` and a classifier to an `MDP`: for one person, for a block, or for the whole space."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safear.arguments import WHOLE, takes
from safear.classifier.adapters import as_classifier
from safear.errors import PersonError, ProblemError, TooLargeError, suggest
from safear.mdp.compiled import CompiledMDP
from safear.mdp.expand import Edges, allowed, expand, join_edges
from safear.mdp.filed_goals import FiledGoals, as_filed
from safear.mdp.goals import Goals
from safear.mdp.lattice import Lattice, find_lattice
from safear.mdp.space import CodeMatrix, StateArray, StateSpace, person_codes
from safear.memory import MAX_BYTES, require_room
from safear.problem.checks import check_problem
from safear.problem.model import Person, Problem, Record, is_missing
from safear.problem.person import as_record, read_level, read_person

MAX_REACHABLE = 2_000_000
SAMPLED = 50_000  # states that are enough to see that a search would go too far
AHEAD = 2_048  # states near a person that a slow classifier is asked about at once
_BYTES_PER_EDGE = 160  # arrays of the result and those of the way there, measured
_BYTES_PER_STATE = 120


@takes(max_states=WHOLE, max_bytes=WHOLE)
def compile_mdp(
    problem: Problem,
    classifier: object = None,
    *,
    start: Record | None = None,
    block: Mapping[str, object] | None = None,
    max_states: int = MAX_REACHABLE,
    max_bytes: int = MAX_BYTES,
) -> CompiledMDP:
    """Compile a problem.

    With `start`, the MDP has only the states that this person can reach within the horizon (at most `max_states`). With
    `block`, it has all states with the same immutable features; of a feature with a limit to how far it may go, those
    of whatever was filed, or of the level that the block gives. With neither, it is the whole space. If that would need
    more than `max_bytes`, it is refused before anything is allocated. `classifier` is whatever `as_classifier` takes;
    None means the problem's own rule.
    """
    if start is not None and block is not None:
        raise PersonError.at((), "both start and block are given", "give one of them", code="both")
    for given in (start, block):
        if isinstance(given, str):
            raise PersonError.at(
                (), f"'{given}' is a name, not a record", f"give problem.people['{given}']", code="wrong_type"
            )
        if given is not None:
            as_record(given)
    compiler = Compiler.of(problem, classifier)
    if start is not None:
        person = read_person(problem, start, given=compiler.goals.sight.given)
        goals = as_filed(compiler.goals, start, person)
        return replace(compiler.reachable(person, max_states, max_bytes, goals=goals), record=start)
    if block is not None:
        return compiler.whole(compiler.fixed_by(block), max_bytes)
    return compiler.whole({}, max_bytes)


@dataclass(frozen=True, slots=True)
class Compiler:
    """A checked problem, who decides, and the lattice of its costs."""

    problem: Problem
    goals: Goals
    lattice: Lattice

    @classmethod
    def of(cls, problem: Problem, classifier: object) -> Compiler:
        """For a problem; its mistakes are raised."""
        mistakes = check_problem(problem)
        if mistakes:
            raise ProblemError(mistakes)
        return cls(problem, Goals(problem, as_classifier(classifier, problem)), find_lattice(problem))

    def fixed_by(self, block: Mapping[str, object]) -> dict[str, int]:
        """The level numbers of the immutable features of a block."""
        immutable = [feature for feature in self.problem.features if not feature.mutable]
        known = self.problem.feature_by_name
        fixed: dict[str, int] = {}
        for feature in immutable:
            name = feature.name
            if feature.copy_of and is_missing(block.get(name)):
                name = feature.copy_of
                if name not in block and not known[name].hidden:  # whatever was filed
                    continue
            if known[name].hidden and is_missing(block.get(name)):  # as records do without it
                fixed[feature.name] = 0
                continue
            if name not in block:
                raise PersonError.at((name,), f"'{name}' is immutable and should be given for a block", code="missing")
            level = read_level(known[name], block[name])
            if level is None:
                raise PersonError.at(
                    (name,),
                    f"'{block[name]}' is not a level of '{name}'",
                    suggest(str(block[name]), feature.levels),
                    code="unknown_level",
                    feature=name,
                    level=str(block[name]),
                )
            fixed[feature.name] = feature.levels.index(level)
        return fixed

    def whole(self, fixed: Mapping[str, int], max_bytes: int) -> CompiledMDP:
        """All states that agree with `fixed`."""
        space, states, codes = find_states(self.problem, fixed, max_bytes)
        goal = self.goals.among(codes) if len(states) else np.empty(0, dtype=bool)
        edges = expand(self.problem, self.lattice, space, states[~goal])
        return self._assemble(space, states, goal, edges, depth=np.zeros(len(states), dtype=np.int16))

    def without_goals(self, fixed: Mapping[str, int], max_bytes: int | None) -> CompiledMDP:
        """The same if nothing were a goal: every state with what can be done there."""
        space, states, _ = find_states(self.problem, fixed, max_bytes)
        edges = expand(self.problem, self.lattice, space, states)
        depth = np.zeros(len(states), dtype=np.int16)
        return self._assemble(space, states, np.zeros(len(states), dtype=bool), edges, depth=depth)

    def of_edges(self, space: StateSpace, states: StateArray, parts: list[Edges]) -> CompiledMDP:
        """The same for some states, rising, and all edges that leave them."""
        nothing = np.zeros(len(states), dtype=bool)
        return self._assemble(space, states, nothing, join_edges(parts), depth=nothing.astype(np.int16))

    def reachable(
        self, start: Person, max_states: int, max_bytes: int, *, goals: Goals | FiledGoals | None = None
    ) -> CompiledMDP:
        """The states within `horizon` steps of a person, breadth first. Goals, or their own `goals`, are not left."""
        goals = self.goals if goals is None else goals
        space = StateSpace(self.problem.features, self.constant_levels(start))
        space.require_indexable()
        frontier = space.encode(person_codes(self.problem.features, start)[None, :])
        search = _Search(self, space, goals)
        states, depth = frontier, np.zeros(1, dtype=np.int16)
        goal = search.find_goals(frontier)
        if goals.is_slow and not goal[0]:
            search.look_ahead(frontier)
        parts: list[Edges] = []
        is_goal = goal
        for step in range(1, self.problem.horizon + 1):
            need = (len(frontier) + len(states)) * self.bytes_per_state
            if need > max_bytes or len(states) > max_states:
                raise _reaches_too_much(len(states), step - 1)
            if len(frontier) > SAMPLED and step < self.problem.horizon:  # what some of them lead to, all do
                some = frontier[~is_goal][:: -(-len(frontier) // SAMPLED)]
                ahead = len(np.setdiff1d(search.expand(some).target, states))
                if len(states) + ahead > max_states or (len(states) + 2 * ahead) * self.bytes_per_state > max_bytes:
                    raise _reaches_too_much(len(states) + ahead, step)
            edges = search.expand(frontier[~is_goal])
            parts.append(edges)
            frontier = np.setdiff1d(edges.target, states)
            if not len(frontier):
                break
            is_goal = search.find_goals(frontier)
            states, goal = np.concatenate([states, frontier]), np.concatenate([goal, is_goal])
            depth = np.concatenate([depth, np.full(len(frontier), step, dtype=np.int16)])
        what = f"the {len(states):,} states that one person can reach"
        require_room(len(states) * self.bytes_per_state, what, max_bytes=max_bytes)
        order = np.argsort(states)
        states = states[order]
        edges = join_edges(parts)
        return self._assemble(space, states, goal[order], edges, depth=depth[order], goals=goals)

    def constant_levels(self, person: Person) -> dict[str, int]:
        """The level numbers of all features that no action and no side effect can change."""
        constant = [f for f in self.problem.features if f.name not in self.problem.changed_features]
        return {feature.name: feature.levels.index(person[feature.name]) for feature in constant}

    @property
    def bytes_per_state(self) -> int:
        """What compiling takes, about."""
        return count_bytes(self.problem)

    def _assemble(
        self,
        space: StateSpace,
        states: StateArray,
        goal: NDArray[np.bool_],
        edges: Edges,
        *,
        depth: NDArray[np.int16],
        goals: Goals | FiledGoals | None = None,
    ) -> CompiledMDP:
        """Sort edges by state, action and outcome, and point rows and states into them."""
        source = np.searchsorted(states, edges.source)
        order = np.lexsort((edges.outcome, edges.action, source))
        source, action = source[order], edges.action[order]
        new_row = np.ones(len(order), dtype=bool)
        new_row[1:] = (np.diff(source) != 0) | (np.diff(action) != 0)
        first_edge = np.flatnonzero(new_row)
        chance = edges.chance[order]
        has_intervals = (edges.low < edges.high).any()  # if there are none, nothing is kept twice
        return CompiledMDP(
            **self.common_fields,
            goal=goal,
            row_start=np.searchsorted(source[first_edge], np.arange(len(states) + 1)),
            row_action=action[first_edge].astype(np.uint8),
            edge_start=np.append(first_edge, len(order)),
            edge_next=np.searchsorted(states, edges.target[order]),
            edge_chance=chance,
            edge_cost=edges.cost[order],
            edge_outcome=edges.outcome[order].astype(np.uint8),
            depth=depth,
            states=states,
            space=space,
            goals=self.goals if goals is None else goals,
            edge_low=edges.low[order] if has_intervals else chance,
            edge_high=edges.high[order] if has_intervals else chance,
        )

    @property
    def common_fields(self) -> dict[str, Any]:
        """What every MDP of the problem has, whatever its states."""
        return {
            "problem": self.problem,
            "horizon": self.problem.horizon,
            "actions": tuple(action.name for action in self.problem.actions),
            "failure_cost": self.lattice.units(self.problem.goal.failure_cost),
            "quantum": self.lattice.quantum,
            "cost_error": self.lattice.error,
            "stops": self.problem.goal.stop,
        }


def find_states(
    problem: Problem, fixed: Mapping[str, int], max_bytes: int | None
) -> tuple[StateSpace, StateArray, CodeMatrix]:
    """Return the space with what is fixed, the states in it that break no constraint, and their level numbers."""
    space = StateSpace(problem.features, fixed)
    _require_room(problem, space, max_bytes)
    states = np.arange(space.size, dtype=np.int64)
    codes = space.decode(states)
    fine = allowed(problem, space.columns(codes), len(states))
    return space, states[fine], codes[fine]


def count_bytes(problem: Problem) -> int:
    """Return how many bytes compiling takes for each state, about."""
    return _BYTES_PER_STATE + _BYTES_PER_EDGE * sum(len(action.outcomes) for action in problem.actions)


def _require_room(problem: Problem, space: StateSpace, max_bytes: int | None) -> None:
    blocks = math.prod(len(f.levels) for f in problem.features if not f.mutable and f.name not in space.fixed)
    what = "block" if space.fixed else "state space"
    remedy = "solve only what one person can reach: start=... in Python, `safear recommend` on the command line"
    if blocks > 1:
        remedy += f", or one of its {blocks:,} blocks at a time with block=... or compile_blocks"
    need = space.size * count_bytes(problem)
    require_room(need, f"the {what} of {space.size:,} states", max_bytes=max_bytes, remedy=remedy)


def _reaches_too_much(states: int, steps: int) -> TooLargeError:
    cause = f"one person can reach {states:,} states in only {steps} steps"
    remedy = (
        "shorten the horizon (--horizon), rule out actions (--forbid), merge levels, or mark what never changes "
        "as 'mutable: false'; in Python, compile_mdp takes a larger max_states"
    )
    return TooLargeError.at((), cause, remedy)


class _Search:
    """A search from one person on. What was found ahead, before anybody asked which states are goals, is kept."""

    def __init__(self, compiler: Compiler, space: StateSpace, goals: Goals | FiledGoals) -> None:
        self._compiler, self._space, self._goals = compiler, space, goals
        self._asked, self._goal = np.empty(0, dtype=np.int64), np.empty(0, dtype=bool)
        self._expanded, self._edges = np.empty(0, dtype=np.int64), join_edges([])

    def look_ahead(self, frontier: StateArray) -> None:
        """Ask about the states nearby in one go, goals or not: a model takes as long for a thousand as for one."""
        near, expanded, parts = frontier, frontier[:0], []
        for _ in range(self._compiler.problem.horizon):
            parts.append(self.expand(frontier))
            expanded = np.concatenate([expanded, frontier])
            frontier = np.setdiff1d(parts[-1].target, near)
            near = np.concatenate([near, frontier])
            if not len(frontier) or len(near) > AHEAD:
                break
        near = np.sort(near[1:AHEAD])  # the first has been asked about
        self._goal = self.find_goals(near)
        self._asked, self._expanded, self._edges = near, np.sort(expanded), join_edges(parts)

    def find_goals(self, states: StateArray) -> NDArray[np.bool_]:
        """Which of the states are goals."""
        known = np.isin(states, self._asked)
        goal = np.empty(len(states), dtype=bool)
        goal[known] = self._goal[np.searchsorted(self._asked, states[known])]
        if not known.all():
            goal[~known] = self._goals.among(self._space.decode(states[~known]))
        return goal

    def expand(self, states: StateArray) -> Edges:
        """All edges that leave the states."""
        known = np.isin(states, self._expanded)
        new = expand(self._compiler.problem, self._compiler.lattice, self._space, states[~known])
        if not known.any():
            return new
        inside = np.isin(self._edges.source, states)
        old = Edges(*(getattr(self._edges, item.name)[inside] for item in fields(Edges)))
        return join_edges([old, new])
