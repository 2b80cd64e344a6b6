"""Records of figures: what all records have in common, and costs and ranges as JSON."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from safear.evaluation.extremes import FigureRanges
from safear.recourse.caution import Caution
from safear.recourse.offer import OfferFigures
from safear.recourse.simplified import Simplified
from safear.risk.distribution import Costs

LEVELS = (0.8, 0.95)


class ResultRecord(BaseModel):
    """What all records have in common: nothing more than what is declared, and no NaN."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, from_attributes=True)


class CostsRecord(ResultRecord):
    """Figures of a distribution of costs; null each where there is none."""

    mean: float | None
    variance: float | None
    var: dict[str, float | None]
    cvar: dict[str, float | None]
    tail_mean: dict[str, float | None]

    @classmethod
    def of(cls, costs: Costs | None) -> Self:
        """The figures; tails at the levels 0.8 and 0.95."""
        return cls(
            mean=None if costs is None else costs.mean,
            variance=None if costs is None else costs.variance,
            var={f"{level:g}": None if costs is None else costs.var(level) for level in LEVELS},
            cvar={f"{level:g}": None if costs is None else costs.cvar(level) for level in LEVELS},
            tail_mean={f"{level:g}": None if costs is None else costs.tail_mean(level) for level in LEVELS},
        )


class MarginRecord(ResultRecord):
    """A plan for the same objective that counts on the model in force alone; figures over all runs, menu's level."""

    plan: str
    success: float
    mean: float
    cvar: float
    first_action: str | None
    words: str


class RangeRecord(ResultRecord):
    """From the least to the most that a figure can be."""

    low: float
    high: float


class RangesRecord(ResultRecord):
    """How far the figures over all runs can be off if chances lie anywhere in their intervals, at the menu's level."""

    level: float
    success: RangeRecord
    mean: RangeRecord
    var: RangeRecord
    cvar: RangeRecord

    @classmethod
    def of(cls, found: FigureRanges) -> Self:
        """With the name that the tail has in records."""
        ends = {name: RangeRecord.model_validate(getattr(found, name)) for name in ("success", "mean", "var")}
        return cls(level=found.level, **ends, cvar=RangeRecord.model_validate(found.tail))


class PriceRecord(ResultRecord):
    """By how much the figures of a robust plan are higher than those of the plan that is best at nominal chances."""

    success: float
    mean: float
    cvar: float

    @classmethod
    def of(cls, mine: OfferFigures, its: OfferFigures) -> Self:
        """All digits, whether or not a person would notice."""
        return cls(success=mine.success - its.success, mean=mine.mean - its.mean, cvar=mine.tail - its.tail)


class SimplifiedRecord(ResultRecord):
    """A plan in fewer rules beside the best one."""

    rules: int
    rules_before: int
    tolerance: float
    loss: float = Field(description="by how much its objective is at most above any plan's; relative, but for chances")
    mean: float = Field(description="relatively higher than that of the best plan")
    cvar: float = Field(description="the same")
    success: float = Field(description="lower than that of the best plan")
    text: str

    @classmethod
    def of(cls, found: Simplified) -> Self:
        """With its words."""
        names = ("rules", "rules_before", "tolerance", "loss", "mean", "success")
        return cls(**{name: getattr(found, name) for name in names}, cvar=found.tail, text=str(found))


class CautionRecord(ResultRecord):
    """The price of caution: at the nominal chances, and where each of the two plans meets its worst ones."""

    nominal: PriceRecord
    worst: PriceRecord
    text: str

    @classmethod
    def of(cls, found: Caution) -> Self:
        """With its words."""
        one, other = found.offer, found.other
        nominal = PriceRecord.of(one.figures, other.figures)
        return cls(nominal=nominal, worst=PriceRecord.of(one.worst_figures, other.worst_figures), text=str(found))
