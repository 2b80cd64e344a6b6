"""The pages for the person, and what all pages need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, Response

from safear.errors import ClassifierError, InputError, SafearError
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.teller import Teller
from safear.reports import report_figures, report_menu
from safear.texts import Texts, load_texts
from safear.web.analyst import AnalystDesk, add_analyst_pages
from safear.web.asked import EXAMPLE, Asked, read_form
from safear.web.audits import Audits
from safear.web.error_pages import ErrorDesk, tell_failure
from safear.web.examples import drop_edited
from safear.web.forms import drop_stale, find_mistakes, name_form, translate
from safear.web.kept import make_ticket
from safear.web.person_page import answer_form, choose_plan, make_view, show_failure
from safear.web.service import Service
from safear.web.templating import respond_with, serve_static, static_files
from safear.web.terms_form import reset_terms
from safear.web.views import PersonView
from safear.web.work import Deadline, TooLateError, Workers

REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"  # it has its style in it
OUR_FAULT = (ClassifierError, TooLateError)


def make_pages(service: Service, workers: Workers, audits: Audits, errors: ErrorDesk) -> APIRouter:
    """The routes of the pages; those for analysts only if they have one."""
    pages, shell = APIRouter(default_response_class=HTMLResponse), errors.shell

    async def read(request: Request) -> Asked:
        asked = drop_edited(service.desk, drop_stale(service.desk, await _read(request)))
        if asked.wish == "clear":
            return Asked({"language": asked.text("language")}, wish="begin")
        if asked.wish == "reset":
            return reset_terms(service.problem, asked)
        if asked.wish == "speak":
            texts, into = shell.find_texts(asked.text("language")), shell.find_texts(asked.detail)
            return translate(service.desk, asked, texts=texts, into=into)
        return asked

    async def answer(asked: Asked, wanted: str | None) -> HTMLResponse:
        texts, asked = shell.find_texts(wanted), _give_ticket(asked)
        try:
            view = await workers.run(lambda deadline: make_view(service, asked, texts, deadline=deadline))
        except OUR_FAULT as error:
            return fail(asked, texts, error)
        return show(asked, texts, view)

    def fail(asked: Asked, texts: Texts, error: SafearError) -> HTMLResponse:
        """What was filled in is not lost."""
        details = errors.read(error)
        view = show_failure(service, asked, texts, tell_failure(details, texts))
        return show(asked, texts, view, status=details.status, headers=details.headers)

    def show(asked: Asked, texts: Texts, view: PersonView, **response: Any) -> HTMLResponse:
        tell = Teller(texts).about(service.problem)
        return respond_with(
            "person.html.jinja",
            **response,
            **shell.speak(texts),
            view=view,
            ticket=asked.text("ticket"),
            form_name=name_form(service.desk),
            unit=tell.text(service.problem.cost_unit),
            provider=tell.provider(service.problem),
        )

    @pages.get("/")
    async def home(request: Request) -> HTMLResponse:
        wanted = request.query_params.get(EXAMPLE, "")
        asked = Asked({EXAMPLE: wanted}, wish="fill") if wanted else Asked({}, wish="begin")
        return await answer(asked, request.query_params.get("language"))

    @pages.post("/")
    async def ask(request: Request) -> HTMLResponse:
        asked = await read(request)
        return await answer(asked, asked.text("language"))

    async def keep(request: Request, make: Callable[[Letter], Response]) -> Response:
        """What somebody takes with them; what is wrong with the form is told by the page."""
        asked = _give_ticket(await read(request))
        texts = shell.find_texts(asked.text("language"))
        if find_mistakes(service.desk, asked, texts=texts):
            return await answer(asked, texts.language)
        try:
            return await workers.run(lambda deadline: make(_open_letter(service, asked, texts, deadline)))
        except OUR_FAULT as error:
            return fail(asked, texts, error)
        except InputError:  # the page tells of it
            return await answer(asked, texts.language)

    @pages.post("/report")
    async def report(request: Request) -> Response:
        return await keep(request, _write_letter)

    @pages.post("/figures")
    async def figures(request: Request) -> Response:
        return await keep(request, _write_figures)

    @pages.get("/favicon.ico")
    async def icon() -> Response:
        return serve_static("icon.svg")

    @pages.get("/static/{digest}/{name}")
    async def static(digest: str, name: str) -> Response:
        if name not in static_files() or static_files()[name].digest != digest:
            raise HTTPException(404, "there is no such file")
        return serve_static(name)

    @pages.get("/api")
    async def describe(request: Request) -> HTMLResponse:
        texts = load_texts()  # the document is in English
        return respond_with("api.html.jinja", **shell.speak(texts), document=request.app.openapi())

    if shell.has_analyst:
        add_analyst_pages(pages, AnalystDesk(service, audits, shell), workers)
    return pages


def _give_ticket(asked: Asked) -> Asked:
    return replace(asked, fields={**asked.fields, "ticket": make_ticket(asked.text("ticket"))})


async def _read(request: Request) -> Asked:
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "send the form as application/x-www-form-urlencoded")
    try:
        return read_form(await request.body())
    except ValueError:
        raise HTTPException(400, "this form is not from this page") from None


@dataclass(frozen=True, slots=True)
class Letter:
    """What a letter and its figures are made from."""

    menu: Menu
    chosen: Offer | None
    language: str
    dated: date


def _open_letter(service: Service, asked: Asked, texts: Texts, deadline: Deadline) -> Letter:
    menu = answer_form(service, asked, texts, deadline=deadline)
    today = date.today()  # noqa: DTZ011  # the provider's day
    return Letter(menu, choose_plan(menu, asked, Teller(texts).about(menu.problem)), texts.language, today)


def _write_letter(letter: Letter) -> Response:
    html = report_menu(letter.menu, letter.chosen, language=letter.language, dated=letter.dated).html
    return HTMLResponse(html, headers=_attach("letter.html") | {"Content-Security-Policy": REPORT_POLICY})


def _write_figures(letter: Letter) -> Response:
    record = report_figures(letter.menu, letter.chosen, dated=letter.dated)
    return Response(record.model_dump_json(indent=2), media_type="application/json", headers=_attach("figures.json"))


def _attach(name: str) -> dict[str, str]:
    return {"Content-Disposition": f"attachment; filename={name}"}
