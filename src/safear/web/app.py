"""The application: the API and the pages behind the guard."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import signal
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.openapi.utils import get_openapi

from safear._version import __version__
from safear.classifier.waiting import MOST_LEFT, count_left
from safear.web.api import PREFIX, make_api
from safear.web.audits import Audits
from safear.web.describe import specialise
from safear.web.error_pages import ErrorDesk, add_handlers
from safear.web.guard import Guard
from safear.web.http_errors import ProblemDetails
from safear.web.kept import KeptMenus
from safear.web.pages import make_pages
from safear.web.service import Service
from safear.web.templating import Shell
from safear.web.work import SECONDS, Workers

LOOPBACK = ("127.0.0.1", "localhost", "::1")
STUCK_SECONDS = 15.0
SMALL = 1024  # bytes of an answer below which compressing gains nothing

logger = logging.getLogger("safear.web")


@dataclass(frozen=True, slots=True)
class Settings:
    """How the service is served: in which language, under which names, what the audits are by, how long an
    answer may take, and whether there is a page for analysts."""

    language: str = "en"
    names: Collection[str] = LOOPBACK
    columns: Sequence[str] = ()
    seconds: float = SECONDS
    analyst: bool = True


def make_app(service: Service, settings: Settings | None = None) -> FastAPI:
    """The application for a service."""
    chosen = settings or Settings()
    columns = chosen.columns if chosen.analyst else ()
    workers, audits = Workers(chosen.seconds), Audits(service, columns, language=chosen.language)
    errors = ErrorDesk(Shell(service.problem, chosen.language, chosen.analyst), service.watch)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        audits.start()
        sweeper, keeper = asyncio.create_task(_sweep(service.kept)), asyncio.create_task(_look_after_model())
        yield
        sweeper.cancel()
        keeper.cancel()
        audits.stop()

    app = FastAPI(
        title="SafeAR",
        version=__version__,
        description=f"Plans for people whom a model rejected: {service.problem.title}.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
        lifespan=lifespan,
    )
    add_handlers(app, errors)
    app.include_router(make_api(service, workers, audits if chosen.analyst else None))
    app.include_router(make_pages(service, workers, audits, errors), include_in_schema=False)
    app.add_middleware(GZipMiddleware, minimum_size=SMALL)
    app.add_middleware(Guard, names=frozenset(name.lower() for name in chosen.names), errors=errors)

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            document["components"]["schemas"] |= _problem_details()
            app.openapi_schema = specialise(document, service.desk)
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]  # FastAPI's own way to change the document
    return app


async def _sweep(kept: KeptMenus) -> None:
    """Forget what was kept, also if nobody comes any more."""
    while True:
        await asyncio.sleep(kept.seconds / 10)
        kept.forget_old()


async def _look_after_model() -> None:
    """End this worker if its model hangs for good: another one takes its place. A server without workers says so."""
    were_stuck = False
    while True:
        await asyncio.sleep(STUCK_SECONDS)
        are_stuck = count_left() >= MOST_LEFT
        if are_stuck and were_stuck:
            has_others = multiprocessing.parent_process() is not None
            end = "this worker ends" if has_others else "it is asked nothing more until the server is started anew"
            logger.error("the classifier hangs in %d threads; %s", MOST_LEFT, end)
            if has_others:
                signal.raise_signal(signal.SIGTERM)
            return
        were_stuck = are_stuck


def _problem_details() -> dict[str, Any]:
    schema = ProblemDetails.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs"), "ProblemDetails": schema}
