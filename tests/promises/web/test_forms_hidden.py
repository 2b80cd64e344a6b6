"""What is hidden on the page and in the API: nobody sees it, and who asks again from where they are brings it along."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

import safear as sa
from promises.test_bookkeeping import DOCUMENT, SECRET
from promises.web.conftest import Site, serve
from promises.web.test_person_page import words

ANN = {"skill": "basic", "debt": 1, "savings": 2}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serve(sa.parse_problem(DOCUMENT)) as running:
        yield running


def test_nobody_sees_it(site: Site) -> None:
    with site.client() as client:
        form = {"feature0": "basic", "feature2": "1", "feature3": "2"}
        pages = [client.get("/").text, client.post("/", data={**form, "do": "menu"}).text]
        pages += [json.dumps(client.get("/openapi.json").json())]
        answers = [
            client.post("/api/v1/decide", json={"person": ANN}),
            client.post("/api/v1/menu", json={"person": ANN}),
        ]
    assert all(answer.status_code == 200 for answer in answers)
    assert answers[0].json()["person"] == {"skill": "basic", "debt": "1", "savings": "1-2.5"}
    pages += [answer.text for answer in answers]
    assert [page for page in pages if SECRET in page or "level-" in page] == []


def test_who_asks_again_from_here_brings_it_along(site: Site) -> None:
    with site.client() as client:
        form = {"feature0": "basic", "feature2": "1", "feature3": "2", "cannot1": "1", "position": "0"}
        page = client.post("/", data={**form, "history": "0", "do": "here"}).text
        carried = dict(re.findall(r'<input type="hidden" name="(feature1)" value="([^"]*)"', page))
        assert carried == {"feature1": "level-b"}
        fresh = client.post("/", data={**form, "feature0": "skilled", "do": "menu"}).text
        tired = client.post("/", data={**form, "feature0": "skilled", "feature1": "level-c", "do": "menu"}).text
    assert "no step is open to you" in tired
    assert "no step is open to you" not in fresh


def test_the_analyst_reads_limits_as_they_are_meant() -> None:
    features = {**DOCUMENT["features"], "debt": {"range": [0, 3], "unit": "EUR", "at_most": "1 EUR"}}
    features["skill"] = {**features["skill"], "at_most": 1}
    actions = {**DOCUMENT["actions"], "borrow": {**DOCUMENT["actions"]["borrow"], "at_most": 2}}
    problem = sa.parse_problem({**DOCUMENT, "features": features, "actions": actions})
    expected = {
        "en": ["at most 2 times", "skill goes at most 1 level from", "debt goes at most 1 EUR from"],
        "de": ["höchstens 2 Mal", "skill: höchstens 1 Stufe vom", "debt: höchstens 1 EUR vom"],
    }
    with serve(problem) as site, site.client() as client:
        for language, said in expected.items():
            page = words(client.get("/analyst", params={"language": language}).text)
            assert [text for text in said if text not in page] == []
            assert "' as filed" not in page


def test_who_corrects_what_they_filed_begins_anew() -> None:
    """Tries and filed levels belong to the person who was walked with, and are of no meaning beside another."""
    features = {**DOCUMENT["features"], "debt": {"range": [0, 3], "unit": "EUR", "at_most": "1 EUR"}}
    actions = {**DOCUMENT["actions"], "borrow": {"cost": 1, "chance": 0.9, "change": {"debt": "+1"}, "once": True}}
    problem = sa.parse_problem({**DOCUMENT, "features": features, "actions": actions})
    fields = {f"feature{number}": feature.name for number, feature in enumerate(problem.features)}
    hidden = {field for field, name in fields.items() if problem.feature_by_name[name].hidden}
    form = {"feature0": "basic", "feature2": "0", "feature3": "3", "position": "0"}

    def carried(page: str) -> dict[str, str]:
        return dict(re.findall(r'<input type="hidden" name="(feature\d+|carried)" value="([^"]+)"', page))

    with serve(problem) as site, site.client() as client:
        moved = carried(client.post("/", data={**form, "history": "0", "do": "here"}).text)
        assert moved.keys() == {*hidden, "carried"}
        shown = {**form, "feature0": "skilled"}
        again = client.post("/", data={**shown, **moved, "do": "menu"}).text
        assert carried(again) == moved
        corrected = {**shown, "feature2": "3", **moved}
        page = client.post("/", data={**corrected, "do": "menu"}).text
        assert "from what was filed" not in page
        assert carried(page) == {}
        assert carried(client.post("/", data={**shown, "feature2": "3", "do": "menu"}).text) == {}
        report = client.post("/report", data=corrected)
        assert "attachment" in report.headers["content-disposition"]
