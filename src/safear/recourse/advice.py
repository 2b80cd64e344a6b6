"""What somebody without recourse can be told besides the reason: how near they can come, and what would help.

How near is the best score that the classifier gives to what they can reach. What would help is one change at a time: it
is offered only if the problem with it, or the record, was compiled and solved and has a plan that may succeed. Its
figures are those of the plan with the highest success and, among these, the least cost on average.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safear.errors import PersonError, TooLargeError
from safear.evaluation.forward import evaluate, find_possible_ends
from safear.mdp.compiled import CompiledMDP
from safear.mdp.filed_goals import FiledGoals, Numbers, as_filed
from safear.mdp.space import CodeMatrix, person_codes
from safear.problem.checks import check_problem
from safear.problem.condition import ALWAYS, And, Condition, Within, condition_features
from safear.problem.model import Action, Feature, Problem, Record, as_decimal
from safear.problem.terms import apply_terms
from safear.recourse.budgets import least_budget
from safear.recourse.case import Case
from safear.recourse.level_changes import Changes, find_changes
from safear.recourse.offer import Offer, make_offer
from safear.recourse.promises import Promise
from safear.recourse.stuck import Instead, find_best
from safear.risk.objectives import Budget, SuccessFirst
from safear.solvers.solve import solve


@dataclass(frozen=True, slots=True)
class Advice:
    """How near a person can come (`closest`), and the cheapest changes that would give them a plan.

    `is_complete`: all single changes were tried. `levels_accepted`: somebody with the same levels, and with the values
    of these for numbers, is accepted; None if the classifier sees nothing but levels.
    """

    problem: Problem
    closest: Approach | None
    relaxations: tuple[Relaxation, ...]
    is_complete: bool
    levels_accepted: bool | None


def find_advice(case: Case) -> Advice | None:
    """Advice for somebody without recourse; None for others."""
    if case.reach is None:
        return None
    found = find_relaxations(case)
    return Advice(case.problem, find_closest(case), found.found, found.is_complete, accepts_levels(case))


def advise_on_budget(case: Case) -> Advice:
    """Advice for somebody whose budget is too small for any plan: one that is not, and what it can do."""
    enough = least_budget(case.mdp)[1]
    cost = evaluate(solve(case.mdp, Budget(enough)))
    found = Relaxation("budget", cost.success_within(enough), cost.all_runs.mean, value=enough)
    return Advice(case.problem, None, (found,), is_complete=True, levels_accepted=accepts_levels(case))


def accepts_levels(case: Case) -> bool | None:
    """What is decided about somebody with the same levels and the values of these; None if only levels are seen."""
    goals = case.mdp.goals if isinstance(case.mdp, CompiledMDP) else None
    if not isinstance(goals, FiledGoals) or not case.sight.numbers:
        return None
    return bool(goals.in_force.at_values(person_codes(case.problem.features, case.person)[None, :])[0])


# ------------------------------------------------------------------------------------------------------------- how near


HALF = 0.5  # what decides without a threshold
AT_ONCE = 64  # states whose ranges are tried at a time


@dataclass(frozen=True, slots=True)
class Approach:
    """The best `score` of all that was tried, the score `today` and what is `needed`; None if that is not known.

    Numbers that change may lie anywhere in their level; with the promise "range" it is the score wherever they lie.
    Of equal scores it is that with the fewest `changes`, and of these the nearest.
    """

    score: float
    today: float
    needed: float | None
    changes: Changes


def find_closest(case: Case) -> Approach | None:
    """The closest approach of somebody without recourse; None if the classifier gives no scores."""
    if case.reach is None:
        return None
    mdp = case.reach.mdp
    codes = case.reach.codes_in_time
    scores = mdp.goals.scores(codes)
    if scores is None:
        return None
    today = float(scores[0])
    numbers: Numbers | None = None
    if isinstance(mdp.goals, FiledGoals) and case.problem.goal.promise == "range":
        scores = _refine(mdp.goals, codes, scores)
    elif isinstance(mdp.goals, FiledGoals):
        scores, numbers = find_best(mdp.goals, codes, scores)
    shown = [number for number, feature in enumerate(mdp.features) if not feature.hidden]
    differences = np.abs(codes[:, shown].astype(np.int64) - codes[0, shown])
    best = int(np.lexsort((differences.sum(axis=1), (differences > 0).sum(axis=1), -scores))[0])
    threshold = case.problem.goal.aimed.threshold
    needed = HALF if threshold is None else threshold
    score = float(scores[best])
    changes = _tell_changes(case, mdp, codes[[0, best]], None if numbers is None else numbers[best])
    return Approach(score, today, None if score >= needed else needed, changes)


def _refine(goals: FiledGoals, codes: CodeMatrix, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lowest score wherever a person lands, where it may be the best; elsewhere nothing that is better.

    The score at a value is no lower than the lowest, so what is below the best found so far need not be tried.
    """
    lowest, order, best = np.zeros(len(scores)), np.argsort(-scores, kind="stable"), -1.0
    for first in range(0, len(order), AT_ONCE):
        rows = order[first : first + AT_ONCE]
        if scores[rows[0]] < best:
            break
        found = goals.lowest_scores(codes[rows])
        lowest[rows] = scores[rows] if found is None else found
        best = max(best, float(lowest[rows].max()))
    return lowest


