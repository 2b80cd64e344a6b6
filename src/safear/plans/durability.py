"""Do saved plans still hold under another model, and what does it cost to repair the others?

Every end that a plan counts as success is asked of the new model, on the record as filed with the promised numbers,
anywhere in the promised range. A plan holds if it has such ends and all of them are accepted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from safear.errors import InputError, PlanError, quote_list
from safear.evaluation.forward import run_exactly
from safear.mdp.filed_goals import as_filed
from safear.mdp.space import person_codes
from safear.plans.saved_plan import SavedPlan
from safear.problem.model import Problem, Record
from safear.problem.person import read_person
from safear.problem.tries import Counts, count_interval
from safear.recourse.case import Desk
from safear.recourse.caution import solve_alike
from safear.recourse.promises import Verification, check_ends
from safear.steady import dot

if TYPE_CHECKING:
    import pandas as pd

    from safear.progress import Progress

SHOWN_BY = frozenset({"features", "given", "goal", "classifier"})  # parts that say what a model sees and decides
COLUMNS = ("plan", "holds", "claimed", "success", "ends", "repair", "mean", "repaired_mean", "repaired_success")


@dataclass(frozen=True, slots=True)
class Repair:
    """What a person is left with whose plan no longer holds: the best plan for its objective under the new model.

    accepted  the new model accepts the record as it was filed: nothing is to be done
    plan      there is one from the start, with these figures over all runs
    none      no plan leads to a goal, or the best one for the objective never does
    unknown   the plan is for another problem, with somebody's own terms or another cost of failing perhaps, so that
              figures cannot be compared
    """

    code: Literal["accepted", "plan", "none", "unknown"]
    success: float | None = None
    mean: float | None = None
    cvar: float | None = None


@dataclass(frozen=True, eq=False)
class PlanCheck:
    """One plan under the new model: `success` is the probability to end where it accepts whatever was promised."""

    name: str
    plan: SavedPlan
    success: float
    check: Verification
    repair: Repair | None = None

    @property
    def holds(self) -> bool:
        """Whether the model accepts every end that the plan counts as success, and there is one."""
        return self.check.holds and self.check.ends > 0

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
        """How many people's plans all hold, of how many there are. Whoever first filed the same record is the same."""
        holding: dict[str, bool] = {}
        for check in self.checks:
            key = check.plan.person_hash or check.name
            holding[key] = holding.get(key, True) and check.holds
        return Counts(sum(holding.values()), len(holding))

    @property
    def share(self) -> float:
        """The share of people whose plans all hold."""
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
            rows.append((one.name, one.holds, one.claimed, one.success, one.check.ends, *figures))
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
    """Ask another model about every end of saved plans, and repair those that it does not accept.

    `plans` have names; `open_plans` reads them. The problem must have the features that they were made for. A plan is
    repaired with the best one for its objective from its start, as `problem` and its margin ask for it, unless it was
    made for another problem. Raises a PlanError about a plan without personal data: the model cannot be asked.
    """
    desk, known, found = Desk.of(problem, classifier), list(plans), []
    desks = {problem.horizon: desk}
    for number, (name, plan) in enumerate(known, start=1):
        # A plan that goes on with an earlier one has only the steps that were left.
        steps = problem.horizon if plan.form.before is None else plan.mdp.horizon
        if steps not in desks:
            desks[steps] = Desk.of(problem.with_horizon(steps), desk.classifier)
        others = plan.find_differences(desks[steps].problem)
        if "features" in others:
            cause = f"{name}: the plan is for '{plan.form.problem.title}', which has different features"
            raise PlanError.at((), cause, "give the problem as it was then", code="other_problem", parts=others)
        found.append(_check_plan(desks[steps], name, plan, repairs=repair, is_own=SHOWN_BY.issuperset(others)))
        if progress is not None:
            progress(number, len(known))
    if not found:
        raise PlanError.at((), "there are no plans", "save some with 'safear recommend --save'", code="nothing")
    return Durability(problem, tuple(found), confidence)


def holds_today(desk: Desk, plan: SavedPlan) -> bool | None:
    """Whether the model that decides accepts every end that a plan counts as success.

    None if that cannot be told: the file has no record, or one that this problem cannot read, or the model is silent.
    """
    try:
        return _check_plan(desk, "", plan, repairs=False, is_own=False).check.holds
    except InputError:
        return None


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
    for feature in problem.features if ends else ():
        odd = {levels[feature.name] for levels, _ in ends}.difference(feature.levels)
        if odd:
            cause = f"{name}: the plan comes to '{min(odd)}', which is not a level of '{feature.name}'"
            raise PlanError.at((), cause, "give the problem as it was then", code="other_problem")
    codes = np.array([person_codes(problem.features, levels) for levels, _ in ends], dtype=np.int16)
    holds, check = check_ends(own, codes.reshape(len(ends), len(problem.features)), plan.promises)
    desk.vouch_for(own)
    success = dot(np.array([chance for _, chance in ends]), holds) if ends else 0.0
    found = PlanCheck(name, plan, min(success, 1.0), check)
    if found.holds or not repairs:
        return found
    return replace(found, repair=_repair(desk, plan, plan.record) if is_own else Repair("unknown"))


def _repair(desk: Desk, plan: SavedPlan, record: Record) -> Repair:
    """The best plan for the same objective from the start."""
    case, form = desk.open(record), plan.form
    if not case.needs_plan:
        return Repair("accepted" if case.favourable else "none")
    # Where failing costs something else, or plans stop earlier, one mean says nothing about the other.
    if (case.mdp.to_cost(case.mdp.failure_cost), case.mdp.stops) != (form.problem.failure_cost, form.problem.stop):
        return Repair("unknown")
    solution = solve_alike(case.mdp, plan.objectives[0], method=form.method, robust=form.robust)
    cost = run_exactly(solution).distribution
    if not cost.success:
        return Repair("none")
    return Repair("plan", cost.success, cost.all_runs.mean, cost.all_runs.cvar(plan.level))
