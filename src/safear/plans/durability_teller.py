"""What became of plans under another model, in the words of a language."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from statistics import fmean

from safear.plans.durability import Durability, PlanCheck
from safear.recourse.selection import SAME_FIGURES
from safear.recourse.teller import Teller
from safear.texts.names import show_name

HEADINGS = ("plan", "holds", "claimed", "success", "repair")


@dataclass(frozen=True, slots=True)
class DurabilityTeller:
    """Tells which plans hold, and what becomes of the others."""

    teller: Teller

    @staticmethod
    @cache
    def of(language: str = "en") -> DurabilityTeller:
        """The teller of a language; an InputError if there are no texts in it."""
        return DurabilityTeller(Teller.of(language))

    def say(self, key: str, /, **values: object) -> str:
        """A text of this part of the catalogue."""
        return self.teller(f"durability.{key}", **values)

    def headings(self) -> tuple[str, ...]:
        """Of the table."""
        return tuple(self.say(f"headings.{name}") for name in HEADINGS)

    def rows(self, found: Durability) -> Iterator[tuple[str, ...]]:
        """A row per plan."""
        for one in found.checks:
            holds = self.say("yes" if one.holds else "no")
            chances = map(self.teller.percent, (one.claimed, one.success))
            yield show_name(one.name), holds, *chances, self.repair(one)

    def repair(self, one: PlanCheck) -> str:
        """What is left to somebody whose plan does not hold."""
        if one.repair is None:
            return ""
        unit = one.plan.form.problem.unit
        if one.repair.mean is None or one.more is None:
            return self.say(f"repair.{one.repair.code}")
        costs = {"mean": self.teller.cost(one.repair.mean, unit), "more": self.teller.cost(abs(one.more), unit)}
        success = self.teller.percent(one.repair.success or 0.0)
        return self.say(f"repair.plan{_direction(one.more, one.repair.mean)}", success=success, **costs)

    def lines(self, found: Durability) -> Iterator[str]:
        """How many hold, how sure that is, and what repairing the others costs."""
        whole, percent = self.teller.texts.whole, self.teller.percent
        low, high = map(percent, found.interval)
        yield self.say(
            "holds",
            count=found.people.tried,
            holding=whole(found.people.worked),
            share=percent(found.share),
            low=low,
            high=high,
            confidence=percent(found.confidence),
        )
        if len(found.checks) > found.people.tried:
            yield self.say("records", count=found.people.tried, plans=whole(len(found.checks)))
        yield self.say("success", claimed=percent(found.claimed), success=percent(found.success))
        counts = {code: found.count(code) for code in ("plan", "accepted", "none", "unknown")}
        if found.more is not None:
            more = self.teller.cost(abs(found.more), found.problem.cost_unit)
            mean = fmean(one.repair.mean for one in found.checks if one.repair and one.repair.mean is not None)
            yield self.say(f"repaired{_direction(found.more, mean)}", count=counts["plan"], more=more)
        for code in ("accepted", "none", "unknown"):
            if counts[code]:
                yield self.say(code, count=counts[code])


def _direction(more: float, mean: float) -> str:
    """Whether a mean is noticeably more or less than another one."""
    if abs(more) <= SAME_FIGURES * max(mean, mean - more):
        return "_same"
    return "" if more > 0 else "_less"
