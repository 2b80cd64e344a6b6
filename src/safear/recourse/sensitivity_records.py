"""What the advice hangs on, as a record: the only JSON there is of it."""

from __future__ import annotations

from typing import Self

from pydantic import Field

from safear.evaluation.adjoint import Derivatives
from safear.mdp.parameters import Parameter, ParameterKind
from safear.recourse.advice_records import ReasonRecord
from safear.recourse.figure_records import ResultRecord
from safear.recourse.march import Direction, Flip, Leeway
from safear.recourse.records import Answer, name_answer
from safear.recourse.sensitivity import PlanSensitivity, Sensitivity
from safear.recourse.sensitivity_teller import SensitivityTeller


def _place(parameter: Parameter) -> str:
    return ".".join(map(str, parameter.path))


class ParameterRecord(ResultRecord):
    """A chance or a cost of the file: what it is, what the file's interval is, and how far it may move."""

    place: str
    kind: ParameterKind
    text: str
    value: float
    interval: tuple[float, float] | None
    low: float
    high: float


class FlipRecord(ResultRecord):
    """Between two neighbouring values the advice changes."""

    place: str
    direction: Direction
    same: float = Field(description="the last value tried at which the first step is as good as any")
    value: float = Field(description="the next one, at which another is better")
    distance: float = Field(description="how far away: in chance, or in relation to the cost")
    action: str | None = Field(description="what to do first then")
    plan: str | None = Field(description="the plan of the menu that is better then, among choices")
    success: float = Field(description="of the best plan there, like mean and cvar")
    mean: float
    cvar: float
    is_guessed: bool = Field(description="whether the interval in the file holds the value")
    is_certain: bool = Field(description="whether no nearer value changes the advice")
    text: str

    @classmethod
    def of(cls, flip: Flip, plan: PlanSensitivity) -> Self:
        """With its words."""
        costs = flip.cost.all_runs
        return cls(
            place=_place(flip.parameter),
            direction=flip.direction,
            same=flip.same,
            value=flip.value,
            distance=flip.distance,
            action=flip.action,
            plan=None if flip.plan is None else flip.plan.code,
            success=flip.cost.success,
            mean=costs.mean,
            cvar=costs.cvar(plan.offer.level),
            is_guessed=flip.is_guessed,
            is_certain=plan.leeway_of(flip).is_certain,
            text=SensitivityTeller.of(glossary=plan.offer.glossary).flip(flip, plan),
        )


class LeewayRecord(ResultRecord):
    """How far an amount can move in one direction."""

    place: str
    direction: Direction
    end: float = Field(description="where it may not go further")
    certain_to: float = Field(description="up to here nothing is better, surely")
    tolerance: float = Field(description="the step in which values were tried")
    flips_at: float | None

    @classmethod
    def of(cls, leeway: Leeway) -> Self:
        """As it was found."""
        return cls(
            place=_place(leeway.parameter),
            direction=leeway.direction,
            end=leeway.end,
            certain_to=leeway.certain_to,
            tolerance=leeway.tolerance,
            flips_at=None if leeway.flip is None else leeway.flip.value,
        )


class DerivativesRecord(ResultRecord):
    """By how much the figures of a plan rise per unit of an amount (1.0 of a chance), the plan held fixed."""

    place: str
    success: float
    mean: float
    cvar_down: float = Field(description="if the amount falls; nearly always the same as if it rises")
    cvar_up: float

    @classmethod
    def of(cls, found: Derivatives) -> Self:
        """As they were found."""
        tail = found.tail
        figures = {"success": found.success, "mean": found.mean, "cvar_down": tail.down, "cvar_up": tail.up}
        return cls(place=_place(found.parameter), **figures)


class PlanSensitivityRecord(ResultRecord):
    """What one plan hangs on."""

    plan: str
    objective: str
    first_action: str | None
    equally_good: list[str] = Field(description="other first steps that are exactly as good as things stand")
    flips: list[FlipRecord] = Field(description="where the advice changes, nearest first")
    rivals: list[FlipRecord] = Field(description="where another plan of the menu is better for this objective")
    leeways: list[LeewayRecord]
    choices: list[LeewayRecord] = Field(description="the leeways of rivals")
    derivatives: list[DerivativesRecord]

    @classmethod
    def of(cls, plan: PlanSensitivity) -> Self:
        """All of it."""
        return cls(
            plan=plan.offer.code,
            objective=str(plan.offer.objective),
            first_action=plan.offer.first_action,
            equally_good=list(plan.equals),
            flips=[FlipRecord.of(flip, plan) for flip in plan.flips],
            rivals=[FlipRecord.of(flip, plan) for flip in plan.rivals],
            leeways=[LeewayRecord.of(leeway) for leeway in plan.leeways],
            choices=[LeewayRecord.of(leeway) for leeway in plan.choices],
            derivatives=[DerivativesRecord.of(item) for item in plan.derivatives],
        )


class SensitivityRecord(ResultRecord):
    """What the advice hangs on; chances between 0 and 1, costs in `unit`.

    No plans if the decision is favourable, or if there is no recourse.
    """

    problem: str
    decision: Answer
    no_recourse: ReasonRecord | None = Field(description="why no plan reaches the goal")
    unit: str
    level: float
    tolerance: float
    parameters: list[ParameterRecord]
    plans: list[PlanSensitivityRecord]

    @classmethod
    def of(cls, found: Sensitivity) -> Self:
        """With the names of all amounts in words."""
        problem = found.menu.problem
        tell = SensitivityTeller.of(glossary=problem.glossary)
        return cls(
            problem=problem.title,
            decision=name_answer(favourable=found.menu.favourable),
            no_recourse=None if found.menu.no_recourse is None else ReasonRecord.of(found.menu.no_recourse),
            unit=problem.cost_unit,
            level=found.menu.level,
            tolerance=found.tolerance,
            parameters=[
                ParameterRecord(
                    place=_place(item),
                    kind=item.kind,
                    text=tell.parameter(item, problem),
                    value=float(item.value),
                    interval=(float(item.amount.low), float(item.amount.high)) if item.amount.is_interval else None,
                    low=float(item.low),
                    high=float(item.high),
                )
                for item in found.parameters
            ],
            plans=[PlanSensitivityRecord.of(plan) for plan in found.plans],
        )
