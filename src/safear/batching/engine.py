"""Solving a part of a batch: the same on a thread here and on a worker far away.

Greedy plans (and those with the least mean) of people whose block is not too large are done in one compiled call per
family of blocks (`kernels.solve_people`); everything else person by person. Either way the classifier is asked about
each state once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from threading import Lock
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from safear.batching.part import Part, as_printed
from safear.batching.variants import make_variants
from safear.classifier.adapters import as_classifier
from safear.errors import NoRecourseError, ProblemError
from safear.mdp.compile import MAX_REACHABLE, Compiler
from safear.mdp.expand import MAX_DIGITS
from safear.mdp.families import Family, FamilyCompiler
from safear.mdp.lattice import find_lattice
from safear.memory import MAX_BYTES
from safear.recourse.menu import Case, make_menu, require_recourse, solve_one
from safear.recourse.offer import TAIL, Offer, make_offer
from safear.recourse.population import MAX_BLOCK, WORTH_IT
from safear.risk.distribution import EPSILON
from safear.risk.objectives import Mean, MeanLowerStd, Objective
from safear.solvers.greedy import TIE, Stepwise, aversion_of
from safear.solvers.solve import Method
from safear.spec.model import MAX_ACTIONS, Problem
from safear.spec.terms import apply_terms

FIGURES = ("success", "mean", "std", "var", "cvar", "overall_mean", "overall_cvar")
NO_CHANCE = 0.5 * 10.0**-MAX_DIGITS  # what is less is none, as in `expand`
KEPT = 16  # sets of rows and edges, for as many combinations of levels that actions look at
DECISIONS = ("favourable", "plan", "no recourse")  # as `kernels.solve_people` numbers them


@dataclass(frozen=True, eq=False)
class Job:
    """What is to be done for everybody: the menu, or the plan for one objective."""

    problem: Problem
    classifier: object
    objective: Objective | None = None
    method: Method | None = None
    level: float = TAIL


class Engine:
    """Solves the parts of one job; may be used by several threads."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._compiler = Compiler.of(job.problem, as_classifier(job.classifier, job.problem))
        self._families: dict[frozenset[int], FamilyCompiler] = {}
        self._lock = Lock()

    def solve(self, part: Part) -> pd.DataFrame:
        """A row per person, or per person and plan: who, the decision, the plan's name and first step, its figures."""
        part = replace(part, chances=np.where(part.chances <= NO_CHANCE, 0.0, part.chances))
        together = self._together(part)
        units = self._count_units(part.costs[together])
        if units is None:
            together[:] = False
        found = [] if units is None else [self._solve_together(part, np.flatnonzero(together), units)]
        found += [self._solve_alone(part, position) for position in np.flatnonzero(~together).tolist()]
        rows = _Rows(*(np.concatenate(column) for column in zip(*found, strict=True)))
        order = np.argsort(rows.person, kind="stable")
        columns = {
            "decision": np.array(DECISIONS, dtype=object)[rows.decision],
            "plan": rows.plan,
            "first_action": rows.first_action,
        } | dict(zip(FIGURES, rows.figures.T, strict=True))
        result = pd.DataFrame({name: column[order] for name, column in columns.items()})
        labels = part.labels.iloc[rows.person[order]].reset_index(drop=True)
        return pd.concat([labels, result], axis=1)

    def _together(self, part: Part) -> NDArray[np.bool_]:
        """Whose plans are computed in one compiled call with others'."""
        job = self._job
        size = math.prod(len(feature.levels) for feature in job.problem.features if feature.mutable)
        personal = int((~np.isnan(part.chances)).any(axis=0).sum())
        greedy = job.method == "greedy" or (job.method is None and isinstance(job.objective, MeanLowerStd))
        is_stepwise = isinstance(job.objective, Mean) or (greedy and isinstance(job.objective, Stepwise))
        if not is_stepwise or size > MAX_BLOCK or len(job.problem.actions) + 3 * personal > MAX_ACTIONS:
            return np.zeros(len(part), dtype=bool)
        blocks = np.unique(part.codes[:, self._immutable], axis=0, return_inverse=True)[1].reshape(-1)
        together: NDArray[np.bool_] = (size <= WORTH_IT * np.bincount(blocks))[blocks]
        return together

    @property
    def _immutable(self) -> list[int]:
        return [i for i, feature in enumerate(self._job.problem.features) if not feature.mutable]

    def _solve_together(self, part: Part, people: NDArray[np.int64], units: _Units) -> _Rows:
        """The greedy plans of some of the people, family by family."""
        from safear.batching import kernels  # noqa: PLC0415  # Numba takes a moment to load

        objective, unit = self._job.objective, units.unit
        rows = _Rows.empty(people)
        if not len(people) or not isinstance(objective, Stepwise):
            return rows
        chances, forbidden = part.chances[people], part.forbidden[people]
        personal = frozenset(np.flatnonzero((~np.isnan(chances)).any(axis=0)).tolist())
        variants = make_variants(self._job.problem, personal)
        families = self._compile_families(personal, variants.problem)
        own_chances = variants.chances(chances)
        first = np.full(len(people), -1, dtype=np.int16)
        for family, members, lanes in _meet(families, part.codes[people], self._immutable):
            mdp = family.shared
            if mdp.space is None or mdp.states is None:  # the compiler gives both
                raise TypeError(mdp)
            codes = part.codes[people[members]]
            codes[:, self._immutable] = list(mdp.space.fixed.values())  # in which lane somebody is, `lanes` says
            status, actions = np.empty(len(members), dtype=np.uint8), np.empty(len(members), dtype=np.int16)
            figures = np.empty((len(members), len(FIGURES)))
            scale = int(mdp.quantum / unit)
            kernels.solve_people(
                mdp.row_start,
                mdp.row_action,
                mdp.edge_start,
                mdp.edge_next,
                mdp.edge_chance,
                mdp.edge_cost * scale,
                mdp.edge_outcome,
                family.goal,
                variants.own_cost,
                np.searchsorted(mdp.states, mdp.space.encode(codes)),
                lanes,
                variants.offered(chances[members], forbidden[members]),
                units.costs[members][:, variants.action],
                own_chances[members],
                mdp.horizon,
                mdp.failure_cost * scale,
                aversion_of(objective),
                isinstance(objective, MeanLowerStd),
                TIE,
                self._job.level,
                EPSILON,
                status,
                actions,
                figures,
            )
            figures[:, 1:] = figures[:, 1:] * unit.numerator / unit.denominator
            rows.decision[members], rows.figures[members], first[members] = status, figures, actions
        names = np.array([*(action.name for action in self._job.problem.actions), None], dtype=object)
        rows.first_action[:] = names[np.append(variants.action, -1)[first]]
        rows.plan[rows.decision == DECISIONS.index("plan")] = str(objective)
        return rows

    def _compile_families(self, personal: frozenset[int], problem: Problem) -> FamilyCompiler:
        """For people who bring chances for these actions; the answers of the classifier are shared."""
        with self._lock:
            if personal not in self._families:
                compiler = Compiler(problem, self._compiler.goals, self._compiler.lattice)
                self._families[personal] = FamilyCompiler(compiler, kept=KEPT)
            return self._families[personal]

    def _count_units(self, costs: NDArray[np.float64]) -> _Units | None:
        """Personal costs as whole numbers; None if some are so fine beside others that no unit suits all of them."""
        known = ~np.isnan(costs)
        numbers, which = np.unique(costs[known], return_inverse=True)
        decimals = [as_printed(number) for number in numbers.tolist()]
        try:
            lattice = find_lattice(self._job.problem, decimals)
        except ProblemError:
            return None
        units = np.full(costs.shape, -1, dtype=np.int64)
        units[known] = np.array([lattice.units(cost) for cost in decimals], dtype=np.int64)[which.reshape(-1)]
        return _Units(lattice.quantum, units)

    def _solve_alone(self, part: Part, position: int) -> _Rows:
        """The plans of one person."""
        job = self._job
        problem = apply_terms(job.problem, part.terms(job.problem, position))
        person = part.person(problem, position)
        compiler = Compiler(problem, self._compiler.goals, find_lattice(problem))
        mdp = compiler.reachable(person, MAX_REACHABLE, MAX_BYTES)
        if mdp.goal[mdp.locate()]:
            return _Rows.empty(np.array([position]), decision="favourable")
        try:
            require_recourse(mdp)
        except NoRecourseError:
            return _Rows.empty(np.array([position]), decision="no recourse")
        if job.objective is None:
            offers = make_menu(Case(problem, person, mdp, favourable=False), level=job.level).offers
        else:
            offers = (make_offer(solve_one(mdp, job.objective, method=job.method), level=job.level),)
        rows = _Rows.empty(np.full(len(offers), position), decision="plan")
        rows.plan[:] = [offer.name for offer in offers]
        rows.first_action[:] = [offer.first_action for offer in offers]
        rows.figures[:] = [_read(offer, job.level) for offer in offers]
        return rows


class _Units(NamedTuple):
    """Costs [person, action] as whole numbers of a unit; -1 where the problem's own holds."""

    unit: Fraction
    costs: NDArray[np.int64]


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
