"""Where a person is along a plan, as a record: the only JSON there is of it."""

from __future__ import annotations

from typing import Self

from pydantic import Field

from safear.recourse.figure_records import ResultRecord
from safear.recourse.teller import Teller
from safear.recourse.walk import Kind, Possible, Situation


class EndingRecord(ResultRecord):
    """One way a step may end, or has ended."""

    outcome: int
    chance: float
    low: float = Field(description="the least that the chance may be")
    high: float = Field(description="the most: above 0 even where the chance is 0")
    works: bool
    label: str
    cost: float

    @classmethod
    def of(cls, ending: Possible, tell: Teller) -> Self:
        """With what happens in words."""
        label = tell.outcome(ending)
        chances = {"chance": ending.chance, "low": ending.low, "high": ending.high}
        return cls(outcome=ending.outcome, **chances, works=ending.works, label=label, cost=ending.cost)


class TakenRecord(ResultRecord):
    """A step that was taken."""

    action: str
    ending: EndingRecord


class AheadRecord(ResultRecord):
    """What is still to come, exactly, from here; failures count with the failure cost; `cvar` at the plan's level."""

    success: float
    mean: float
    cvar: float


class SituationRecord(ResultRecord):
    """Where a person is on the way along a plan, and what to do now."""

    kind: Kind
    person: dict[str, str]
    steps_left: int
    spent: float
    unit: str
    action: str | None
    endings: list[EndingRecord]
    taken: list[TakenRecord]
    ahead: AheadRecord

    @classmethod
    def of(cls, situation: Situation) -> Self:
        """What `walk` found."""
        costs, tell = situation.ahead.all_runs, Teller.of(glossary=situation.glossary)
        return cls(
            kind=situation.kind,
            person=situation.person,
            steps_left=situation.steps_left,
            spent=situation.spent,
            unit=situation.unit,
            action=situation.action,
            endings=[EndingRecord.of(ending, tell) for ending in situation.endings],
            taken=[
                TakenRecord(action=item.action, ending=EndingRecord.of(item.ending, tell)) for item in situation.taken
            ],
            ahead=AheadRecord(success=situation.ahead.success, mean=costs.mean, cvar=costs.cvar(situation.level)),
        )
