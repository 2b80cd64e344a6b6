"""The pages for the analyst: the problem, the audit, settings side by side; and what the API offers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import parse_qsl

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, Response

from safear.errors import InputError
from safear.risk.objectives import OBJECTIVE_EXAMPLES
from safear.texts.names import show_name
from safear.web.audits import AuditResult, Audits
from safear.web.problem_view import ProblemView, view_problem
from safear.web.service import Service
from safear.web.settings import SettingComparison, compare_settings, read_setting
from safear.web.templating import respond_with
from safear.web.work import Workers

START = {"aobjective": "mean", "bobjective": "cvar:0.95", "who": ""}


@dataclass(frozen=True, eq=False)
class AnalystDesk:
    """What the analyst looks at."""

    service: Service
    audits: Audits

    @cached_property
    def problem(self) -> ProblemView:
        """The same for everybody, so it is worked out once."""
        return view_problem(self.service)

    def render(
        self,
        fields: Mapping[str, str] = START,
        comparison: SettingComparison | None = None,
        mistake: str = "",
    ) -> HTMLResponse:
        """The page, with a comparison if one was asked for."""
        problem = self.service.problem
        return respond_with(
            "analyst.html.jinja",
            status=422 if mistake else 200,
            language="en",
            problem_title=show_name(problem.title),
            description=problem.description,
            view=self.problem,
            audits=self.audits,
            people=list(problem.people),
            actions=[action.name for action in problem.actions],
            objectives=OBJECTIVE_EXAMPLES,
            fields=fields,
            comparison=comparison,
            mistake=mistake,
        )

    def find(self, column: str) -> AuditResult:
        """The audit by a column."""
        for result in self.audits.results:
            if result.column == column:
                return result
        raise HTTPException(404, f"there is no audit by '{column}' (yet)")


def add_analyst_pages(pages: APIRouter, service: Service, workers: Workers, audits: Audits) -> None:
    """The routes of the analyst."""
    desk = AnalystDesk(service, audits)

    @pages.get("/analyst")
    async def analyst() -> HTMLResponse:
        return await workers.run(lambda _: desk.render())

    @pages.post("/analyst")
    async def compare(request: Request) -> Response:
        fields = dict(parse_qsl((await request.body()).decode("utf-8", errors="replace"), keep_blank_values=True))
        try:
            settings = read_setting(service, fields, "a"), read_setting(service, fields, "b")
            who = fields.get("who", "")
            found = await workers.run(
                lambda deadline: compare_settings(service, audits, settings, who=who, deadline=deadline)
            )
        except InputError as error:
            return desk.render(fields, mistake=str(error))
        if fields.get("do") == "csv":
            return _download(found.csv(), "comparison.csv", "text/csv; charset=utf-8")
        return desk.render(fields, found)

    @pages.get("/analyst/audit.csv")
    async def as_csv(request: Request) -> Response:
        column = request.query_params.get("by", "")
        return _download(desk.find(column).audit.table(column).to_csv(), "audit.csv", "text/csv; charset=utf-8")

    @pages.get("/analyst/audit.html")
    async def as_report(request: Request) -> Response:
        column = request.query_params.get("by", "")
        return _download(desk.find(column).report.html, "audit.html", "text/html; charset=utf-8")

    @pages.get("/analyst/audit.json")
    async def as_json() -> Response:
        text = json.dumps(
            [record.model_dump() for record in audits.records()], indent=2, allow_nan=False, ensure_ascii=False
        )
        return _download(f"{text}\n", "audit.json", "application/json")

    @pages.get("/api")
    async def describe(request: Request) -> HTMLResponse:
        document = request.app.openapi()
        return respond_with(
            "api.html.jinja", language="en", problem_title=show_name(service.problem.title), document=document
        )


def _download(text: str, name: str, media_type: str) -> Response:
    headers = {"Content-Disposition": f"attachment; filename={name}"}
    return Response(text, media_type=media_type, headers=headers)
