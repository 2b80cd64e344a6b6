"""Solving a part of a batch: the same on a thread here and on a worker far away."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from safear.classifier.filed import Filed, Sight
from safear.errors import ClassifierError, ProblemError, TermsError, TooLargeError
from safear.mdp.filed_goals import FiledGoals
from safear.mdp.goals import Goals
from safear.plans.plan_writing import write_plan
from safear.population.crowd import Crowd
from safear.population.engine import Engine, Purpose, place_error
from safear.population.figures import DECISIONS, FAVOURABLE, NO_RECOURSE, PLANNED, READ, PeopleFigures
from safear.problem.model import Problem
from safear.recourse.case import Case, Desk
from safear.recourse.menu import Request, make_menu
from safear.recourse.offer import TAIL, Offer, make_offer
from safear.risk.objectives import Budget, Objective
from safear.solvers.solve import Method, solve

FIGURES = ("success", "mean", "std", "var", "cvar", "overall_mean", "overall_cvar", "best_success")
SAVED = "saved_plan"  # the column with the text of each plan's file
REASON = "reason"  # the column with the code of why there is no plan
SAMPLED = (
    100_000  # inputs by which a classifier is known: if it differs on 1 in 10,000, it is noticed 99.995 times in 100
)
SAMPLED_ONCE = 1_000_000  # the same for folders of the first layout


@dataclass(frozen=True, eq=False)
class Job:
    """What is to be done for everybody: the menu, or the plan for one objective.

    With `plans`, each plan is kept as a whole, too, with or without `personal_data`; with `reasons`, why there is none.
    """

    problem: Problem
    classifier: object
    objective: Objective | None = None
    method: Method | None = None
    level: float = TAIL
    exact: bool = False
    plans: bool = False
    personal_data: bool = True
    reasons: bool = False

    @property
    def is_slow(self) -> bool:
        """Whether people are solved one by one, and in Python for the most part."""
        asks_more = self.plans or self.reasons
        return asks_more or self.objective is None or Purpose(self.objective, self.method).stepwise is None


class PartSolver:
    """Solves the parts of one job; may be used by several threads."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._desk = Desk.of(job.problem, job.classifier)
        self._engine = Engine(self._desk)

    @property
    def sight(self) -> Sight:
        """What the classifier sees of records besides levels."""
        return self._desk.sight

    def solve(self, part: Crowd) -> pd.DataFrame:
        """A row per person, or per person and plan: the decision; why no plan, or its name, first step and figures."""
        rows = self._find_menus(part) if self.job.objective is None else self._find_plans(part, self.job.objective)
        names = np.array([*(action.name for action in self.job.problem.actions), None], dtype=object)
        early = rows.found.gives_up.astype(object)
        early[~np.equal(rows.found.decision, PLANNED)] = None
        columns = {
            "decision": np.array(DECISIONS, dtype=object)[rows.found.decision],
            "plan": rows.plan,
            "first_action": names[rows.found.first_action],
            "gives_up": early,
        } | {name: np.ma.filled(rows.found.of(name), np.nan) for name in FIGURES}
        if self.job.reasons:
            columns[REASON] = self._find_reasons(part, rows)
        if self.job.plans:
            columns[SAVED] = rows.saved
        labels = part.labels.iloc[rows.person].reset_index(drop=True)
        return pd.concat([labels, pd.DataFrame(columns)], axis=1)

    def recognise(self, codes: NDArray[np.int16], first: Filed, *, layout: int) -> str:
        """The classifier by its decisions, on all inputs or, if these are many, on some at random and the `first`.

        One that cannot decide on everything is known by its decisions on these people; one that sees records, by those
        on the `first` of them, as filed and with whatever can change at random levels.
        """
        goals = self._desk.compiler.goals
        asked = [goals] if goals.in_force is goals else [goals, goals.in_force]
        return hashlib.sha256(b"".join(self._sample(one, codes, first, layout).tobytes() for one in asked)).hexdigest()

    def _sample(self, goals: Goals, codes: NDArray[np.int16], first: Filed, layout: int) -> NDArray[np.bool_]:
        try:
            if goals.sight:
                return self._try_records(goals, first, moved=True)
            found = goals.sample(SAMPLED_ONCE if layout == 1 else SAMPLED)
            return found if layout == 1 or len(found) < SAMPLED else np.append(found, goals.among(first.codes))
        except ClassifierError:
            levels = np.unique(codes, axis=0)
            return self._try_records(goals, first, moved=False) if goals.sight else goals.among(levels)

    def _try_records(self, asked: Goals, people: Filed, *, moved: bool) -> NDArray[np.bool_]:
        """The decisions on people as filed and, if `moved`, once more with whatever can change at random levels."""
        goals, everybody = FiledGoals(asked, people), np.arange(len(people))
        states, rng = people.codes.copy(), np.random.default_rng(0)
        for i, feature in enumerate(self.job.problem.features):
            if moved and feature.name in self.job.problem.changed_features:
                states[:, i] = rng.integers(len(feature.levels), size=len(people))
        return np.concatenate(
            [goals.decide(c, everybody, goals.promised(c, everybody)) for c in (people.codes, states)]
        )

    def _find_plans(self, part: Crowd, objective: Objective) -> _Rows:
        """A row per person."""
        found = self._engine.work_out(part, Purpose(objective, self.job.method, self.job.level), FIGURES, threads=1)
        plan = np.full(len(part), None, dtype=object)
        plan[np.equal(found.decision, PLANNED)] = str(objective)
        saved = self._save_plans(part, found, objective) if self.job.plans else np.full(len(part), None, dtype=object)
        return _Rows(np.arange(len(part)), plan, saved, found)

    def _save_plans(self, part: Crowd, found: PeopleFigures, objective: Objective) -> NDArray[np.object_]:
        """The whole plan of each person who has one; of people who are alike in everything, once."""
        first, kind = part.distinct()
        saved = np.full(len(first), None, dtype=object)
        for number, position in enumerate(first.tolist()):
            if found.decision[position] == PLANNED:
                solution = solve(self._open(part, position).mdp, objective, method=self.job.method)
                saved[number] = self._save(make_offer(solution, level=self.job.level))
        return saved[kind]

    def _save(self, offer: Offer) -> str | None:
        """The text of a plan's file, if plans are kept."""
        return write_plan(offer, personal_data=self.job.personal_data).text if self.job.plans else None

    def _open(self, part: Crowd, position: int) -> Case:
        """The case of one person; an error says whose it is."""
        problem = self.job.problem
        try:
            return self._desk.open(part.record(problem, position), terms=part.terms(problem, position))
        except (ProblemError, TermsError, TooLargeError) as error:  # nobody could tell whose problem it is
            raise place_error(error, part, position) from None

    def _find_reasons(self, part: Crowd, rows: _Rows) -> NDArray[np.object_]:
        """The code of why there is no plan, for those without; of people who are alike in all but costs, found once."""
        reasons = np.full(len(rows.person), None, dtype=object)
        (stuck,) = np.nonzero(np.equal(rows.found.decision, NO_RECOURSE))
        if len(stuck):
            crowd = part.take(rows.person[stuck])
            crowd = replace(crowd, costs=np.full(crowd.costs.shape, np.nan))
            first, kind = crowd.distinct()
            found = [self._find_reason(crowd, position) for position in first.tolist()]
            reasons[stuck] = np.array(found, dtype=object)[kind]
        return reasons

    def _find_reason(self, crowd: Crowd, position: int) -> str:
        """The code of why there is no plan for somebody: whatever steps cost, unless that is a budget."""
        try:
            found = self._open(crowd, position).no_recourse
        except (ClassifierError, TooLargeError):  # about what lies beyond the horizon
            return "unknown"
        if found is None:
            return "budget" if isinstance(self.job.objective, Budget) else "no_chance"
        return found.code

    def _find_menus(self, part: Crowd) -> _Rows:
        """The plans of each person's menu; of people who are alike in everything, once."""
        first, kind = part.distinct()
        menus = [self._find_menu(part, position) for position in first.tolist()]
        sizes = np.array([len(menu.plan) for menu in menus], dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        person = np.repeat(np.arange(len(part)), sizes[kind])
        within = np.arange(len(person)) - np.repeat(np.cumsum(sizes[kind]) - sizes[kind], sizes[kind])
        which = starts[kind[person]] + within
        whole = PeopleFigures.unknown(int(sizes.sum()), FIGURES)
        for menu, start in zip(menus, starts.tolist(), strict=True):
            whole.put(start + np.arange(len(menu.plan)), menu.found)
        plan, saved = (np.concatenate([getattr(menu, name) for menu in menus])[which] for name in ("plan", "saved"))
        return _Rows(person, plan, saved, whole.take(which))

    def _find_menu(self, part: Crowd, position: int) -> _Rows:
        level, case = self.job.level, self._open(part, position)
        try:
            offers = make_menu(case, Request(level=level, exact=self.job.exact)).offers if case.needs_plan else ()
        except (ProblemError, TermsError, TooLargeError) as error:
            raise place_error(error, part, position) from None
        found = PeopleFigures.unknown(max(len(offers), 1), FIGURES)
        plan, saved = (np.full(max(len(offers), 1), None, dtype=object) for _ in range(2))
        if not offers:
            found.decision[:] = FAVOURABLE if case.favourable else NO_RECOURSE
            if not case.favourable:
                found.figures[:, [FIGURES.index(name) for name in ("success", "best_success")]] = 0.0
            return _Rows(np.array([position]), plan, saved, found)
        plan[:], saved[:] = [offer.name for offer in offers], [self._save(offer) for offer in offers]
        found.decision[:] = PLANNED
        actions = [action.name for action in self.job.problem.actions]
        for i, offer in enumerate(offers):
            figures = [READ[name](offer.cost, None, level) for name in FIGURES[:-1]]
            row = [*(np.nan if figure is None else figure for figure in figures), case.best_success]
            found.figures[i] = np.ma.array(row, mask=np.isnan(row))
            found.first_action[i] = -1 if offer.first_action is None else actions.index(offer.first_action)
        return _Rows(np.full(len(offers), position), plan, saved, found)


class _Rows(NamedTuple):
    """Rows of the result: whose (position in the part), the plan's name, its file, and what it means for them."""

    person: NDArray[np.int64]
    plan: NDArray[np.object_]
    saved: NDArray[np.object_]
    found: PeopleFigures
