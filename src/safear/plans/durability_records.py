"""What became of plans under another model, as a record: the only JSON there is of it."""

from __future__ import annotations

from typing import Literal, Self

from safear.plans.durability import Durability, PlanCheck
from safear.recourse.figure_records import ResultRecord


class RepairRecord(ResultRecord):
    """The best plan for the same objective under the new model; see `Repair`."""

    code: Literal["accepted", "plan", "none", "unknown"]
    success: float | None
    mean: float | None
    cvar: float | None


class PlanCheckRecord(ResultRecord):
    """One plan under the new model; see `PlanCheck`."""

    plan: str
    objective: str
    holds: bool
    claimed: float
    success: float
    mean: float
    ends: int
    points: int
    accepted: int
    is_complete: bool
    repair: RepairRecord | None

    @classmethod
    def of(cls, one: PlanCheck) -> Self:
        """Of a plan."""
        return cls(
            plan=one.name,
            objective=one.plan.form.objectives[0],
            holds=one.holds,
            claimed=one.claimed,
            success=one.success,
            mean=one.plan.figures.mean,
            ends=one.check.ends,
            points=one.check.points,
            accepted=one.check.accepted,
            is_complete=one.check.is_complete,
            repair=None if one.repair is None else RepairRecord.model_validate(one.repair),
        )


class DurabilityRecord(ResultRecord):
    """All plans: of `people`, who have different records, the plans of `holding` all hold; costs are in `unit`.

    `interval` is that of their share. Of the plans that do not hold, `accepted` are no longer needed,
    `without_recourse` cannot be replaced, and for `unknown` that was not tried.
    """

    title: str
    unit: str
    people: int
    holding: int
    share: float
    interval: tuple[float, float]
    confidence: float
    claimed: float
    success: float
    repaired_more: float | None
    accepted: int
    without_recourse: int
    unknown: int
    plans: list[PlanCheckRecord]

    @classmethod
    def of(cls, found: Durability) -> Self:
        """Of what was found."""
        return cls(
            title=found.problem.title,
            unit=found.problem.cost_unit,
            people=found.people.tried,
            holding=found.people.worked,
            share=found.share,
            interval=found.interval,
            confidence=found.confidence,
            claimed=found.claimed,
            success=found.success,
            repaired_more=found.more,
            accepted=found.count("accepted"),
            without_recourse=found.count("none"),
            unknown=found.count("unknown"),
            plans=[PlanCheckRecord.of(one) for one in found.checks],
        )
