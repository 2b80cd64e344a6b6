"""`safear serve`: a process of its own that says where it is, and stops when it is told to."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

import safear as sa
from promises.cli.conftest import Safear
from promises.web.conftest import APPLICANT, CREDIT

pytestmark = pytest.mark.usefixtures("heeded")

COMMAND = [sys.executable, "-m", "safear", "serve"]


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_and_stops(tmp_path: Path, stop: signal.Signals) -> None:
    """An answer under way is still given when the server is told to stop."""
    with started(tmp_path, "loan", "--language", "de") as (process, base):
        assert '<html lang="de">' in httpx.get(base, timeout=60).text
        port = int(base.rpartition(":")[2])
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


HANGING = """
import time
from pathlib import Path

def grant(frame):
    while Path("hang").exists():
        Path("asked").touch()
        time.sleep(0.01)
    return frame["term"] <= 12
"""


@contextmanager
def started(
    folder: Path, *arguments: str, command: Sequence[str] = COMMAND
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in a process of its own, in a folder, and its address."""
    command, environment = [*command, *arguments, "--port", "0"], {**os.environ, "PYTHONPATH": _path(folder)}
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", env=environment
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"http://127\.0\.0\.\d:\d+", line)
            assert found is not None, (line, process.stderr and process.stderr.read())
            yield process, found[0]
        finally:
            process.kill()


def _path(folder: Path) -> str:
    return os.pathsep.join([str(folder), *sys.path])


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_model_that_hangs_does_not_keep_it_from_stopping(tmp_path: Path, stop: signal.Signals, workers: str) -> None:
    """Whoever waits for the model is told that the service stops, and to ask again."""
    (tmp_path / "bank.py").write_text(HANGING)
    (tmp_path / "credit.json").write_text(json.dumps(CREDIT))
    arguments = ["credit.json", "--classifier", "bank:grant", "--workers", workers]
    with (
        started(tmp_path, *arguments) as (process, base),
        httpx.Client(base_url=base, timeout=30) as client,
        ThreadPoolExecutor(4) as threads,
    ):
        (tmp_path / "hang").touch()
        person = {"person": CREDIT["people"]["Ada"]}
        asked = [threads.submit(client.post, "/api/v1/decide", json=person) for _ in range(4)]
        deadline = time.monotonic() + 60
        while not (tmp_path / "asked").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(1)  # until the others are there, too
        begin = time.monotonic()
        process.send_signal(stop)
        process.wait(30)
        taken = time.monotonic() - begin
        answers = [one.result() for one in asked]
    assert taken < 15  # two seconds, and what a busy machine adds
    assert process.returncode == (0 if stop == signal.SIGINT else -stop)
    assert {(answer.status_code, answer.headers["retry-after"]) for answer in answers} == {(503, "5")}
    assert {answer.json()["type"] for answer in answers} == {"urn:safear:problem:stopping"}


def test_a_model_may_take_so_long(tmp_path: Path) -> None:
    (tmp_path / "bank.py").write_text(HANGING)
    (tmp_path / "credit.json").write_text(json.dumps(CREDIT))
    with started(tmp_path, "credit.json", "--classifier", "bank:grant", "--model-timeout", "0.1") as (_, base):
        (tmp_path / "hang").touch()
        begin = time.monotonic()
        answer = httpx.post(f"{base}/api/v1/decide", json={"person": CREDIT["people"]["Ada"]}, timeout=60)
        taken = time.monotonic() - begin
    assert answer.json()["type"] == "urn:safear:problem:classifier-late"
    assert taken < 8  # after ten seconds nobody waits any longer, whatever the model may take


IMPATIENT = """
from safear.classifier import waiting
from safear.web import work
waiting.MOST_LEFT, work.SECONDS = 2, 1.0
from safear.web import app
app.STUCK_SECONDS = 0.5
from safear.cli.serve import serve

if __name__ == "__main__":
    serve()
"""


def test_a_worker_in_which_the_model_hangs_for_good_is_replaced(tmp_path: Path) -> None:
    """What hangs cannot be stopped; once the model is well, somebody is there who asks it."""
    for name, text in (("bank.py", HANGING), ("credit.json", json.dumps(CREDIT)), ("server.py", IMPATIENT)):
        (tmp_path / name).write_text(text)
    arguments = ["credit.json", "--classifier", "bank:grant", "--workers", "2", "--no-analyst"]
    command = [sys.executable, "server.py"]
    with started(tmp_path, *arguments, command=command) as (process, base):
        before, deadline = set(_children(process.pid)), time.monotonic() + 120
        (tmp_path / "hang").touch()
        while before <= set(_children(process.pid)):
            assert time.monotonic() < deadline
            with suppress(httpx.HTTPError):
                answer = httpx.post(f"{base}/api/v1/decide", json={"person": CREDIT["people"]["Ada"]}, timeout=60)
                assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        (tmp_path / "hang").unlink()
        while not _is_answered(f"{base}/api/v1/decide", {"person": CREDIT["people"]["Ada"]}):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.terminate()
        _, told = process.communicate(timeout=30)
    assert "the classifier hangs in 2 threads; this worker ends\n" in told
    assert "a worker ended with code -15; another one is started\n" in told


