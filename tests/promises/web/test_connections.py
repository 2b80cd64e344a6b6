"""Requests that are sent in part: for how long, and whom they keep out."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection

import pytest

from promises.web.conftest import APPLICANT, Site

HEAD = b"POST /api/v1/menu HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 900\r\n"
Limit = Callable[..., None]
PARTS = [b"", b"GET / HT", HEAD, HEAD + b'\r\n{"person"']


def connect(site: Site) -> socket.socket:
    host, _, port = site.base.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=20)


def is_closed(one: socket.socket) -> bool:
    try:
        return one.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("part", PARTS)
def test_a_half_sent_request_is_not_waited_for(loan: Site, limit_connections: Limit, part: bytes) -> None:
    """However little by little more of it comes."""
    limit_connections(seconds=0.6)
    start = time.monotonic()
    with connect(loan) as one:
        with suppress(ConnectionError):  # a busy machine may be late, and then it is closed meanwhile
            one.sendall(part)
            for _ in range(4 if part else 0):
                time.sleep(0.1)
                one.sendall(b"x")
        assert is_closed(one)
        assert 0.55 < time.monotonic() - start < 15


def test_the_next_request_has_its_own_time(loan: Site, limit_connections: Limit) -> None:
    """On the same connection, which is older by then than any request may be."""
    limit_connections(seconds=3.0)
    with closing(HTTPConnection(loan.base.removeprefix("http://"), timeout=20)) as client:
        client.connect()
        first = client.sock
        for _ in range(4):
            client.request("GET", "/api/v1/health")
            with client.getresponse() as answer:
                assert answer.read().startswith(b'{"status":"ok"')
            time.sleep(1)
        assert client.sock is first


def test_an_answer_that_takes_longer_is_still_given(
    loan: Site, limit_connections: Limit, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_connections(seconds=0.3)
    decide = type(loan.service).decide

    def slow(*given: object) -> object:
        time.sleep(1)
        return decide(*given)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(type(loan.service), "decide", slow)
    with loan.client() as client:
        assert client.post("/api/v1/decide", json={"person": APPLICANT}).status_code == 200


def test_half_sent_requests_keep_nobody_out(loan: Site, limit_connections: Limit) -> None:
    """The one that has kept us waiting for longest makes room."""
    limit_connections(most=20)
    with ExitStack() as stack:
        half = [stack.enter_context(connect(loan)) for _ in range(30)]
        for one in half[10:]:
            one.sendall(HEAD)
        with loan.client() as client:
            assert client.post("/api/v1/menu", json={"person": APPLICANT}).status_code == 200
        assert all(is_closed(one) for one in half[:10])
        half[-1].settimeout(0.2)
        with pytest.raises(TimeoutError):
            half[-1].recv(1)


def test_who_takes_no_answer_is_not_waited_for(loan: Site, limit_connections: Limit) -> None:
    limit_connections(seconds=0.5)
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        host, _, port = loan.base.removeprefix("http://").partition(":")
        one.connect((host, int(port)))
        one.sendall(b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 300)
        time.sleep(3)
        one.settimeout(20)
        taken = b""
        with suppress(ConnectionResetError):
            while part := one.recv(65536):
                taken += part
    assert taken.count(b"HTTP/1.1 200") < 300
