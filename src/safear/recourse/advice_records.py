"""Why somebody has no recourse, and the advice they get, as records."""

from __future__ import annotations

from typing import Self

from pydantic import Field

from safear.recourse.advice import Advice, Approach, Relaxation, RelaxationCode
from safear.recourse.advice_teller import AdviceTeller
from safear.recourse.figure_records import ResultRecord
from safear.recourse.level_changes import LevelChange
from safear.recourse.notices import NoRecourse, ReasonCode
from safear.recourse.stuck import Why
from safear.recourse.teller import Teller


class BlockedRecord(ResultRecord):
    """An action that is not offered, and what blocks it."""

    action: str
    code: Why
    what: str = Field(description="the condition or the feature, as the file has it; empty if it is neither")


class ReasonRecord(ResultRecord):
    """Why no plan reaches the goal."""

    code: ReasonCode
    text: str
    states: int = Field(description="how many states besides the first were tried, within the horizon and beyond")
    horizon: int | None = Field(description="the fewest steps in which a goal can be reached, if they are known")
    budget: float | None = Field(description="the budget that is too small, if that is why")
    least: float | None = Field(description="the smallest budget that is not")
    blocked: list[BlockedRecord] = Field(description="why each action is not offered, if none is")

    @classmethod
    def of(cls, reason: NoRecourse) -> Self:
        """With its words."""
        return cls(
            code=reason.code,
            text=str(reason),
            states=reason.states,
            horizon=reason.horizon,
            budget=reason.budget,
            least=reason.least,
            blocked=[BlockedRecord.model_validate(item) for item in reason.blocked],
        )


class ApproachChangeRecord(ResultRecord):
    """A feature that has changed; of a number, what it is brought to."""

    feature: str
    level: str
    low: float | None
    high: float | None

    @classmethod
    def of(cls, change: LevelChange) -> Self:
        """With what is promised."""
        ends = (None, None) if change.promise is None else (change.promise.low, change.promise.high)
        return cls(feature=change.feature, level=change.level, low=ends[0], high=ends[1])


class ApproachRecord(ResultRecord):
    """How near the person can come."""

    text: str
    score: float = Field(description="the best score that the classifier gives to what can be reached")
    today: float = Field(description="the score of the record as filed")
    needed: float | None = Field(description="the score that is needed, if it is known")
    changes: list[ApproachChangeRecord]

    @classmethod
    def of(cls, found: Approach, tell: AdviceTeller) -> Self:
        """With its words."""
        changes = [ApproachChangeRecord.of(change) for change in found.changes]
        text = tell.closest(found)
        return cls(text=text, score=found.score, today=found.today, needed=found.needed, changes=changes)


class RelaxationRecord(ResultRecord):
    """A change with which there is a plan, found by solving the problem with it."""

    code: RelaxationCode
    text: str
    action: str | None
    what: str | None = Field(description="the condition or constraint that is dropped")
    feature: str | None
    level: str | None
    value: float | None
    horizon: int | None
    promises: list[ApproachChangeRecord] = Field(description="what numbers are brought to, if that is the change")
    success: float = Field(description="of the plan with the highest success")
    mean: float = Field(description="the least cost on average with that success, over all runs")

    @classmethod
    def of(cls, found: Relaxation, tell: AdviceTeller) -> Self:
        """With its words."""
        return cls(
            code=found.code,
            text=tell.relaxation(found),
            action=found.action or None,
            what=found.what or None,
            feature=found.feature or None,
            level=found.level or None,
            value=found.value,
            horizon=found.horizon,
            promises=[ApproachChangeRecord.of(LevelChange(one.feature, one.level, one)) for one in found.promises],
            success=found.success,
            mean=found.mean,
        )


class AdviceRecord(ResultRecord):
    """What somebody without recourse can be told besides the reason."""

    closest: ApproachRecord | None = Field(description="null if the classifier gives no scores")
    relaxations: list[RelaxationRecord] = Field(description="of the problem and of the person, cheapest first")
    is_complete: bool = Field(description="whether all single changes were tried")
    levels_accepted: bool | None = Field(description="the decision at the values of the same levels, if numbers matter")

    @classmethod
    def of(cls, advice: Advice) -> Self:
        """With its words."""
        tell = AdviceTeller(advice, Teller.of(glossary=advice.problem.glossary))
        return cls(
            closest=None if advice.closest is None else ApproachRecord.of(advice.closest, tell),
            relaxations=[RelaxationRecord.of(found, tell) for found in advice.relaxations],
            is_complete=advice.is_complete,
            levels_accepted=advice.levels_accepted,
        )
