"""The one door to a plan: a record, personal terms and a model make a case, compiled and decided.

Everything else starts from cases: menus, comparisons, audits, batches, the page, the API and the paper.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from safear.arguments import show
from safear.classifier.filed import Filed, Sight
from safear.classifier.protocol import Classifier
from safear.classifier.vouching import needs_vouching, vouch
from safear.errors import PersonError, suggest
from safear.mdp.arrays import MDP
from safear.mdp.compile import Compiler
from safear.mdp.compiled import CompiledMDP
from safear.mdp.filed_goals import FiledGoals, as_filed
from safear.mdp.goals import Goals
from safear.mdp.grounds import MAX_REACHABLE, Grounds
from safear.mdp.lattice import find_lattice
from safear.mdp.space import person_codes
from safear.memory import MAX_BYTES
from safear.people.rows import is_frame, is_person_file, is_table, load_row, only_row
from safear.problem.checks import require_problem
from safear.problem.load import load_person
from safear.problem.model import Person, Problem, Record
from safear.problem.person import read_person
from safear.problem.terms import Terms, apply_terms
from safear.recourse.notices import NoRecourse
from safear.recourse.stuck import OtherNumbers, Reach, find_blocked, find_other_numbers, search_on
from safear.solvers.success import highest_success

if TYPE_CHECKING:
    import pandas as pd

    PersonLike = Record | str | os.PathLike[str] | pd.DataFrame  # a record, a name or file, a data frame of one row


@dataclass(frozen=True, eq=False)
class Decision:
    """What the classifier says about a record as it was filed; `person` has its levels."""

    record: Record
    person: Person
    favourable: bool


@dataclass(frozen=True, eq=False)
class Case:
    """A person's problem, ready to be solved. `desk` is where it was opened: its problem is without their own terms."""

    desk: Desk = field(repr=False)
    problem: Problem
    decision: Decision
    mdp: MDP
    terms: Terms | None = None

    @property
    def original(self) -> Problem:
        """The problem without the person's own terms."""
        return self.desk.problem

    @property
    def person(self) -> Person:
        """The person, a level per feature."""
        return self.decision.person

    @property
    def sight(self) -> Sight:
        """What the classifier sees of the record besides levels."""
        return self.mdp.goals.sight if isinstance(self.mdp, CompiledMDP) else Sight()

    @property
    def favourable(self) -> bool:
        """Whether there is nothing to do."""
        return self.decision.favourable

    @property
    def has_margin(self) -> bool:
        """Whether plans are made for more than the decision in force."""
        return isinstance(self.mdp, CompiledMDP) and self.mdp.goals.in_force is not self.mdp.goals

    @property
    def needs_plan(self) -> bool:
        """Whether the person is rejected and has a way to the goal."""
        return not self.favourable and bool(self.mdp.goal.any()) and not self._has_no_chance

    @cached_property
    def _has_no_chance(self) -> bool:
        """Whether goals can be reached only if intervals are right and nominal chances are not."""
        return self.mdp.has_intervals and self.best_success == 0

    @cached_property
    def reach(self) -> Reach | None:
        """All that a person without a way to the goal can ever come to; None for others. It is searched for once.

        That is by the nominal chances, for which plans are made.
        """
        is_stuck = not self.favourable and not self.needs_plan
        return search_on(self.mdp) if is_stuck and isinstance(self.mdp, CompiledMDP) else None

    @cached_property
    def other_numbers(self) -> OtherNumbers | None:
        """Where else in the levels that they reach somebody without a way to the goal would be accepted."""
        if self.reach is None or not isinstance(self.reach.mdp.goals, FiledGoals):
            return None
        return find_other_numbers(self.reach.mdp.goals, self.reach.codes_in_time)

    @cached_property
    def no_recourse(self) -> NoRecourse | None:
        """Why no plan leads to the goal; None if one does, or none is needed."""
        found = self._find_reason()
        return replace(found, margin=True) if found is not None and self.has_margin else found

    def _find_reason(self) -> NoRecourse | None:
        if self.reach is None:
            return NoRecourse("no_chance", self.problem) if not self.favourable and not self.needs_plan else None
        tried, steps = self.reach.tried, self.reach.goal_in
        if self.mdp.dead_end[self.mdp.locate()]:
            return NoRecourse("no_action", self.problem, blocked=find_blocked(self.problem, self.reach.codes))
        if self.mdp.goal.any() or steps is not None:
            return NoRecourse("no_chance" if self.mdp.goal.any() else "horizon", self.problem, tried, horizon=steps)
        if not self.reach.is_complete:
            return NoRecourse("unknown", self.problem, tried)
        return self._prove(self.reach)

    def _prove(self, reach: Reach) -> NoRecourse:
        """That nothing ever leads to a goal: no outcome that is merely possible does, and no number of a level."""
        if self.problem.has_intervals:
            reach = search_on(reach.mdp, possible=True)
        if reach.goal_in is not None:
            return NoRecourse("no_chance", self.problem, reach.tried)
        others = self.other_numbers
        if others is not None and others.found:
            return NoRecourse("numbers", self.problem, reach.tried)
        is_proof = reach.is_complete and (others is None or others.is_complete)
        return NoRecourse("never" if is_proof else "unknown", self.problem, reach.tried)

    @cached_property
    def best_success(self) -> float:
        """The highest probability of success that any plan has."""
        return highest_success(self.mdp)


