"""Solving a part of a batch: the same on a thread here and on a worker far away.

Greedy plans (and those with the least mean) of people whose block is not too large are done in one compiled call per
family of blocks (`kernels.solve_people`); everything else person by person. Either way the classifier is asked about
each state once.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from threading import Lock
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from safear.errors import ClassifierError, Mistake, ProblemError, TermsError, TooLargeError
from safear.mdp.compile import Compiler
from safear.mdp.expand import MAX_DIGITS
from safear.mdp.families import Family, FamilyCompiler, count_block_states, immutable_positions
from safear.mdp.lattice import MAX_UNITS, count_decimals
from safear.memory import MAX_BYTES
from safear.population.blocks import MAX_BLOCK, WORTH_IT
from safear.population.part import Part, as_printed
from safear.population.variants import make_variants
from safear.problem.model import MAX_ACTIONS, Problem
from safear.recourse.case import Desk
from safear.recourse.failure import gives_up
from safear.recourse.menu import Request, make_menu
from safear.recourse.offer import TAIL, Offer
from safear.risk.distribution import EPSILON
from safear.risk.objectives import Mean, MeanLowerStd, Objective
from safear.solvers.solve import Method
from safear.solvers.sweep import TIE, Stepwise, aversion_of

FIGURES = ("success", "mean", "std", "var", "cvar", "overall_mean", "overall_cvar", "best_success")
NO_CHANCE = 0.5 * 10.0**-MAX_DIGITS  # what is less is none, as in `expand`
SAMPLED = 1_000_000  # inputs
KEPT = 8  # sets of rows and edges: for combinations of levels that actions look at, and of chances that people bring
DECISIONS = ("favourable", "plan", "no recourse")  # as `kernels.solve_people` numbers them


@dataclass(frozen=True, eq=False)
class Job:
    """What is to be done for everybody: the menu, or the plan for one objective."""

    problem: Problem
    classifier: object
    objective: Objective | None = None
    method: Method | None = None
    level: float = TAIL


def is_compiled(objective: Objective | None, method: Method | None) -> bool:
    """Whether plans for an objective can be computed in one compiled call for many people."""
    greedy = method == "greedy" or (method is None and isinstance(objective, MeanLowerStd))
    return isinstance(objective, Mean) or (greedy and isinstance(objective, Stepwise))


class Engine:
    """Solves the parts of one job; may be used by several threads."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._desk = Desk.of(job.problem, job.classifier)
        self._compiler = self._desk.compiler
        self._families: dict[frozenset[int], FamilyCompiler] = {}
        self._lock = Lock()

    def solve(self, part: Part) -> pd.DataFrame:
        """A row per person, or per person and plan: who, the decision, the plan's name and first step, its figures."""
        part = replace(part, chances=np.where(part.chances <= NO_CHANCE, 0.0, part.chances))
        together = self._together(part)
        units = self._count_units(part.costs)
        together &= units.fit
        found = [self._solve_together(part, np.flatnonzero(together), units)]
        found += self._solve_others(part, np.flatnonzero(~together))
        rows = _Rows(*(np.concatenate(column) for column in zip(*found, strict=True)))
        order = np.argsort(rows.person, kind="stable")
        columns = {
            "decision": np.array(DECISIONS, dtype=object)[rows.decision],
            "plan": rows.plan,
            "first_action": rows.first_action,
            "gives_up": _give_up(rows),
        } | dict(zip(FIGURES, rows.figures.T, strict=True))
        result = pd.DataFrame({name: column[order] for name, column in columns.items()})
        labels = part.labels.iloc[rows.person[order]].reset_index(drop=True)
        return pd.concat([labels, result], axis=1)

    def recognise(self, codes: NDArray[np.int16]) -> str:
        """The classifier by its decisions, on all inputs or, if these are very many, on some drawn at random.

        One that cannot decide on everything is known by its decisions on these people.
        """
        try:
            decisions = self._compiler.goals.sample(SAMPLED)
        except ClassifierError:
            decisions = self._compiler.goals.among(np.unique(codes, axis=0))
        return hashlib.sha256(decisions.tobytes()).hexdigest()

    def _together(self, part: Part) -> NDArray[np.bool_]:
        """Whose plans are computed in one compiled call with others'."""
        job = self.job
        size = count_block_states(job.problem)
        personal = int((~np.isnan(part.chances)).any(axis=0).sum())
        # With chances of their own an action has four variants, each with rows and edges.
        need = size * self._compiler.bytes_per_state * (1 + 3 * personal / max(len(job.problem.actions), 1))
        too_large = size > MAX_BLOCK or need > MAX_BYTES or len(job.problem.actions) + 3 * personal > MAX_ACTIONS
        if too_large or not is_compiled(job.objective, job.method):
            return np.zeros(len(part), dtype=bool)
        blocks = np.unique(part.codes[:, immutable_positions(job.problem)], axis=0, return_inverse=True)[1].reshape(-1)
        together: NDArray[np.bool_] = (size <= WORTH_IT * np.bincount(blocks))[blocks]
        return together

    def _solve_together(self, part: Part, people: NDArray[np.int64], units: _Units) -> _Rows:
        """The greedy plans of some of the people, family by family."""
        from safear.population import person_kernels  # noqa: PLC0415  # Numba takes a moment to load

        objective, immutable = self.job.objective, immutable_positions(self.job.problem)
        rows = _Rows.empty(people)
        if not len(people) or not isinstance(objective, Stepwise):
            return rows
        chances, forbidden = part.chances[people], part.forbidden[people]
        personal = frozenset(np.flatnonzero((~np.isnan(chances)).any(axis=0)).tolist())
        variants = make_variants(self.job.problem, personal)
        families = self._compile_families(personal, variants.problem)
        own_chances = variants.chances(chances)
        first = np.full(len(people), -1, dtype=np.int16)
        lattice, goal = self._compiler.lattice, self.job.problem.goal
        rules = person_kernels.Rules(
            variants.own_cost,
            self.job.problem.horizon,
            lattice.units(goal.failure_cost),
            aversion_of(objective),
            isinstance(objective, MeanLowerStd),
            TIE,
            self.job.level,
            EPSILON,
        )
        for family, members, lanes in _meet(families, part.codes[people], immutable):
            mdp = family.shared
            codes = part.codes[people[members]]
            codes[:, immutable] = list(mdp.space.fixed.values())  # in which lane somebody is, `lanes` says
            status, actions = np.empty(len(members), dtype=np.uint8), np.empty(len(members), dtype=np.int16)
            figures = np.empty((len(members), len(FIGURES)))
            who = people[members]
            bring = person_kernels.People(
                mdp.positions(codes),
                lanes,
                variants.offered(chances[members], forbidden[members]),
                units.costs[who][:, variants.action],
                own_chances[members],
                units.scale[who],
            )
            answers = person_kernels.Answers(status, actions, figures)
            person_kernels.solve_people(mdp.arrays, family.goal, bring, rules, answers)
            if (status == person_kernels.TOO_FINE).any():
                self._complain(part, int(who[np.argmax(status == person_kernels.TOO_FINE)]))
            figures[:, 1:7] /= units.per_one[who, None]
            rows.decision[members], rows.figures[members], first[members] = status, figures, actions
        names = np.array([*(action.name for action in self.job.problem.actions), None], dtype=object)
        rows.first_action[:] = names[np.append(variants.action, -1)[first]]
        rows.plan[rows.decision == DECISIONS.index("plan")] = str(objective)
        return rows

    def _compile_families(self, personal: frozenset[int], problem: Problem) -> FamilyCompiler:
        """For people who bring chances for these actions; the answers of the classifier are shared."""
        with self._lock:
            if personal not in self._families:
                while len(self._families) >= KEPT:
                    del self._families[next(iter(self._families))]
                compiler = Compiler(problem, self._compiler.goals, self._compiler.lattice)
                self._families[personal] = FamilyCompiler(compiler, kept=KEPT)
            return self._families[personal]

    def _count_units(self, costs: NDArray[np.float64]) -> _Units:
        """Personal costs as whole numbers of 10^-k, with the k that each person's costs and the problem's need."""
        lattice, goal = self._compiler.lattice, self.job.problem.goal
        known = ~np.isnan(costs)
        numbers, which = np.unique(costs[known], return_inverse=True)
        exact = [lattice.rounded(as_printed(number)) for number in numbers.tolist()]
        decimals = np.full(costs.shape, count_decimals(lattice.quantum))
        decimals[known] = np.array([count_decimals(cost) for cost in exact], dtype=np.int64)[which.reshape(-1)]
        places = np.maximum(decimals.max(axis=1, initial=0), count_decimals(lattice.quantum))
        per_one = 10.0**places
        largest = np.maximum(np.where(known, costs, 0.0).max(axis=1, initial=0.0), float(lattice.largest))
        fit = (largest * self.job.problem.horizon + float(goal.failure_cost)) * per_one < MAX_UNITS
        exponents = np.where(fit, places, 0)
        units = np.full(costs.shape, -1, dtype=np.int64)
        whole = np.array([int(cost * 10 ** count_decimals(cost)) for cost in exact], dtype=object)[which.reshape(-1)]
        people = np.nonzero(known)[0]
        usable = fit[people]
        shift = np.where(usable, places[people] - decimals[known], 0)
        units[known] = np.where(usable, whole, 0).astype(np.int64) * 10**shift
        scales = {place: int(lattice.quantum * 10**place) for place in np.unique(exponents).tolist()}
        scale = np.array([scales[place] for place in exponents.tolist()], dtype=np.int64)
        return _Units(fit, units, per_one, scale)

    def _complain(self, part: Part, position: int) -> None:
        """About a person whose totals are too many to be told one by one."""
        cause = "costs are so fine that there are too many different totals"
        raise TooLargeError([Mistake(part.place(position), cause, "round the costs, or shorten the horizon")])

    def _solve_others(self, part: Part, people: NDArray[np.int64]) -> list[_Rows]:
        """The plans of people one by one; of those who are alike in everything, once."""
        terms = [np.nan_to_num(table[people], nan=-1.0) for table in (part.costs, part.chances)]
        everything = np.concatenate([part.codes[people], *terms, part.forbidden[people]], axis=1)
        _, first, which = np.unique(everything, axis=0, return_index=True, return_inverse=True)
        solved = [self._solve_alone(part, int(position)) for position in people[first]]
        alike = zip(people.tolist(), which.reshape(-1).tolist(), strict=True)
        return [solved[kind]._replace(person=np.full(len(solved[kind].person), person)) for person, kind in alike]

    def _solve_alone(self, part: Part, position: int) -> _Rows:
        """The plans of one person."""
        try:
            return self._plan_alone(part, position)
        except (ProblemError, TermsError, TooLargeError) as error:  # nobody could tell whose problem it is
            place = part.place(position)
            mistakes = [
                replace(item, place=replace(place, path=(*place.path, *item.place.path))) for item in error.mistakes
            ]
            raise type(error)(mistakes) from None

    def _plan_alone(self, part: Part, position: int) -> _Rows:
        job = self.job
        case = self._desk.open(part.person(job.problem, position), terms=part.terms(job.problem, position))
        if case.favourable:
            return _Rows.empty(np.array([position]), decision="favourable")
        if case.no_recourse is not None:
            rows = _Rows.empty(np.array([position]), decision="no recourse")
            rows.figures[:, [FIGURES.index("success"), FIGURES.index("best_success")]] = 0.0
            return rows
        wanted = None if job.objective is None else (job.objective,)
        offers = make_menu(case, Request(wanted, job.method, job.level)).offers
        rows = _Rows.empty(np.full(len(offers), position), decision="plan")
        rows.plan[:] = [offer.name for offer in offers]
        rows.first_action[:] = [offer.first_action for offer in offers]
        rows.figures[:] = [[*_read(offer, job.level), case.best_success] for offer in offers]
        return rows


