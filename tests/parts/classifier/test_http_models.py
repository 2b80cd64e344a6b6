"""Models behind an address: a real server on this machine, that also dies, redirects, hangs and talks nonsense."""

from __future__ import annotations

import json
import pickle
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import safear as sa
from doors import HttpModel, ask, count_left, http_models, patience, tell_source
from heavy import require
from parts.classifier.test_asking import PROBLEM as ASKED
from parts.classifier.test_asking import make_inputs
from safear.errors import ClassifierError, MissingExtraError
from small_sources import GOALS, PROBLEM, goals
from trained_models import applications

Answer = Callable[["Handler", list[dict[str, Any]]], Any]


class Handler(BaseHTTPRequestHandler):
    """Answers as `server.answer` says: what it returns is sent as JSON; else it has answered by itself."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.server.headers.append(dict(self.headers))
        records = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["dataframe_records"]
        self.server.asked.append(len(records))
        answer = self.server.answer(self, records)
        if answer is not None:
            self.reply(200, json.dumps(answer))

    def do_GET(self) -> None:
        self.server.asked.append(-1)
        self.reply(200, "[]")

    def reply(self, status: int, text: str, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """A server on this machine that remembers how many rows it was asked about, each time."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer: Answer = lambda _, records: [0.0] * len(records)
        self.asked: list[int] = []
        self.headers: list[dict[str, str]] = []
        self.address = f"http://127.0.0.1:{self.server_address[1]}/invocations"

    def handle_error(self, *_: object) -> None:
        """A client that has gone away is none."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    require("urllib3")
    monkeypatch.setattr(http_models, "WAITS", (0.01, 0.02, 0.04))
    http_models.pool.cache_clear()
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        http_models.pool().clear()
        running.shutdown()
        thread.join()


def refusal(server: Server, count: int = 5, *, time_limit: float = 5.0) -> str:
    with pytest.raises(ClassifierError) as refused:
        ask(sa.load_classifier(server.address, ASKED, time_limit=time_limit), make_inputs(count))
    return str(refused.value)


def skilled(records: list[dict[str, Any]]) -> list[bool]:
    return [record["skill"] == "skilled" and record["job"] == "employed" for record in records]


@pytest.mark.parametrize(
    "answer",
    [
        lambda _, records: skilled(records),
        lambda _, records: {"predictions": skilled(records)},
        lambda _, records: {"predictions": ["approved" if good else "rejected" for good in skilled(records)]},
        lambda _, records: [0.2 + 0.6 * good for good in skilled(records)],
        lambda _, records: [[0.2 + 0.6 * good] for good in skilled(records)],
    ],
    ids=["truth values", "predictions", "labels", "scores", "columns of scores"],
)
def test_answers_of_all_kinds(answer: Answer, server: Server) -> None:
    server.answer = answer
    assert goals(server.address) == GOALS
    assert server.asked == [4], "it is asked once about all inputs"


def test_pairs_of_chances(server: Server) -> None:
    server.answer = lambda _, records: {"predictions": [[0.3, 0.7] if r["age"] > 2 else [0.9, 0.1] for r in records]}
    answers = ask(sa.load_classifier(server.address, ASKED), make_inputs(4))
    assert answers.tolist() == [False, False, True, True]


def test_what_is_sent(server: Server) -> None:
    """Numbers as numbers, names as texts, null for what is missing."""
    seen: list[dict[str, Any]] = []

    def answer(_: Handler, records: list[dict[str, Any]]) -> list[float]:
        seen.extend(records)
        return [0.0] * len(records)

    server.answer = answer
    frame = pd.DataFrame(
        {
            "amount": [1.5, np.nan],
            "stage": [1, 2],
            "phone": [True, False],
            "city": ["Köln", None],
            "any": pd.array([np.int64(3), np.float32(0.5)], dtype=object),
            "gap": pd.array([pd.NA, pd.NaT], dtype=object),
        }
    )
    assert HttpModel(server.address)(frame) == [0.0, 0.0]
    assert seen == [
        {"amount": 1.5, "stage": 1, "phone": True, "city": "Köln", "any": 3, "gap": None},
        {"amount": None, "stage": 2, "phone": False, "city": None, "any": 0.5, "gap": None},
    ]
    assert server.headers[0]["Content-Type"] == "application/json"
    assert "Authorization" not in server.headers[0]


def test_a_token(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFEAR_MODEL_TOKEN", "open sesame")
    goals(server.address)
    assert server.headers[0]["Authorization"] == "Bearer open sesame"


def test_many_inputs_go_in_batches(server: Server) -> None:
    server.answer = lambda _, records: [float(record["age"] % 2 < 1) for record in records]
    answers = ask(sa.load_classifier(server.address, ASKED), make_inputs(2500))
    assert server.asked == [1000, 1000, 500]
    assert answers.tolist() == [age % 2 == 0 for age in range(2500)]


def test_it_can_be_sent_to_other_processes(server: Server) -> None:
    model = HttpModel(server.address, 3.0)
    model(make_inputs(2).frame())
    assert pickle.loads(pickle.dumps(model)) == model


# ------------------------------------------------------------------------------------------------------------- failures


def busy_at_first(status: int, times: int) -> Answer:
    tries: list[None] = []

    def answer(handler: Handler, records: list[dict[str, Any]]) -> Any:
        tries.append(None)
        return [0.0] * len(records) if len(tries) > times else handler.reply(status, "wait")

    return answer


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_asked_again(status: int, server: Server) -> None:
    server.answer = busy_at_first(status, 3)
    assert not ask(sa.load_classifier(server.address, ASKED), make_inputs(5)).any()
    assert server.asked == [5, 5, 5, 5]


def test_a_server_that_stays_busy(server: Server) -> None:
    server.answer = busy_at_first(503, 100)
    assert refusal(server) == f"{server.address}: it refuses: 503 wait; 0 of 1 batches were answered"
    assert server.asked == [5, 5, 5, 5]


def hang_up(handler: Handler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def half_a_reply(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    handler.wfile.write(b"[0.0, 0.0")
    hang_up(handler)


@pytest.mark.parametrize("fail", [hang_up, half_a_reply])
def test_a_server_that_dies_half_way(fail: Callable[[Handler], None], server: Server) -> None:
    def answer(handler: Handler, records: list[dict[str, Any]]) -> Any:
        return [0.0] * len(records) if len(server.asked) <= 2 else fail(handler)

    server.answer = answer
    told = refusal(server, 4500)
    assert told.startswith(f"{server.address}: it cannot be reached: ")
    assert told.endswith("; tried 4 times; 2 of 5 batches were answered")
    assert server.asked == [1000, 1000, *[1000] * 4]


def test_a_server_that_dies_once(server: Server) -> None:
    def answer(handler: Handler, records: list[dict[str, Any]]) -> Any:
        return hang_up(handler) if len(server.asked) == 2 else [0.0] * len(records)

    server.answer = answer
    assert not ask(sa.load_classifier(server.address, ASKED), make_inputs(2500)).any()
    assert server.asked == [1000, 1000, 1000, 500]


def test_nobody_there(server: Server) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/"
        with pytest.raises(ClassifierError) as refused:
            ask(sa.load_classifier(address, ASKED), make_inputs(2))
    assert "it cannot be reached: " in str(refused.value)
    assert "refused" in str(refused.value)
    assert server.asked == []


def test_nothing_is_waited_for_once_nobody_waits_any_more(server: Server) -> None:
    """However long a request may take by itself: each would leave a thread and a connection."""
    released = threading.Event()

    def answer(_: Handler, records: list[dict[str, Any]]) -> Any:
        released.wait(30)
        return [0.0] * len(records)

    server.answer = answer
    with patience(0.1), pytest.raises(ClassifierError, match="not answered"):
        ask(sa.load_classifier(server.address, ASKED, time_limit=300), make_inputs(1))
    deadline = time.monotonic() + 20
    while any(thread.name == "safear-classifier" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert count_left() == 0
    released.set()


def test_whoever_waits_at_a_page_does_not_wait_for_many_tries(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is down would keep all threads busy with waiting."""
    monkeypatch.setattr(http_models, "WAITS", (0.1, 10.0, 20.0))

    def answer(handler: Handler, _: list[dict[str, Any]]) -> None:
        handler.reply(503, "busy")

    server.answer = answer
    with patience(4), pytest.raises(ClassifierError, match="it refuses: 503"):
        ask(sa.load_classifier(server.address, ASKED), make_inputs(1))
    assert len(server.asked) == 2


