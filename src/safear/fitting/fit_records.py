"""A fit as a record: the only JSON there is of it."""

from __future__ import annotations

from typing import Self

from safear.errors import format_path
from safear.fitting.estimates import FitNotice
from safear.fitting.fit import Fit
from safear.problem.quantity import Amount
from safear.recourse.figure_records import ResultRecord


class AmountRecord(ResultRecord):
    """A number, or an interval that holds it, and where it comes from."""

    nominal: float
    low: float
    high: float
    source: str

    @classmethod
    def of(cls, amount: Amount) -> Self:
        """One amount."""
        low, nominal, high = float(amount.low), float(amount.nominal), float(amount.high)
        return cls(nominal=nominal, low=low, high=high, source=amount.source)


class FitEntryRecord(ResultRecord):
    """An amount before and after; `n` attempts tell of it, `pooled` if its value is that of all of them."""

    place: str
    action: str
    before: AmountRecord
    after: AmountRecord
    n: int
    pooled: bool


class FitRecord(ResultRecord):
    """What was fitted, and what the data cannot tell."""

    problem: str
    attempts: int
    is_history: bool
    confidence: float
    entries: list[FitEntryRecord]
    notices: list[FitNotice]

    @classmethod
    def of(cls, fit: Fit) -> Self:
        """All of it."""
        entries = [
            FitEntryRecord(
                place=format_path(entry.place),
                action=entry.action,
                before=AmountRecord.of(entry.before),
                after=AmountRecord.of(entry.after),
                n=entry.n,
                pooled=entry.pooled,
            )
            for entry in fit.entries
        ]
        problem = fit.problem
        return cls(
            problem=problem.title,
            attempts=fit.attempts,
            is_history=fit.is_history,
            confidence=problem.confidence,
            entries=entries,
            notices=list(fit.notices),
        )
