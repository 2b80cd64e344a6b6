"""The steps of a plan in the words of a language: what to do, when, and what comes next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from safear.evaluation.extremes import Range
from safear.recourse.level_changes import LevelChange
from safear.recourse.rules import Rule, group_rules
from safear.recourse.teller import Teller
from safear.recourse.turns import PlanTurn
from safear.texts.names import capital

if TYPE_CHECKING:
    from safear.recourse.plan import Branch, FollowUp, Plan, PlanStep


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
    """A step in words, or several that repeat an action: from `number` to `last`.

    `situation` is empty if it needs none; `note` says why, or that the goal is out of reach. `is_main` is whether it
    comes if all goes well.
    """

    number: int
    action: str
    facts: str
    situation: str
    endings: tuple[EndingText, ...]
    note: str
    is_main: bool
    last: int

    @property
    def heading(self) -> str:
        """Its number, or the first and the last."""
        return str(self.number) if self.last == self.number else f"{self.number}–{self.last}"

    def lines(self) -> Iterator[str]:
        """The step as plain text."""
        situation = f" ({self.situation})" if self.situation else ""
        yield f"{self.heading}. {self.action}{situation}: {self.facts}."
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
        steps = self.steps()
        main = [line for step in steps if step.is_main for line in step.lines()]
        aside = [line for step in steps if not step.is_main for line in step.lines()]
        heading = [self.teller("plan_notes.differently")] if aside else []
        return [*main, *heading, *aside, *self.notes()]

    def steps(self) -> list[StepText]:
        """Its steps; those that repeat an action are told together."""
        return [self._tell_rule(rule) for rule in group_rules(self.plan)]

    def notes(self) -> Iterator[str]:
        """What to know to read them."""
        say = self.teller.texts.part("plan_notes")
        if self.plan.hidden_steps:
            yield say("hidden", count=self.plan.hidden_steps)
        if self.plan.depends_on_spent:
            yield say("keep_count")

    @property
    def _goal(self) -> str:
        return self.teller.texts.quote(self.teller.goal(self.plan.goal))

    def _tell_rule(self, rule: Rule) -> StepText:
        first, last = rule[0], rule[-1]
        action, times = capital(self.teller.action(first.action)), len(rule)
        return StepText(
            first.number,
            action if times == 1 else self.teller("step.repeated", action=action, times=self._tell_times(times)),
            self.teller.facts(first) if times == 1 else self._tell_facts(rule),
            self._tell_situation(first),
            tuple(self._tell_endings(rule)),
            self._tell_note(first),
            first.is_main,
            last.number,
        )

    def _tell_note(self, step: PlanStep) -> str:
        """That the goal is out of reach, or why this is done."""
        if step.hope != "yes":
            return self.teller(f"step.hope.{step.hope}", goal=self._goal)
        if step.reason is None:
            return ""
        code, action, limit = step.reason
        cost = "" if limit is None else self.teller.exact_cost(limit, step.unit)
        return self.teller(f"step.why.{code}", action=self.teller.action(action), cost=cost, goal=self._goal)

    def _tell_facts(self, rule: Rule) -> str:
        """What each of several steps costs and how often it works."""
        times = [self.teller.times_within(step.chance, step.within) for step in rule]
        told = times[0] if len(set(times)) == 1 else self.teller.texts.join(times, last="then")
        return self.teller("step.facts_each", cost=self.teller.cost(rule[0].cost, rule[0].unit), times=told)

    def _tell_endings(self, rule: Rule) -> Iterator[EndingText]:
        last = rule[-1]
        if len(rule) == 1:
            yield from (self._tell_ending(branch, last) for branch in last.branches)
            return
        condition = self.teller("step.if_all_work", times=self._tell_times(len(rule)))
        yield from (
            replace(self._tell_ending(branch, last), condition=condition) for branch in last.branches if branch.works
        )
        failing = [(branch, step) for step in reversed(rule) for branch in step.branches if not branch.works]
        yield from (self._tell_ending(branch, step) for branch, step in failing[:1])

    def _tell_situation(self, step: PlanStep) -> str:
        """In what a situation differs from where the main route was left; on it, and where nothing else is, empty."""
        if step.is_main:
            return ""
        left = self._find_exit(step)
        known = {change.feature: change for change in step.changes}
        names = [name for name, level in step.shown.items() if level != left.shown[name]]
        changes = tuple(known.get(name, LevelChange(name, step.shown[name])) for name in names)
        situation = self.teller.texts.join(self.teller.changes(changes))
        return situation and self.teller("step.when", situation=situation)

    def _find_exit(self, step: PlanStep) -> PlanStep:
        """The step of the main route from which a run first comes to another step, perhaps through others."""
        steps, waiting = self.plan.steps, [step.number]
        for number in waiting:
            for other in steps:
                leads = any(f.step == number for branch in other.branches for f in branch.follow_ups)
                if leads and other.is_main:
                    return other
                if leads and other.number not in waiting:
                    waiting.append(other.number)
        return steps[0]

    def _tell_ending(self, branch: Branch, step: PlanStep) -> EndingText:
        say, several = self.teller.texts.part("step"), sum(other.works == branch.works for other in step.branches) > 1
        detail = self.teller.outcome(branch)
        if several:
            times = self.teller.times_within(branch.chance, Range(branch.low, branch.high))
            detail = f"{detail or say('nothing_changes')}, {times}"
        then = "; ".join(
            dict.fromkeys(self._tell_turn(turn, branch, step) for turn in self.plan.find_turns(branch, step))
        )
        if branch.cost != step.cost:
            then = f"{say('costs_instead', cost=self.teller.cost(branch.cost, step.unit))}; {then}"
        return EndingText(branch.works, say("if_works" if branch.works else "if_fails"), detail, then)

    def _tell_turn(self, turn: PlanTurn, branch: Branch, step: PlanStep) -> str:
        """`try again`; `if it fails twice, change job (step 3)`; `otherwise, time is up`."""
        what, say, most = self._tell_way(turn.follow_up, step), self.teller.texts.part("step.turn"), turn.most
        match turn.code:
            case "always":
                return what
            case "fails":
                alone = not branch.works and sum(not other.works for other in step.branches) == 1
                return say("fails" if alone else "happens", times=self._tell_times(int(most)), what=what)
            case "tries" | "made":
                return say(turn.code, count=int(most), what=what)
            case "spent":
                return say("spent", cost=self.teller.exact_cost(most, step.unit), what=what)
            case "step":
                return say("step", occasion=self._find_occasion(turn.follow_up), what=what)
        return say(turn.code, what=what)

    def _tell_times(self, count: int) -> str:
        return self.teller("step.twice") if count == 2 else self.teller("step.times", count=count)

    def _find_occasion(self, follow_up: FollowUp) -> str:
        return next(self.teller.occasion(step) for step in self.plan.steps if step.number == follow_up.step)

    def _tell_way(self, follow_up: FollowUp, step: PlanStep) -> str:
        """`try again`, `change job (step 3)`, `you have reached “approved”`."""
        say = self.teller.texts.part("step")
        if follow_up.step == step.number:
            return say("again")
        for other in self.plan.steps:
            if other.number == follow_up.step:
                return say("go_on", action=self.teller.action(other.action), number=str(other.number))
        return say({"goal": "done"}.get(follow_up.kind, follow_up.kind.replace(" ", "_")), goal=self._goal)