def _tell_changes(case: Case, mdp: CompiledMDP, codes: CodeMatrix, numbers: Numbers | None) -> Changes:
    """What is different in the second of two states, with its numbers, or else with the whole range of each."""
    names = [{one.name: one.levels[code] for one, code in zip(mdp.features, row, strict=True)} for row in codes]
    promises: dict[tuple[str, str], Promise] = {}
    if isinstance(mdp.goals, FiledGoals):
        for column, code in mdp.goals.changed(codes[1]):
            feature, found = mdp.goals.feature(column), mdp.goals.range_of(column, code)
            ends = (found.low, found.high) if numbers is None else (numbers[column], numbers[column])
            level = feature.levels[code]
            promises[feature.name, level] = Promise(feature.name, level, float(ends[0]), float(ends[1]), feature.unit)
    return find_changes(*map(case.problem.shown, names), promises=promises)


# ------------------------------------------------------------------------------------------------------ what would help


RelaxationCode = Literal[
    "allow",
    "horizon",
    "margin",
    "when",
    "tries",
    "constraint",
    "limit",
    "promise",
    "numbers",
    "budget",
    "feature",
    "number",
]
OF_THE_PERSON = frozenset({"feature", "number"})  # what the person is, and not what may be done
MOST_OFFERED = 5
MOST_STEPS = 1000  # that a problem may have
MOST_EACH = 50_000  # states of one change
MOST_IN_ALL = 400_000  # of all changes
MOST_ASKED_ABOUT = 200_000  # of all changes, if the classifier takes its time


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A change with which there is a plan. It succeeds in `success` of runs, with a cost of `mean` on average.

    allow       `action`, which the person has ruled out, is possible
    horizon     there are `horizon` steps
    margin      plans count on the decision in force alone, without a margin and without other models
    when        `action` no longer needs `rule`, a part of its condition or all of it
    tries       `action` may be tried any number of times
    constraint  the constraint `rule` is dropped
    limit       `feature` may go any distance from what was filed
    promise     a number that changes is promised to land in a part of its range, and not anywhere in it
    numbers     what changes is brought to certain parts of its levels, the `promises`, instead of to their values
    budget      a cost of `value` is within the budget
    feature     `feature`, which no plan brings there, is at `level`; a number is at `value`
    number      `feature` is at `value`, which is of the level that was filed
    """

    code: RelaxationCode
    success: float
    mean: float
    action: str = ""
    rule: Condition | None = None
    feature: str = ""
    level: str = ""
    value: float | None = None
    horizon: int | None = None
    promises: tuple[Promise, ...] = ()

    @property
    def what(self) -> str:
        """The rule as the file has it; empty if there is none."""
        return "" if self.rule is None else str(self.rule)


@dataclass(frozen=True, slots=True)
class Relaxations:
    """The cheapest changes, of the problem and of the person. `is_complete`: all changes were tried."""

    found: tuple[Relaxation, ...]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that may help: the problem and the record with it, or what numbers count `instead` of values."""

    relaxation: Relaxation
    problem: Problem
    record: Record
    instead: Instead | None = None


def find_relaxations(case: Case) -> Relaxations:
    """Single changes that give a person without recourse a plan, at most five."""
    trial = _Trial(case)
    found = [*trial.change_problem(), *trial.change_person()]
    found.sort(key=lambda one: (one.mean, -one.success))  # of equals, those of the problem stay first
    return Relaxations(tuple(found[:MOST_OFFERED]), trial.is_complete)


