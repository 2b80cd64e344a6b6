"""How an error leaves: to programs as problem details, to browsers as a page in their language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import Scope

from safear.errors import ClassifierError, SafearError, format_path
from safear.texts import Texts
from safear.web.http_errors import (
    MOST_MISTAKES,
    MistakeDetail,
    ProblemDetails,
    make_details,
    read_error,
    respond,
    tell_some,
)
from safear.web.logbook import ModelWatch, log_crash
from safear.web.templating import Shell, respond_with

FORM = "safear.form"  # in a scope: the body of the request, which may name the language of the page


@dataclass(frozen=True, slots=True)
class FailureText:
    """An error in words for people."""

    title: str
    lead: str
    reference: str  # by which they can ask about it; empty if the log has nothing on it


@dataclass(frozen=True, slots=True)
class ErrorDesk:
    """Notes failures of the model in the log, and answers with whatever went wrong."""

    shell: Shell
    watch: ModelWatch = field(default_factory=ModelWatch)

    def read(self, error: SafearError) -> ProblemDetails:
        """An error of ours as problem details; if the model failed, it is logged."""
        reference = self.watch.note_failure(error) if isinstance(error, ClassifierError) else None
        return read_error(error, reference)

    def read_crash(self, error: Exception) -> ProblemDetails:
        """What nobody foresaw, which is logged."""
        return make_details("crash", 500, "the log says where", reference=log_crash(error))

    def respond(self, scope: Scope, details: ProblemDetails, headers: dict[str, str] | None = None) -> Response:
        """A page for a browser that asked for one, problem details for everybody else."""
        if not wants_page(scope):
            return respond(details, headers)
        texts = self.shell.find_texts(_find_language(scope))
        return respond_with(
            "error.html.jinja",
            status=details.status,
            headers=details.headers | (headers or {}),
            **self.shell.speak(texts),
            failure=tell_failure(details, texts),
        )


def tell_failure(details: ProblemDetails, texts: Texts) -> FailureText:
    """What is told of a kind of problem, or else of its status."""
    known = [key for name in (details.kind, details.status) if f"{(key := f'web.failure.{name}')}.title" in texts]
    say = texts.part(known[0] if known else "web.failure.other")
    told = "" if details.reference is None else texts("web.failure.reference", reference=details.reference)
    return FailureText(say("title"), say("lead"), told)


def wants_page(scope: Scope) -> bool:
    """Whether a page was asked for: browsers say so, and below /api there are none."""
    return not scope["path"].startswith("/api/") and "text/html" in Headers(scope=scope).get("accept", "")


def _find_language(scope: Scope) -> str:
    """The language that the address or the form names."""
    named = [*parse_qsl(scope.get(FORM, b"")), *parse_qsl(scope["query_string"])]
    found: bytes = dict(named).get(b"language", b"")
    return found.decode("ascii", errors="replace")


def add_handlers(app: FastAPI, desk: ErrorDesk) -> None:
    """Let every error leave in the form that was asked for."""

    @app.exception_handler(SafearError)
    async def on_error(request: Request, error: SafearError) -> Response:
        return desk.respond(request.scope, desk.read(error))

    @app.exception_handler(RequestValidationError)
    async def on_shape(request: Request, error: RequestValidationError) -> Response:
        found = error.errors()
        mistakes = [
            MistakeDetail(code=item["type"], place=_name_place(item["loc"]), cause=str(item["msg"]), remedy=None)
            for item in found[:MOST_MISTAKES]
        ]
        told = [": ".join(part for part in (item.place, item.cause) if part) for item in mistakes]
        detail = tell_some([*told, *found[MOST_MISTAKES:]])
        return desk.respond(request.scope, make_details("input", 422, detail, mistakes))

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> Response:
        details = make_details("http", error.status_code, str(error.detail))
        return desk.respond(request.scope, details, dict(error.headers or {}))


def _name_place(location: Sequence[str | int]) -> str:
    """`("body", "terms", "cost")` as `terms.cost`; pydantic's own words for parts of a union are left out."""
    return format_path(tuple(part for part in location[1:] if not (isinstance(part, str) and "[" in part)))
