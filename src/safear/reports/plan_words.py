"""The steps of a plan in the words of a language: what to do, when, and what comes next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from safear.recourse.offer import Offer
from safear.recourse.plan import Branch, FollowUp, Plan, PlanStep, group_follow_ups, make_plan
from safear.recourse.words import find_changes
from safear.texts import Texts
from safear.texts.names import show_name

MOST_STEPS = 60  # likely ones; a page has room for more than a terminal


@dataclass(frozen=True, slots=True)
class Ending:
    """One way in which a step may end: whether it works, what happens then (may be empty), and what to do."""

    works: bool
    condition: str
    detail: str
    then: str


@dataclass(frozen=True, slots=True)
class StepText:
    """A step in words. `situation` is empty if it is the only one there; `note` says that the goal is out of reach."""

    number: int
    action: str
    facts: str
    situation: str
    endings: tuple[Ending, ...]
    note: str


def make_long_plan(offer: Offer) -> Plan:
    """The plan of an offer with all of its likely steps; the first are those of `offer.plan`."""
    return make_plan(offer.solution, offer.runs.start, limit=MOST_STEPS)


@dataclass(frozen=True, slots=True)
class PlanTeller:
    """Tells the steps of a plan for somebody who starts from some levels. `goal` is what they want, as it is said."""

    plan: Plan
    start: Mapping[str, str]
    goal: str
    texts: Texts

    def tell(self, step: PlanStep) -> StepText:
        """One step."""
        say, unit = self.texts.part("step"), show_name(step.unit)
        facts = [say("costs", cost=self.texts.cost(step.cost, unit)), say("works", times=self.texts.times(step.chance))]
        situation = self._tell_situation(step)
        return StepText(
            step.number,
            show_name(step.action),
            " · ".join(facts),
            say("situation", situation=situation) if situation else "",
            tuple(self._tell_ending(branch, step) for branch in step.branches),
            say("out_of_reach", goal=self.goal) if step.out_of_reach else "",
        )

    def _tell_situation(self, step: PlanStep) -> str:
        say = self.texts.part("step")
        changes = find_changes(self.start, step.person)
        parts = [say("is", feature=show_name(name), level=show_name(level)) for name, level in changes]
        if step.says_steps_left:
            least, most = step.steps_left
            words = say("steps_left", count=most) if least == most else ""
            parts.append(words or say("steps_left_between", least=self.texts.whole(least), most=self.texts.whole(most)))
        if step.says_spent and step.spent is not None:
            parts.append(self._tell_spent(*step.spent, show_name(step.unit)))
        return " · ".join(parts)

    def _tell_spent(self, low: float, high: float, unit: str) -> str:
        """What has been spent, exactly: a limit that was rounded would not be true."""
        say, most = self.texts.part("step"), self.texts.exact_cost(high, unit)
        if high == 0:
            return say("spent_nothing")
        if low == high:
            return say("spent_exactly", cost=most)
        if low == 0:
            return say("spent_at_most", cost=most)
        return say("spent_between", least=self.texts.exact_number(low), most=most)

    def _tell_ending(self, branch: Branch, step: PlanStep) -> Ending:
        say = self.texts.part("step")
        alike = [other for other in step.branches if other.works == branch.works]
        details = [self._tell_changes(branch)]
        if not details[0] and len(alike) > 1:
            details = [say("nothing_changes")]
        if len(alike) > 1:
            details.append(self.texts.times(branch.chance))
        condition = say("if_works" if branch.works else "if_fails")
        then = self._tell_follow_ups(branch, step)
        if branch.cost != step.cost:
            then = f"{say('costs_instead', cost=self.texts.cost(branch.cost, show_name(step.unit)))}; {then}"
        return Ending(branch.works, condition, ", ".join(part for part in details if part), then)

    def _tell_changes(self, branch: Branch) -> str:
        if branch.named:
            return show_name(branch.label)
        say = self.texts.part("step")
        changes = [say("becomes", feature=show_name(name), level=show_name(level)) for name, level in branch.changes]
        return self.texts.join(changes)

    def _tell_follow_ups(self, branch: Branch, step: PlanStep) -> str:
        say = self.texts.part("step")
        first, *others = group_follow_ups(branch, step, self.plan.counted)
        words = [self._tell_choice(first, step)]
        for group in others:
            when = "at_the_end" if group[0].kind == "out of time" else "later"
            words.append(say(when, what=self._tell_choice(group, step)))
        return "; ".join(dict.fromkeys(words))

    def _tell_choice(self, group: Sequence[FollowUp], step: PlanStep) -> str:
        """`try again or go on with step 3 or 4, whichever applies`."""
        say = self.texts.part("step")
        kinds = {"goal": "done", "out of time": "out_of_time", "stuck": "stuck", "not shown": "not_shown"}
        numbers = sorted(f.step for f in group if f.step is not None and f.step != step.number)
        words = [say("again") for f in group if f.step == step.number]
        if numbers:
            words.append(say("go_on", steps=self.texts.join([str(number) for number in numbers], last="or")))
        words += [say(kinds[f.kind], goal=self.goal) for f in group if f.step is None]
        ways = self.texts.join(list(dict.fromkeys(words)), last="or")
        return say("whichever", ways=ways) if sum(f.step is not None for f in group) > 1 else ways
