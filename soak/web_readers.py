"""Bodies of the API and forms of the page, sent to the application in this process: never a 500."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from random import Random
from typing import Any
from urllib.parse import urlencode

from safear.errors import InputError
from safear.web.app import make_app
from safear.web.forms import name_form
from safear.web.service import Service
from soak.judging import require
from soak.mutating import mutate_bytes, mutate_text, mutate_tree
from soak.seeds import plan_texts, tiny_problem
from soak.targets import Target

PERSON = {"skill": "basic", "age": 33, "gender": "female"}
TERMS = {"cost": {"learn": 2}, "chance": {"study": 0.5}, "forbid": ["gamble"]}
BODIES: dict[str, Any] = {
    "/api/v1/decide": {"person": PERSON},
    "/api/v1/menu": {"person": PERSON, "terms": TERMS, "level": 0.9, "robust": False, "exact": None},
    "/api/v1/plan": {"person": PERSON, "terms": TERMS, "objective": "cvar:0.95", "robust": True},
    "/api/v1/plan-step": {"person": PERSON, "objective": "mean", "outcomes": [0, 1]},
}
PAGES = ("/", "/report", "/figures", "/plan", "/answers", "/open", "/analyst")
_FILE_NAME = "; filename=x"
WISHES = (
    "begin", "draft", "menu", "slide", "choose:1", "outcome:0", "back", "restart", "fill:0", "here", "keep", "clear",
    "again", "speak:de", "reset:1", "fresh",
)  # fmt: skip


@cache
def _application() -> tuple[Any, asyncio.AbstractEventLoop, Service]:
    service = Service.of(tiny_problem())
    return make_app(service), asyncio.new_event_loop(), service


def post(path: str, body: bytes, kind: str) -> tuple[int, dict[str, str], bytes]:
    """Send a body; the status, the headers and the body of the answer. What the application raises is raised."""
    app, loop, _ = _application()
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "",
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", kind.encode("latin-1", "replace"))],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
    }  # fmt: skip
    status, headers, content, waiting = 0, dict[str, str](), b"", [{"type": "http.request", "body": body}]

    async def receive() -> Any:
        return waiting.pop() if waiting else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal status, headers, content
        if message["type"] == "http.response.start":
            status = message["status"]
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in message["headers"]}
        else:
            content += message.get("body", b"")

    loop.run_until_complete(app(scope, receive, send))
    return status, headers, content


def check_answer(status: int, headers: dict[str, str], content: bytes) -> None:
    """Answered, refused in words, or put off; never a crash."""
    require(status in {200, 303} or 400 <= status < 500 or status == 503, f"status {status}: {content[:300]!r}")
    require(b"Traceback" not in content, "a traceback in an answer")
    if headers.get("content-type", "").startswith("application/") and "json" in headers["content-type"]:
        json.loads(content)
    if status >= 400:
        raise InputError.at(("body",), f"status {status}")


def _draw_body(rng: Random) -> tuple[str, bytes]:
    path = rng.choice(sorted(BODIES))
    body = json.dumps(mutate_tree(rng, BODIES[path]), ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
    return path, mutate_bytes(rng, body) if rng.random() < 0.2 else body


def _read_body(drawn: Any) -> None:
    path, body = drawn
    check_answer(*post(path, body, "application/json"))


def _form(rng: Random) -> dict[str, str]:
    *_, service = _application()
    fields = {
        "feature0": "basic", "feature1": "33", "feature2": "female", "cost0": "2", "chance1": "50", "cannot2": "on",
        "by": rng.choice(("cost", "rank")), "rank0": "1", "rank1": "2", "language": rng.choice(("en", "de", "es")),
        "position": "0", "history": "0,1", "form": name_form(service.desk), "ticket": "", "weight": "0.5",
        "do": rng.choice(WISHES), "file": rng.choice(plan_texts()), "plan": rng.choice(("", plan_texts()[0])),
        "aobjective": "mean", "bobjective": "cvar:0.95", "ahorizon": "4", "who": "Ada",
    }  # fmt: skip
    for name in rng.sample(sorted(fields), rng.randrange(6)):
        del fields[name]
    return fields


def _draw_form(rng: Random) -> tuple[str, bytes]:
    fields = _form(rng)
    for _ in range(rng.choice((1, 1, 2, 4))):
        if not fields:
            break
        name = rng.choice(sorted(fields))
        if rng.random() < 0.2:
            fields[mutate_text(rng, name)] = fields.pop(name)
        else:
            fields[name] = mutate_text(rng, fields[name])
    body = urlencode(fields, encoding="utf-8", errors="surrogatepass").encode()
    return rng.choice(PAGES), mutate_bytes(rng, body) if rng.random() < 0.1 else body


def _read_form(drawn: Any) -> None:
    path, body = drawn
    check_answer(*post(path, body, "application/x-www-form-urlencoded"))


def _draw_upload(rng: Random) -> tuple[str, bytes]:
    parts = [
        f'--limit\r\nContent-Disposition: form-data; name="{name}"{_FILE_NAME * (name == "file")}\r\n\r\n{text}\r\n'
        for name, text in _form(rng).items()
    ]
    body = ("".join(parts) + "--limit--\r\n").encode()
    kind = "multipart/form-data; boundary=limit"
    return mutate_text(rng, kind) if rng.random() < 0.2 else kind, mutate_bytes(rng, body)


def _read_upload(drawn: Any) -> None:
    kind, body = drawn
    check_answer(*post("/open", body, kind))


def list_targets() -> list[Target]:
    """All of them, with how often each is drawn."""
    return [
        Target("API", _draw_body, _read_body, 12),
        Target("form", _draw_form, _read_form, 6),
        Target("upload", _draw_upload, _read_upload, 4),
    ]
