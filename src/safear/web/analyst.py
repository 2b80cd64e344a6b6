"""The pages for the analyst: the problem, the audit, settings side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, Response

from safear.errors import ClassifierError, InputError, SafearError
from safear.recourse.teller import Teller
from safear.risk.objectives import OBJECTIVE_EXAMPLES
from safear.texts.mistakes import tell_mistake
from safear.web.audits import AuditResult, Audits
from safear.web.problem_view import ProblemView, view_problem
from safear.web.service import Service
from safear.web.settings import SettingComparison, compare_settings, read_setting
from safear.web.spreadsheets import write_frame
from safear.web.templating import Shell, respond_with
from safear.web.work import Deadline, Workers

START = {"aobjective": "mean", "bobjective": "cvar:0.95", "who": ""}


@dataclass(frozen=True, eq=False)
class AnalystDesk:
    """What the analyst looks at, in the default language unless another one is asked for."""

    service: Service
    audits: Audits
    shell: Shell
    _views: dict[str, ProblemView] = field(default_factory=dict, repr=False)

    def find_teller(self, wanted: str | None) -> Teller:
        """The teller of a language that was asked for."""
        return Teller(self.shell.find_texts(wanted)).about(self.service.problem)

    def view(self, tell: Teller) -> ProblemView:
        """The problem, which is the same for everybody: it is worked out once per language."""
        language = tell.texts.language
        if language not in self._views:
            self._views[language] = view_problem(self.service, tell)
        return self._views[language]

    def render(
        self,
        tell: Teller,
        fields: Mapping[str, str] = START,
        *,
        comparison: SettingComparison | None = None,
        mistake: InputError | None = None,
    ) -> HTMLResponse:
        """The page, with a comparison if one was asked for."""
        problem, failure = self.service.problem, self.audits.failure
        results = [(result, *result.show(tell.texts.language)) for result in self.audits.results]
        return respond_with(
            "analyst.html.jinja",
            status=422 if mistake else 200,
            **self.shell.speak(tell.texts),
            analyse=tell.texts.part("analyst"),
            teller=tell,
            description=tell.text(problem.description),
            view=self.view(tell),
            audits=self.audits,
            results=results,
            failure=_tell_failure(failure, tell) if failure is not None else "",
            people=list(problem.people),
            actions=[(action.name, tell.action(action.name)) for action in problem.actions],
            objectives=OBJECTIVE_EXAMPLES,
            fields=fields,
            comparison=comparison,
            mistake="" if mistake is None else _tell_failure(mistake, tell),
        )

    def find(self, column: str) -> AuditResult:
        """The audit by a column."""
        for result in self.audits.results:
            if result.column == column:
                return result
        raise HTTPException(404, f"there is no audit by '{column}' (yet)")


def _tell_failure(error: Exception, tell: Teller) -> str:
    """What somebody can put right, in words; or else that the log says more."""
    if isinstance(error, ClassifierError):
        return tell.texts("mistake.classifier")
    if isinstance(error, InputError):
        return " ".join(tell_mistake(item, tell.texts) for item in error.mistakes)
    return str(error) if isinstance(error, SafearError) else tell("analyst.audit.failed")


def add_analyst_pages(pages: APIRouter, desk: AnalystDesk, workers: Workers) -> None:
    """The routes of the analyst."""
    service, audits = desk.service, desk.audits

    @pages.get("/analyst")
    async def analyst(request: Request) -> HTMLResponse:
        tell = desk.find_teller(request.query_params.get("language"))
        return await workers.run(lambda _: desk.render(tell))

    @pages.post("/analyst")
    async def compare(request: Request) -> Response:
        fields = dict(parse_qsl((await request.body()).decode("utf-8", errors="replace"), keep_blank_values=True))
        tell = desk.find_teller(fields.get("language"))

        def work(deadline: Deadline) -> Response:
            try:
                settings = read_setting(service, fields, "a"), read_setting(service, fields, "b")
                found = compare_settings(service, audits, settings, who=fields.get("who", ""), deadline=deadline)
            except ClassifierError:  # not the analyst's mistake
                raise
            except InputError as error:
                return desk.render(tell, fields, mistake=error)
            if fields.get("do") == "csv":
                return _download(found.csv(), "comparison.csv", "text/csv; charset=utf-8")
            return desk.render(tell, fields, comparison=found)

        return await workers.run(work)

    @pages.get("/analyst/audit.csv")
    async def as_csv(request: Request) -> Response:
        column = request.query_params.get("by", "")
        return _download(write_frame(desk.find(column).audit.table(column)), "audit.csv", "text/csv; charset=utf-8")

    @pages.get("/analyst/audit.html")
    async def as_report(request: Request) -> Response:
        result = desk.find(request.query_params.get("by", ""))
        language = desk.find_teller(request.query_params.get("language")).texts.language
        _, report = await workers.run(lambda _: result.show(language))
        return _download(report.html, "audit.html", "text/html; charset=utf-8")

    @pages.get("/analyst/audit.json")
    async def as_json() -> Response:
        text = json.dumps(
            [record.model_dump() for record in audits.records()], indent=2, allow_nan=False, ensure_ascii=False
        )
        return _download(f"{text}\n", "audit.json", "application/json")


def _download(text: str, name: str, media_type: str) -> Response:
    headers = {"Content-Disposition": f"attachment; filename={name}"}
    return Response(text, media_type=media_type, headers=headers)
