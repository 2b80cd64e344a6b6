"""The menu: plans for a person side by side, alike ones merged, each with its exact risk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from safear.classifier.adapters import as_classifier
from safear.classifier.filed import decide_raw
from safear.classifier.protocol import Classifier
from safear.errors import NoRecourseError, ObjectiveError, PersonError, quote_list, suggest
from safear.evaluation.forward import evaluate
from safear.mdp.arrays import MDP
from safear.mdp.compile import compile_mdp
from safear.problem.checks import require_problem
from safear.problem.model import Person, Problem, Record
from safear.problem.person import read_person
from safear.problem.terms import Terms, apply_terms
from safear.progress import Progress
from safear.recourse.failure import find_giving_up, gives_up
from safear.recourse.frontier import Frontier, find_frontier
from safear.recourse.offer import TAIL, Offer, make_offer
from safear.recourse.selection import MOST_PLANS, choose_offers, keep_unbeaten, merge_alike, name_offers
from safear.recourse.teller import Teller
from safear.recourse.words import count_of, describe_worst, format_chance, format_cost, html_table, name_goal
from safear.risk.distribution import check_level
from safear.risk.objectives import MeanStd, Objective, SuccessFirst, parse_objective
from safear.solvers.episodic import Episodic
from safear.solvers.solve import Method, solve

RARE = 0.5  # if even the likeliest plan succeeds less often, that is said
PAPER_AVERSIONS = (0.0, 0.25, 0.5, 1.0)
BOTH = ("safest", "cheapest")  # what a plan may be at once


@dataclass(frozen=True, slots=True)
class Notice:
    """What a person should know of a menu: `text` in English, `kind` and `values` for those who say it otherwise."""

    kind: str
    text: str
    values: Mapping[str, float | str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False, repr=False)
class Menu:
    """What a person can do. Empty if the decision is favourable already.

    `offers` are the plans; `notices` what a person should know of them; `frontier`, if the menu was made of one, all
    that they were chosen from, named after their objectives; `level` says which of the worst runs are meant.
    """

    problem: Problem
    person: Person
    favourable: bool
    offers: tuple[Offer, ...]
    notices: tuple[Notice, ...] = ()
    frontier: tuple[Offer, ...] = ()
    level: float = TAIL

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notices in words."""
        return tuple(map(str, self.notices))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        if self.favourable:
            return f"{name_goal(self.problem)}: nothing to do"
        return "\n".join(repr(offer) for offer in self.offers)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        if self.favourable:
            return f"<p>{escape(str(self))}</p>"
        head = ("plan", "first step", "succeeds", "average", describe_worst(self.level), "beside the others")
        figures = [
            (format_chance(o.cost.success), *(format_cost(cost, o.unit) for cost in (o.mean, o.tail))) for o in self
        ]
        rows = zip(self, figures, strict=True)
        return html_table(
            head,
            [(o.name, o.first_action or "", *found, str(o.trade_off or "")) for o, found in rows],
        )

    def __getitem__(self, name: str) -> Offer:
        """A plan by its code or its English name."""
        for offer in self.offers:
            codes = (offer.code, *(BOTH if offer.kind == "cheapest_and_safest" else ()))
            if name in codes or name in map(Teller.of().name_plan, codes):
                return offer
        raise KeyError(f"there is no plan '{name}'; there are {quote_list([offer.name for offer in self.offers])}")

    def __iter__(self) -> Iterator[Offer]:
        return iter(self.offers)

    def __len__(self) -> int:
        return len(self.offers)


def menu(
    problem: Problem,
    classifier: object = None,
    person: Record | str | None = None,
    *,
    level: float = TAIL,
    most: int = MOST_PLANS,
    terms: Terms | None = None,
    progress: Progress | None = None,
) -> Menu:
    """The plans between the cheapest on average and the safest, without a parameter to choose; all are optimal.

    `classifier` is whatever `as_classifier` takes; None is the problem's own rule. `person` is a record, or the name of
    one of the problem's; None is the first. Of the whole frontier (`menu.frontier`), at most `most` plans that differ
    in a way a person would notice are offered; "safe" is meant of the worst 1 - `level` of all runs. Raises
    NoRecourseError if nothing leads to a goal.
    """
    check_level(level)
    if most < 1:
        raise ObjectiveError.at((), f"a menu of {most} plans is none")
    return make_menu(_prepare(problem, classifier, person, terms), level=level, most=most, progress=progress)


def make_menu(case: Case, *, level: float = TAIL, most: int = MOST_PLANS, progress: Progress | None = None) -> Menu:
    """The menu of a case that is compiled and decided already."""
    if case.favourable:
        return case.menu([])
    frontier = find_frontier(case.mdp, level=level, progress=progress)
    offers = choose_offers(frontier, most)
    return case.menu(offers, [*_warn_of_giving_up(frontier, offers), *_warn(offers, frontier.best_success)], frontier)


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
    """Plans for a person: one per objective, or else the menu.

    Objectives may be given as texts (`"cvar:0.95"`); their plans are named after them. Without objectives it is `menu`,
    or, if a `method` other than "optimal" is asked for, its plans for the aversions 0, 0.25, 0.5 and 1 of the paper,
    alike ones merged. For the other arguments see `menu` and `solve`.
    """
    wanted = None if objectives is None else _read_objectives(objectives)
    if wanted is None and method in {None, "optimal"}:
        return menu(problem, classifier, person, terms=terms, progress=progress)
    asked = wanted if wanted is not None else [MeanStd(aversion) for aversion in PAPER_AVERSIONS]
    case = _prepare(problem, classifier, person, terms)
    if case.favourable:
        return case.menu([])
    best = evaluate(solve(case.mdp, SuccessFirst())).success
    solutions = [solve(case.mdp, item, method=method, rng=rng, progress=progress) for item in asked]
    if wanted is None:
        offers = name_offers(keep_unbeaten(merge_alike(solutions)), best)
    else:
        offers = [make_offer(solution) for solution in solutions]
    return case.menu(offers, _warn(offers, best))


