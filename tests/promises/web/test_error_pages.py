"""What people and programs are told when something goes wrong, and in which form."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest

import safear as sa
from english import english_in
from promises.web.conftest import APPLICANT, MOST_BYTES, Site, fill_in, serve
from promises.web.test_person_page import field, words

LOAN = sa.load_example("loan")
PAGE = {"accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}
REFERENCE = re.compile(r"\b[0-9A-F]{8}\b")


class Moody:
    """A model that answers, fails or hangs as it is told."""

    def __init__(self) -> None:
        self.mood, self.released = "answers", threading.Event()

    def __call__(self, frame: pd.DataFrame) -> Any:
        if self.mood == "fails":
            raise ValueError(f"s3cret about {frame.to_dict()}")
        if self.mood == "hangs":
            self.released.wait(60)
        return np.asarray(frame["savings"] == "rich")


@contextmanager
def serve_moody() -> Iterator[tuple[Site, Moody]]:
    model = Moody()
    with serve(LOAN, model, forgetful=True, seconds=4) as site:
        site.service.warm_up()
        yield site, model
        model.released.set()


def ask_page(site: Site, path: str = "/", **more: str) -> httpx.Response:
    form = fill_in(LOAN, APPLICANT)
    with site.client() as client:
        return client.post(path, data={**form, **more}, headers=PAGE)


@pytest.mark.parametrize("path", ["/", "/report", "/figures"])
@pytest.mark.parametrize(("mood", "status"), [("fails", 502), ("hangs", 503)])
def test_a_model_that_fails_is_not_the_fault_of_the_person(
    everything_logged: list[str], path: str, mood: str, status: int
) -> None:
    """They keep what they filled in and get a reference; the log has one line under it, with nothing of theirs."""
    with serve_moody() as (site, model):
        model.mood = mood
        answer = ask_page(site, path, cost0="47.11")
    told = words(answer.text)
    assert answer.status_code == status
    assert answer.headers.get("retry-after") == ("5" if status == 503 else None)
    assert "No decision can be made at the moment" in told
    assert "This is not about your answers." in told
    assert "check this again" not in told
    assert field(answer.text, "cost0") == "47.11"
    found = REFERENCE.search(told)
    assert found is not None
    ours = [line for line in everything_logged if "classifier" in line]
    assert [line.partition(":")[0] for line in ours] == [found[0]]
    assert ("ValueError" if mood == "fails" else "timed_out") in ours[0]
    for word in ("s3cret", "47.11", "young", "employed"):
        assert word not in "".join(ours)
    assert "s3cret" not in answer.text


def test_health_is_degraded_until_the_model_answers_again() -> None:
    def ask_health() -> str:
        with site.client() as client:
            return str(client.get("/api/v1/health").json()["status"])

    with serve_moody() as (site, model):
        assert ask_health() == "ok"
        for path in ("/api/v1/decide", "/api/v1/menu"):
            for mood, status in (("fails", "degraded"), ("answers", "ok")):
                model.mood = mood
                with site.client() as client:
                    client.post(path, json={"person": APPLICANT})
                assert ask_health() == status
        model.mood = "fails"
        ask_page(site)
        assert ask_health() == "degraded"
        ask_page(site, feature0="?")  # a mistake of theirs, which no model has seen
        assert ask_health() == "degraded"


def test_analysts_get_a_page_too(everything_logged: list[str]) -> None:
    with serve_moody() as (site, model), site.client() as client:
        model.mood = "fails"
        form = {"aobjective": "mean", "bobjective": "mean", "who": "applicant", "language": "de"}
        answer = client.post("/analyst", data=form, headers=PAGE)
    assert answer.status_code == 502
    assert "Im Moment ist keine Entscheidung möglich" in words(answer.text)
    assert len([line for line in everything_logged if "classifier" in line]) == 1


REFUSALS = [("GET", "/nothing", b"", 404), ("DELETE", "/", b"", 405), ("POST", "/", b"x" * (MOST_BYTES + 1), 413)]
REFUSALS += [("POST", "/", b"{}", 415)]


@pytest.mark.parametrize(("method", "path", "body", "status"), REFUSALS)
def test_browsers_get_pages_and_programs_problem_details(
    loan: Site, method: str, path: str, body: bytes, status: int
) -> None:
    with loan.client() as client:
        page = client.request(method, path, params={"language": "de"}, content=body, headers=PAGE)
        plain = client.request(method, path, content=body)
    assert (page.status_code, plain.status_code) == (status, status)
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers.get("allow") == plain.headers.get("allow")
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert '<html lang="de">' in page.text
    assert english_in(words(page.text), LOAN.title) == []
    assert plain.json()["status"] == status


def test_below_the_api_there_are_no_pages(loan: Site) -> None:
    with loan.client() as client:
        for path in ("/api/v1/nothing", "/api/v1/menu"):
            assert client.get(path, headers=PAGE).headers["content-type"] == "application/problem+json"


def test_foreign_names_and_pages_are_refused_in_words(loan: Site) -> None:
    with loan.client() as client:
        host = client.get("/", headers=PAGE | {"host": "evil.example"})
        origin = client.post("/", data={"language": "de"}, headers=PAGE | {"origin": "http://evil.example"})
    assert (host.status_code, origin.status_code) == (400, 403)
    assert "This page has another address" in words(host.text)
    assert "This came from another page" in words(origin.text)  # what another page sends is not even read


def test_a_crash_has_a_reference(loan: Site, monkeypatch: pytest.MonkeyPatch, everything_logged: list[str]) -> None:
    def crash(*_: object, **__: object) -> None:
        raise ZeroDivisionError("the s3cret")

    monkeypatch.setattr("safear.web.person_desk.make_view", crash)
    answer = ask_page(loan, language="de")
    told = words(answer.text)
    assert answer.status_code == 500
    assert "Hier ist etwas schiefgegangen" in told
    found = REFERENCE.search(told)
    assert found is not None
    (line,) = [line for line in everything_logged if "ZeroDivisionError" in line]
    assert line.startswith(f"{found[0]}: crash: ZeroDivisionError < ")
    assert "s3cret" not in line + answer.text


def test_too_many_and_too_late() -> None:
    with serve(LOAN, seconds=1e-9) as site:
        late = ask_page(site, cost0="47.11")
    assert (late.status_code, late.headers["retry-after"]) == (503, "5")
    assert "This takes too long" in words(late.text)
    assert field(late.text, "cost0") == "47.11"


@pytest.mark.parametrize(
    "sent",
    [
        {"person": {str(number): [] for number in range(5000)}},  # in which five kinds of values are wrong at once
        {"person": {str(number): 1 for number in range(5000)}},
        {"person": APPLICANT, "terms": {"cost": {str(number): -1 for number in range(4000)}}},
        {"person": APPLICANT, "terms": {"cost": {str(number): 1 for number in range(4000)}}},
    ],
)
def test_a_small_request_gets_no_large_answer(loan: Site, sent: dict[str, Any]) -> None:
    """The first mistakes are listed, and how many there are besides."""
    with loan.client() as client:
        answer = client.post("/api/v1/menu", json=sent)
    told = answer.json()
    assert answer.status_code == 422
    assert len(told["mistakes"]) == 100
    assert re.fullmatch(r"and \d+,\d{3} more", told["detail"].splitlines()[-1])
    assert len(answer.content) < MOST_BYTES
