"""Do plans that were kept still end well under another model, and what does it cost to repair the others?

Every end that a plan counts as success is asked of the new model, on the record as filed with the promised numbers,
wherever in what was promised the person lands. A plan is kept if all of them are accepted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from safear.errors import PlanError, quote_list
from safear.evaluation.forward import run_exactly
from safear.mdp.filed_goals import as_filed
from safear.mdp.space import person_codes
from safear.plans.plan_writing import hash_problem
from safear.plans.saved_plan import SavedPlan
from safear.problem.model import Problem, Record
from safear.problem.person import read_person
from safear.problem.tries import Counts, count_interval
from safear.recourse.case import Desk
from safear.recourse.promises import Verification, check_ends
from safear.solvers.solve import solve

if TYPE_CHECKING:
    import pandas as pd

    from safear.progress import Progress

SHOWN_BY = frozenset({"features", "given", "goal", "classifier"})  # parts that say what a model sees and decides
COLUMNS = ("plan", "kept", "claimed", "success", "ends", "repair", "mean", "repaired_mean", "repaired_success")


@dataclass(frozen=True, slots=True)
class Repair:
    """What a person is left with whose plan no longer ends well: the best plan for its objective under the new model.

    accepted  the new model accepts the record as it was filed: nothing is to be done
    plan      there is one from the start, with these figures over all runs
    none      no plan leads to a goal any more
    unknown   the plan is for another problem, with somebody's own terms perhaps
    """

    code: Literal["accepted", "plan", "none", "unknown"]
    success: float | None = None
    mean: float | None = None
    tail: float | None = None


@dataclass(frozen=True, eq=False)
class PlanCheck:
    """One plan under the new model: `success` is the probability to end where it accepts whatever was promised."""

    name: str
    plan: SavedPlan
    success: float
    check: Verification
    repair: Repair | None = None

    @property
    def kept(self) -> bool:
        """Whether the model accepts every end that the plan counts as success."""
        return self.check.holds

    @property
    def claimed(self) -> float:
        """The success that the plan claims."""
        return self.plan.figures.success

    @property
    def more(self) -> float | None:
        """By how much the repaired plan costs more on average; None if nothing is repaired."""
        if self.repair is None or self.repair.mean is None:
            return None
        return self.repair.mean - self.plan.figures.mean


@dataclass(frozen=True, eq=False)
class Durability:
    """What became of plans under another model; see `check_durability`."""

    problem: Problem
    checks: tuple[PlanCheck, ...]
    confidence: float

    @cached_property
    def people(self) -> Counts:
        """How many people's plans are all kept, of how many there are. The same record is the same person."""
        kept: dict[str, bool] = {}
        for check in self.checks:
            key = check.plan.form.person.hash or check.name
            kept[key] = kept.get(key, True) and check.kept
        return Counts(sum(kept.values()), len(kept))

    @property
    def share(self) -> float:
        """The share of people whose plans are all kept."""
        return self.people.worked / self.people.tried

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The interval of Clopper and Pearson of that share, for people like these."""
        low, high = count_interval(self.people, self.confidence)
        return float(low), float(high)

    @property
    def claimed(self) -> float:
        """The mean of the success that plans claim."""
        return float(np.mean([check.claimed for check in self.checks]))

    @property
    def success(self) -> float:
        """The mean of their success under the new model."""
        return float(np.mean([check.success for check in self.checks]))

    @property
    def more(self) -> float | None:
        """What repaired plans cost more on average, as a mean over them; None if there are none."""
        found = [check.more for check in self.checks if check.more is not None]
        return float(np.mean(found)) if found else None

    def count(self, code: str) -> int:
        """How many plans have a repair of this kind."""
        return sum(check.repair is not None and check.repair.code == code for check in self.checks)

    def to_frame(self) -> pd.DataFrame:
        """A row per plan."""
        import pandas as pd  # noqa: PLC0415  # a quarter of a second that others do not need

        rows = []
        for one in self.checks:
            repair = one.repair or Repair("unknown")
            code = None if one.repair is None else repair.code
            figures = (code, one.plan.figures.mean, repair.mean, repair.success)
            rows.append((one.name, one.kept, one.claimed, one.success, one.check.ends, *figures))
        return pd.DataFrame(rows, columns=COLUMNS)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(self.to_frame().to_html())


def check_durability(
    problem: Problem,
    classifier: object,
    plans: Iterable[tuple[str, SavedPlan]],
    *,
    confidence: float = 0.95,
    repair: bool = True,
    progress: Progress | None = None,
) -> Durability:
    """Ask another model about every end of plans that were kept, and repair those that it does not accept.

    `plans` have names; `open_plans` reads them. The problem must have the features that they were made for. A plan is
    repaired with the best one for its objective from the start, as `problem` and its margin ask for it, unless it was
    made for another problem. Raises a PlanError about a plan without personal data: the model cannot be asked.
    """
    desk, parts, known, found = Desk.of(problem, classifier), hash_problem(problem)[1], list(plans), []
    for number, (name, plan) in enumerate(known, start=1):
        others = _differing(plan, parts)
        if "features" in others:
            cause = f"{name}: the plan is for '{plan.form.problem.title}', whose features are others"
            raise PlanError.at((), cause, "give the problem as it was then", code="other_problem", parts=sorted(others))
        found.append(_check_plan(desk, name, plan, repairs=repair, is_own=others <= SHOWN_BY))
        if progress is not None:
            progress(number, len(known))
    if not found:
        raise PlanError.at((), "there are no plans", "save some with 'safear recommend --save'", code="nothing")
    return Durability(problem, tuple(found), confidence)


def _differing(plan: SavedPlan, parts: dict[str, str]) -> set[str]:
    """In which parts a plan's problem is another one."""
    known = plan.form.problem.parts
    return {name for name in parts.keys() | known if parts.get(name) != known.get(name)}


