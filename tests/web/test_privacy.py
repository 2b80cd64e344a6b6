"""Nothing that a person enters is stored, logged, or seen in an address."""

from __future__ import annotations

import gc
import math
import sys
import time
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import safear as sa
from safear.classifier.adapters import as_classifier
from safear.classifier.protocol import Inputs
from safear.recourse.menu import Menu
from safear.texts import load_texts
from safear.web.forms import fill_in
from safear.web.kept import KeptMenus
from safear.web.service import Service
from web.conftest import APPLICANT, Site, run_site

SECRET = "xyzzy-4711"


def ask_everything(site: Site) -> None:
    """One of each request that holds something personal, right and wrong."""
    form = fill_in(site.service.desk, APPLICANT, texts=load_texts("en"))
    wrong = APPLICANT | {"savings": SECRET}
    with site.client() as client:
        for person in (APPLICANT, wrong):
            client.post("/api/v1/decide", json={"person": person})
            client.post("/api/v1/menu", json={"person": person, "terms": {"cost": {"own a house": 47.11}}})
            client.post("/api/v1/plan", json={"person": person, "objective": SECRET})
            client.post("/api/v1/plan-step", json={"person": person, "outcomes": [0]})
        for more in ({}, {"feature2": SECRET}, {"cost0": SECRET}, {"do": "outcome:1", "position": "2"}):
            client.post("/", data={**form, **more})
            for path in ("/report", "/plan", "/answers", "/open"):
                client.post(path, data={**form, **more})
            client.post("/open", data=form, files={"file": ("mine.json", SECRET.encode())})
        client.post("/api/v1/menu", content=SECRET, headers={"content-type": "application/json"})
        client.post("/api/v1/menu", content=SECRET)


def test_nothing_personal_is_logged(
    loan: Site, everything_logged: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    ask_everything(loan)
    printed = capfd.readouterr()
    ours = [line for line in everything_logged if "127.0.0.1" not in line]  # httpx, which asks, tells of its requests
    told = "\n".join([*ours, printed.out, printed.err])
    for word in (SECRET, "47.11", "young", "employed", "savings", "/api/v1/menu"):
        assert word not in told


def test_nothing_personal_is_asked_for_in_an_address(loan: Site) -> None:
    with loan.client() as client:
        page = client.get("/").text
        document = client.get("/api/v1/openapi.json").json()
    assert 'method="post"' in page
    assert 'method="get"' not in page
    for path, methods in document["paths"].items():
        assert "{" not in path
        assert not any("parameters" in call for call in methods.values())


def test_answers_are_gone_soon_after_they_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Menus are watched while they live; those of the page live a little longer, though nobody comes any more."""
    alive: list[weakref.ref[Any]] = []
    answer = Service.answer

    def watched(self: Service, *given: Any, **more: Any) -> Menu:
        found = answer(self, *given, **more)
        alive.append(weakref.ref(found))
        return found

    def left() -> int:
        gc.collect()
        return len([one for one in alive if one() is not None])

    monkeypatch.setattr(Service, "answer", watched)
    service = replace(Service.of(sa.load_example("loan")), kept=KeptMenus(seconds=5))
    with run_site(service) as site:
        with site.client() as client:
            client.post("/api/v1/menu", json={"person": APPLICANT})
        assert (len(alive), left()) == (1, 0)
        ask_everything(site)
        assert len(alive) >= 5
        assert left() > 0
        deadline = time.monotonic() + 30
        while left():
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_nobody_makes_the_service_ask_the_classifier() -> None:
    """Everything is asked beforehand, so that what the classifier was asked tells nothing about who came."""
    problem = sa.load_example("loan")
    rule = as_classifier(None, problem)
    asked: list[int] = []

    class Watched:
        def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
            asked.append(len(inputs.codes))
            return rule.favourable(inputs)

    with run_site(Service.of(problem, Watched())) as site:
        seen = [len(feature.levels) for feature in problem.features if feature.seen_by_classifier]
        assert sum(asked) == math.prod(seen)
        ask_everything(site)
    assert sum(asked) == math.prod(seen)


def test_in_a_space_too_large_to_ask_beforehand_nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("safear.web.service.ASKED_BEFOREHAND", 10)
    service = Service.of(sa.load_example("loan"))
    assert service.desk.goals is not service.desk.goals
    assert service.share_accepted() is None
    assert not service.desk.decide(APPLICANT).favourable


def test_memory_does_not_grow(loan: Site) -> None:
    with loan.client() as client:
        for _ in range(3):
            client.post("/api/v1/menu", json={"person": APPLICANT})
        gc.collect()
        before = len(gc.get_objects())
        for _ in range(10):
            client.post("/api/v1/menu", json={"person": APPLICANT})
        gc.collect()
    assert len(gc.get_objects()) - before < 1000, sys.version
