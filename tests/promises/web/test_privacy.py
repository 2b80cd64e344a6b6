"""Nothing that a person enters is stored, logged, or seen in an address."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import safear as sa
from promises.web.conftest import APPLICANT, Site, fill_in, serve

SECRET = "xyzzy-4711"


def ask_everything(site: Site) -> None:
    """One of each request that holds something personal, right and wrong."""
    form = fill_in(site.service.problem, APPLICANT)
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


@pytest.fixture
def count_menus() -> Iterator[Callable[[], int]]:
    """Counts the menus that were made since the test began."""

    def count() -> int:
        gc.collect()
        return sum(type(found) is sa.Menu for found in gc.get_objects())

    gc.freeze()  # what was there before is neither looked through nor counted
    yield count
    gc.unfreeze()


def test_answers_are_gone_soon_after_they_are_given(count_menus: Callable[[], int]) -> None:
    """Those of the page are kept for a while (two minutes, if nothing else is said), though nobody comes any more."""
    now = 0.0
    with serve(sa.load_example("loan"), kept={"seconds": 2, "clock": lambda: now}) as site:
        with site.client() as client:
            assert client.post("/api/v1/menu", json={"person": APPLICANT}).json()["plans"]
        assert count_menus() == 0
        ask_everything(site)
        assert count_menus() > 0
        now, deadline = 2.1, time.monotonic() + 60
        while count_menus():
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_nobody_makes_the_service_ask_the_classifier() -> None:
    """Everything is asked beforehand, so that what the classifier was asked tells nothing about who came."""
    problem = sa.load_example("loan")
    rule = sa.as_classifier(None, problem)
    asked: list[int] = []

    class Watched:
        def favourable(self, inputs: Any) -> NDArray[np.bool_]:
            asked.append(len(inputs.codes))
            return rule.favourable(inputs)

    with serve(problem, Watched()) as site:
        seen = [len(feature.levels) for feature in problem.features if feature.seen_by_classifier]
        assert sum(asked) == math.prod(seen)
        ask_everything(site)
    assert sum(asked) == math.prod(seen)


def test_in_a_space_too_large_to_ask_beforehand_nothing_is_remembered() -> None:
    names = [f"f{number}" for number in range(20)]
    document = {
        "safear": 1,
        "title": "a million people",
        "horizon": 1,
        "features": {name: {"kind": "ordinal", "levels": ["low", "high"]} for name in names},
        "actions": {"learn": {"cost": 1, "change": {"f0": "high"}}},
    }
    asked: list[int] = []

    def watch(frame: pd.DataFrame) -> Any:
        asked.append(len(frame))
        return frame["f0"] == "high"

    with serve(sa.parse_problem(document), watch) as site, site.client() as client:
        assert asked == []
        for times in (1, 2):
            answer = client.post("/api/v1/decide", json={"person": dict.fromkeys(names, "low")})
            assert answer.json()["decision"] == "unfavourable"
            assert asked == [1] * times


def test_memory_does_not_grow(loan: Site) -> None:
    """Not with every answer; some things are loaded once, sooner or later."""
    sizes = []
    with loan.client() as client:
        for _ in range(4):
            for _ in range(4):
                client.post("/api/v1/menu", json={"person": APPLICANT})
            gc.collect()
            sizes.append(len(gc.get_objects()))
    assert min(after - before for before, after in pairwise(sizes)) < 40, sizes
