"""Visitors who ask as they should, through the API and the page, and know what the answer must be."""

from __future__ import annotations

import asyncio
import json
import random
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import httpx

from safear.recourse.case import Desk
from safear.texts import load_texts
from safear.web.app import Settings, make_app
from safear.web.forms import fill_in
from safear.web.service import Service
from soak.load_http import FORM, JSON, Connection, Tally, write_request

ERRORS = (OSError, EOFError, TimeoutError)


@dataclass(frozen=True, slots=True)
class Question:
    """A request, what it asks, and its only right answer."""

    name: str
    path: str
    body: bytes
    kind: str
    right: bytes


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who differs from all others, with their questions."""

    marks: tuple[str, ...]  # what only they have entered, which no log may have
    questions: tuple[Question, ...]


def make_visitors(service: Service, count: int, rng: random.Random) -> list[Visitor]:
    """Different people with different terms. The answers are those of the same application when nobody else asks."""
    return asyncio.run(_make_visitors(service, count, rng))


async def _make_visitors(service: Service, count: int, rng: random.Random) -> list[Visitor]:
    transport = httpx.ASGITransport(make_app(service, Settings(analyst=False)))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return [await _make_visitor(client, service.desk, rng) for _ in range(count)]


async def _make_visitor(client: httpx.AsyncClient, desk: Desk, rng: random.Random) -> Visitor:
    amount, cost = rng.randint(100_000, 999_999) / 100, rng.randint(1, 4000) / 1000
    person = {"term": rng.randint(1, 60), "amount": amount, "job": rng.choice(["employed", "none"])}
    person["age"] = rng.randint(18, 90)
    api: dict[str, Any] = {"person": person, "terms": {"cost": {"shorten": cost}}}
    form = fill_in(desk, person, texts=load_texts()) | {"cost0": f"{cost:g}", "ticket": f"{rng.getrandbits(128):032x}"}
    sent = [
        ("decide", "/api/v1/decide", json.dumps({"person": person}).encode(), JSON),
        ("menu", "/api/v1/menu", json.dumps(api).encode(), JSON),
        ("plan", "/api/v1/plan", json.dumps(api).encode(), JSON),
        ("page", "/", urlencode(form | {"do": "menu"}).encode(), FORM),
        ("slide", "/", urlencode(form | {"do": "slide", "position": "1"}).encode(), FORM),
        ("answers", "/answers", urlencode(form).encode(), FORM),
    ]
    questions = []
    for name, path, body, kind in sent:
        headers = {
            "content-type": kind,
            "accept": "text/html" if kind == FORM else "*/*",
            "accept-encoding": "identity",
        }
        answer = await client.post(path, content=body, headers=headers)
        answer.raise_for_status()
        questions.append(Question(name, path, body, kind, answer.content))
    return Visitor((f"{amount:.2f}", form["ticket"]), tuple(questions))


async def visit(port: int, tally: Tally, visitor: Visitor, *, until: float, rng: random.Random) -> None:
    """Ask one thing after the other until the time is up."""
    connection = Connection(port)
    while time.monotonic() < until:
        asked, start = rng.choice(visitor.questions), time.monotonic()
        try:
            answer = await connection.send(write_request(asked.path, asked.body, kind=asked.kind))
        except ERRORS as error:
            tally.note_cut(asked.name, error, start=start)
            connection.close()
            await asyncio.sleep(0.2)
            continue
        if not tally.note(asked.name, answer, start=start, allowed={200}):
            await asyncio.sleep(rng.uniform(0.2, 1.0))
        elif answer.body == asked.right:
            tally.note_right(start)
        else:
            tally.broken[f"{asked.name}: a wrong answer"] += 1
    connection.close()
