"""The menu: plans for a person side by side, alike ones merged, each with its exact risk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from safear.classifier.adapters import as_classifier
from safear.classifier.protocol import Classifier
from safear.classifier.raw import decide_raw
from safear.errors import NoRecourseError, ObjectiveError, PersonError, ProblemError, quote_list, suggest
from safear.evaluation.exact import evaluate
from safear.mdp.compile import compile_mdp
from safear.mdp.model import MDP
from safear.recourse.choose import GIVES_UP, choose_offers
from safear.recourse.offer import Offer, make_offer
from safear.recourse.words import count_of, format_chance, format_cost, name_goal
from safear.risk.objectives import MeanStd, Objective, SuccessFirst, parse_objective
from safear.solvers.episodic import Episodic
from safear.solvers.greedy import Progress
from safear.solvers.solution import Solution
from safear.solvers.solve import Method, solve
from safear.spec.model import Person, Problem, Record
from safear.spec.person import read_person
from safear.spec.terms import Terms, apply_terms

MENU_AVERSIONS = (0.0, 0.25, 0.5, 1.0)
BOTH = {"cheapest and safest": ("safest", "cheapest on average")}  # a plan may earn two names


@dataclass(frozen=True, eq=False, repr=False)
class Menu:
    """What a person can do. Empty if the decision is favourable already."""

    problem: Problem
    person: Person
    favourable: bool
    offers: tuple[Offer, ...]
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        if self.favourable:
            return f"{name_goal(self.problem)}: nothing to do"
        return "\n".join(repr(offer) for offer in self.offers)

    def __getitem__(self, name: str) -> Offer:
        for offer in self.offers:
            if name in {offer.name, *BOTH.get(offer.name, ())}:
                return offer
        raise KeyError(f"there is no plan '{name}'; there are {quote_list([offer.name for offer in self.offers])}")

    def __iter__(self) -> Iterator[Offer]:
        return iter(self.offers)

    def __len__(self) -> int:
        return len(self.offers)


def recommend(
    problem: Problem,
    classifier: object = None,
    person: Record | str | None = None,
    *,
    objectives: Sequence[Objective | str] | Objective | str | None = None,
    method: Method | Episodic | None = None,
    terms: Terms | None = None,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Menu:
    """Plans for a person (a record, or the name of one of the problem's; None is the first) and a classifier.

    `classifier` is whatever `as_classifier` takes; None is the problem's own rule.

    Without objectives it is the menu of greedy plans for the aversions 0, 0.25, 0.5 and 1, alike ones merged and
    named by what they are. With objectives (or their texts, `"mean-std:0.5"`), one plan each, named after them. Raises
    NoRecourseError if nothing leads to a goal.
    """
    if not isinstance(problem, Problem):
        raise ProblemError.at((), f"{problem!r} is not a problem", "use load_problem, parse_problem or load_example")
    if terms is not None:
        problem = apply_terms(problem, terms)
    wanted = None if objectives is None else _read_objectives(objectives)
    record = find_record(problem, person)
    start = read_person(problem, record)
    decider = as_classifier(classifier, problem)
    mdp = compile_mdp(problem, decider, start=start)
    favourable, warnings = decide(problem, decider, record, on_levels=bool(mdp.goal[mdp.locate()]))
    if favourable:
        return Menu(problem, start, favourable=True, offers=(), warnings=warnings)
    require_recourse(mdp)
    surest = solve(mdp, SuccessFirst())
    if wanted is None:
        menu_objectives = [MeanStd(aversion) for aversion in MENU_AVERSIONS]
        greedy = [solve(mdp, item, method=method or "greedy", rng=rng, progress=progress) for item in menu_objectives]
        offers = choose_offers(greedy, surest)
    else:
        offers = [make_offer(solve(mdp, item, method=method, rng=rng, progress=progress)) for item in wanted]
    return Menu(problem, start, favourable=False, offers=tuple(offers), warnings=(*warnings, *_warn(offers, surest)))


def _read_objectives(given: Sequence[Objective | str] | Objective | str) -> list[Objective]:
    """Objectives as given: one or several, as objects or as texts."""
    several = [given] if isinstance(given, Objective | str) else given
    wanted = [parse_objective(item) if isinstance(item, str) else item for item in several]
    if not wanted:
        raise ObjectiveError.at((), "the list of objectives is empty", "leave it out for the menu")
    return wanted


def _warn(offers: Sequence[Offer], surest: Solution) -> list[str]:
    """Warn of plans that succeed far less often than the person could, and of rounded costs."""
    mdp, best = surest.mdp, evaluate(surest)
    problem = mdp.problem
    unit, failure = (problem.cost_unit, float(problem.goal.failure_cost)) if problem is not None else ("units", 0.0)
    warnings = []
    for offer in offers:
        if offer.cost.success < best.success - GIVES_UP:
            reason = "a greedy plan at this aversion may turn away from the goal"
            if offer.cost.all_runs.mean < best.all_runs.mean:
                reason = f"giving up looks cheap when failing costs {format_cost(failure, unit)} (goal.failure_cost)"
            share, possible = format_chance(offer.cost.success), format_chance(best.success)
            warnings.append(
                f"the plan '{offer.name}' succeeds in {share} of the runs, though {possible} is possible: {reason}"
            )
    if mdp.cost_error:
        warnings.append(f"costs are rounded; a total is off by at most {format_cost(float(mdp.cost_error), unit)}")
    return warnings


def decide(
    problem: Problem, classifier: Classifier, record: Record, *, on_levels: bool
) -> tuple[bool, tuple[str, ...]]:
    """The decision on a record as it was filed, and a warning if the one on its levels is another.

    Plans look at levels. If these are accepted where the record is not, there is nothing to plan with: NoRecourseError.
    """
    raw = decide_raw(problem, classifier, record)
    if raw is None or raw == on_levels:
        return on_levels, ()
    remedy = "use finer edges or other values"
    if on_levels:
        reason = "the numbers as given are rejected, but the levels that stand for them are accepted"
        raise NoRecourseError(f"{reason}, so no plan can be made: {remedy}")
    return True, (f"the numbers as given are accepted, but the levels that stand for them are not: {remedy}",)


def find_record(problem: Problem, person: Record | str | None) -> Record:
    """A person as given, by name one of the problem's, or its first."""
    if isinstance(person, str):
        if person not in problem.people:
            raise PersonError.at(
                ("people",), f"the problem names no person '{person}'", suggest(person, problem.people)
            )
        return problem.people[person]
    record = problem.default_person if person is None else person
    if record is None:
        raise PersonError.at((), "no person is given, and the problem names none")
    if not hasattr(record, "keys"):
        raise PersonError.at((), f"{record!r} is not a person", "give a mapping of features to levels, or a name")
    return record


def require_recourse(mdp: MDP) -> None:
    """Raise a NoRecourseError that says why, if no goal can be reached from the start."""
    if mdp.goal.any():
        return
    goal, states = name_goal(mdp.problem), mdp.n_states - 1
    if mdp.dead_end[mdp.locate()]:
        raise NoRecourseError(f"no plan leads to '{goal}': no action is offered to this person")
    if mdp.depth is not None and (mdp.depth == mdp.horizon).any():
        reach = f"none of the {count_of(states, 'state')} within {count_of(mdp.horizon, 'step')} is a goal"
        reason = f"{reach}; a longer horizon would reach more"
    else:
        reason = f"none of the {count_of(states, 'other state')} that this person can ever reach is a goal"
    raise NoRecourseError(f"no plan leads to '{goal}': {reason}")