def test_a_server_that_hangs(server: Server) -> None:
    released = threading.Event()
    server.answer = lambda *_: released.wait(60) and None
    start = time.monotonic()
    assert refusal(server, time_limit=0.3) == (
        f"{server.address}: it has not answered after 0.3 seconds; 0 of 1 batches were answered\n"
        "    allow more with --model-timeout SECONDS"
    )
    assert time.monotonic() - start < 30
    released.set()


def test_a_server_that_drips(server: Server) -> None:
    """It never lets anybody wait long, and never ends."""

    def answer(handler: Handler, _records: list[dict[str, Any]]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(10**7))
        handler.end_headers()
        for _ in range(2000):
            handler.wfile.write(b" " * 2**12)
            handler.wfile.flush()
            time.sleep(0.02)

    server.answer = answer
    start = time.monotonic()
    assert "it has not answered after 0.3 seconds" in refusal(server, time_limit=0.3)
    assert time.monotonic() - start < 20


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(status: int, server: Server) -> None:
    """Records go to the address that the operator gave, and nowhere else."""
    with Server() as other:
        thread = threading.Thread(target=other.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        server.answer = lambda handler, _: handler.reply(status, "", Location=other.address)
        assert refusal(server) == (
            f"{server.address}: it sends us on to another address ({status}), and we do not follow\n"
            "    give the address that answers"
        )
        other.shutdown()
        thread.join()
    assert server.asked == [5]
    assert other.asked == []


def test_a_proxy_of_the_environment_is_not_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
    goals(server.address)
    assert server.asked == [4]


@pytest.mark.parametrize("status", [401, 403, 404, 413])
def test_a_refusal_is_told_and_not_tried_again(status: int, server: Server) -> None:
    server.answer = lambda handler, _: handler.reply(status, "no")
    assert refusal(server) == f"{server.address}: it refuses: {status} no; 0 of 1 batches were answered"
    assert server.asked == [5]


@pytest.mark.parametrize("status", [400, 422, 500])
def test_the_input_on_which_a_server_fails_is_named(status: int, server: Server) -> None:
    def answer(handler: Handler, records: list[dict[str, Any]]) -> Any:
        bad = any(record["age"] == 37.5 for record in records)
        return handler.reply(status, "too\n old") if bad else [0.0] * len(records)

    server.answer = answer
    assert refusal(server, 64) == (
        f"classifier: {server.address} failed: {status} too old; "
        "the first such input: age = 37.5, job = none, city = city 37\n"
        "    it was sent 'age', 'job', 'city'; further columns are named in the problem's 'given: [...]'"
    )
    assert len(server.asked) <= 9


@pytest.mark.parametrize(
    "text, told",
    [
        ("<html>", "it answers with no JSON: '<html>'"),
        ('{"error": 1}', "it answers with something else: '{\"error\": 1}'\n    it should give a list, or "),
        ("3", "it answers with something else: '3'"),
        ('[{"score": 1}]', "it answers with something else: '[{\"score\": 1}]'"),
        ("[NaN, 0, 0, 0, 0]", "answered with a number that is not finite; the first such input: age = 0.5"),
        ("[null, 1, 1, 1, 1]", "leaves out some decisions"),
        ("[[1, 2], [1], 0, 0, 0]", "rows of different lengths"),
        ("[0, 0]", "gave 2 answers to 5 inputs; the first such input: age = 2.5"),
    ],
)
def test_nonsense(text: str, told: str, server: Server) -> None:
    server.answer = lambda handler, _: handler.reply(200, text)
    assert told in refusal(server)


def test_an_endless_answer_is_cut_off(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_models, "MOST_BYTES", 10**5)
    server.answer = lambda _, records: [[0.0] * 10**5] * len(records)
    assert refusal(server) == f"{server.address}: its answer has more than 100,000 bytes"


@pytest.mark.parametrize("address", ["http://", "https://:8080/", "http://[::1"])
def test_no_address(address: str) -> None:
    require("urllib3")
    with pytest.raises(ClassifierError) as refused:
        sa.load_classifier(address, PROBLEM)
    assert str(refused.value) == f"{address}: this is no address\n    write http://HOST:PORT/PATH"


def test_a_password_in_an_address() -> None:
    require("urllib3")
    with pytest.raises(ClassifierError) as refused:
        sa.load_classifier("http://user:s3cret@127.0.0.1:1/inv?key=abc", PROBLEM)
    assert str(refused.value) == (
        "http://127.0.0.1:1/inv: an address must hold no password\n"
        "    put a token into the variable SAFEAR_MODEL_TOKEN; it is sent as a bearer token"
    )


@pytest.mark.parametrize(
    "answer",
    [
        lambda handler, _: handler.reply(401, "no"),
        lambda handler, _: handler.reply(500, "no"),
        lambda handler, _: handler.reply(302, ""),
        lambda handler, _: handler.reply(200, "<html>"),
        lambda *_: ["too many"] * 9,
        lambda handler, _: hang_up(handler),
    ],
)
def test_the_query_of_an_address_is_told_nowhere(answer: Answer, server: Server) -> None:
    """It is sent, and may be a secret."""
    paths: list[str] = []

    def noted(handler: Handler, records: list[dict[str, Any]]) -> Any:
        paths.append(handler.path)
        return answer(handler, records)

    server.answer = noted
    classifier = sa.load_classifier(f"{server.address}?api_key=abc", ASKED)
    with pytest.raises(ClassifierError) as refused:
        ask(classifier, make_inputs(5))
    assert paths[0] == "/invocations?api_key=abc"
    assert server.address in str(refused.value)
    assert "abc" not in f"{refused.value!r} {refused.value} {classifier!r}"


@pytest.mark.parametrize(
    "source, told",
    [
        ("http://host:1/a/b?key=1#x", "http://host:1/a/b"),
        ("HTTPS://user:pass@host", "HTTPS://host"),
        ("http://host?key=a/b@c", "http://host"),
        ("model.skops", "model.skops"),
        ("what?.csv", "what?.csv"),
        ("module:name", "module:name"),
    ],
)
def test_how_sources_are_told(source: str, told: str) -> None:
    assert tell_source(source) == told


def test_without_urllib3_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "urllib3", None)
    with pytest.raises(MissingExtraError) as missing:
        sa.load_classifier("http://127.0.0.1:1/", PROBLEM)
    assert str(missing.value) == "urllib3 is not installed; install it with: pip install 'safear[http]'"


