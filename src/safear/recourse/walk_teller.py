"""A walk along a plan in the words of a language: what has happened, what to do now, and what is still to come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from safear.evaluation.extremes import Range
from safear.recourse.teller import Teller

if TYPE_CHECKING:
    from safear.recourse.walk import Possible, Situation, Taken


@dataclass(frozen=True, slots=True)
class WalkTeller:
    """Tells where somebody is on the way along a plan."""

    here: Situation
    teller: Teller

    def lines(self) -> list[str]:
        """All of it: the steps taken, where that has led, what to do now, how that may end, and what is ahead."""
        lines = [f"{number}. {self.taken(step)}" for number, step in enumerate(self.here.taken, start=1)]
        lines += [part for part in (self.where(), self.now(), self.detail()) if part]
        lines += [f"   {self.possible(ending)}" for ending in self.here.endings]
        return [*lines, *([self.ahead()] if self.here.kind == "step" else [])]

    def where(self) -> str:
        """In what the person differs from the start; empty if in nothing."""
        parts = self.teller.changes(self.here.changes)
        return self._say("where", changes=self.teller.texts.join(parts)) if parts else ""

    def now(self) -> str:
        """What to do now, or how it ended."""
        match self.here.kind:
            case "step":
                return self._say("now", action=self.teller.action(self.here.action))
            case "goal":
                return self._say("goal", goal=self._goal)
            case "out of time":
                return self._say("late")
            case "stuck" | "lost" as end:
                return self._say(end, goal=self._goal)

    def detail(self) -> str:
        """What the step costs and how often it works; or what was spent."""
        here = self.here
        if here.kind == "step":
            works = [ending.cost for ending in here.endings if ending.works]
            cost = self._cost(works[0] if works else here.endings[0].cost)
            return self._say("detail", cost=cost, times=self.teller.times_within(here.works, here.within))
        key = f"{'late' if here.kind == 'out of time' else here.kind}_detail"
        return self._say(key, spent=self._cost(here.spent))

    def ending(self, ending: Possible) -> str:
        """What a button says: how the step ended."""
        several = sum(other.works == ending.works for other in self.here.endings) > 1
        label = self.teller.outcome(ending)
        if several and label:
            return self._say("worked_so" if ending.works else "failed_so", label=label)
        return self._say("worked" if ending.works else "failed")

    def possible(self, ending: Possible) -> str:
        """One way in which the step may end, with its number."""
        key, label = "works" if ending.works else "fails", self.teller.outcome(ending)
        within = Range(ending.low, ending.high)
        cost, times = self._cost(ending.cost), self.teller.times_within(ending.chance, within)
        told = self._say(key, outcome=str(ending.outcome), cost=cost, times=times)
        return f"{told} ({label})" if label else told

    def taken(self, step: Taken) -> str:
        """A step that was taken."""
        key, label = "taken_worked" if step.ending.works else "taken_failed", self.teller.outcome(step.ending)
        told = self._say(key, action=self.teller.action(step.action), cost=self._cost(step.ending.cost))
        return f"{told} ({label})" if label else told

    def ahead(self) -> str:
        """What is still to come; empty at the end."""
        here = self.here
        if here.kind != "step":
            return ""
        left = self._say("steps_left", count=here.steps_left)
        if here.hope != "yes":
            return f"{self.teller(f'step.hope.{here.hope}', goal=self._goal)} {left}"
        figures = {
            "success": self.teller.percent(here.ahead.success),
            "mean": self._cost(here.ahead.all_runs.mean),
            "spent": self._cost(here.spent),
            "goal": self._goal,
        }
        told = self._say("ahead" if here.has_begun else "at_start", **figures)
        return f"{told} {left}"

    @property
    def _goal(self) -> str:
        return self.teller.texts.quote(self.teller.goal(self.here.goal))

    def _cost(self, value: float) -> str:
        return self.teller.cost(value, self.here.unit)

    def _say(self, key: str, **values: object) -> str:
        return self.teller(f"walk.{key}", **values)
