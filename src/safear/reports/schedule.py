"""By when the steps of a plan would be done: the main route, and dates along it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from itertools import accumulate

from safear.problem.durations import Duration, find_time_unit
from safear.problem.model import Problem
from safear.recourse.plan import Plan, PlanStep


def find_main_route(plan: Plan) -> tuple[PlanStep, ...]:
    """The steps of a plan if each works the first time: what comes after a step is what most often does if it works."""
    steps = {step.number: step for step in plan.steps}
    route: list[PlanStep] = []
    here: int | None = plan.steps[0].number if plan.steps else None
    while here in steps and steps[here] not in route:
        route.append(steps[here])
        here = _find_next(steps[here])
    return tuple(route)


def _find_next(step: PlanStep) -> int | None:
    branches = [branch for branch in step.branches if branch.works]
    if not branches:
        return None
    likeliest = max(branches, key=lambda branch: branch.chance)
    return max(likeliest.follow_ups, key=lambda follow_up: follow_up.share).step if likeliest.follow_ups else None


@dataclass(frozen=True, slots=True)
class Schedule:
    """By when each step of the main route is done, by its number; empty where steps have no duration."""

    begins: date
    done: Mapping[int, date]


def make_schedule(route: tuple[PlanStep, ...], problem: Problem, begins: date | None) -> Schedule | None:
    """The dates of a route that begins on a day; None if nobody says the day, or how long each step takes."""
    lengths = [_find_length(step, problem) for step in route]
    if begins is None or not lengths or any(length is None for length in lengths):
        return None
    totals = accumulate(length for length in lengths if length is not None)
    return Schedule(begins, {step.number: total.after(begins) for step, total in zip(route, totals, strict=True)})


def _find_length(step: PlanStep, problem: Problem) -> Duration | None:
    """How long a step takes: as the problem says, or else what it costs, if costs are counted in time."""
    stated, unit = problem.action_by_name[step.action].duration, find_time_unit(problem.cost_unit)
    return stated if stated is not None or unit is None else Duration.of(step.cost, unit)