@dataclass(slots=True)
class _Trial:
    """Tries changes until none are left, as many states as may be were looked at, or the time is up."""

    case: Case
    is_complete: bool = True
    left: int = field(init=False)
    until: float = field(init=False)

    def __post_init__(self) -> None:
        self.until = time.monotonic() + self.case.desk.max_seconds
        self.left = MOST_ASKED_ABOUT if self.case.desk.goals.is_slow else MOST_IN_ALL

    def change_problem(self) -> Iterator[Relaxation]:
        """What helps of changes to the problem."""
        others = self.case.other_numbers
        if others is not None:
            self.is_complete &= others.is_complete
        yield from self.drop_margin()
        for proposal in propose_changes(self.case):
            found = self.solve(proposal)
            parts = [] if found is None else list(propose_parts(self.case, found))
            helpful = [one for one in map(self.solve, parts) if one is not None]
            yield from helpful or ([] if found is None else [found])

    def drop_margin(self) -> Iterator[Relaxation]:
        """The plan that counts on the decision in force alone, if there is one."""
        case = self.case
        if isinstance(case.mdp, CompiledMDP) and case.has_margin and self.afford(case.mdp.n_states):
            bare = case.desk.compile(case.problem, case.decision, case.mdp.goals.in_force)
            offer = make_offer(solve(bare, SuccessFirst()))
            if offer.cost.success > 0:
                yield Relaxation("margin", offer.cost.success, offer.mean)

    def change_person(self) -> Iterator[Relaxation]:
        """What helps of changes to the person, the cheapest for each feature."""
        for feature in self.case.problem.shown_features:
            proposals = [*propose_levels(self.case, feature), *propose_numbers(self.case, feature)]
            found = [one for one in map(self.solve, self.screen(feature, proposals)) if one is not None]
            if found:
                yield min(found, key=lambda one: (one.mean, -one.success))

    def screen(self, feature: Feature, proposals: Sequence[Proposal]) -> Sequence[Proposal]:
        """Those that may help: where a feature matters to the classifier alone, that is asked first.

        It is asked about the record with the change, as filed: whether it is accepted, and what of the same states is
        then a goal.
        """
        mdp, problem = self.case.mdp, self.case.problem
        if feature.name in problem.decisive_features or not proposals or mdp.goal.any():  # more lies behind goals
            return proposals
        codes = mdp.codes(np.arange(mdp.n_states))
        place, helpful = problem.features.index(feature), []
        for proposal in proposals:
            level = proposal.relaxation.level
            if level == self.case.person[feature.name]:  # only its number is another
                helpful.append(proposal)
                continue
            if not self.afford(len(codes)):
                return helpful
            changed = codes.copy()
            changed[:, place] = feature.levels.index(level)
            goals = as_filed(self.case.desk.goals, proposal.record, {**self.case.person, feature.name: level})
            if goals.in_force.among(changed[[mdp.start]]).any() or goals.among(changed).any():
                helpful.append(proposal)
        return helpful

    def solve(self, proposal: Proposal) -> Relaxation | None:
        """The relaxation with its figures, if it is one."""
        if not self.afford(1) or check_problem(proposal.problem):
            return None
        most = min(MOST_EACH, self.left)
        try:
            case = self.open(proposal, most)
        except PersonError:  # whom a constraint rules out, or the limits of a number
            return None
        except TooLargeError:
            self.afford(most)
            self.is_complete = False
            return None
        self.afford(case.mdp.n_states)
        if case.favourable:
            return replace(proposal.relaxation, success=1.0, mean=0.0)
        if not case.needs_plan or case.best_success == 0:
            return None
        offer = make_offer(solve(case.mdp, SuccessFirst()))
        promises = () if proposal.instead is None else _find_parts(offer, proposal.instead)
        return replace(proposal.relaxation, success=offer.cost.success, mean=offer.mean, promises=promises)

    def open(self, proposal: Proposal, most: int) -> Case:
        """The case with a change. What the classifier has said of the person is remembered, if it sees the same."""
        old, problem = self.case, proposal.problem
        desk = replace(old.desk.with_problem(problem), max_states=most)
        goals = old.mdp.goals if isinstance(old.mdp, CompiledMDP) else None
        same = problem.features == old.problem.features and problem.goal == old.problem.goal
        if goals is None or not same or proposal.record is not old.decision.record:
            return desk.open(proposal.record)
        if proposal.instead is not None and isinstance(goals, FiledGoals):
            goals = goals.with_values(proposal.instead)
        return Case(desk, problem, old.decision, desk.compile(problem, old.decision, goals))

    def afford(self, states: int) -> bool:
        """Whether so many more may be looked at."""
        if self.left <= 0 or time.monotonic() > self.until:
            self.is_complete = False
            return False
        self.left -= states
        return True


def _find_parts(offer: Offer, instead: Instead) -> tuple[Promise, ...]:
    """What a plan with other numbers than values promises of these, as far as it ends there."""
    mdp = offer.solution.mdp
    goals = mdp.goals if isinstance(mdp, CompiledMDP) else None
    if not isinstance(goals, FiledGoals):
        return ()
    changed = {spot for codes in mdp.codes(find_possible_ends(offer.solution).state) for spot in goals.changed(codes)}
    names = [(goals.feature(column), code) for column, code in instead if (column, code) in changed]
    return tuple(offer.promises[feature.name, feature.levels[code]] for feature, code in names)


