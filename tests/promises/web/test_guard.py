"""What every request passes, and what every answer says."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import socket
import time
from pathlib import Path

import httpx
import pytest

from promises.web.conftest import APPLICANT, MOST_BYTES, Site

ASK = {"person": APPLICANT}


@pytest.mark.parametrize("path", ["/", "/analyst", "/api", "/api/v1/health", "/nothing", "/favicon.ico"])
def test_headers(loan: Site, path: str) -> None:
    with loan.client() as client:
        headers = client.get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
    assert policy["img-src"] == "'self' data:"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"
    assert "server" not in headers
    assert "set-cookie" not in headers


def test_personal_answers_are_not_to_be_kept(loan: Site) -> None:
    with loan.client() as client:
        for answer in (client.post("/api/v1/menu", json=ASK), client.post("/", data={"feature0": "young"})):
            assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "127.0.0.1.evil.example",
        "",
        "[::2]",
        "[::1",
        "[::1]evil",
        "[::1]:80@evil",
        "127.0.0.1:8101@evil",
        "localhost:8101, evil",
        "localhost:evil",
        "evil@localhost",
    ],
)
def test_other_names_are_refused(loan: Site, host: str) -> None:
    """A foreign name that points to 127.0.0.1 would make a foreign page one of ours."""
    with loan.client() as client:
        for answer in (
            client.get("/", headers={"host": host}),
            client.post("/api/v1/menu", headers={"host": host}, json=ASK),
        ):
            assert answer.status_code == 400
            assert answer.json()["type"] == "urn:safear:problem:host"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "[::1]:8000", "[::1]", "127.0.0.1", "localhost:"])
def test_our_names_are_taken(loan: Site, host: str) -> None:
    with loan.client() as client:
        assert client.get("/api/v1/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),  # a program
        ({"sec-fetch-site": "same-origin", "origin": "null"}, 200),  # a form of a page that tells no origin
        ({"sec-fetch-site": "none"}, 200),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://[evil"}, 403),
    ],
)
def test_what_other_pages_send_is_refused(loan: Site, headers: dict[str, str], status: int) -> None:
    with loan.client() as client:
        answer = client.post("/api/v1/menu", headers=headers, json=ASK)
        assert answer.status_code == status
        own = {"origin": loan.base}
        assert client.post("/api/v1/menu", headers=own, json=ASK).status_code == 200


@pytest.mark.parametrize("path", ["/analyst", "/nothing", "/api/v1/health/"])
def test_what_a_proxy_would_say_is_ignored(loan: Site, path: str) -> None:
    """Anybody can send that: only the name and the page that a request itself has count."""
    forged = {"x-forwarded-host": "evil.example", "x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.1"}
    forged |= {"x-forwarded-prefix": "/evil", "forwarded": "for=192.0.2.1;host=evil.example;proto=https"}
    ours = {"x-forwarded-host": "localhost", "forwarded": "host=localhost", "host": "evil.example"}
    with loan.client() as client:
        plain, said = client.get(path), client.get(path, headers=forged)
        assert (said.status_code, said.text) == (plain.status_code, plain.text)
        assert said.headers.get("location") == plain.headers.get("location")
        assert client.get(path, headers=ours).status_code == 400
        foreign = forged | {"origin": "https://evil.example"}
        assert client.post("/api/v1/menu", headers=foreign, json=ASK).status_code == 403


def test_size(loan: Site) -> None:
    large = b"x" * (MOST_BYTES + 1)
    with loan.client() as client:
        for path in ("/", "/api/v1/menu"):
            announced = client.post(path, content=large)
            in_parts = client.post(path, content=iter([large[:40_000], large[40_000:]]))
            assert {announced.status_code, in_parts.status_code} == {413}
            assert client.post(path, content=large[:-1]).status_code != 413


def test_size_of_address_and_headers(loan: Site) -> None:
    """Also of what comes at once: h11 counts only what it has to wait for the rest of."""

    async def ask(query: int, header: int) -> httpx.Response:
        async with loan.client_inside() as client:
            return await client.get(f"/api/v1/health?{'x' * query}", headers={"x-long": "x" * header})

    assert asyncio.run(ask(30_000, 30_000)).status_code == 200
    for query, header in ((0, 100_000), (40_000, 40_000)):
        answer = asyncio.run(ask(query, header))
        assert (answer.status_code, answer.json()["type"]) == (431, "urn:safear:problem:too-big")


def test_a_request_has_one_length(loan: Site) -> None:
    """A proxy that goes by the other one would take what follows for another request."""
    host, _, port = loan.base.removeprefix("http://").partition(":")
    head = b"POST /api/v1/menu HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    lengths = b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=20) as one:
        one.sendall(head + lengths + b"0\r\n\r\nGET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        taken = b"".join(iter(lambda: one.recv(65536), b""))
    assert taken.startswith(b"HTTP/1.1 400")
    assert b"urn:safear:problem:framing" in taken
    assert taken.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("encoding", ["gzip", "br", "GZIP, identity"])
def test_nothing_is_unpacked(loan: Site, encoding: str) -> None:
    """A small request may hold gigabytes."""
    bomb = gzip.compress(b" " * 10_000_000)
    with loan.client() as client:
        answer = client.post("/api/v1/menu", content=bomb, headers={"content-encoding": encoding})
        assert (answer.status_code, answer.json()["type"]) == (415, "urn:safear:problem:encoding")
        plain = client.post("/api/v1/menu", json=ASK, headers={"content-encoding": "identity"})
    assert plain.status_code == 200


def test_a_form_must_be_a_form(loan: Site) -> None:
    with loan.client() as client:
        assert client.post("/", json={}).status_code == 415
        many = "&".join(["a=1"] * 3000)
        form = {"content-type": "application/x-www-form-urlencoded"}
        assert client.post("/", content=many, headers=form).status_code == 400


def test_media_types_are_read_in_any_case(loan: Site) -> None:
    with loan.client() as client:
        form = {"content-type": "Application/X-WWW-Form-Urlencoded; Charset=UTF-8"}
        assert client.post("/", content="feature0=young", headers=form).status_code == 200
        upload = {"content-type": "Multipart/Form-Data; Boundary=B"}
        body = '--B\r\nContent-Disposition: form-data; name="do"\r\n\r\nmenu\r\n--B--\r\n'
        assert client.post("/", content=body, headers=upload).status_code == 200
        kind = {"content-type": "Application/JSON"}
        assert client.post("/api/v1/menu", content=json.dumps(ASK), headers=kind).status_code == 200


def test_files_may_be_kept_and_are_the_only_ones(loan: Site) -> None:
    with loan.client() as client:
        page = client.get("/").text
        script = page.partition('<script src="')[2].partition('"')[0]
        answer = client.get(script)
        assert answer.headers["cache-control"].startswith("max-age=")
        assert answer.headers["content-type"].startswith("text/javascript")
        assert client.get(script.replace("page.js", "../service.py")).status_code == 404
        assert client.get("/static/0/page.js").status_code == 404


def test_no_inline_script_or_style(loan: Site) -> None:
    with loan.client() as client:
        for path in ("/", "/?language=de", "/analyst", "/api"):
            page = client.get(path).text
            assert "style=" not in page.replace("font-style=", "")
            assert "<style" not in page
            assert page.count("<script") == page.count('<script src="/static/')
            assert not any(f" on{event}=" in page for event in ("click", "load", "input", "change", "submit"))


def test_the_script_is_small() -> None:
    folder = Path(__file__).parents[3] / "src" / "safear" / "web" / "static"
    assert sum(path.stat().st_size for path in folder.glob("*.js")) < 15_000


def test_a_crash_is_answered_and_logged_without_what_was_sent(
    loan: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise ZeroDivisionError("the secret")

    deadline = time.monotonic() + 10
    monkeypatch.setattr(type(loan.service.desk), "decide", crash)
    with loan.client() as client, caplog.at_level(logging.DEBUG):
        answer: httpx.Response = client.post("/api/v1/decide", json=ASK)
        while "ZeroDivisionError" not in caplog.text and time.monotonic() < deadline:  # it is logged after the answer
            time.sleep(0.01)
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "ZeroDivisionError" in caplog.text
    assert "secret" not in caplog.text + answer.text


@pytest.mark.parametrize("path", ["/", "/analyst", "/api", "/api/v1/health", "/api/v1/problem"])
def test_head_is_get_without_a_body(loan: Site, path: str) -> None:
    with loan.client() as client:
        head, whole = client.head(path), client.get(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"] == whole.headers["content-type"]
    with loan.client() as client:
        assert client.head("/api/v1/menu").status_code == 405


def test_large_answers_are_compressed_for_those_who_can_read_it(loan: Site) -> None:
    with loan.client() as client:
        for send in (client.get("/"), client.post("/api/v1/menu", json=ASK)):
            assert send.headers["content-encoding"] == "gzip"
            assert "accept-encoding" in send.headers["vary"].lower()
            assert int(send.headers["content-length"]) < len(send.content) / 3
        plain = client.get("/", headers={"accept-encoding": "identity"})
        small = client.get("/api/v1/health")
    assert "content-encoding" not in plain.headers
    assert "content-encoding" not in small.headers
