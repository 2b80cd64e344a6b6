"""The pages for the person, and what all pages need."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, Response

from safear.texts import load_texts
from safear.web.analyst import AnalystDesk, add_analyst_pages
from safear.web.asked import EXAMPLE, Asked
from safear.web.audits import Audits
from safear.web.error_pages import ErrorDesk
from safear.web.keeping import add_keeping
from safear.web.person_desk import PersonDesk
from safear.web.service import Service
from safear.web.templating import respond_with, serve_static, static_files
from safear.web.work import Workers


def make_pages(service: Service, workers: Workers, audits: Audits, errors: ErrorDesk) -> APIRouter:
    """The routes of the pages; those for analysts only if they have one."""
    pages, shell = APIRouter(default_response_class=HTMLResponse), errors.shell
    desk = PersonDesk(service, workers, errors)

    @pages.get("/")
    async def home(request: Request) -> HTMLResponse:
        language, example = (request.query_params.get(name, "") for name in ("language", EXAMPLE))
        fields = {"language": language} | ({EXAMPLE: example} if example else {})
        return await desk.answer(Asked(fields, wish="fill" if example else "begin"))

    @pages.post("/")
    async def ask(request: Request) -> HTMLResponse:
        return await desk.answer(await desk.read(request))

    add_keeping(pages, desk)

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