# --------------------------------------------------------------------------------------------- MLflow's scoring server


@pytest.fixture
def scoring_server(tmp_path: Path) -> Iterator[tuple[str, Any]]:
    """The server that `mlflow models serve` starts, with a model and the types of its columns."""
    import warnings  # noqa: PLC0415

    import uvicorn  # noqa: PLC0415

    from trained_models import trained  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models, flavour = require("mlflow.models"), require("mlflow.sklearn")
        frame = applications(50, seed=1, gaps=False)
        model = trained("one-hot forest")
        trusted = ["sklearn.tree._tree.Tree", "numpy.dtype"]
        options = {"serialization_format": "skops", "skops_trusted_types": trusted, "pip_requirements": []}
        signature = models.infer_signature(frame, model.predict(frame))
        flavour.save_model(model, str(tmp_path / "model"), signature=signature, **options)
        app = require("mlflow.pyfunc.scoring_server").init(require("mlflow.pyfunc").load_model(str(tmp_path / "model")))
    listener = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/invocations", model
    running.should_exit = True
    thread.join()


@pytest.mark.filterwarnings("ignore")  # of MLflow and what it uses
def test_the_scoring_server_of_mlflow(scoring_server: tuple[str, Any]) -> None:
    address, model = scoring_server
    frame = applications(1200, seed=7, gaps=False)
    assert HttpModel(address, 30.0)(frame) == model.predict(frame).tolist()
    with pytest.raises(ClassifierError, match=r"failed: 400 .*Failed to predict"):
        HttpModel(address, 30.0)(frame.drop(columns="duration"))
