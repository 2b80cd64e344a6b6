"""The menu: plans for a person side by side, alike ones merged, each with its exact risk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from safear.classifier.adapters import as_classifier
from safear.classifier.protocol import Classifier
from safear.classifier.raw import decide_raw
from safear.errors import NoRecourseError, PersonError, quote_list
from safear.evaluation.exact import evaluate
from safear.mdp.compile import compile_mdp
from safear.mdp.model import MDP
from safear.recourse.choose import GIVES_UP, choose_offers
from safear.recourse.offer import Offer, make_offer
from safear.recourse.words import count_of, format_chance, format_cost, name_goal
from safear.risk.objectives import MeanStd, Objective, SuccessFirst
from safear.solvers.episodic import Episodic
from safear.solvers.greedy import Progress
from safear.solvers.solution import Solution
from safear.solvers.solve import Method, solve
from safear.spec.model import Person, Problem
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
    person: Mapping[str, object] | None = None,
    *,
    objectives: Sequence[Objective] | None = None,
    method: Method | Episodic | None = None,
    terms: Terms | None = None,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Menu:
    """Plans for a person (the problem's first if None) and a classifier (the problem's rule if None).

    Without objectives it is the menu of greedy plans for the aversions 0, 0.25, 0.5 and 1, equal ones merged and
    named by what they are. With objectives, one plan each, named after them. Raises NoRecourseError if nothing leads
    to a goal.
    """
    if terms is not None:
        problem = apply_terms(problem, terms)
    chosen = problem.default_person if person is None else person
    if chosen is None:
        raise PersonError.at((), "no person is given, and the problem names none")
    start = read_person(problem, chosen)
    decider = as_classifier(classifier, problem)
    mdp = compile_mdp(problem, decider, start=start)
    favourable = bool(mdp.goal[mdp.locate()])
    warnings = _compare_with_raw(problem, decider, chosen, favourable=favourable)
    if favourable:
        return Menu(problem, start, favourable=True, offers=(), warnings=warnings)
    require_recourse(mdp)
    if objectives is not None:
        solutions = [solve(mdp, item, method=method, rng=rng, progress=progress) for item in objectives]
        plain = tuple(make_offer(solution) for solution in solutions)
        warnings = (*warnings, *_warn(plain, solve(mdp, SuccessFirst())))
        return Menu(problem, start, favourable=False, offers=plain, warnings=warnings)
    menu_objectives = [MeanStd(aversion) for aversion in MENU_AVERSIONS]
    solutions = [solve(mdp, item, method=method or "greedy", rng=rng, progress=progress) for item in menu_objectives]
    surest = solve(mdp, SuccessFirst())
    offers = tuple(choose_offers(solutions, surest))
    return Menu(problem, start, favourable=False, offers=offers, warnings=(*warnings, *_warn(offers, surest)))


def _warn(offers: Sequence[Offer], surest: Solution) -> list[str]:
    """Warn of plans that give up (they succeed far less often than the person could) and of rounded costs."""
    mdp, best = surest.mdp, evaluate(surest).success
    problem = mdp.problem
    unit, failure = (problem.cost_unit, float(problem.goal.failure_cost)) if problem is not None else ("units", 0.0)
    warnings = [
        f"the plan '{offer.name}' succeeds in {format_chance(offer.cost.success)} of the runs, though "
        f"{format_chance(best)} is possible: giving up looks cheap when failing costs "
        f"{format_cost(failure, unit)} (goal.failure_cost)"
        for offer in offers
        if offer.cost.success < best - GIVES_UP
    ]
    if mdp.cost_error:
        warnings.append(f"costs are rounded; a total is off by at most {format_cost(float(mdp.cost_error), unit)}")
    return warnings


def _compare_with_raw(
    problem: Problem, classifier: Classifier, record: Mapping[str, object], *, favourable: bool
) -> tuple[str, ...]:
    """A warning if the decision on the record as it was filed is not the one on its levels."""
    raw = decide_raw(problem, classifier, record)
    if raw is None or raw == favourable:
        return ()
    words = {True: "favourable", False: "unfavourable"}
    warning = (
        f"the decision on the numbers as given is {words[raw]}, but on the levels that stand for them it is "
        f"{words[favourable]}: plans near the edge are unsure; use finer edges or other values"
    )
    return (warning,)


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
