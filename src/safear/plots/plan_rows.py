"""The plans of a picture: a row each, and what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from safear.errors import InputError, quote_list
from safear.plots.svg import clean
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.words import count_of, format_cost

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


@dataclass(frozen=True, slots=True)
class Plans:
    """All plans of a picture, what they lead to, and what their costs are counted in."""

    goal: str
    unit: str
    rows: tuple[PlanRow, ...]

    def title(self, row: PlanRow) -> str:
        """`Plan 2: safest`; without a number if there is only one."""
        plain = clean(row.name)
        return f"Plan {row.number}: {plain}" if len(self.rows) > 1 else f"{plain[:1].upper()}{plain[1:]}"

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

    @property
    def deadline(self) -> str:
        """`12 steps`."""
        horizons = {row.horizon for row in self.rows}
        return count_of(min(horizons), "step") if len(horizons) == 1 else "the steps that a plan has"

    @property
    def surcharge(self) -> str:
        """`, and counts 24 months more in the figures`: what failing costs on top; empty if nothing."""
        failures = {row.failure_cost for row in self.rows}
        extra = f"counts {format_cost(min(failures), self.unit)} more" if len(failures) == 1 else "may count more"
        return "" if failures == {0.0} else f", and {extra} in the figures"


def read_plans(offers: Menu | Sequence[Offer]) -> Plans:
    """The plans in the order given; refused if there are none, or if their costs cannot be on one axis."""
    if not len(offers):
        favourable = isinstance(offers, Menu) and offers.favourable
        cause = "the decision is favourable already" if favourable else "the menu is empty"
        raise InputError.at((), f"there is no plan to draw: {cause}", None if favourable else "give at least one plan")
    units = list(dict.fromkeys(clean(offer.unit) for offer in offers))
    if len(units) > 1:
        raise InputError.at((), f"the plans count costs in different units: {quote_list(units)}", "draw them apart")
    goals = {offer.solution.mdp.goal_name for offer in offers}
    goal = (goals.pop() if len(goals) == 1 else None) or "the favourable decision"
    return Plans(goal, units[0], tuple(_read_plan(number, offer, units[0]) for number, offer in enumerate(offers, 1)))


def _read_plan(number: int, offer: Offer, unit: str) -> PlanRow:
    mdp, success = offer.solution.mdp, offer.cost.success
    good, bad = float(offer.cost.succeeded_chances.sum()), float(offer.cost.failed_chances.sum())
    figures = (offer.mean, offer.tail, success, bad / (good + bad))  # 1 - success may be rounded to 0
    failure = mdp.to_cost(mdp.failure_cost)
    return PlanRow(number, offer.name, offer.first_action, unit, *figures, mdp.horizon, failure, offer.level)
