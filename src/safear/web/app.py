"""The application: the API and the pages behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.types import ASGIApp

from safear._version import __version__
from safear.web.api import PREFIX, make_api
from safear.web.audits import Audits
from safear.web.describe import specialise
from safear.web.guard import Guard
from safear.web.http_errors import ProblemDetails, add_handlers
from safear.web.pages import make_pages
from safear.web.service import Service
from safear.web.work import SECONDS, Workers

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Settings:
    """How the service is served: in which language, under which names, what the audits are by, and for how long."""

    language: str = "en"
    names: Collection[str] = LOOPBACK
    columns: Sequence[str] = ()
    seconds: float = SECONDS


def make_app(service: Service, settings: Settings | None = None) -> ASGIApp:
    """The application for a service."""
    chosen = settings or Settings()
    workers, audits = Workers(chosen.seconds), Audits(service, chosen.columns, language=chosen.language)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        audits.start()
        yield
        audits.stop()

    app = FastAPI(
        title="SafeAR",
        version=__version__,
        description=f"Plans for people whom a model rejected: {service.problem.title}.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    add_handlers(app)
    app.include_router(make_api(service, workers, audits))
    app.include_router(make_pages(service, workers, audits, language=chosen.language), include_in_schema=False)

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            document["components"]["schemas"] |= _problem_details()
            app.openapi_schema = specialise(document, service.desk)
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]  # FastAPI's own way to change the document
    return Guard(app, frozenset(name.lower() for name in chosen.names))


def _problem_details() -> dict[str, Any]:
    schema = ProblemDetails.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs"), "ProblemDetails": schema}