class _Units(NamedTuple):
    """Costs [person, action] as whole numbers of a unit for each person; -1 where the problem's own holds.

    `fit` says whose do not become too large, `per_one` how many units make one, `scale` how many the problem's quantum.
    """

    fit: NDArray[np.bool_]
    costs: NDArray[np.int64]
    per_one: NDArray[np.float64]
    scale: NDArray[np.int64]


class _Rows(NamedTuple):
    """Rows of the result: whose (position in the part), the number of the decision, the plan and its figures."""

    person: NDArray[np.int64]
    decision: NDArray[np.int64]
    plan: NDArray[np.object_]
    first_action: NDArray[np.object_]
    figures: NDArray[np.float64]

    @classmethod
    def empty(cls, people: NDArray[np.int64], decision: str = "favourable") -> _Rows:
        nothing = np.full(len(people), None, dtype=object)
        figures = np.full((len(people), len(FIGURES)), np.nan)
        return cls(people, np.full(len(people), DECISIONS.index(decision)), nothing, nothing.copy(), figures)


def _give_up(rows: _Rows) -> NDArray[np.object_]:
    """Whether the plan succeeds far less often than another would; None where there is no plan."""
    success, best = (rows.figures[:, FIGURES.index(name)] for name in ("success", "best_success"))
    answers = np.full(len(success), None, dtype=object)
    for i in np.flatnonzero(rows.decision == DECISIONS.index("plan")).tolist():
        answers[i] = gives_up(float(success[i]), float(best[i]))
    return answers


def _meet(
    families: FamilyCompiler, codes: NDArray[np.int16], immutable: list[int]
) -> Iterator[tuple[Family, NDArray[np.int64], NDArray[np.int64]]]:
    """Each family that somebody is in, who that is, and the lane of each."""
    blocks, member = np.unique(codes[:, immutable], axis=0, return_inverse=True)
    number_of = {levels.tobytes(): number for number, levels in enumerate(blocks)}
    for family in families.families(blocks):
        lane_of = np.full(len(blocks), -1, dtype=np.int64)
        lane_of[[number_of[levels.tobytes()] for levels in family.levels]] = np.arange(family.n_lanes)
        lanes = lane_of[member.reshape(-1)]
        members = np.flatnonzero(lanes >= 0)
        yield family, members, lanes[members]


def _read(offer: Offer, level: float) -> list[float]:
    cost, overall = offer.cost, offer.cost.all_runs
    figures = (cost.success, cost.mean, cost.std, cost.var(level), cost.cvar(level), overall.mean, overall.cvar(level))
    return [math.nan if figure is None else figure for figure in figures]