def propose_changes(case: Case) -> Iterator[Proposal]:
    """All single changes to the problem that may help."""
    problem, original = case.problem, case.original

    def propose(code: RelaxationCode, changed: Problem, **what: str | Condition) -> Proposal:
        return Proposal(Relaxation(code, 0, 0, **what), changed, case.decision.record)  # type: ignore[arg-type]

    unforbidden = original if case.terms is None else apply_terms(original, replace(case.terms, forbid=()))
    for action in original.actions:
        if action.name not in problem.action_by_name:
            names = {*problem.action_by_name, action.name}
            actions = [one for one in unforbidden.actions if one.name in names]
            yield propose("allow", replace(problem, actions=tuple(actions)), action=action.name)
    steps = None if case.reach is None else case.reach.goal_in
    if steps is not None and steps <= MOST_STEPS:
        relaxation = Relaxation("horizon", 0, 0, horizon=steps)
        yield Proposal(relaxation, problem.with_horizon(steps), case.decision.record)
    for action in problem.actions:
        if action.when != ALWAYS and _is_shown(problem, action.when):
            changed = _with_action(problem, replace(action, when=ALWAYS))
            yield propose("when", changed, action=action.name, rule=action.when)
        if action.at_most is not None:
            changed = _with_action(problem, replace(action, at_most=None))
            yield propose("tries", changed, action=action.name)
    for number, constraint in enumerate(problem.constraints):
        if not isinstance(constraint, Within) and _is_shown(problem, constraint):
            others = (*problem.constraints[:number], *problem.constraints[number + 1 :])
            yield propose("constraint", replace(problem, constraints=others), rule=constraint)
    for feature in problem.shown_features:
        if feature.at_most is not None:
            features = tuple(replace(one, at_most=None) if one is feature else one for one in problem.features)
            yield propose("limit", replace(problem, features=features), feature=feature.name)
    for instead in () if case.other_numbers is None else case.other_numbers.found:
        yield Proposal(Relaxation("numbers", 0, 0), problem, case.decision.record, instead)
    if problem.goal.promise == "range" and case.sight.numbers:
        yield propose("promise", replace(problem, goal=replace(problem.goal, promise="narrow")))


def propose_parts(case: Case, found: Relaxation) -> Iterator[Proposal]:
    """If an action is to be free of its condition: single parts of it."""
    if found.code != "when":
        return
    action = case.problem.action_by_name[found.action]
    parts = action.when.parts if isinstance(action.when, And) else ()
    for number, part in enumerate(parts):
        others = (*parts[:number], *parts[number + 1 :])
        when = others[0] if len(others) == 1 else And(others)
        changed = _with_action(case.problem, replace(action, when=when))
        yield Proposal(replace(found, rule=part), changed, case.decision.record)


def propose_levels(case: Case, feature: Feature) -> Iterator[Proposal]:
    """Other levels of a feature that no action is meant to change."""
    if feature.mutable and feature.actionable and feature.name in case.original.changed_features:
        return
    for number, level in enumerate(feature.levels):
        if level != case.person[feature.name]:
            value = feature.values[number] if feature.is_raw else None
            relaxation = Relaxation("feature", 0, 0, feature=feature.name, level=level, value=_as_number(value))
            record = {**case.decision.record, feature.name: level if value is None else value}
            yield Proposal(relaxation, case.problem, record)


def propose_numbers(case: Case, feature: Feature) -> Iterator[Proposal]:
    """A number at the value of its own level, where that makes a difference to the classifier."""
    if feature.name not in case.sight.numbers:
        return
    level, filed = case.person[feature.name], case.decision.record.get(feature.name)
    value = _as_number(feature.values[feature.levels.index(level)])
    if value is not None and as_decimal(filed) != as_decimal(value):
        relaxation = Relaxation("number", 0, 0, feature=feature.name, level=level, value=value)
        yield Proposal(relaxation, case.problem, {**case.decision.record, feature.name: value})


def _with_action(problem: Problem, changed: Action) -> Problem:
    actions = tuple(changed if action.name == changed.name else action for action in problem.actions)
    return replace(problem, actions=actions)


def _is_shown(problem: Problem, condition: Condition) -> bool:
    """Whether a condition is about nothing that people are not told of."""
    return not any(problem.feature_by_name[name].hidden for name in condition_features(condition))


def _as_number(value: float | str | None) -> float | None:
    return float(value) if isinstance(value, int | float) else None