def _check_plan(desk: Desk, name: str, plan: SavedPlan, *, repairs: bool, is_own: bool) -> PlanCheck:
    if plan.record is None:
        cause = f"{name}: the plan has no personal data, so no model can be asked about its person"
        raise PlanError.at((), cause, "save plans with personal data for this", code="no_record")
    problem, goals = desk.problem, desk.goals.in_force
    own = as_filed(goals, plan.record, read_person(problem, plan.record, given=goals.sight.given))
    ends = plan.ends
    unknown = {feature for levels, _ in ends for feature in levels} ^ set(problem.feature_by_name)
    if ends and unknown:
        cause = f"{name}: the plan does not say the levels of {quote_list(sorted(unknown))}"
        raise PlanError.at((), cause, "save plans with personal data for this", code="no_record")
    codes = np.array([person_codes(problem.features, levels) for levels, _ in ends], dtype=np.int16)
    holds, check = check_ends(own, codes.reshape(len(ends), len(problem.features)), plan.promises)
    success = float(np.array([chance for _, chance in ends]) @ holds) if ends else 0.0
    if check.holds or not repairs:
        return PlanCheck(name, plan, min(success, 1.0), check)
    return PlanCheck(name, plan, success, check, _repair(desk, plan, plan.record) if is_own else Repair("unknown"))


def _repair(desk: Desk, plan: SavedPlan, record: Record) -> Repair:
    """The best plan for the same objective from the start."""
    case = desk.open(record)
    if not case.needs_plan:
        return Repair("accepted" if case.favourable else "none")
    # Where the plan was drawn at random, the optimum stands in its place.
    method: Literal["greedy"] | None = "greedy" if plan.form.method == "greedy" else None
    solution = solve(case.mdp, plan.objectives[0], method=method, robust=plan.form.robust)
    cost = run_exactly(solution).distribution
    return Repair("plan", cost.success, cost.all_runs.mean, cost.all_runs.cvar(plan.level))
