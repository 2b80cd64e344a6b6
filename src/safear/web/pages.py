"""The pages for the person, and what all pages need."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, Response

from safear.errors import InputError
from safear.reports import report_menu
from safear.texts import Texts, languages, load_texts
from safear.texts.names import show_name
from safear.web.analyst import add_analyst_pages
from safear.web.audits import Audits
from safear.web.forms import Asked, drop_stale, find_mistakes, read_form
from safear.web.person_page import answer_form, make_view
from safear.web.service import Service
from safear.web.templating import respond_with, serve_static, speak, static_files
from safear.web.views import PersonView
from safear.web.work import Deadline, Workers

REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"  # it has its style in it


def make_pages(service: Service, workers: Workers, audits: Audits, *, language: str) -> APIRouter:
    """The routes of the pages."""
    pages = APIRouter(default_response_class=HTMLResponse)

    async def answer(asked: Asked, wanted: str) -> HTMLResponse:
        texts = load_texts(wanted if wanted in languages() else language)
        view = await workers.run(lambda deadline: make_view(service, asked, texts, deadline=deadline))
        return _render_person(service, asked, view, texts, default=language)

    @pages.get("/")
    async def home(request: Request) -> HTMLResponse:
        return await answer(Asked({}, wish="fill"), request.query_params.get("language", language))

    @pages.post("/")
    async def ask(request: Request) -> HTMLResponse:
        asked = drop_stale(service.desk, await _read(request))
        return await answer(asked, asked.text("language"))

    @pages.post("/report")
    async def report(request: Request) -> Response:
        asked = drop_stale(service.desk, await _read(request))
        wanted = asked.text("language")
        texts = load_texts(wanted if wanted in languages() else language)
        if find_mistakes(service.desk, asked, texts=texts):
            return await answer(asked, texts.language)
        try:
            html = await workers.run(lambda deadline: _make_report(service, asked, texts, deadline))
        except InputError:  # the page tells of it
            return await answer(asked, texts.language)
        headers = {"Content-Disposition": "attachment; filename=report.html", "Content-Security-Policy": REPORT_POLICY}
        return HTMLResponse(html, headers=headers)

    @pages.get("/favicon.ico")
    async def icon() -> Response:
        return serve_static("icon.svg")

    @pages.get("/static/{digest}/{name}")
    async def static(digest: str, name: str) -> Response:
        if name not in static_files() or static_files()[name].digest != digest:
            raise HTTPException(404, "there is no such file")
        return serve_static(name)

    add_analyst_pages(pages, service, workers, audits, default=language)
    return pages


async def _read(request: Request) -> Asked:
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "send the form as application/x-www-form-urlencoded")
    try:
        return read_form(await request.body())
    except ValueError:
        raise HTTPException(400, "this form is not from this page") from None


def _make_report(service: Service, asked: Asked, texts: Texts, deadline: Deadline) -> str:
    return report_menu(answer_form(service, asked, texts, deadline=deadline), language=texts.language).html


def _render_person(service: Service, asked: Asked, view: PersonView, texts: Texts, *, default: str) -> HTMLResponse:
    return respond_with(
        "person.html.jinja",
        view=view,
        **speak(texts, default=default),
        example=asked.text("example"),
        unit=show_name(service.problem.cost_unit),
        problem_title=show_name(service.problem.title),
    )
