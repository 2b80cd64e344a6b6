"""The one voice: what plans, offers, notices and walks are called and say, in the words of a language.

Results carry codes and values; whoever shows them (`str`, the command line, reports, the web page, pictures) asks a
`Teller`; `wording` has names and numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from safear.problem.glossary import NO_LABELS, Glossary
from safear.problem.model import Problem
from safear.recourse.wording import Wording
from safear.risk.objectives import (
    Budget,
    CVaR,
    Entropic,
    MeanCVaR,
    MeanLowerStd,
    MeanStd,
    MeanVariance,
    Objective,
    SuccessFirst,
    VaR,
)
from safear.texts import load_texts
from safear.texts.names import capital, show_name

if TYPE_CHECKING:
    from safear.evaluation.extremes import Range
    from safear.recourse.level_changes import Changes, LevelChange
    from safear.recourse.notices import NoRecourse, Notice
    from safear.recourse.offer import Offer, TradeOff
    from safear.recourse.plan import Branch, PlanStep
    from safear.recourse.promises import Promise, Verification
    from safear.recourse.simplified import Simplified
    from safear.recourse.stuck import Blocked
    from safear.recourse.traces import Trace
    from safear.recourse.walk import Possible

MOST_BLOCKED = 6  # actions of which it is said why they are not offered


class Spans(NamedTuple):
    """How far the figures of a plan can be off, in words: `1.9 to 3.1`; empty where there is nothing to say."""

    success: str = ""
    mean: str = ""
    var: str = ""
    tail: str = ""


class Figure(NamedTuple):
    """A figure with its name, and how far it can be off (`1.9 to 3.1 if our estimates are off`), if it can."""

    name: str
    value: str
    off: str


class Difference(NamedTuple):
    """What a plan gains ("gain") or gives up ("loss") beside another, or in what it is about the same ("")."""

    mark: str
    words: str


@dataclass(frozen=True, slots=True)
class Teller(Wording):
    """Says things in a language: `Teller.of("de").name_plan(offer)`. Any other text is `teller("web.title")`."""

    @staticmethod
    def of(language: str = "en", glossary: Glossary = NO_LABELS) -> Teller:
        """The teller of a language; an InputError if there are no texts in it."""
        return Teller(load_texts(language), glossary)

    def about(self, problem: Problem) -> Teller:
        """The same, with the labels of a problem."""
        return self.speaking(problem.glossary)

    def speaking(self, glossary: Glossary) -> Teller:
        """The same, with these labels."""
        return Teller(self.texts, glossary)

    # --------------------------------------------------------------------------------------------------------- plans

    def name_plan(self, plan: Offer | str) -> str:
        """The name of an offer, or of an offer's code: `safest`, `balanced 2`; what was asked for keeps its code."""
        if not isinstance(plan, str) and plan.label is not None:
            return show_name(plan.label)
        code = plan if isinstance(plan, str) else plan.code
        kind, _, number = code.partition("-")
        key = f"plan.named.{kind}"
        if key not in self.texts:
            return show_name(code)
        return self.texts("plan.numbered", name=self.texts(key), number=number) if number else self.texts(key)

    def describe_plan(self, offer: Offer) -> str:
        """As `name_plan`, but what was asked for is told by what it is best for."""
        asked = offer.kind == "asked" and offer.label is None
        return self.objective(offer.objective, offer.unit) if asked else self.name_plan(offer)

    def heading(self, number: int, offer: Offer, *, alone: bool) -> str:
        """What stands above a plan: `Plan 1: safest`."""
        name = self.describe_plan(offer)
        return capital(name) if alone else self.texts("plan.heading", number=number, name=name)

    def objective(self, objective: Objective, unit: str) -> str:
        """What a plan is best for: `least cost in the worst 5 of 100 cases`."""
        values: dict[str, str] = {}
        match objective:
            case SuccessFirst(then=then):
                values["then"] = self.objective(then, unit)
            case Budget(limit=limit):
                values["cost"] = self.exact_cost(limit, unit)
            case VaR(level=level):
                values["share"] = self.percent(level)
            case CVaR(level=level):
                values["worst"] = self.worst(level)
            case MeanCVaR(weight=weight, level=level):
                values |= {"worst": self.worst(level), "weight": self.texts.exact_number(weight)}
            case MeanStd() | MeanLowerStd() | MeanVariance() | Entropic():
                values["weight"] = self.texts.exact_number(objective.risk_aversion)
        return self.texts(f"plan.best_for.{objective.name}", **values)

    # -------------------------------------------------------------------------------------------------------- offers

    def spans(self, offer: Offer) -> Spans:
        """How far figures can be off, in words; empty each where there is no interval or nobody would notice."""
        found, var = offer.ranges, offer.cost.all_runs.var(offer.level)
        if found is None:
            return Spans()
        costs = ((offer.mean, found.mean), (var, found.var), (offer.tail, found.tail))
        success = self.span(found.success, offer.cost.success, write=self.percent)
        return Spans(success, *(self.span(ends, figure) for figure, ends in costs))

    def span(self, ends: Range, figure: float, *, write: Callable[[float], str] | None = None) -> str:
        """`1.9 to 3.1`; empty if nobody would notice that it is more than the figure."""
        low, high, said = map(write or self.number, (ends.low, ends.high, figure))
        return "" if low == high == said else self.texts("ranges.span", low=low, high=high)

    def if_off(self, span: str) -> str:
        """`1.9 to 3.1 if our estimates are off`; empty if there is nothing to say."""
        return span and self.texts("ranges.if_off", range=span)

    def figures(self, offer: Offer, names: tuple[str, str, str]) -> tuple[Figure, ...]:
        """Mean, tail and success, by the names given."""
        spans = self.spans(offer)
        told = (self.cost(offer.mean, offer.unit), self.cost(offer.tail, offer.unit), self.percent(offer.cost.success))
        off = (spans.mean, spans.tail, spans.success)
        return tuple(map(Figure, names, told, map(self.if_off, off)))

    def offer(self, offer: Offer) -> str:
        """A plan in one line, without its name."""
        line = self.texts(
            "plan.line",
            action=self.action(offer.first_action),
            success=self.percent(offer.cost.success),
            mean=self.cost(offer.mean, offer.unit),
            tail=self.cost(offer.tail, offer.unit),
            worst=self.worst(offer.level),
        )
        spans = zip(self.overview_headings(offer.level)[2:], self.spans(offer), strict=True)
        off = ", ".join(f"{name} {span}" for name, span in spans if span)
        return self.texts("ranges.line", line=line, ranges=off) if off else line

    def overview_headings(self, level: float) -> tuple[str, ...]:
        """The headings of `overview`."""
        say = self.texts.part("overview")
        figures = (say("success"), say("mean"), say("var", share=self.percent(level)), self.worst_name(level))
        return (say("plan"), say("first"), *figures)

    def overview(self, offer: Offer) -> list[tuple[str, ...]]:
        """A plan as a row of a table: name, first step, success, mean, VaR and tail; then how far they can be off."""
        costs = (offer.mean, offer.cost.all_runs.var(offer.level), offer.tail)
        figures = (self.percent(offer.cost.success), *(self.cost(cost, offer.unit) for cost in costs))
        row, spans = (self.name_plan(offer), self.action(offer.first_action), *figures), self.spans(offer)
        return [row, *([("", self.texts("ranges.off"), *spans)] if any(spans) else [])]

    def beside(self, trade_off: TradeOff) -> str:
        """With what a plan is compared, or why with nothing."""
        if trade_off.other is None:
            return self.texts(f"trade_off.{trade_off.code}")
        other = self.texts.quote(self.name_plan(trade_off.other))
        return self.texts(f"trade_off.{trade_off.code}", other=other)

    def differences(self, trade_off: TradeOff) -> list[Difference]:
        """What a plan gains, then what it gives up, then in what it is about the same."""
        found, other, say = [], trade_off.other, self.texts.part("trade_off")
        if other is None:
            return []
        if trade_off.success is not None:
            mine, its = trade_off.success
            words = say("success", share=self.percent(mine), other=self.percent(its))
            found.append(Difference("gain" if mine > its else "loss", words))
        for name, more in (("mean", trade_off.mean), ("tail", trade_off.tail)):
            mark, key = ("", "same") if more is None else ("loss", "more") if more > 0 else ("gain", "less")
            size = self.cost(abs(more or 0.0), other.unit)
            found.append(Difference(mark, say(f"{name}.{key}", cost=size, worst=self.worst(other.level))))
        return sorted(found, key=lambda part: ("gain", "loss", "").index(part.mark))

    def trade_off(self, trade_off: TradeOff) -> str:
        """What a plan gains and gives up beside another of its menu, in a sentence."""
        words = "; ".join(part.words for part in self.differences(trade_off))
        return f"{self.beside(trade_off)} {words}." if words else self.beside(trade_off)

    # ------------------------------------------------------------------------------------------------------- notices

    def notice(self, notice: Notice) -> str:
        """What a person should know besides the plans."""
        values = {"goal": self.quoted_goal(notice.problem)}
        for name, value in notice.values.items():
            if name == "plan":
                values["number"] = self.texts.whole(int(value))
            elif name in {"success", "possible"}:
                values[name] = self.percent(value)
            elif name in {"budget", "least"}:
                values[name] = self.exact_cost(value, notice.problem.cost_unit)
            else:
                values[name] = self.cost(value, notice.problem.cost_unit)
        return self.texts(f"notice.{notice.code}", **values)

    def goal_missed(self, reason: NoRecourse) -> str:
        """What no plan leads to: the goal, or the margin beyond it that plans must keep."""
        goal = self.quoted_goal(reason.problem)
        return self.texts("no_recourse.with_margin", goal=goal) if reason.margin else goal

    def no_recourse(self, reason: NoRecourse) -> str:
        """Why there is no plan."""
        values: dict[str, object] = {"goal": self.goal_missed(reason), "within": self.within(reason.problem)}
        values["count"] = reason.states if reason.horizon is None else reason.horizon
        if reason.budget is not None and reason.least is not None:
            unit = reason.problem.cost_unit
            values |= {"budget": self.exact_cost(reason.budget, unit), "least": self.exact_cost(reason.least, unit)}
        said = self.texts(f"no_recourse.{reason.code}", **values)
        told = [f"{self.action(item.action)}: {self.blocked(item)}." for item in reason.blocked[:MOST_BLOCKED]]
        return " ".join([said, *told])

    def blocked(self, found: Blocked) -> str:
        """What blocks an action: `it needs skill < manager`."""
        what = self.condition(found.rule) if found.rule is not None else self.feature(found.what)
        return self.texts(f"blocked.{found.code}", what=what)

    # --------------------------------------------------------------------------------------------------------- steps

    def step(self, step: PlanStep) -> str:
        """`change job: costs 1 month, works 90 times in 100`."""
        return f"{self.action(step.action)}: {self.facts(step)}"

    def facts(self, step: PlanStep) -> str:
        """What a step costs and how often it works."""
        times = self.times_within(step.chance, step.within)
        return self.texts("step.facts", cost=self.cost(step.cost, step.unit), times=times)

    def situation(self, step: PlanStep) -> str:
        """When a step is to be done: `job is unemployed and you have spent 2 months`; empty if it goes without saying.

        Limits are exact: one that was rounded would not be true.
        """
        parts = [*self.changes(step.changes), *self._list_counts(step)]
        for action, times in step.tries:
            name = self.action(action)
            parts.append(self("step.tries", action=name, count=times) if times else self("step.untried", action=name))
        return self.texts.join(parts)

    def occasion(self, step: PlanStep) -> str:
        """How many tries must have been made, or what spent, for a step that others of its state are told from."""
        return self.texts.join(list(self._list_counts(step)))

    def _list_counts(self, step: PlanStep) -> Iterator[str]:
        if step.says_made is not None:
            least, most = step.made
            count = least if step.says_made == "at_least" else most
            yield self(f"step.made.{step.says_made}", count=count, least=self.texts.whole(least))
        if step.says_spent is not None and step.spent is not None:
            low, high = step.spent
            cost = self.exact_cost(low if step.says_spent == "at_least" else high, step.unit)
            yield self(f"step.spent.{step.says_spent}", cost=cost, least=self.texts.exact_number(low))

    def outcome(self, outcome: Branch | Possible) -> str:
        """What happens, as the problem says it, or else what changes: `savings becomes rich`; may be empty.

        What is promised of numbers is always said: `the instalments rise: term becomes 12 to 14 months`.
        """
        said = [change for change in outcome.changes if outcome.label is None or change.promise is not None]
        changes = self.texts.join(self.changes(tuple(said), "becomes"))
        return ": ".join(part for part in (self.text(outcome.label or ""), changes) if part)

    def changes(self, changes: Changes, verb: str = "is") -> list[str]:
        """`savings is rich` or, with the verb "becomes", `term becomes 12 to 14 months`."""
        levels = [(self.feature(change.feature), self.new_level(change)) for change in changes]
        return [self.texts(f"step.{verb}", feature=name, level=level) for name, level in levels]

    def new_level(self, change: LevelChange) -> str:
        """The level, or what is promised of the number that it stands for."""
        return self.level(change.feature, change.level) if change.promise is None else self.promise(change.promise)

    def promise(self, promise: Promise) -> str:
        """`12 months`, `12 to 14 months`; exact, since what is said is what was tested."""
        high = self.measure(promise.high, promise.unit)
        if promise.low == promise.high:
            return high
        return self.texts("promise", low=self.texts.exact_number(promise.low), high=high)

    def verification(self, check: Verification) -> str:
        """How a plan was checked with the classifier."""
        say = self.texts.part("verification")
        what = say("ends", count=check.ends)
        if check.points > check.ends:
            kind = "complete" if check.is_complete else "sampled"
            what = say(kind, ends=what, points=self.texts.whole(check.points))
        refused = self.texts.whole(check.points - check.accepted)
        return say("accepted" if check.holds else "refused", what=what, refused=refused)

    def simplified(self, found: Simplified) -> str:
        """What a simple plan saves and costs: `4 rules instead of 11. It costs at most 0.8% more`."""
        say, dearer, rarer = self.texts.part("simplified"), *map(_round_up, (found.dearer, found.rarer))
        rules = say("rules", count=found.rules, before=self.texts.whole(found.rules_before))
        costs = say("costs", share=self.percent(dearer)) if dearer else say("no_more")
        parts = [say("said", rules=rules, costs=costs)]
        return " ".join([*parts, say("rarer", points=self.number(100 * rarer))] if rarer else parts)

    # -------------------------------------------------------------------------------------------------------- traces

    def trace(self, trace: Trace) -> str:
        """`study fails 2 times, then change job`; `study at try number 3, then save 2 times`."""
        say, words = self.texts.part("ways"), []
        for action, group in groupby(trace.steps, key=lambda step: step.action):
            name, failed = self.action(action), 0
            for works, run in groupby(group, key=lambda step: step.works):
                count = len(list(run))
                if not works:
                    failed = count
                    continue
                if failed:
                    words.append(say("attempt", action=name, number=failed + 1))
                    failed, count = 0, count - 1  # the first of these is the try that worked
                if count:
                    words.append(say("repeated", action=name, count=count))
            if failed:
                words.append(say("fails", action=name, count=failed))
        return say("then").join(words)

    def trace_end(self, trace: Trace, offer: Offer) -> str:
        """What it took: `3 months`, `not in time; 3 months spent`; `8 months · worst 5%` of one of the worst."""
        spent = self.cost(trace.spent, offer.unit)
        end = spent if trace.success else self.texts("ways.failed", cost=spent)
        return f"{end} · {self.worst_name(offer.level)}" if offer.traces.is_worst(trace) else end

    def other_traces(self, success_costs: tuple[float, float] | None, failure: float, unit: str) -> str:
        """How all other ways end: with success at least and most costs, and with failure in some share of cases."""
        say, ends = self.texts.part("ways"), []
        if success_costs is not None:
            least, most = map(self.number, success_costs)
            cost = self.cost(success_costs[1], unit)
            words = say("rest_success_between", least=least, most=cost)
            ends.append(say("rest_success", cost=cost) if least == most else words)
        if failure:
            ends.append(say("rest_failure") + (f" ({self.percent(failure)})" if ends else ""))
        return say("rest", ends=self.texts.join(ends, last="or"))


def _round_up(share: float) -> float:
    """A share to the next tenth of a percent: it is said that it is at most this. What is rounding is nothing."""
    return math.ceil(round(share * 1000, 6)) / 1000
