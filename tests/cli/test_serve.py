"""`safear serve`: a process of its own that says where it is, and stops when it is told to."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

import safear as sa
from safear.cli.serve import serve
from web.conftest import APPLICANT

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-c", "from safear.cli.serve import serve; serve()"]


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_and_stops(tmp_path: Path, stop: signal.Signals) -> None:
    """An answer under way is still given when the server is told to stop."""
    command = [*COMMAND, "loan", "--port", "0", "--language", "de"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert found is not None, (line, process.stderr and process.stderr.read())
        assert '<html lang="de">' in httpx.get(found[0]).text
        port = int(found[0].rpartition(":")[2])
        with socket.socket() as other:  # loopback only: not on the machine's other addresses
            assert other.connect_ex((_own_address(), port)) != 0
        body = json.dumps({"person": APPLICANT}).encode()
        head = f"POST /api/v1/menu HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
        with socket.create_connection(("127.0.0.1", port), timeout=60) as asked:
            asked.sendall(f"{head}Content-Type: application/json\r\nConnection: close\r\n\r\n".encode() + body[:9])
            time.sleep(0.3)
            process.send_signal(stop)
            time.sleep(0.3)
            asked.sendall(body[9:])
            answer = b"".join(iter(lambda: asked.recv(65536), b""))
        out, err = process.communicate(timeout=30)
    assert answer.startswith(b"HTTP/1.1 200")
    assert b'"first_action"' in answer
    assert process.returncode == (0 if stop == signal.SIGINT else -stop)
    assert (out, err) == ("", "")


def _own_address() -> str:
    """An address of this machine that is not the loopback one; one that nobody has if there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("10.255.255.255", 1))  # nothing is sent
        except OSError:
            return "192.0.2.1"
        address = str(probe.getsockname()[0])
    return address if not address.startswith("127.") else "192.0.2.1"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["loan", "--host", "0.0.0.0"], "but its name is unknown"),
        (["loan", "--language", "tlh"], "there are no texts in the language 'tlh'"),
        (["laon"], "there is neither a file nor a bundled problem 'laon'"),
        (["loan", "--host", "203.0.113.1", "--name", "x"], "cannot listen on 203.0.113.1, port 8000"),
    ],
)
def test_mistakes_are_told_before_anything_is_served(arguments: list[str], told: str) -> None:
    result = CliRunner().invoke(serve, arguments)
    assert isinstance(result.exception, sa.InputError)
    assert told in str(result.exception)


def test_a_port_that_is_taken() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = CliRunner().invoke(serve, ["loan", "--port", str(port)])
    assert isinstance(result.exception, sa.InputError)
    assert f"cannot listen on 127.0.0.1, port {port}" in str(result.exception)