@dataclass(frozen=True, eq=False)
class Case:
    """A person's problem, ready to be solved."""

    problem: Problem
    person: Person
    mdp: MDP
    favourable: bool
    notices: tuple[Notice, ...] = ()

    def menu(self, offers: Sequence[Offer], notices: Sequence[Notice] = (), frontier: Frontier | None = None) -> Menu:
        """The menu of these offers."""
        return Menu(
            self.problem,
            self.person,
            favourable=self.favourable,
            offers=tuple(offers),
            notices=(*self.notices, *notices),
            frontier=() if frontier is None else frontier.offers,
            level=TAIL if frontier is None else frontier.level,
        )


def _prepare(
    problem: Problem,
    classifier: object,
    person: Record | str | None,
    terms: Terms | None,
) -> Case:
    """Read everything, compile what the person can reach, and decide; NoRecourseError if there is no way."""
    require_problem(problem)
    if terms is not None:
        problem = apply_terms(problem, terms)
    record = find_record(problem, person)
    start = read_person(problem, record)
    decider = as_classifier(classifier, problem)
    mdp = compile_mdp(problem, decider, start=start)
    favourable, notices = decide(problem, decider, record, on_levels=bool(mdp.goal[mdp.locate()]))
    if not favourable:
        require_recourse(mdp)
    return Case(problem, start, mdp, favourable, notices)


def _read_objectives(given: Sequence[Objective | str] | Objective | str) -> list[Objective]:
    """Objectives as given: one or several, as objects or as texts."""
    several = [given] if isinstance(given, Objective | str) else given
    wanted = [parse_objective(item) if isinstance(item, str) else item for item in several]
    if not wanted:
        raise ObjectiveError.at((), "the list of objectives is empty", "leave it out for the menu")
    return wanted


def _warn(offers: Sequence[Offer], best_success: float) -> list[Notice]:
    """Warn of plans that succeed far less often than the person could, of poor chances, and of rounded costs."""
    notices = []
    if best_success < RARE:
        told = f"no plan succeeds in more than {format_chance(best_success)} of the runs"
        notices.append(Notice("unlikely", told, {"success": best_success}))
    for offer in offers:
        if gives_up(offer.cost.success, best_success):
            share, possible = format_chance(offer.cost.success), format_chance(best_success)
            reason = "" if offer.solution.method == "optimal" else f"; method '{offer.solution.method}' may miss it"
            told = f"the plan '{offer.name}' succeeds in {share} of the runs, though {possible} is possible{reason}"
            figures = {"success": offer.cost.success, "possible": best_success}
            notices.append(Notice("gives_up", told, {"plan": offer.code, **figures}))
    for offer in offers[:1]:
        mdp = offer.solution.mdp
        error, problem = float(mdp.cost_error), mdp.problem
        if error and problem is not None and problem.cost_resolution is not None:
            resolution, most = (format_cost(cost, offer.unit) for cost in (float(problem.cost_resolution), error))
            told = f"costs are rounded to multiples of {resolution}; a total is off by at most {most}"
            notices.append(Notice("rounded", told, {"unit": float(problem.cost_resolution), "error": error}))
    units = [offer.solution.search_unit for offer in offers if offer.solution.search_unit is not None]
    if units:
        unit = max(units)
        told = (
            "costs are so fine that plans were looked for with costs rounded to multiples of "
            f"{format_cost(unit, offers[0].unit)}; all figures are of the real costs"
        )
        notices.append(Notice("searched_rounded", told, {"unit": unit}))
    return notices


def _warn_of_giving_up(frontier: Frontier, offers: Sequence[Offer]) -> list[Notice]:
    """Warn if a plan that is not offered, because it gives up, is cheaper than all that are."""
    cheapest = frontier.offers[0]
    if any(offer.solution is cheapest.solution for offer in offers):
        return []
    found = find_giving_up(cheapest.solution.mdp)
    if found is None:
        return []
    values = {"success": found.success, "possible": found.possible, "failure_cost": found.failure_cost}
    return [Notice("cheaper_gives_up", f"{found}. Plans that give up are left out", values)]


def decide(
    problem: Problem, classifier: Classifier, record: Record, *, on_levels: bool
) -> tuple[bool, tuple[Notice, ...]]:
    """The decision on a record as it was filed, and a warning if the one on its levels is another.

    Plans look at levels. If these are accepted where the record is not, there is nothing to plan with: NoRecourseError.
    """
    raw = decide_raw(problem, classifier, record)
    if raw is None or raw == on_levels:
        return on_levels, ()
    remedy = "use finer edges or other values"
    if on_levels:
        reason = "the numbers as given are rejected, but the levels that stand for them are accepted"
        raise NoRecourseError(f"{reason}, so no plan can be made: {remedy}", "levels")
    told = f"the numbers as given are accepted, but the levels that stand for them are not: {remedy}"
    return True, (Notice("levels", told),)


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
        raise NoRecourseError(f"no plan leads to '{goal}': no action is offered to this person", "no_action")
    if mdp.depth is not None and (mdp.depth == mdp.horizon).any():
        reach = f"none of the {count_of(states, 'state')} within {count_of(mdp.horizon, 'step')} is a goal"
        raise NoRecourseError(f"no plan leads to '{goal}': {reach}; a longer horizon would reach more", "horizon")
    reason = f"none of the {count_of(states, 'other state')} that this person can ever reach is a goal"
    raise NoRecourseError(f"no plan leads to '{goal}': {reason}", "never")
