"""What the picture of traces shows, as tidy tables: plans, ways things can go, steps, the rest of the probability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from safear.plots.plan_rows import Plans, read_plans
from safear.plots.svg import ELLIPSIS, Label, clean
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.traces import Trace

THINNEST, THICKEST = 1.6, 19.6  # lines, from a chance of 0 to one of 1


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One way a plan can go. `cost` is `spent` and, for a failure, the failure cost."""

    plan: int
    trace: int
    chance: float
    spent: float
    cost: float
    success: bool
    thickness: float


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step of a trace, from one total cost to the next; `attempt` counts the tries of its action in a row."""

    plan: int
    trace: int
    step: int
    action: str
    works: bool
    attempt: int
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class RestRow:
    """All other ways of a plan together; what those of them that succeed cost at least and at most."""

    plan: int
    chance: float
    success: float
    not_in_time: float
    least_cost: float | None
    largest_cost: float | None


@dataclass(frozen=True, slots=True)
class Layout:
    """What is to be drawn, as tidy tables."""

    plans: Plans
    traces: tuple[TraceRow, ...]
    steps: tuple[StepRow, ...]
    rests: tuple[RestRow, ...]

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Each table as a list of records."""
        return {
            "plans": [asdict(row) for row in self.plans.rows],
            "traces": [asdict(row) for row in self.traces],
            "steps": [asdict(row) for row in self.steps],
            "rest": [asdict(row) for row in self.rests],
        }


def lay_out(offers: Menu | Sequence[Offer]) -> Layout:
    """The tables behind the picture."""
    plans = read_plans(offers)
    numbered = list(enumerate(offers, start=1))
    found = [(plan, place, trace) for plan, offer in numbered for place, trace in enumerate(offer.traces.shown, 1)]
    return Layout(
        plans,
        tuple(_read_trace(plan, place, trace) for plan, place, trace in found),
        tuple(step for plan, place, trace in found for step in _read_steps(plan, place, trace)),
        tuple(rest for plan, offer in numbered for rest in _read_rest(plan, offer)),
    )


def _read_trace(plan: int, place: int, trace: Trace) -> TraceRow:
    spent = math.fsum(step.cost for step in trace.steps)
    thickness = THINNEST + (THICKEST - THINNEST) * trace.chance
    return TraceRow(plan, place, trace.chance, spent, trace.cost, trace.success, thickness)


def _read_steps(plan: int, place: int, trace: Trace) -> list[StepRow]:
    rows: list[StepRow] = []
    for number, step in enumerate(trace.steps, start=1):
        again = bool(rows) and rows[-1].action == step.action and not rows[-1].works
        attempt = rows[-1].attempt + 1 if again else 1
        start, end = (math.fsum(done.cost for done in trace.steps[:count]) for count in (number - 1, number))
        rows.append(StepRow(plan, place, number, step.action, step.works, attempt, start, end))
    return rows


def _read_rest(plan: int, offer: Offer) -> list[RestRow]:
    """The row of what is not shown, if anything."""
    rest = offer.traces.rest
    if rest is None:
        return []
    least, largest = rest.success_costs or (None, None)
    return [RestRow(plan, rest.chance, rest.success, rest.failure, least, largest)]


def name_steps(steps: Sequence[StepRow], origin: float = 0.0, scale: float = 1.0) -> list[Label]:
    """One label for all tries of an action up to the one that works, or for steps that work one after another."""
    runs: list[list[StepRow]] = []
    for step in steps:
        last = runs[-1] if runs else []
        same = bool(last) and last[-1].action == step.action
        if same and (step.attempt > 1 or (step.works and all(other.works for other in last) and last[0].attempt == 1)):
            last.append(step)
        else:
            runs.append([step])
    return [_name_run(run, origin, scale) for run in runs]


def _name_run(run: Sequence[StepRow], origin: float, scale: float) -> Label:
    action, last, count = clean(run[0].action), run[-1], len(run)
    if last.works and last.attempt > 1:
        endings = [f", {ordinal(last.attempt)} try", f" ×{last.attempt}"]
    elif last.works:
        endings = [f" ×{count}"] if count > 1 else [""]
    else:
        endings = [f" fails ×{count}", f" ×{count}"] if count > 1 else [" fails", ""]
    shorter = [action[:length].rstrip() + ELLIPSIS for length in range(len(action) - 1, 1, -1)]
    forms = (*(action + ending for ending in endings), *(text + endings[-1] for text in shorter), "")
    return Label(origin + scale * run[0].start, origin + scale * last.end, forms, action + endings[0], last.works)


def ordinal(count: int) -> str:
    """`2nd`, `3rd`, `11th`."""
    ending = "th" if count % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{count}{ending}"
