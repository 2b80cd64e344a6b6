"""The REST API, below /api/v1."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from safear._version import __version__
from safear.problem.dump import dump_problem
from safear.recourse.offer import TAIL
from safear.recourse.records import menu_record, offer_record
from safear.recourse.teller import Teller
from safear.recourse.walk import Possible, Situation, walk
from safear.risk.objectives import parse_objective
from safear.web.audits import Audits
from safear.web.http_errors import pick
from safear.web.schemas import (
    AuditOut,
    DecisionOut,
    HealthOut,
    MenuIn,
    MenuOut,
    PersonIn,
    PlanIn,
    PlanOut,
    ProblemOut,
    StepIn,
    StepOut,
)
from safear.web.service import Service
from safear.web.work import Deadline, Workers

PREFIX = "/api/v1"


def make_api(service: Service, workers: Workers, audits: Audits) -> APIRouter:
    """The routes of the API."""
    api = APIRouter(prefix=PREFIX)
    told = pick(400, 403, 413, 422, 502, 503)
    planned = pick(400, 403, 409, 413, 422, 502, 503)

    @api.get("/health", summary="Is the service up?", responses=pick(400))
    async def health() -> HealthOut:
        return HealthOut(status="ok", version=__version__, problem=service.problem.title)

    @api.get("/problem", summary="The problem: features, actions, goal", responses=pick(400))
    async def problem() -> ProblemOut:
        return ProblemOut(
            title=service.problem.title,
            goal=Teller.of().goal(service.problem.goal.favourable),
            horizon=service.problem.horizon,
            unit=service.problem.cost_unit,
            people=list(service.problem.people),
            document=dump_problem(service.problem),
        )

    @api.post("/decide", summary="What the classifier says of a person", responses=told)
    async def decide(asked: PersonIn) -> DecisionOut:
        found = await workers.run(lambda _: service.desk.decide(asked.person))
        decision = "favourable" if found.favourable else "unfavourable"
        return DecisionOut(decision=decision, person=dict(found.person), on_levels=found.on_levels)

    @api.post("/menu", summary="The plans of a person, from safest to cheapest", responses=told)
    async def menu(asked: MenuIn) -> MenuOut:
        def work(deadline: Deadline) -> dict[str, Any]:
            return menu_record(service.answer(asked.person, asked.terms.read(), deadline=deadline, level=asked.level))

        return MenuOut.model_validate(await workers.run(work))

    @api.post("/plan", summary="One plan of the frontier, by its objective", responses=planned)
    async def plan(asked: PlanIn) -> PlanOut:
        def work(deadline: Deadline) -> dict[str, Any]:
            offer = service.plan(asked.person, parse_objective(asked.objective), asked.terms.read(), deadline=deadline)
            return offer_record(offer)

        return PlanOut.model_validate(await workers.run(work))

    @api.post("/plan-step", summary="Where a person is on the way, and what to do now", responses=planned)
    async def plan_step(asked: StepIn) -> StepOut:
        def work(deadline: Deadline) -> dict[str, Any]:
            offer = service.plan(asked.person, parse_objective(asked.objective), asked.terms.read(), deadline=deadline)
            return _situation_record(walk(offer, asked.outcomes), offer.unit)

        return StepOut.model_validate(await workers.run(work))

    @api.get(
        "/audit",
        summary="Who carries more risk, in short",
        responses=pick(400, 404, 503),
    )
    async def audit() -> AuditOut:
        return AuditOut.model_validate(audits.record())

    return api


def _situation_record(situation: Situation, unit: str) -> dict[str, Any]:
    costs = situation.ahead.all_runs
    ahead = {"success": situation.ahead.success, "mean": costs.mean, "cvar": costs.cvar(TAIL)}
    return {
        "kind": situation.kind,
        "person": situation.person,
        "steps_left": situation.steps_left,
        "spent": situation.spent,
        "unit": unit,
        "action": situation.action,
        "endings": [_ending_record(ending) for ending in situation.endings],
        "taken": [{"action": step.action, "ending": _ending_record(step.ending)} for step in situation.taken],
        "ahead": ahead,
    }


def _ending_record(ending: Possible) -> dict[str, Any]:
    return {
        "outcome": ending.outcome,
        "chance": ending.chance,
        "works": ending.works,
        "label": Teller.of().outcome(ending),
        "cost": ending.cost,
    }
