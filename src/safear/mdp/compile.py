"""From a `Problem` and a classifier to an `MDP`: for one person, for a block, or for the whole space."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safear.arguments import WHOLE, takes
from safear.classifier.adapters import as_classifier
from safear.errors import PersonError, ProblemError, suggest
from safear.mdp.compiled import CompiledMDP, common_fields, count_bytes
from safear.mdp.expand import find_allowed
from safear.mdp.filed_goals import as_filed
from safear.mdp.goals import Goals
from safear.mdp.ground import Site, take_reached
from safear.mdp.grounds import MAX_REACHABLE, Grounds
from safear.mdp.lattice import Lattice, find_lattice
from safear.mdp.space import StateSpace
from safear.memory import MAX_BYTES, require_room
from safear.problem.checks import check_problem
from safear.problem.model import Problem, Record, is_missing
from safear.problem.person import as_record, read_level, read_person


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
        grounds = Grounds.of(problem, compiler.lattice)
        return grounds.reachable(
            problem, compiler.lattice, person, goals=goals, record=start, max_states=max_states, max_bytes=max_bytes
        )
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

    def whole(self, fixed: Mapping[str, int], max_bytes: int | None, *, has_goals: bool = True) -> CompiledMDP:
        """All states that agree with `fixed`; without goals, as if nothing were one: with what can be done there."""
        space = StateSpace(self.problem.features, fixed)
        _require_room(self.problem, space, max_bytes)
        site = Site(self.problem, self.lattice, space)
        places = site.find(find_allowed(self.problem, space))
        goal = self.goals.among(site.laid.codes) if has_goals and len(places) else np.zeros(len(places), dtype=bool)
        site.lay(places[~goal])
        return self.of_site(site, goal)

    def of_site(self, site: Site, goal: NDArray[np.bool_]) -> CompiledMDP:
        """All states of a site, of which some are goals."""
        laid, every = site.laid, np.arange(len(goal), dtype=np.int64)
        places, arrays = take_reached(laid.ground, goal, every, self.problem.horizon)
        fields = common_fields(self.problem, self.lattice) | arrays
        return CompiledMDP(**fields, states=laid.states[places], space=site.space, goals=self.goals)


def _require_room(problem: Problem, space: StateSpace, max_bytes: int | None) -> None:
    blocks = math.prod(len(f.levels) for f in problem.features if not f.mutable and f.name not in space.fixed)
    what = "block" if space.fixed else "state space"
    remedy = "solve only what one person can reach: start=... in Python, `safear recommend` on the command line"
    if blocks > 1:
        remedy += f", or one of its {blocks:,} blocks at a time with block=... or compile_blocks"
    need = space.size * count_bytes(problem)
    require_room(need, f"the {what} of {space.size:,} states", max_bytes=max_bytes, remedy=remedy)
