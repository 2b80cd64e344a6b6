"""The menu: plans for a person side by side, equal ones merged, each with its exact risk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

import numpy as np

from safear.classifier.adapters import as_classifier
from safear.classifier.protocol import Classifier
from safear.classifier.raw import decide_raw
from safear.errors import NoRecourseError, PersonError, quote_list
from safear.evaluation.exact import Runs, run_exactly
from safear.mdp.compile import compile_mdp
from safear.mdp.model import MDP
from safear.recourse.plan import Plan, make_plan
from safear.recourse.traces import Traces, find_traces
from safear.recourse.words import count_of, format_chance, format_cost, name_goal
from safear.risk.distribution import CostDistribution
from safear.risk.objectives import Mean, MeanStd, Objective
from safear.solvers.episodic import Episodic
from safear.solvers.greedy import Progress
from safear.solvers.solution import Solution
from safear.solvers.solve import Method, solve
from safear.spec.model import Person, Problem
from safear.spec.person import read_person
from safear.spec.terms import Terms, apply_terms

MENU_AVERSIONS = (0.0, 0.25, 0.5, 1.0)
CLOSE = 0.01  # plans whose chances of success differ by less are equally likely to succeed
TAIL = 0.95
GIVES_UP = 0.05  # a plan whose success is so far below the best possible one is warned of
NOTICEABLE = 0.01  # plans that part with a smaller probability are the same to a person


@dataclass(frozen=True, eq=False)
class Offer:
    """One plan of a menu. `objectives` are those that it was computed for: more than one if their plans are equal."""

    name: str
    objectives: tuple[Objective, ...]
    solution: Solution
    runs: Runs

    def __str__(self) -> str:
        costs, unit = self.cost.all_runs, self.solution.mdp.problem.cost_unit if self.solution.mdp.problem else "units"
        return (
            f"first {self.first_action}; succeeds {format_chance(self.cost.success)}, "
            f"costs {format_cost(costs.mean, unit)} on average, {format_cost(costs.cvar(TAIL), unit)} in the worst 5%"
        )

    @property
    def objective(self) -> Objective:
        """The first of its objectives."""
        return self.objectives[0]

    @cached_property
    def cost(self) -> CostDistribution:
        """The exact distribution of the total cost."""
        return self.runs.distribution

    @property
    def value(self) -> float:
        """The exact objective of the total cost over all runs."""
        return self.objective.of(self.cost)

    @property
    def planned_value(self) -> float:
        """What the solver's own recursion computed; greedy solvers add up deviations."""
        return self.solution.planned_value(self.runs.start)

    @property
    def first_action(self) -> str | None:
        """What to do first."""
        return self.solution.policy.action(self.runs.start)

    @cached_property
    def plan(self) -> Plan:
        """The contingent plan."""
        return make_plan(self.solution, self.runs.start)

    @cached_property
    def traces(self) -> Traces:
        """The most probable ways in which it may go."""
        return find_traces(self.solution, self.runs.start, runs=self.runs)


@dataclass(frozen=True, eq=False)
class Menu:
    """What a person can do. Empty if the decision is favourable already."""

    problem: Problem
    person: Person
    favourable: bool
    offers: tuple[Offer, ...]
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.favourable:
            return f"{name_goal(self.problem)}: nothing to do"
        return "\n".join(f"{offer.name}: {offer}" for offer in self.offers)

    def __getitem__(self, name: str) -> Offer:
        for offer in self.offers:
            if offer.name == name:
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
        offers = [Offer(str(s.objective), (s.objective,), s, run_exactly(s)) for s in solutions]
        return _with_warnings(Menu(problem, start, favourable=False, offers=tuple(offers), warnings=warnings), mdp)
    menu_objectives = [MeanStd(aversion) for aversion in MENU_AVERSIONS]
    solutions = [solve(mdp, item, method=method or "greedy", rng=rng, progress=progress) for item in menu_objectives]
    named = name_offers(merge_alike(solutions))
    return _with_warnings(Menu(problem, start, favourable=False, offers=named, warnings=warnings), mdp)


def _with_warnings(menu: Menu, mdp: MDP) -> Menu:
    """Warn of plans that give up: those that succeed far less often than the person could."""
    best = best_success(mdp)
    low = [offer for offer in menu if offer.cost.success < best - GIVES_UP]
    warnings = [
        f"the plan '{offer.name}' succeeds in {format_chance(offer.cost.success)} of the runs, though "
        f"{format_chance(best)} is possible: giving up looks cheap when failing costs "
        f"{format_cost(float(menu.problem.goal.failure_cost), menu.problem.cost_unit)} (goal.failure_cost)"
        for offer in low
    ]
    return replace(menu, warnings=(*menu.warnings, *warnings))


def best_success(mdp: MDP) -> float:
    """The highest probability of reaching a goal: one minus the least mean of a cost that only failing has."""
    failures_only = replace(mdp, edge_cost=np.zeros_like(mdp.edge_cost), failure_cost=1, quantum=Decimal(1))
    return 1 - solve(failures_only, Mean()).planned_value()


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


def merge_alike(solutions: Sequence[Solution]) -> list[Offer]:
    """One offer per plan that a person would tell from the others."""
    offers: list[Offer] = []
    for solution in solutions:
        for number, offer in enumerate(offers):
            if chance_to_part(offer.solution, solution) < NOTICEABLE:
                offers[number] = replace(offer, objectives=(*offer.objectives, solution.objective))
                break
        else:
            offers.append(Offer(str(solution.objective), (solution.objective,), solution, run_exactly(solution)))
    return offers


def chance_to_part(one: Solution, other: Solution) -> float:
    """The probability that two plans for the same person ever say different things; 0 if they are equal."""
    mdp = one.mdp
    here = {mdp.locate(): 1.0}
    parted = 0.0
    for step in range(mdp.horizon):
        there: dict[int, float] = {}
        states = np.array(list(here), dtype=np.int64)
        rows, other_rows = one.policy.rows(step, states), other.policy.rows(step, states)
        for chance, row, other_row in zip(here.values(), rows.tolist(), other_rows.tolist(), strict=True):
            if row != other_row:
                parted += chance
            elif row >= 0:
                for edge in range(mdp.edge_start[row], mdp.edge_start[row + 1]):
                    target = int(mdp.edge_next[edge])
                    there[target] = there.get(target, 0.0) + chance * float(mdp.edge_chance[edge])
        here = there
    return parted


def name_offers(offers: Sequence[Offer]) -> tuple[Offer, ...]:
    """Give plans plain names by what they are, safest first.

    "cheapest on average" has the least mean over all runs. "safest" has the least cost in the worst 5% of all runs
    among those that are as likely to succeed as any. The others are "balanced", with a number if there are several.
    """
    best_success = max(offer.cost.success for offer in offers)
    likely = [offer for offer in offers if offer.cost.success >= best_success - CLOSE]
    cheapest = min(offers, key=lambda offer: offer.cost.all_runs.mean)
    safest = min(likely, key=lambda offer: offer.cost.all_runs.cvar(TAIL))
    between = [offer for offer in offers if offer is not cheapest and offer is not safest]
    between.sort(key=lambda offer: offer.cost.all_runs.cvar(TAIL))
    if cheapest is safest:
        ends = [replace(cheapest, name="cheapest and safest")]
    else:
        ends = [replace(safest, name="safest"), replace(cheapest, name="cheapest on average")]
    names = ["balanced"] if len(between) == 1 else [f"balanced {number + 1}" for number in range(len(between))]
    middle = [replace(offer, name=name) for offer, name in zip(between, names, strict=True)]
    return (ends[0], *middle, *ends[1:])
