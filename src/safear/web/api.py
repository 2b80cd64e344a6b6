"""The REST API, below /api/v1."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter

from safear._version import __version__
from safear.population.result_records import AuditRecord
from safear.problem.dump import dump_problem
from safear.recourse.menu import Menu
from safear.recourse.records import DecisionRecord, MenuRecord
from safear.recourse.teller import Teller
from safear.recourse.walk import WalkError, walk
from safear.recourse.walk_records import SituationRecord
from safear.web.audits import Audits
from safear.web.http_errors import pick
from safear.web.json_texts import StrictRoute
from safear.web.schemas import HealthOut, MenuIn, PersonIn, PlanIn, ProblemOut, StepIn
from safear.web.service import Service
from safear.web.work import Deadline, Workers

PREFIX = "/api/v1"


def make_api(service: Service, workers: Workers, audits: Audits | None) -> APIRouter:
    """The routes of the API; without audits, none to them."""
    api = APIRouter(prefix=PREFIX, route_class=StrictRoute)
    told = pick(400, 403, 413, 422, 502, 503)
    walked = pick(400, 403, 409, 413, 422, 502, 503)

    @api.get("/health", summary="Is the service up?", responses=pick(400))
    async def health() -> HealthOut:
        status: Literal["ok", "degraded"] = "degraded" if service.watch.is_failing else "ok"
        return HealthOut(status=status, version=__version__, problem=service.problem.title)

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

    @api.post("/decide", summary="What the classifier says about a person", responses=told)
    async def decide(asked: PersonIn) -> DecisionRecord:
        return await workers.run(lambda _: DecisionRecord.of(service.decide(asked.person), service.problem))

    @api.post("/menu", summary="A person's plans, from safest to cheapest", responses=told)
    async def menu(asked: MenuIn) -> MenuRecord:
        def work(deadline: Deadline) -> MenuRecord:
            terms, robust, exact = asked.terms.read(), asked.robust, asked.exact
            found = service.answer(
                asked.person, terms, deadline=deadline, level=asked.level, robust=robust, exact=exact
            )
            return MenuRecord.of(found)

        return await workers.run(work)

    @api.post("/plan", summary="A menu with one plan: that for an objective", responses=told)
    async def plan(asked: PlanIn) -> MenuRecord:
        return await workers.run(lambda deadline: MenuRecord.of(find_plan(asked, deadline)))

    @api.post("/plan-step", summary="Where a person is on the way, and what to do now", responses=walked)
    async def plan_step(asked: StepIn) -> SituationRecord:
        def work(deadline: Deadline) -> SituationRecord:
            menu = find_plan(asked, deadline)
            require_plan(menu)
            return SituationRecord.of(walk(menu[0], asked.outcomes))

        return await workers.run(work)

    if audits is not None:

        @api.get(
            "/audit", summary="Who carries more risk, by each group column", responses=pick(400, 404, 500, 502, 503)
        )
        async def audit() -> list[AuditRecord]:
            return audits.records()

    def find_plan(asked: PlanIn, deadline: Deadline) -> Menu:
        terms, objective, robust, exact = asked.terms.read(), asked.objective, asked.robust, asked.exact
        return service.answer(asked.person, terms, deadline=deadline, objective=objective, robust=robust, exact=exact)

    return api


def require_plan(menu: Menu) -> None:
    """A WalkError if there is no plan to follow; its code is that of the reason."""
    if menu.no_recourse is not None:
        raise WalkError.at(("person",), str(menu.no_recourse), code=menu.no_recourse.code)
    if menu.favourable:
        raise WalkError.at(("person",), "the decision is already favourable; there is nothing to do", code="favourable")
