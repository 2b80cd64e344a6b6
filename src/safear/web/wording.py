"""Plans, figures and walks in the words of a language; what the report says too is said in its words."""

from __future__ import annotations

from dataclasses import dataclass

from safear.problem.model import Problem
from safear.recourse.menu import Menu
from safear.recourse.notices import NoRecourse
from safear.recourse.offer import Offer
from safear.recourse.selection import find_trade_off
from safear.recourse.teller import Teller
from safear.recourse.walk import Possible, Situation, Taken
from safear.texts import Texts
from safear.texts.names import show_name


@dataclass(frozen=True, slots=True)
class Wording:
    """Says things about a problem in a language."""

    problem: Problem
    teller: Teller

    @property
    def texts(self) -> Texts:
        """The catalogue."""
        return self.teller.texts

    @property
    def goal(self) -> str:
        """What the person wants."""
        return self.teller.quoted_goal(self.problem)

    @property
    def within(self) -> str:
        """`within 12 steps`."""
        return self.texts("within", count=self.problem.horizon)

    def cost(self, value: float) -> str:
        """`3.5 months`."""
        return self.texts.cost(value, show_name(self.problem.cost_unit))

    def decision(self, *, favourable: bool) -> str:
        """What was decided."""
        unnamed = "" if self.problem.goal.favourable else "_unnamed"
        return self.texts(f"report.title.{'accepted' if favourable else 'rejected'}{unnamed}", goal=self.goal)

    def no_recourse(self, reason: NoRecourse) -> str:
        """Why there is no plan."""
        return self.teller.no_recourse(reason)

    # ----------------------------------------------------------------------------------------------------- the plans

    def between(self, offers: tuple[Offer, Offer]) -> str:
        """The name of a plan that the menu does not offer: by those beside it."""
        one, other = (self.teller.name_plan(offer) for offer in offers)
        return self.texts("web.choose.between", one=one, other=other)

    def first_step(self, offer: Offer) -> str:
        """What the plan begins with."""
        return self.texts("web.choose.first", action=show_name(offer.first_action or ""))

    def figures(self, offer: Offer) -> tuple[tuple[str, str], ...]:
        """The figures of a plan by name: mean, tail, success."""
        say = self.texts.part("web.figures")
        return (
            (say("mean"), self.cost(offer.mean)),
            (say("tail", worst=self.teller.worst(offer.level)), self.cost(offer.tail)),
            (say("success", goal=self.goal, within=self.within), self.texts.percent(offer.cost.success)),
        )

    def in_short(self, offer: Offer, name: str) -> str:
        """A plan in one breath, for those who hear the page."""
        return self.texts(
            "web.choose.spoken",
            name=name,
            mean=self.cost(offer.mean),
            tail=self.cost(offer.tail),
            worst=self.teller.worst(offer.level),
            success=self.texts.percent(offer.cost.success),
        )

    def trade_off(self, offer: Offer, menu: Menu) -> str:
        """What a plan gains and gives up beside another of the menu, in a sentence."""
        others = [other for other in menu if other.solution is not offer.solution]
        return self.teller.trade_off(offer.trade_off or find_trade_off(offer, [offer, *others]))

    # -------------------------------------------------------------------------------------------------------- the walk

    def now(self, situation: Situation) -> str:
        """What to do now, or how it ended."""
        say = self.texts.part("web.walk")
        match situation.kind:
            case "step":
                return say("now", action=show_name(situation.action or ""))
            case "goal":
                return say("goal", goal=self.goal)
            case "out of time":
                return say("late")
            case "stuck":
                return say("stuck")

    def now_detail(self, situation: Situation) -> str:
        """What the step costs and how often it works; or what was spent."""
        say = self.texts.part("web.walk")
        if situation.kind == "step":
            works = [ending.cost for ending in situation.endings if ending.works]
            cost = self.cost(works[0] if works else situation.endings[0].cost)
            return say("detail", cost=cost, times=self.texts.times(situation.works))
        key = {"goal": "goal_detail", "out of time": "late_detail", "stuck": "stuck_detail"}[situation.kind]
        return say(key, spent=self.cost(situation.spent))

    def ending(self, ending: Possible, *, several: bool) -> str:
        """What a button says: how a step ended."""
        say, label = self.texts.part("web.walk"), self.teller.outcome(ending)
        if several and label:
            return say("worked_so" if ending.works else "failed_so", label=label)
        return say("worked" if ending.works else "failed")

    def taken(self, step: Taken) -> str:
        """A step that was taken."""
        say, label = self.texts.part("web.walk"), self.teller.outcome(step.ending)
        key = "taken_worked" if step.ending.works else "taken_failed"
        told = say(key, action=show_name(step.action), cost=self.cost(step.ending.cost))
        return f"{told} ({label})" if label else told

    def ahead(self, situation: Situation) -> str:
        """What is still to come."""
        if situation.kind != "step":
            return ""
        say = self.texts.part("web.walk")
        figures = {
            "success": self.texts.percent(situation.ahead.success),
            "mean": self.cost(situation.ahead.all_runs.mean),
            "spent": self.cost(situation.spent),
            "goal": self.goal,
        }
        told = say("ahead" if situation.taken else "at_start", **figures)
        return f"{told} {say('steps_left', count=situation.steps_left)}"
