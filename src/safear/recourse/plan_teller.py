"""The steps of a plan in the words of a language: what to do, when, and what comes next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from safear.evaluation.extremes import Range
from safear.recourse.teller import Teller
from safear.texts.names import capital

if TYPE_CHECKING:
    from safear.recourse.plan import Branch, FollowUp, Plan, PlanStep

RARE = 0.01  # a way on that is taken in fewer of the cases is not spelled out


def find_likely(branch: Branch) -> list[FollowUp]:
    """What comes after an outcome without what is rare, unless that is all."""
    likely = [f for f in branch.follow_ups if max(f.share, f.share_if_off) >= RARE]
    return likely[:1] if all(f.kind == "not shown" for f in likely) else likely


@dataclass(frozen=True, slots=True)
class EndingText:
    """One way in which a step may end: whether it works, what happens then (may be empty), and what to do."""

    works: bool
    condition: str
    detail: str
    then: str

    def __str__(self) -> str:
        return f"{self.condition}{f' ({self.detail})' if self.detail else ''}: {self.then}."


@dataclass(frozen=True, slots=True)
class StepText:
    """A step in words. `situation` is empty if it needs none; `note` says that the goal is out of reach."""

    number: int
    action: str
    facts: str
    situation: str
    endings: tuple[EndingText, ...]
    note: str

    def lines(self) -> Iterator[str]:
        """The step as plain text."""
        situation = f" ({self.situation})" if self.situation else ""
        yield f"{self.number}. {capital(self.action)}{situation}: {self.facts}."
        yield from (f"   {ending}" for ending in self.endings)
        if self.note:
            yield f"   {self.note}"


@dataclass(frozen=True, slots=True)
class PlanTeller:
    """Tells a plan in a language."""

    plan: Plan
    teller: Teller

    def lines(self) -> list[str]:
        """The whole plan, a line each."""
        if not self.plan.steps:
            return [self.teller("plan_notes.nothing")]
        return [line for step in self.steps() for line in step.lines()] + list(self.notes())

    def steps(self) -> list[StepText]:
        """Its steps."""
        return [self._tell_step(step) for step in self.plan.steps]

    def notes(self) -> Iterator[str]:
        """What to know to read them."""
        say = self.teller.texts.part("plan_notes")
        if any(self.teller.situation(step) for step in self.plan.steps):
            yield say("unchanged")
        if self.plan.hidden_steps:
            yield say("hidden", count=self.plan.hidden_steps)
        if self.plan.depends_on_spent:
            yield say("keep_count")

    @property
    def _goal(self) -> str:
        return self.teller.texts.quote(self.teller.goal(self.plan.goal))

    def _tell_step(self, step: PlanStep) -> StepText:
        situation = self.teller.situation(step)
        return StepText(
            step.number,
            self.teller.action(step.action),
            self.teller.facts(step),
            self.teller("step.when", situation=situation) if situation else "",
            tuple(self._tell_ending(branch, step) for branch in step.branches),
            "" if step.hope == "yes" else self.teller(f"step.hope.{step.hope}", goal=self._goal),
        )

    def _tell_ending(self, branch: Branch, step: PlanStep) -> EndingText:
        say, several = self.teller.texts.part("step"), sum(other.works == branch.works for other in step.branches) > 1
        detail = self.teller.outcome(branch)
        if several:
            times = self.teller.times_within(branch.chance, Range(branch.low, branch.high))
            detail = f"{detail or say('nothing_changes')}, {times}"
        then = self._tell_follow_ups(branch, step)
        if branch.cost != step.cost:
            then = f"{say('costs_instead', cost=self.teller.cost(branch.cost, step.unit))}; {then}"
        return EndingText(branch.works, say("if_works" if branch.works else "if_fails"), detail, then)

    def _tell_follow_ups(self, branch: Branch, step: PlanStep) -> str:
        """`try again; later, go to step 3; at the end, time is up`; `go to step 2 or 3, whichever applies`."""
        first, *others = self._group_follow_ups(branch, step)
        words = [self._tell_choice(first, step)]
        for group in others:
            when = "at_the_end" if group[0].kind == "out of time" else "later"
            words.append(self.teller(f"step.{when}", what=self._tell_choice(group, step)))
        return "; ".join(dict.fromkeys(words))

    def _group_follow_ups(self, branch: Branch, step: PlanStep) -> list[list[FollowUp]]:
        """What comes next, in order of time; the rarest left out.

        What is not always later than the rest is a choice and stands in one group with it. So does a step that says
        what has been spent, later or not: that, not the time, is what to look at.
        """
        groups: list[list[FollowUp]] = []
        for follow_up in find_likely(branch):
            if groups and self._is_choice(follow_up, groups[-1], step):
                groups[-1].append(follow_up)
            else:
                groups.append([follow_up])
        return groups

    def _is_choice(self, follow_up: FollowUp, before: Sequence[FollowUp], step: PlanStep) -> bool:
        """Whether time does not tell a follow-up from those before it, or is not what to look at."""
        overlaps = follow_up.since <= max(f.until for f in before)
        return overlaps or (follow_up.step in self.plan.counted and [f.step for f in before] != [step.number])

    def _tell_choice(self, group: Sequence[FollowUp], step: PlanStep) -> str:
        """`try again or go to step 3 or 4, whichever applies`."""
        say, join = self.teller.texts.part("step"), self.teller.texts.join
        kinds = {"goal": "done", "out of time": "out_of_time", "not shown": "not_shown"}
        numbers = sorted(f.step for f in group if f.step is not None and f.step != step.number)
        words = [say("again") for f in group if f.step == step.number]
        if numbers:
            words.append(say("go_on", steps=join([str(number) for number in numbers], last="or")))
        words += [say(kinds.get(f.kind, f.kind), goal=self._goal) for f in group if f.step is None]
        ways = join(list(dict.fromkeys(words)), last="or")
        return say("whichever", ways=ways) if sum(f.step is not None for f in group) > 1 else ways
