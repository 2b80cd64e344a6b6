"""What a person should know besides their plans: codes and values, which `Teller` words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from safear.problem.model import Problem
from safear.recourse.stuck import Blocked
from safear.recourse.teller import Teller

NoticeCode = Literal[
    "unlikely",
    "gives_up",
    "rounded",
    "searched_rounded",
    "cheaper_gives_up",
    "as_filed",
    "no_intervals",
    "by_worst",
    "over_budget",
]
ReasonCode = Literal["no_action", "horizon", "never", "numbers", "unknown", "budget", "no_chance"]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to know about a menu.

    unlikely          no plan succeeds in more than `success` of runs
    gives_up          plan number `plan` succeeds in `success` of runs, though `possible` is possible
    rounded           costs are rounded to multiples of `resolution`; a total is off by at most `error`
    searched_rounded  plans were searched for with costs rounded to multiples of `resolution`; the figures are exact
    cheaper_gives_up  a cheaper plan is left out: it succeeds in `success` of runs, though `possible` is possible;
                      if failing cost `enough` instead of `failure_cost`, the cheapest plan would not give up
    as_filed          the record is accepted, though the values of its levels would not be
    no_intervals      robust plans were asked for, but none of this person's chances is an interval
    by_worst          plans are named and compared by the worst that their figures can be
    over_budget       a plan was asked for within `budget`, and no run that ends well spends less than `least`

    `problem` says what costs are counted in and what the goal is called.
    """

    code: NoticeCode
    problem: Problem = field(repr=False)
    values: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return Teller.of(glossary=self.problem.glossary).notice(self)


@dataclass(frozen=True, slots=True)
class NoRecourse:
    """Why no plan leads to the goal.

    no_action  no action is offered to this person; `blocked` says why not
    horizon    a goal can be reached, but in no fewer than `horizon` steps; `states` were tried to find that out
    never      none of the `states` that this person can ever reach, in however many steps, is a goal
    numbers    none of these `states` is a goal at the values of the levels that numbers change to; some would be at
               other numbers of the same levels
    unknown    none within the horizon is a goal; searching on was given up after `states`, and none was a goal
    budget     the goal can be reached, but never for `budget`, the limit that was asked for: no run that ends well
               spends less than `least`
    no_chance  a goal can be reached only by outcomes that, at the nominal chances, never happen, or, if it is known,
               in `horizon` steps

    With a `margin`, a goal is what plans must reach: a higher score than decides, or the agreement of several models.
    """

    code: ReasonCode
    problem: Problem = field(repr=False)
    states: int = 0
    blocked: tuple[Blocked, ...] = ()
    horizon: int | None = None
    budget: float | None = None
    least: float | None = None
    margin: bool = False

    def __str__(self) -> str:
        return Teller.of(glossary=self.problem.glossary).no_recourse(self)
