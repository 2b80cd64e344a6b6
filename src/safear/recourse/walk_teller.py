"""A walk along a plan in the words of a language: what has happened, what to do now, and what is still to come."""

from __future__ import annotations

from dataclasses import dataclass

from safear.problem.model import Problem
from safear.recourse.teller import Teller
from safear.recourse.walk import Possible, Situation, Taken
from safear.texts.names import show_name


@dataclass(frozen=True, slots=True)
class WalkTeller:
    """Tells walks along the plans of a problem."""

    problem: Problem
    teller: Teller

    @property
    def goal(self) -> str:
        """What the person wants."""
        return self.teller.quoted_goal(self.problem)

    def cost(self, value: float) -> str:
        """`3.5 months`."""
        return self.teller.cost(value, self.problem.cost_unit)

    def now(self, situation: Situation) -> str:
        """What to do now, or how it ended."""
        say = self.teller.texts.part("walk")
        match situation.kind:
            case "step":
                return say("now", action=show_name(situation.action or ""))
            case "goal":
                return say("goal", goal=self.goal)
            case "out of time":
                return say("late")
            case "stuck":
                return say("stuck")

    def detail(self, situation: Situation) -> str:
        """What the step costs and how often it works; or what was spent."""
        say = self.teller.texts.part("walk")
        if situation.kind == "step":
            works = [ending.cost for ending in situation.endings if ending.works]
            cost = self.cost(works[0] if works else situation.endings[0].cost)
            return say("detail", cost=cost, times=self.teller.times(situation.works))
        key = {"goal": "goal_detail", "out of time": "late_detail", "stuck": "stuck_detail"}[situation.kind]
        return say(key, spent=self.cost(situation.spent))

    def ending(self, ending: Possible, *, several: bool) -> str:
        """What a button says: how a step ended."""
        say, label = self.teller.texts.part("walk"), self.teller.outcome(ending)
        if several and label:
            return say("worked_so" if ending.works else "failed_so", label=label)
        return say("worked" if ending.works else "failed")

    def taken(self, step: Taken) -> str:
        """A step that was taken."""
        say, label = self.teller.texts.part("walk"), self.teller.outcome(step.ending)
        key = "taken_worked" if step.ending.works else "taken_failed"
        told = say(key, action=show_name(step.action), cost=self.cost(step.ending.cost))
        return f"{told} ({label})" if label else told

    def ahead(self, situation: Situation) -> str:
        """What is still to come."""
        if situation.kind != "step":
            return ""
        say = self.teller.texts.part("walk")
        figures = {
            "success": self.teller.percent(situation.ahead.success),
            "mean": self.cost(situation.ahead.all_runs.mean),
            "spent": self.cost(situation.spent),
            "goal": self.goal,
        }
        told = say("ahead" if situation.taken else "at_start", **figures)
        return f"{told} {say('steps_left', count=situation.steps_left)}"
