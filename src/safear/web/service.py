"""What the pages and the API ask: decisions, menus, single plans. It keeps what is the same for everybody warm.

Nothing that a person sends is kept. What the classifier says is remembered only where all of it is asked beforehand,
so that what is remembered tells nothing about who came.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from safear.classifier.adapters import as_classifier
from safear.classifier.protocol import Classifier
from safear.errors import NoRecourseError
from safear.mdp.compile import Compiler
from safear.mdp.goals import BATCH, Goals
from safear.mdp.lattice import find_lattice
from safear.mdp.space import person_codes
from safear.problem.model import Person, Problem, Record
from safear.problem.person import read_person
from safear.problem.terms import Terms, apply_terms
from safear.recourse.frontier import SAME_SUCCESS
from safear.recourse.menu import Case, Menu, decide, make_menu, require_recourse
from safear.recourse.offer import TAIL, Offer, make_offer
from safear.recourse.walk import WalkError
from safear.risk.objectives import MeanCVaR, Objective, SuccessFirst
from safear.solvers.solve import solve
from safear.web.work import Deadline

if TYPE_CHECKING:
    import pandas as pd

ASKED_BEFOREHAND = 1_000_000  # inputs up to which the classifier is asked about all of them at the start
MAX_STATES = 200_000  # that one person may reach; more would take longer than anybody waits for a page
MAX_BYTES = 2**30
NO_TERMS = Terms()


@dataclass(frozen=True, slots=True)
class Decision:
    """What the classifier says of a person, read as levels."""

    person: Person
    favourable: bool
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Answer:
    """A menu, and why it has no plans if no plan reaches the goal."""

    menu: Menu
    no_recourse: NoRecourseError | None = None


@dataclass(frozen=True, eq=False)
class Service:
    """Answers for one problem and one classifier; `people` are those whom the analyst looks at, if there are any."""

    problem: Problem
    classifier: Classifier
    goals: Goals | None
    people: str | pd.DataFrame | None = None

    @classmethod
    def of(cls, problem: Problem, classifier: object = None, *, people: str | pd.DataFrame | None = None) -> Service:
        """For a problem and whatever `as_classifier` takes. Mistakes in the problem are raised."""
        decider = as_classifier(classifier, problem)
        goals = Compiler.of(problem, decider).goals
        sizes = [len(feature.levels) for feature in problem.features if feature.seen_by_classifier]
        if math.prod(sizes) > ASKED_BEFOREHAND:
            return cls(problem, decider, None, people)
        deque(_ask_everything(problem, goals), maxlen=0)
        return cls(problem, decider, goals, people)

    def decide(self, record: Record) -> Decision:
        """The decision on a person."""
        person = read_person(self.problem, record)
        on_levels = bool(self._goals().among(person_codes(self.problem.features, person)[None, :])[0])
        try:
            favourable, notices = decide(self.problem, self.classifier, record, on_levels=on_levels)
        except NoRecourseError as error:  # the numbers are rejected, their levels are not: no plan, but a decision
            return Decision(person, favourable=False, warnings=(str(error),))
        return Decision(person, favourable, tuple(map(str, notices)))

    def answer(self, record: Record, terms: Terms = NO_TERMS, *, deadline: Deadline, level: float = TAIL) -> Answer:
        """The menu of a person, or why there is none."""
        problem = apply_terms(self.problem, terms)
        try:
            case = self._prepare(problem, record)
            return Answer(make_menu(case, level=level, progress=deadline.check_progress))
        except NoRecourseError as error:
            return Answer(Menu(problem, read_person(problem, record), favourable=False, offers=()), error)

    def plan(self, record: Record, objective: Objective, terms: Terms = NO_TERMS, *, deadline: Deadline) -> Offer:
        """The plan for an objective as a menu names it. A WalkError if the decision is favourable already."""
        case = self._prepare(apply_terms(self.problem, terms), record)
        if case.favourable:
            raise WalkError.at(("person",), "the decision is favourable already: there is nothing to do")
        deadline.check()
        solution = solve(case.mdp, _as_in_menus(objective, case.problem), progress=deadline.check_progress)
        return make_offer(solution)

    def _prepare(self, problem: Problem, record: Record) -> Case:
        """Compile what the person can reach, and decide; NoRecourseError if there is no way."""
        person = read_person(problem, record)
        compiler = Compiler(problem, self._goals(), find_lattice(problem))
        mdp = compiler.reachable(person, MAX_STATES, MAX_BYTES)
        favourable, notices = decide(problem, self.classifier, record, on_levels=bool(mdp.goal[mdp.locate()]))
        if not favourable:
            require_recourse(mdp)
        return Case(problem, person, mdp, favourable, notices)

    def _goals(self) -> Goals:
        return Goals(self.problem, self.classifier) if self.goals is None else self.goals

    def share_accepted(self) -> float | None:
        """Which share of all inputs that there are the classifier accepts; None if there are too many to ask."""
        if self.goals is None:
            return None
        return float(np.mean(np.concatenate(list(_ask_everything(self.problem, self.goals)))))

    def warm_up(self) -> None:
        """Answer once for each named person, so that the first who comes does not wait for what is loaded lazily."""
        for record in self.problem.people.values():
            for offer in self.answer(record, deadline=Deadline.never()).menu:
                offer.plan, offer.traces  # noqa: B018  # worked out when first asked for


def _as_in_menus(objective: Objective, problem: Problem) -> Objective:
    """The text of an objective does not hold the share of success that the plans of a frontier may give away."""
    match objective:
        case SuccessFirst(MeanCVaR() as then):
            return SuccessFirst(then, SAME_SUCCESS / problem.horizon)
        case _:
            return objective


def _ask_everything(problem: Problem, goals: Goals) -> Iterator[NDArray[np.bool_]]:
    """What the classifier says of every input that there is, batch by batch."""
    seen = [i for i, feature in enumerate(problem.features) if feature.seen_by_classifier]
    sizes = [len(problem.features[i].levels) for i in seen]
    count = math.prod(sizes)
    for first in range(0, count, BATCH):
        numbers = np.arange(first, min(first + BATCH, count))
        codes = np.zeros((len(numbers), len(problem.features)), dtype=np.int16)
        codes[:, seen] = np.stack(np.unravel_index(numbers, sizes), axis=-1)
        yield goals.among(codes)
