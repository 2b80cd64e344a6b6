"""A real server on a free port, and a real browser; nothing here is a stand-in."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import httpx
import pandas as pd
import pytest

import safear as sa
from doors import KeptMenus, Service, Settings, bind, connections, make_app, make_server
from safear.recourse import Desk
from small_problems import TERM

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
PATIENCE = 60.0  # seconds, on a busy machine
MOST_BYTES = 64 * 1024  # of a request; more is refused
EXAMPLE = "/?example=0"  # a page with somebody on it
Open = Callable[..., "Page"]
APPLICANT = {"age": "young", "education": "school", "savings": "little", "job": "employed", "housing": "rent"}


@dataclass(frozen=True)
class Site:
    """A server that runs, and what it serves."""

    service: Service
    base: str

    def client(self) -> httpx.Client:
        """A program that asks it."""
        return httpx.Client(base_url=self.base, timeout=PATIENCE)

    def client_inside(self) -> httpx.AsyncClient:
        """One that hands its requests over as they are, without a connection."""
        return httpx.AsyncClient(transport=httpx.ASGITransport(make_app(self.service)), base_url="http://localhost")


def wait_for_audit(client: httpx.Client) -> httpx.Response:
    """Ask until it is done."""
    deadline = time.monotonic() + 120
    while (answer := client.get("/api/v1/audit")).status_code == 503:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return answer


@contextmanager
def run_site(service: Service, settings: Settings | None = None) -> Iterator[Site]:
    """Serve for a while."""
    listener = bind("127.0.0.1", 0)
    server = make_server(make_app(service, settings or Settings(seconds=PATIENCE)))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield Site(service, f"http://127.0.0.1:{listener.getsockname()[1]}")
    finally:
        server.should_exit = True
        thread.join(30)
        listener.close()
        assert not thread.is_alive()


@contextmanager
def serve(
    problem: sa.Problem,
    classifier: Any = None,
    *,
    people: str | pd.DataFrame | None = None,
    forgetful: bool = False,
    kept: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Iterator[Site]:
    """Serve a problem for a while; `forgetful` asks the classifier again whenever somebody comes.

    `kept` says for how long menus are kept, and by which clock.
    """
    if forgetful:
        service = Service(replace(Desk.of(problem, classifier), forgetful=True), people)
    else:
        service = replace(Service.of(problem, classifier, people=people), kept=KeptMenus(**kept or {}))
    with run_site(service, Settings(**{"seconds": PATIENCE, **settings})) as site:
        yield site


def fill_in(problem: sa.Problem, record: Mapping[str, object], *, language: str = "en") -> dict[str, str]:
    """The fields of the form for a record: those of features, then those of what else the model sees, in its order."""
    texts = {
        name: str(value).replace(".", ",") if language != "en" and isinstance(value, float) else str(value)
        for name, value in record.items()
    }
    features = [feature.name for feature in problem.features]
    given = [name for name in record if name not in features]
    fields = {f"feature{number}": name for number, name in enumerate(features)}
    fields |= {f"given{number}": name for number, name in enumerate(given)}
    return {field: texts[name] for field, name in fields.items() if name in texts}


@pytest.fixture(scope="session")
def loan() -> Iterator[Site]:
    """The bundled loan problem, which decides by its own rule."""
    with serve(sa.load_example("loan")) as site:
        yield site


CREDIT: dict[str, Any] = {
    "safear": 1,
    "title": "a credit",
    "horizon": 4,
    "cost": {"unit": "months"},
    "features": {
        "term": TERM,
        "amount": {"kind": "numeric", "edges": [1000, 5000], "values": [500, 3000, 8000], "min": 1},
        "job": {"kind": "nominal", "levels": ["employed", "none"], "mutable": False},
    },
    "given": ["age", "account"],
    "actions": {
        "shorten": {"cost": 1, "chance": 0.8, "change": {"term": -1}},
        "ask for less": {"cost": 1.5, "chance": 0.9, "change": {"amount": -1}},
    },
    "goal": {"favourable": "granted", "failure_cost": 20},
    "people": {
        "Ada": {"term": 40, "amount": 8750.5, "job": "employed", "age": 33, "account": "small"},
        "Bob": {"term": 10, "amount": 700, "job": "employed", "age": 50, "account": "large"},
    },
}


def grant(frame: pd.DataFrame) -> Any:
    """Looks at the numbers themselves; wants a number for the age and a name for the account."""
    bonus = frame["account"].map({"small": 0, "large": 5})
    return frame["term"] + frame["amount"] / 1000 + frame["age"] / 100 - bonus <= 24.33


@pytest.fixture(scope="session")
def credit() -> Iterator[Site]:
    """A function that sees records as they were filed decides on a credit."""
    with serve(sa.parse_problem(CREDIT), grant) as site:
        yield site


@pytest.fixture(scope="session")
def german() -> Iterator[Site]:
    """German Credit with its forest and its people, audited by gender."""
    data = sa.datasets.load("german")
    with serve(data.problem, data.classifier(), people=data.levels, columns=["gender"]) as site:
        yield site


@pytest.fixture(scope="session")
def audited(german: Site) -> Site:
    """The same once its audit is done."""
    with german.client() as client:
        wait_for_audit(client)
    return german


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows with each menu that is solved."""
    found: list[object] = []
    answer = Service.answer

    def counted(self: Service, *given: Any, **more: Any) -> sa.Menu:
        found.append(given)
        return answer(self, *given, **more)

    monkeypatch.setattr(Service, "answer", counted)
    return found


@pytest.fixture
def limit_connections(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Allows requests fewer `seconds` until they are there, or fewer connections: `most`."""

    def limit(*, seconds: float = connections.REQUEST_SECONDS, most: int = connections.MOST_CONNECTIONS) -> None:
        monkeypatch.setattr(connections, "REQUEST_SECONDS", seconds)
        monkeypatch.setattr(connections, "MOST_CONNECTIONS", most)

    return limit


@pytest.fixture
def everything_logged() -> Iterator[list[str]]:
    """All that any logger says, at any level, while a test runs."""
    lines: list[str] = []
    seen: dict[int, logging.LogRecord] = {}  # the records, too, so that no other one gets the same id

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if id(record) not in seen:  # loggers hand what they get to their parents, too
                seen[id(record)] = record
                lines.append(record.getMessage())

    keeper = Keeper(level=0)
    names = ["", "safear", "uvicorn", "uvicorn.error", "uvicorn.access", "fastapi", "asyncio"]
    before = [(logger := logging.getLogger(name), logger.level) for name in names]
    for logger, _ in before:
        logger.addHandler(keeper)
        logger.setLevel(logging.DEBUG)
    yield lines
    for logger, level in before:
        logger.removeHandler(keeper)
        logger.setLevel(level)


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Opens pages. Whatever the console calls an error, and whatever is asked of another server, fails the test."""
    wrong: list[str] = []
    contexts: list[BrowserContext] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            wrong.append(message.text)

    def open_it(site: Site, path: str = EXAMPLE, *, size: Any = DESKTOP, **options: Any) -> Page:
        context = browser.new_context(viewport=size, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()

        def watch(request: Request) -> None:
            if not request.url.startswith((site.base, "data:", "blob:")):
                wrong.append(f"asked {request.url}")
            if re.search(r"young|employed|little|feature|cost\d", request.url):
                wrong.append(f"personal data in {request.url}")

        page.on("console", hear)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", watch)
        page.goto(site.base + path)
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert not wrong
