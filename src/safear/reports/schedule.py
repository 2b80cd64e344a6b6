"""By when the steps of a plan would be done: dates along its main route."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from itertools import accumulate

from safear.problem.durations import Duration, find_time_unit
from safear.problem.model import Action, Problem
from safear.problem.quantity import Quantity
from safear.recourse.plan import Plan, PlanStep


@dataclass(frozen=True, slots=True)
class Schedule:
    """By when each step of the main route is done, by its number; empty where steps have no duration."""

    begins: date
    done: Mapping[int, date]


def make_schedule(plan: Plan, problem: Problem, begins: date | None, *, original: Problem) -> Schedule | None:
    """The dates of a plan that begins on a day; None if nobody says the day, or how long each step takes.

    `original` is the problem without the person's own terms.
    """
    route = [step for step in plan.steps if step.is_main]
    lengths = [_find_length(step, problem, original) for step in route]
    if begins is None or not lengths or any(length is None for length in lengths):
        return None
    totals = accumulate(length for length in lengths if length is not None)
    days = {step.number: total.after(begins) for step, total in zip(route, totals, strict=True)}
    done = {number: day for number, day in days.items() if day is not None}
    return Schedule(begins, done) if len(done) == len(days) else None


def _find_length(step: PlanStep, problem: Problem, original: Problem) -> Duration | None:
    """How long a step takes: as the problem says, or else what it costs, if costs are counted in time.

    What a step costs on somebody's own terms says how hard it is for them, and that is no time.
    """
    action, unit = problem.action_by_name[step.action], find_time_unit(problem.cost_unit)
    if action.duration is not None or unit is None:
        return action.duration
    is_own = _list_costs(action) != _list_costs(original.action_by_name[step.action])
    return None if is_own else Duration.of(step.cost, unit)


def _list_costs(action: Action) -> list[Quantity]:
    return [action.cost, *(outcome.cost for outcome in action.outcomes if outcome.cost is not None)]