@dataclass(frozen=True, eq=False)
class Desk:
    """Opens cases for one problem and one classifier. It checks the problem and reads the classifier once.

    It remembers the classifier's answers for the next person, unless it is `forgetful`, and what actions do, on their
    `grounds`. `max_states` and `max_bytes` limit what one person can reach, `max_seconds` how long it is tried what
    would help those without recourse.
    """

    compiler: Compiler
    grounds: Grounds = field(repr=False)
    max_states: int = MAX_REACHABLE
    max_bytes: int = MAX_BYTES
    forgetful: bool = False
    max_seconds: float = math.inf

    @classmethod
    def of(cls, problem: Problem, classifier: object = None) -> Desk:
        """For a problem and whatever `as_classifier` takes. Raises the mistakes of the problem."""
        require_problem(problem)
        compiler = Compiler.of(problem, classifier)
        return cls(compiler, Grounds.of(problem, compiler.lattice))

    @property
    def problem(self) -> Problem:
        """The problem, without anybody's own terms."""
        return self.compiler.problem

    @property
    def classifier(self) -> Classifier:
        """Who decides."""
        return self.compiler.goals.classifier

    @property
    def sight(self) -> Sight:
        """What the classifier sees of records besides levels."""
        return self.compiler.goals.sight

    @property
    def goals(self) -> Goals:
        """Asks the classifier."""
        known = self.compiler.goals
        return Goals(self.problem, self.classifier, lock=known.lock) if self.forgetful else known

    def with_horizon(self, horizon: int) -> Desk:
        """The same with more or fewer steps."""
        return replace(self.with_problem(self.problem.with_horizon(horizon)), grounds=self.grounds)

    def with_problem(self, problem: Problem) -> Desk:
        """The same classifier for a problem that was changed. What it said is still known if it sees the same."""
        known = self.compiler.goals
        same = problem.features == known.problem.features and problem.goal == known.problem.goal
        goals = known if same else Goals(problem, self.classifier, lock=known.lock)
        compiler = Compiler(problem, goals, find_lattice(problem))
        return replace(self, compiler=compiler, grounds=Grounds.of(problem, compiler.lattice))

    def decide(self, person: PersonLike | None = None) -> Decision:
        """The decision on a person: a record, the name of one of the problem's people, or None for the first."""
        decision, goals = self._read(person)
        self.vouch_for(goals)
        return decision

    def _read(self, person: PersonLike | None) -> tuple[Decision, Goals | FiledGoals]:
        """The decision on a person, and who says which states are goals for them."""
        record, goals = find_record(self.problem, person), self.goals
        levels = read_person(self.problem, record, given=goals.sight.given)
        own = as_filed(goals, record, levels)
        favourable = own.in_force.among(person_codes(self.problem.features, levels)[None, :])
        return Decision(record, levels, bool(favourable[0])), own

    def vouch(self, filed: Filed | None = None) -> None:
        """Make sure that the classifier's answers fit the problem. What it is asked for this, it is asked once."""
        if not needs_vouching(self.classifier):  # nobody waits for those who ask it something else
            return
        with self.compiler.goals.lock:
            vouch(self.classifier, self.problem, filed.given if filed is not None and filed.sight.given else None)

    def vouch_for(self, goals: Goals | FiledGoals) -> None:
        """The same, where one person's goals are known."""
        self.vouch(goals.filed if isinstance(goals, FiledGoals) else None)

    def open(self, person: PersonLike | None = None, *, terms: Terms | None = None) -> Case:
        """The case of a person on their own terms: decided, with what they can reach, and whether a goal is there."""
        problem = self.problem if terms is None else apply_terms(self.problem, terms)
        decision, goals = self._read(person)
        mdp = self.compile(problem, decision, goals)
        self.vouch_for(goals)
        return Case(self, problem, decision, mdp, terms)

    def compile(self, problem: Problem, decision: Decision, goals: Goals | FiledGoals) -> CompiledMDP:
        """What the person of a decision can reach of a problem, this desk's or the same with terms, with these goals.

        All that one person's plans are made with is compiled here, within the limits of the desk.
        """
        lattice = self.compiler.lattice if problem is self.problem else find_lattice(problem)
        limits = {"max_states": self.max_states, "max_bytes": self.max_bytes}
        return self.grounds.reachable(problem, lattice, decision.person, goals=goals, record=decision.record, **limits)


def find_record(problem: Problem, person: PersonLike | None) -> Record:
    """A person as given: by name one of the problem's, None for its first, a file, a record, or a frame of one row."""
    if isinstance(person, str) and person in problem.people:
        return problem.people[person]
    if isinstance(person, os.PathLike):
        person = Path(person)
    if isinstance(person, Path) or (isinstance(person, str) and is_person_file(person)):
        return load_row(person, problem) if is_table(person) else load_person(person, problem)
    if isinstance(person, str):
        cause = f"the problem names no person '{person}'"
        raise PersonError.at(("people",), cause, suggest(person, problem.people), code="unknown_name")
    record = problem.default_person if person is None else person
    if record is None:
        raise PersonError.at((), "no person is given, and the problem names none", code="nobody")
    if not hasattr(record, "keys"):
        remedy = "give a mapping of features to levels, a data frame of one row, a file, or a name"
        raise PersonError.at((), f"{show(record)} is not a person", remedy, code="wrong_type")
    return only_row(record) if is_frame(record) else record
