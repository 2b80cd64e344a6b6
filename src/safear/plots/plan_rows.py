"""The plans of a picture: a row each, what they have in common, and what is said of them in a language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from itertools import pairwise

from safear.errors import InputError, quote_list
from safear.evaluation.extremes import Range
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.teller import Teller
from safear.texts.names import capital

CLOSE = 0.01  # chances of success that differ by less are alike


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A plan and its exact figures over all runs, in `unit`; `number` counts from 1 in the order given."""

    number: int
    name: str
    first_action: str | None
    unit: str
    average: float
    tail: float  # the mean of the worst 1 - level of all runs
    success: float
    not_in_time: float
    horizon: int
    failure_cost: float
    level: float
    average_low: float | None = None  # how far figures can be off; None if the plan meets no interval
    average_high: float | None = None
    tail_low: float | None = None
    tail_high: float | None = None
    success_low: float | None = None
    success_high: float | None = None


@dataclass(frozen=True, slots=True)
class Plans:
    """All plans of a picture, what they lead to, what their costs are counted in, and who tells of them."""

    tell: Teller
    goal: str
    unit: str
    rows: tuple[PlanRow, ...]

    @property
    def level(self) -> float | None:
        """What is called the worst, None if the plans differ in that."""
        levels = {row.level for row in self.rows}
        return levels.pop() if len(levels) == 1 else None

    @property
    def ordered(self) -> bool:
        """Whether the plans are in the order of risk."""
        return all(
            one.tail <= other.tail and one.success >= other.success - CLOSE for one, other in pairwise(self.rows)
        )

    def cost(self, value: float) -> str:
        """`2 months`."""
        return self.tell.cost(value, self.unit)

    def title(self, row: PlanRow) -> str:
        """`Plan 2: safest`; without a number if there is only one."""
        return self.tell("plan.heading", number=row.number, name=row.name) if len(self.rows) > 1 else capital(row.name)

    def start(self, row: PlanRow) -> str:
        """`· starts with: change job`."""
        return f"· {self.tell('picture.starts', action=row.first_action or self.tell('picture.nothing'))}"

    def figures(self, row: PlanRow) -> str:
        """`average 2 months · worst 5% of cases: 3 months · not in time: 1%`."""
        worst = say_worst(self.tell, row.level)
        costs = {"mean": self.cost(row.average), "tail": self.cost(row.tail)}
        return self.tell("picture.figures", worst=worst, late=self.tell.percent(row.not_in_time), **costs)

    def off(self, row: PlanRow) -> str:
        """`if our estimates are off: average 1.9 to 3.1 · worst 5% of cases: 3 to 5`; empty if they cannot be."""
        say, worst = self.tell.texts.part("picture.off"), say_worst(self.tell, row.level)
        spans = (
            ("average", self._span(row.average, row.average_low, row.average_high)),
            ("tail", self._span(row.tail, row.tail_low, row.tail_high)),
            ("late", self._late_span(row)),
        )
        told = [say(name, range=span, worst=worst) for name, span in spans if span]
        return say("line", ranges=" · ".join(told)) if told else ""

    def _span(self, figure: float, low: float | None, high: float | None) -> str:
        return "" if low is None or high is None else self.tell.span(Range(low, high), figure)

    def _late_span(self, row: PlanRow) -> str:
        if row.success_low is None or row.success_high is None:
            return ""
        late = Range(1 - row.success_high, 1 - row.success_low)
        return self.tell.span(late, row.not_in_time, write=self.tell.percent)

    def late(self) -> str:
        """When a run is not in time, and what that costs on top."""
        horizons, failures = ({getattr(row, name) for row in self.rows} for name in ("horizon", "failure_cost"))
        within = self.tell("within", count=horizons.pop()) if len(horizons) == 1 else self.tell("picture.within_own")
        if failures == {0.0}:
            return self.tell("picture.late", within=within)
        if len(failures) > 1:
            return self.tell("picture.late_may_cost", within=within)
        return self.tell("picture.late_costs", within=within, cost=self.cost(failures.pop()))


def say_worst(tell: Teller, level: float) -> str:
    """`worst 5% of cases` for the level 0.95."""
    return tell("picture.worst.share", share=tell.percent(1 - level)) if level < 1 else tell("picture.worst.case")


def read_plans(offers: Menu | Sequence[Offer], language: str = "en") -> Plans:
    """The plans in the order given; refused if there are none, or if their costs cannot be on one axis."""
    if not len(offers):
        favourable = isinstance(offers, Menu) and offers.favourable
        cause = "the decision is already favourable" if favourable else "the menu is empty"
        raise InputError.at(
            (),
            f"there is no plan to draw: {cause}",
            None if favourable else "give at least one plan",
            code="nothing_to_draw",
        )
    tell = Teller.of(language, offers[0].glossary)
    units = list(dict.fromkeys(tell.text(offer.unit) for offer in offers))
    if len(units) > 1:
        raise InputError.at(
            (),
            f"the plans have different cost units: {quote_list(units)}",
            "draw them separately",
            code="different_units",
        )
    goals = {offer.solution.mdp.goal_name for offer in offers}
    goal = tell.goal(goals.pop() if len(goals) == 1 else None)
    return Plans(tell, goal, units[0], tuple(_read_plan(tell, place, offer) for place, offer in enumerate(offers, 1)))


def _read_plan(tell: Teller, number: int, offer: Offer) -> PlanRow:
    mdp, success = offer.solution.mdp, offer.cost.success
    good, bad = float(offer.cost.succeeded_chances.sum()), float(offer.cost.failed_chances.sum())
    figures = (offer.mean, offer.tail, success, bad / (good + bad))  # 1 - success may be rounded to 0
    first, failure = offer.first_action and tell.action(offer.first_action), mdp.to_cost(mdp.failure_cost)
    names = (tell.name_plan(offer), first, tell.text(offer.unit))
    found = offer.ranges
    ends = () if found is None else (*astuple(found.mean), *astuple(found.tail), *astuple(found.success))
    return PlanRow(number, *names, *figures, mdp.horizon, failure, offer.level, *ends)
