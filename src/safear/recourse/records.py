"""Results for one person as records: the only JSON there is of them, in files, on the command line and in the API.

`MenuRecord.of(menu)` words and lists everything, so a record is made only for somebody who wants it. Numbers have all
their digits; what is undefined is null.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Literal, Self, cast

import numpy as np
from pydantic import Field

from safear.evaluation.forward import Runs
from safear.problem.model import Problem, Record, is_missing
from safear.recourse.advice_records import AdviceRecord, ReasonRecord
from safear.recourse.card_records import CardRecord
from safear.recourse.case import Decision
from safear.recourse.caution import find_caution
from safear.recourse.figure_records import (
    CautionRecord,
    CostsRecord,
    MarginRecord,
    RangesRecord,
    ResultRecord,
    SimplifiedRecord,
)
from safear.recourse.menu import Menu
from safear.recourse.notices import Notice, NoticeCode
from safear.recourse.offer import Offer
from safear.recourse.plan import Branch, Hope, PlanStep
from safear.recourse.promises import Promise, Verification
from safear.recourse.teller import Teller
from safear.recourse.traces import Trace

Answer = Literal["favourable", "unfavourable"]
Scalar = bool | int | float | str | None


class NextRecord(ResultRecord):
    """What follows an outcome, in which share of cases, and from which step of the run."""

    kind: Literal["step", "goal", "out of time", "stuck", "lost", "given up", "not shown"]
    step: int | None
    share: float
    since: int


class OutcomeRecord(ResultRecord):
    """One way a step of a plan may end."""

    chance: float
    low: float = Field(description="the least that the chance may be")
    high: float = Field(description="the most: above 0 even where the chance is 0")
    works: bool
    label: str
    cost: float
    next: list[NextRecord]

    @classmethod
    def of(cls, branch: Branch, tell: Teller) -> Self:
        """With what happens in words."""
        follow_ups = [NextRecord.model_validate(item) for item in branch.follow_ups]
        label = tell.outcome(branch)
        chances = {"chance": branch.chance, "low": branch.low, "high": branch.high}
        return cls(**chances, works=branch.works, label=label, cost=branch.cost, next=follow_ups)


class StepRecord(ResultRecord):
    """One step of a contingent plan: when to take it, and how it may end."""

    number: int
    person: dict[str, str]
    situation: str
    action: str
    visits: float
    hope: Hope
    steps_left: tuple[int, int]
    spent: tuple[float, float] | None
    outcomes: list[OutcomeRecord]

    @classmethod
    def of(cls, step: PlanStep) -> Self:
        """With the situation in words."""
        tell = Teller.of(glossary=step.glossary)
        return cls(
            number=step.number,
            person=step.shown,
            situation=tell.situation(step),
            action=step.action,
            visits=step.visits,
            hope=step.hope,
            steps_left=step.steps_left,
            spent=step.spent,
            outcomes=[OutcomeRecord.of(branch, tell) for branch in step.branches],
        )


class TraceStepRecord(ResultRecord):
    """An action that was taken, how it ended, and what that cost."""

    action: str
    outcome: int
    works: bool
    cost: float


class TraceRecord(ResultRecord):
    """One way in which a run may go."""

    chance: float
    cost: float
    success: bool
    worst: bool = Field(description="one of the worst: no more than 1 - level of all runs cost as much")
    steps: list[TraceStepRecord]

    @classmethod
    def of(cls, trace: Trace, *, worst: bool) -> Self:
        """With all of its steps."""
        steps = [TraceStepRecord.model_validate(step) for step in trace.steps]
        return cls(chance=trace.chance, cost=trace.cost, success=trace.success, worst=worst, steps=steps)


class OtherTracesRecord(ResultRecord):
    """All other traces together."""

    chance: float
    success: float
    mean_cost: float
    least_cost: float
    largest_cost: float


class PointRecord(ResultRecord):
    """One total cost; failures count with the failure cost."""

    cost: float
    chance: float
    success: bool


class SimulatedRecord(ResultRecord):
    """A cross-check by simulation."""

    rollouts: int
    seed: int
    success: float
    cost: CostsRecord
    all_runs: CostsRecord

    @classmethod
    def of(cls, runs: Runs, *, rollouts: int, seed: int) -> Self:
        """What `simulate` found."""
        found = runs.distribution
        cost, all_runs = CostsRecord.of(found.given_success), CostsRecord.of(found.all_runs)
        return cls(rollouts=rollouts, seed=seed, success=found.success, cost=cost, all_runs=all_runs)


def as_scalars(record: Record) -> dict[str, Scalar]:
    """A record as JSON can hold it: null for what is missing, no types of NumPy or pandas. It can be filed again."""
    return {str(name): _as_scalar(value) for name, value in dict(record).items()}


class PromiseRecord(ResultRecord):
    """What a plan brings a number to, when it changes to a level: between `low` and `high`, both included."""

    feature: str
    level: str
    low: float
    high: float
    unit: str
    text: str

    @classmethod
    def of(cls, promise: Promise) -> Self:
        """With its words."""
        return cls(**asdict(promise), text=str(promise))


class VerificationRecord(ResultRecord):
    """How a plan was checked with the classifier, on the record as it was filed."""

    ends: int
    points: int
    accepted: int
    is_complete: bool = Field(description="whether no number that could make a difference was left out")
    text: str

    @classmethod
    def of(cls, check: Verification) -> Self:
        """With its words."""
        return cls(**asdict(check), text=str(check))


class PlanFiguresRecord(ResultRecord):
    """The figures of one plan."""

    name: str
    code: str = Field(description="its name for programs, the same in every language")
    method: str
    robust: bool = Field(description="made for the worst chances: planned_value and bound are those, value the nominal")
    objective: str
    objectives: list[str]
    value: float
    planned_value: float
    bound: float | None
    value_error: float | None
    trade_off: str | None
    simplified: SimplifiedRecord | None = Field(description="beside the best plan; null if it is that plan itself")
    success: float
    cost: CostsRecord = Field(description="over the runs that succeed")
    all_runs: CostsRecord = Field(description="over all runs; failures pay the failure cost")
    ranges: RangesRecord | None = Field(description="if estimates are off; null if the plan meets no interval")
    caution: CautionRecord | None = Field(description="the price of caution; null unless the plan is robust")
    sparsity: float | None
    proximity: float | None
    first_action: str | None

    @classmethod
    def of(cls, offer: Offer) -> Self:
        """What can be said of a plan before its steps are listed."""
        solution = offer.solution
        certified, caution = solution.certificate is not None, find_caution(offer)
        return cls(
            name=offer.name,
            code=offer.code,
            method=solution.method,
            robust=solution.robust,
            objective=str(offer.objective),
            objectives=[str(objective) for objective in offer.objectives],
            value=offer.value,
            planned_value=offer.planned_value,
            bound=solution.bound if certified else None,
            value_error=solution.value_error if certified else None,
            trade_off=None if offer.trade_off is None else str(offer.trade_off),
            simplified=None if offer.simplified is None else SimplifiedRecord.of(offer.simplified),
            success=offer.cost.success,
            cost=CostsRecord.of(offer.cost.given_success),
            all_runs=CostsRecord.of(offer.cost.all_runs),
            ranges=None if offer.ranges is None else RangesRecord.of(offer.ranges),
            caution=None if caution is None else CautionRecord.of(caution),
            sparsity=offer.runs.sparsity,
            proximity=offer.runs.proximity,
            first_action=offer.first_action,
        )


class PlanRecord(PlanFiguresRecord):
    """One plan."""

    card: CardRecord = Field(description="in short, to be repeated to others")
    plan: list[str] = Field(description="its likely steps in words")
    steps: list[StepRecord] = Field(description="all of its steps as data")
    promises: list[PromiseRecord] = Field(description="what it brings numbers to; empty if only levels are decided on")
    verification: VerificationRecord
    traces: list[TraceRecord] = Field(description="the most probable ways things may go, and one of the worst")
    other_traces: OtherTracesRecord | None
    distribution: list[PointRecord] = Field(description="the exact distribution of the total cost")
    simulated: SimulatedRecord | None = None

    @classmethod
    def of(cls, offer: Offer, *, beside: Iterable[Offer] = (), simulated: SimulatedRecord | None = None) -> Self:
        """All that can be said of a plan, beside the others of its menu."""
        traces, points = offer.traces, offer.cost.points()
        return cls(
            **dict(PlanFiguresRecord.of(offer)),
            card=CardRecord.of(offer, beside),
            plan=offer.plan.lines(),
            steps=[StepRecord.of(step) for step in offer.full_plan.steps],
            promises=[PromiseRecord.of(promise) for promise in offer.promises.values()],
            verification=VerificationRecord.of(offer.verification),
            traces=[TraceRecord.of(trace, worst=traces.is_worst(trace)) for trace in traces.shown],
            other_traces=None if traces.rest is None else OtherTracesRecord.model_validate(traces.rest),
            distribution=[PointRecord(cost=cost, chance=chance, success=good) for cost, chance, good in points],
            simulated=simulated,
        )


class FrontierRecord(ResultRecord):
    """A plan of the frontier that a menu was chosen from."""

    objective: str
    success: float
    mean: float
    cvar: float
    first_action: str | None
    plan: str | None = Field(description="its name in the menu, if it is offered, perhaps in fewer rules")

    @classmethod
    def of(cls, offer: Offer, menu: Menu) -> Self:
        """In short; `/plan`, or `recommend` with its objective, has all of it."""
        return cls(
            objective=str(offer.objective),
            success=offer.cost.success,
            mean=offer.mean,
            cvar=offer.tail,
            first_action=offer.first_action,
            plan=next((other.name for other in menu if other.best.solution is offer.solution), None),
        )


class NoticeRecord(ResultRecord):
    """What a person should know besides the plans."""

    code: NoticeCode
    text: str
    values: dict[str, float]

    @classmethod
    def of(cls, notice: Notice) -> Self:
        """With its words."""
        return cls(code=notice.code, text=str(notice), values=dict(notice.values))


class MenuRecord(ResultRecord):
    """What a person can do. No plans if the decision is favourable, or if there is no recourse."""

    problem: str
    person: dict[str, str] = Field(description="a level per feature")
    record: dict[str, Scalar] = Field(description="the person as filed")
    decision: Answer
    no_recourse: ReasonRecord | None = Field(description="why no plan reaches the goal")
    advice: AdviceRecord | None = Field(description="what would help, if no plan reaches the goal")
    unit: str
    horizon: int
    cost_error: float
    notices: list[NoticeRecord]
    level: float
    plans: list[PlanRecord]
    without_margin: list[MarginRecord] = Field(description="plans for the model in force alone; empty without margin")
    frontier: list[FrontierRecord] = Field(description="all plans that the menu was chosen from, cheapest first")

    @classmethod
    def of(cls, menu: Menu, *, simulated: Sequence[SimulatedRecord | None] = ()) -> Self:
        """The whole menu; `simulated` are cross-checks of its plans, if there were any."""
        checks = simulated or [None] * len(menu)
        return cls(
            problem=menu.problem.title,
            person=menu.problem.shown(menu.person),
            record=as_scalars(menu.case.decision.record),
            decision=name_answer(favourable=menu.favourable),
            no_recourse=None if menu.no_recourse is None else ReasonRecord.of(menu.no_recourse),
            advice=None if menu.advice is None else AdviceRecord.of(menu.advice),
            unit=menu.problem.cost_unit,
            horizon=menu.problem.horizon,
            cost_error=float(menu.case.mdp.cost_error),
            notices=[NoticeRecord.of(notice) for notice in menu.notices],
            level=menu.level,
            plans=[
                PlanRecord.of(offer, beside=menu, simulated=check) for offer, check in zip(menu, checks, strict=True)
            ],
            without_margin=list(_beside_margins(menu)),
            frontier=[FrontierRecord.of(offer, menu) for offer in menu.frontier],
        )


def _beside_margins(menu: Menu) -> Iterator[MarginRecord]:
    for offer, cost in zip(menu.offers, menu.margin_costs, strict=False):
        if cost.other is not None:
            bare = cost.other
            figures = {"success": bare.cost.success, "mean": bare.mean, "cvar": bare.tail}
            yield MarginRecord(plan=offer.code, first_action=bare.first_action, words=str(cost), **figures)


class DecisionRecord(ResultRecord):
    """What the classifier says."""

    decision: Answer
    person: dict[str, str] = Field(description="the person as levels")

    @classmethod
    def of(cls, decision: Decision, problem: Problem) -> Self:
        """Without the record as filed, and without what is hidden."""
        answer = name_answer(favourable=decision.favourable)
        return cls(decision=answer, person=problem.shown(decision.person))


def _as_scalar(value: object) -> Scalar:
    if not isinstance(value, str) and is_missing(value):
        return None
    if isinstance(value, np.floating | Decimal):  # as it is written: a 32-bit 0.7 is no 0.699999988
        value = float(str(value))
    plain = value.item() if isinstance(value, np.generic) else value
    is_held = isinstance(plain, bool | int | str) or (isinstance(plain, float) and math.isfinite(plain))
    return cast("Scalar", plain) if is_held else str(plain)  # JSON has no number without end


def name_answer(*, favourable: bool) -> Answer:
    """What a decision is called."""
    return "favourable" if favourable else "unfavourable"
