"""Does a problem make sense as a whole? What `safear check` looks at beyond the words of the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safear.errors import Mistake, Path, mistake
from safear.mdp.arrays import MDP
from safear.mdp.compile import compile_mdp
from safear.mdp.compiled import CompiledMDP
from safear.mdp.lattice import rounds_away
from safear.mdp.space import CodeMatrix, StateSpace, person_codes
from safear.problem.checks import unused_features
from safear.problem.model import Problem
from safear.problem.person import read_person
from safear.recourse.case import Desk
from safear.recourse.check_teller import CheckTeller
from safear.recourse.failure import GivingUp, find_giving_up
from safear.recourse.stuck import WHOLE, Blocked, find_never_offered
from safear.recourse.teller import Teller


@dataclass(frozen=True, slots=True)
class PersonDiagnosis:
    """A named person: their decision, how many states they can reach, and how many goals are among them.

    States that differ in bookkeeping alone count once.
    `giving_up` is set if the plan with the least mean succeeds far less often than the person could.
    """

    name: str
    favourable: bool
    states: int
    goals: int
    giving_up: GivingUp | None = None


@dataclass(frozen=True, slots=True)
class SpaceDiagnosis:
    """All states: how many are accepted, and how many of the others have no way to a goal within the horizon.

    They are those of somebody who has done nothing yet: bookkeeping is where it begins.
    """

    states: int
    goals: int
    without_recourse: int


HintCode = Literal["unused_feature", "free_failure", "intervals", "guesses", "never_offered", "rounded_away"]


@dataclass(frozen=True, slots=True)
class Hint:
    """What is allowed, but may not be meant.

    unused_feature  no action changes `feature`, though it is mutable
    free_failure    failing costs nothing
    intervals       some chances are intervals
    guesses         the costs and chances at `places` are guesses
    rounded_away    the resolution makes costs that are above 0 count as 0
    never_offered   nobody is ever offered an action; `blocked` says why
    """

    code: HintCode
    feature: str = ""
    places: tuple[Path, ...] = ()
    blocked: Blocked | None = None

    def __str__(self) -> str:
        return CheckTeller.of().hint(self)


def diagnose_people(problem: Problem, classifier: object = None) -> tuple[list[PersonDiagnosis], list[Mistake]]:
    """Each named person, and the mistake that none of those who are rejected can reach a goal."""
    people, desk = [], Desk.of(problem, classifier)
    for name in problem.people:
        case = desk.open(name)
        every = np.arange(case.mdp.n_states)
        goals = _count_shown(case.mdp, every[case.mdp.goal])
        giving_up = find_giving_up(case.mdp) if case.needs_plan else None
        people.append(PersonDiagnosis(name, case.favourable, _count_shown(case.mdp, every), goals, giving_up))
    rejected = [person for person in people if not person.favourable]
    if rejected and not any(person.goals for person in rejected):
        tell, horizon = Teller.of(glossary=problem.glossary), problem.horizon
        goal = tell.goal(problem.goal.favourable)
        cause = f"no action leads this person to '{goal}' {tell.within(problem)}"
        remedy = "check the actions and the horizon: the goal cannot be reached"
        return people, [
            mistake(("people", name), cause, remedy, code="out_of_reach", person=name, goal=goal, horizon=horizon)
            for name in (person.name for person in rejected)
        ]
    return people, []


def diagnose_space(problem: Problem, classifier: object = None) -> SpaceDiagnosis:
    """Count goals and states without recourse in the whole space."""
    desk = Desk.of(problem, classifier)
    mdp = compile_mdp(problem, desk.classifier)
    desk.vouch()
    codes, number = mdp.codes(np.arange(mdp.n_states)), {one.name: i for i, one in enumerate(problem.features)}
    begun = np.ones(mdp.n_states, dtype=bool)
    for feature in problem.features:
        if feature.hidden:
            begun &= codes[:, number[feature.name]] == (codes[:, number[feature.copy_of]] if feature.copy_of else 0)
    accepted = mdp.goals.in_force.among(codes)
    helpless = ~can_reach_goal(mdp) & ~accepted
    return SpaceDiagnosis(int(begun.sum()), int((accepted & begun).sum()), int((helpless & begun).sum()))


def _count_shown(mdp: MDP, states: NDArray[np.int64]) -> int:
    """How many of the states people can tell apart."""
    if not isinstance(mdp, CompiledMDP) or len(mdp.problem.shown_features) == len(mdp.features):
        return len(states)
    shown = [i for i, feature in enumerate(mdp.features) if not feature.hidden]
    return len(np.unique(mdp.codes(states)[:, shown], axis=0))


def can_reach_goal(mdp: MDP) -> NDArray[np.bool_]:
    """From which states some sequence of outcomes leads to a goal within the horizon."""
    return mdp.steps_to_goal <= mdp.horizon


def find_hints(problem: Problem, starts: CodeMatrix | None = None) -> list[Hint]:
    """What is allowed, but may not be meant. `starts` are level numbers of people, if others than the problem's."""
    hints = [Hint("unused_feature", name) for name in unused_features(problem)]
    if starts is None and StateSpace(problem.features, {}).size > WHOLE:
        people = [read_person(problem, record) for record in problem.people.values()]
        starts = np.array([person_codes(problem.features, person) for person in people], dtype=np.int16)
    hints += [Hint("never_offered", blocked=item) for item in find_never_offered(problem, starts)]
    if rounds_away(problem):
        hints.append(Hint("rounded_away"))
    if problem.goal.failure_cost == 0:
        hints.append(Hint("free_failure"))
    if problem.has_intervals:
        hints.append(Hint("intervals"))
    if problem.guesses:
        hints.append(Hint("guesses", places=problem.guesses))
    return hints