def _is_answered(address: str, body: dict[str, Any]) -> bool:
    """Nobody is there while all workers are being replaced."""
    with suppress(httpx.HTTPError):
        return httpx.post(address, json=body, timeout=60).status_code == 200
    return False


def test_several_workers(tmp_path: Path) -> None:
    """Each answers; one that dies is replaced; all end with the first."""
    with started(tmp_path, "loan", "--workers", "2", "--no-analyst") as (process, base):
        workers = _children(process.pid)
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
        deadline = time.monotonic() + 60
        while len(set(_children(process.pid)) - {workers[0]}) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        for _ in range(10):
            answer = httpx.post(f"{base}/api/v1/menu", json={"person": APPLICANT}, timeout=60)
            assert answer.json()["plans"]
        left = _children(process.pid)
        process.kill()
        while any(Path(f"/proc/{child}/stat").exists() and _state(child) != "Z" for child in left):
            assert time.monotonic() < deadline
            time.sleep(0.1)


def _state(process: int) -> str:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


def _children(process: int) -> list[int]:
    """The processes that one has started and that serve; Python starts another one, which keeps track of semaphores."""
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(child) for child in found if "resource_tracker" not in Path(f"/proc/{child}/cmdline").read_text()]


def test_it_needs_neither_output_nor_many_files(tmp_path: Path) -> None:
    """Half-sent requests keep nobody out where few open files are allowed; a terminal that is closed stops it."""
    port, errors = _free_port(), tmp_path / "errors"
    command = f"ulimit -n 100; exec {shlex.join([*COMMAND, 'loan', '--port', str(port)])} >&- 2>{errors}"
    environment = {**os.environ, "PYTHONPATH": _path(tmp_path)}
    with subprocess.Popen(["bash", "-c", command], env=environment) as process:
        half = []
        try:
            deadline = time.monotonic() + 120
            while not _answers(port):
                assert process.poll() is None, errors.read_text()
                assert time.monotonic() < deadline
                time.sleep(0.1)
            for _ in range(150):
                half.append(socket.create_connection(("127.0.0.1", port), timeout=30))
                half[-1].sendall(b"GET / HT")
            assert _answers(port)
            process.send_signal(signal.SIGHUP)
            assert process.wait(30) == -signal.SIGTERM
        finally:
            for one in half:
                one.close()
            process.kill()
    assert errors.read_text() == ""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/api/v1/health", timeout=30).status_code == 200
    except httpx.HTTPError:
        return False


def test_a_page_for_applicants_only(tmp_path: Path) -> None:
    """Of a data set, by its second forest, which accepts somebody whom the first rejects; under another name."""
    german = sa.datasets.load("german")
    person = dict(german.levels.iloc[14])
    options = ("--no-analyst", "--seed", "1", "--host", "127.0.0.2", "--name", "credit.example")
    with started(tmp_path, "german", *options) as (_, base):
        assert httpx.get(base, headers={"host": "other.example"}, timeout=60).status_code == 400
        with httpx.Client(base_url=base, headers={"host": "credit.example"}, timeout=60) as client:
            page = client.get("/").text
            described = client.get("/api/v1/openapi.json").json()["paths"]
            statuses = {path: client.get(path).status_code for path in ("/analyst", "/api/v1/audit", "/api")}
            decided = client.post("/api/v1/decide", json={"person": person}).json()
    assert base.startswith("http://127.0.0.2:")
    assert "/analyst" not in page
    assert "/api/v1/audit" not in described
    assert statuses == {"/analyst": 404, "/api/v1/audit": 404, "/api": 200}
    assert not sa.recommend(german.problem, german.classifier(0), person).favourable
    assert decided["decision"] == "favourable"


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
        (["loan", "--no-analyst", "--group", "age"], "without the page for analysts there are no audits"),
        (["laon"], "there is neither a file nor a bundled problem 'laon'"),
        (["loan", "--host", "203.0.113.1", "--name", "x"], "cannot listen on 203.0.113.1, port 8000"),
    ],
)
def test_mistakes_are_told_before_anything_is_served(arguments: list[str], told: str, safear: Safear) -> None:
    assert told in safear("serve", *arguments).refusal


def test_a_port_that_is_taken(safear: Safear) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        told = safear("serve", "loan", "--port", str(port)).refusal
    assert f"cannot listen on 127.0.0.1, port {port}" in told
