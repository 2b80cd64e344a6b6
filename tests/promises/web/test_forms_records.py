"""The page for a model that sees records: what is filled in is decided on, and what is said is what was tried."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import safear as sa
from promises.web.conftest import CREDIT, Site, fill_in, grant, serve, wait_for_audit
from promises.web.test_person_page import words
from safear import walk

ADA: dict[str, object] = CREDIT["people"]["Ada"]
PROBLEM = sa.parse_problem(CREDIT)


def ask(site: Site, record: Mapping[str, object] = ADA, *, do: str = "menu", **fields: Any) -> str:
    with site.client() as client:
        form = fill_in(site.service.problem, record, language=fields.get("language", "en"))
        answer = client.post("/", data={**form, **fields, "do": do})
    assert answer.status_code == 200
    return answer.text


def filled(site: Site, page: str) -> list[str]:
    """What the fields about the person hold, in the order of `fill_in`."""
    problem = site.service.problem
    fields = [f"feature{number}" for number in range(len(problem.features))]
    return [value_of(page, field) for field in [*fields, *dict.fromkeys(re.findall(r'id="(given\d+)"', page))]]


def value_of(page: str, field: str) -> str:
    found = re.search(rf'<input id="{field}"[^>]*value="([^"]*)"', page)
    if found is None:
        found = re.search(rf'<select id="{field}".*?<option[^>]*selected>([^<]*)', page, re.DOTALL)
    assert found is not None
    return unescape(found[1])


def mistake_at(page: str, field: str) -> str:
    found = re.search(rf'id="{field}-wrong"[^>]*>(?:<p class="mistake">([^<]*))?', page)
    assert found is not None
    return unescape(found[1] or "")


def test_the_form_asks_for_what_the_model_wants(credit: Site) -> None:
    page = ask(credit)
    assert filled(credit, page) == ["40", "8750.5", "employed", "33", "small"]
    told = words(page)
    assert "Term (months)" in told
    assert "6 to 60, whole numbers" in told
    assert "1 or more" in told
    assert "counts as:" not in told  # the number itself counts
    assert "1 or more, read as 8,750.5" in told
    assert 'id="feature0" name="feature0" value="40" inputmode="numeric"' in page
    assert 'id="feature1" name="feature1" value="8750.5" inputmode="decimal"' in page


def test_the_figures_are_about_the_record_as_it_was_filed(credit: Site) -> None:
    fields = fill_in(PROBLEM, ADA) | {"feature0": " 41 ", "feature1": "8750,5", "given1": "007"}
    with credit.client() as client:
        record = client.post("/figures", data=fields).json()["menu"]["record"]
    assert record == {"term": 41, "amount": 8750.5, "job": "employed", "age": 33, "account": "007"}
    assert {name: type(value) for name, value in record.items()} == {
        "term": int,
        "amount": float,
        "job": str,
        "age": int,
        "account": str,
    }


@pytest.mark.parametrize(
    ("language", "typed"), [("en", "8,750.5"), ("de", "8.750,5"), ("en", "8750,5"), ("de", "8750.5")]
)
def test_numbers_are_read_as_the_language_writes_them(credit: Site, language: str, typed: str) -> None:
    with credit.client() as client:
        form = fill_in(PROBLEM, ADA | {"age": 33.5}, language=language)
        page = client.post("/report", data={**form, "feature1": typed, "language": language}).text
    assert {"en": "amount 8750.5", "de": "amount 8750,5"}[language] in words(page)
    assert {"en": "age 33.5", "de": "age 33,5"}[language] in words(page)


@pytest.mark.parametrize("term", [15, 16])  # the same level, and decided differently
@pytest.mark.parametrize("age", [57, 58])
def test_decisions_are_those_of_the_model_on_the_record(credit: Site, term: int, age: int) -> None:
    record = ADA | {"term": term, "age": age, "amount": 7760}
    accepted = bool(grant(pd.DataFrame([record])).iloc[0])
    told = words(ask(credit, record))
    assert ("Today’s decision: “granted”" in told) == accepted
    assert ("Today’s decision: not “granted”" in told) == (not accepted)
    assert accepted == (term == 15 or age == 57)


def test_a_plan_says_what_it_promises_and_how_it_was_checked(credit: Site) -> None:
    offer = sa.recommend(PROBLEM, grant, ADA)[0]
    page = ask(credit)
    told = words(page)
    assert offer.promises["term", "12-24"].high < 23  # the whole level would not do
    for level in ("12-24", "24-36"):
        assert f"term becomes {offer.promises['term', level]}" in told
        assert level not in told
    assert told.count(str(offer.verification)) == 1
    assert f"with {offer.verification.points} combinations of its numbers" in told


def test_the_page_speaks_german(credit: Site) -> None:
    offer = sa.recommend(PROBLEM, grant, ADA)[0]
    told = words(ask(credit, language="de"))
    assert f"{offer.verification.points} Kombinationen der genannten Zahlen" in told
    assert "term: dann 12 bis" in told
    assert "6 bis 60, ganze Zahlen" in told
    assert "mindestens 1" in told


@pytest.mark.parametrize(
    ("field", "value", "english", "german"),
    [
        ("given0", "", "Please fill this in. The model", "Bitte ausfüllen. Das Modell"),
        ("given1", " ", "Please fill this in. The model", "Bitte ausfüllen. Das Modell"),
        ("feature0", "", "Please fill this in.", "Bitte ausfüllen."),
        ("feature0", "5", "“5” is too low. The least that is possible is 6.", "„5“ ist zu wenig."),
        ("feature0", "60,5", "“60,5” is too high. The most that is possible is 60.", "„60,5“ ist zu viel."),
        ("feature1", "-3", "“-3” is too low.", "„-3“ ist zu wenig."),
        ("feature1", "much", "“much” is not a number.", "„much“ ist keine Zahl."),
        ("feature1", "1e400", "“1e400” is not a number.", "„1e400“ ist keine Zahl."),
        ("feature1", "٦.٥", "“٦.٥” is not a number.", "„٦.٥“ ist keine Zahl."),
        ("feature1", "６.５", "“６.５” is not a number.", "„６.５“ ist keine Zahl."),
    ],
)
def test_wrong_entries_are_told_at_their_field(credit: Site, field: str, value: str, english: str, german: str) -> None:
    fields: dict[str, Any] = {field: value}
    for language, expected in (("en", english), ("de", german)):
        page = ask(credit, language=language, **fields)
        assert mistake_at(page, field).startswith(expected)
        assert page.count('class="mistake"') == 1
        assert value_of(page, field) == value.strip()


@pytest.mark.parametrize(("language", "value"), [("en", "01,500"), ("de", "01.500"), ("es", "01.500")])
def test_a_group_mark_after_a_leading_zero_is_no_guess(credit: Site, language: str, value: str) -> None:
    """It is refused as it was typed, and still refused when the page speaks another language."""
    page = ask(credit, language=language, feature1=value)
    assert value in mistake_at(page, "feature1")
    for other in ("en", "de", "es"):
        spoken = ask(credit, do=f"speak:{other}", language=language, feature1=value)
        assert mistake_at(ask(credit, language=other, feature1=value_of(spoken, "feature1")), "feature1")


def test_a_model_that_fails_is_no_fault_of_the_person(credit: Site) -> None:
    form = fill_in(PROBLEM, ADA)
    with credit.client() as client:
        answer = client.post("/", data={**form, "given0": "old"})
    assert answer.status_code == 502
    assert "The model that decides gives no answer." in words(answer.text)


def test_asking_again_fills_in_what_was_promised(credit: Site) -> None:
    offer = sa.recommend(PROBLEM, grant, ADA)[0]
    assert [(change.feature, change.level) for change in walk(offer, [0, 0]).changes] == [("term", "12-24")]
    page = ask(credit, do="here", history="0,0")
    assert filled(credit, page) == ["18", "8750.5", "employed", "33", "small"]
    again = sa.recommend(PROBLEM, grant, ADA | {"term": 18})
    assert again.favourable == ("Today’s decision: “granted”" in words(page))


def test_the_report_has_the_record_as_it_was_filed(credit: Site) -> None:
    with credit.client() as client:
        page = client.post("/report", data=fill_in(PROBLEM, ADA)).text
    told = words(page)
    for filed in ("term 40 months", "amount 8750.5", "age 33", "account small"):
        assert filed in told
    assert str(sa.recommend(PROBLEM, grant, ADA)[0].verification) in told


def test_only_what_people_file_is_asked() -> None:
    asked: list[pd.DataFrame] = []

    def watch(frame: pd.DataFrame) -> Any:
        asked.append(frame)
        return grant(frame)

    with serve(PROBLEM, watch) as site, site.client() as client:
        assert not asked
        page = client.get("/analyst").text
        assert "accepted by the model" not in page
        assert "Ada: rejected; " in words(page)
        ages = {int(age) for frame in asked for age in frame["age"]}
        assert ages == {33, 50}  # Ada and Bob, whom the check looks at


def test_the_analyst_compares_people_as_filed() -> None:
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {
            "term": rng.integers(6, 60, 60),
            "amount": rng.integers(100, 9000, 60),
            "job": rng.choice(["employed", "none"], 60),
            "age": rng.integers(18, 80, 60),
            "account": rng.choice(["small", "large"], 60),
        }
    )
    rejected = int((~grant(people)).sum())
    with serve(PROBLEM, grant, people=people, columns=["job"]) as site, site.client() as client:
        wait_for_audit(client)
        page = words(client.get("/analyst").text)
        assert f"Of the 60 people given, the model accepts {1 - rejected / 60:.0%} and rejects {rejected}." in page
        assert "the model also sees age, account" in page
        answer = client.post("/analyst", data={"aobjective": "mean", "bobjective": "cvar:0.95", "who": ""})
        assert answer.status_code == 200
        assert f"{rejected} of {rejected} {rejected} of {rejected}" in words(answer.text)


def test_a_pipeline_says_itself_what_is_asked() -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "account": rng.choice(["small", "large"], 400),
            "age": rng.integers(18, 80, 400),
            "term": rng.integers(6, 60, 400),
            "amount": rng.integers(100, 9000, 400),
            "job": rng.choice(["employed", "none"], 400),
        }
    )
    encode = make_column_transformer((OneHotEncoder(), ["account", "job"]), remainder="passthrough")
    model = make_pipeline(encode, RandomForestClassifier(20, random_state=0)).fit(
        table, np.where(grant(table), "granted", "refused")
    )
    with serve(replace(PROBLEM, given=()), model) as site:
        for row in range(0, 400, 50):
            record = {str(name): value for name, value in table.iloc[row].items()}
            page = ask(site, record)
            assert filled(site, page) == list(fill_in(PROBLEM, record).values())
            assert re.search('<option value="large"( selected)?>large</option>', page)
            accepted = model.predict(table.iloc[[row]])[0] == "granted"
            assert ("Today’s decision: “granted”" in words(page)) == accepted


def test_a_category_that_the_model_does_not_know_is_shown_as_it_is() -> None:
    table = pd.DataFrame({"account": ["small", "large"] * 20, "term": range(40)})
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["account"]), remainder="passthrough")
    model = make_pipeline(encode, RandomForestClassifier(5, random_state=0)).fit(table, ["granted"] * 20 + ["no"] * 20)
    features = tuple(feature for feature in PROBLEM.features if feature.name == "term")
    actions = tuple(action for action in PROBLEM.actions if action.name == "shorten")
    with serve(replace(PROBLEM, features=features, actions=actions, given=(), people={}), model) as site:
        assert filled(site, ask(site, {"term": 30, "account": "huge"})) == ["30", "huge"]
        page = ask(site, {"term": 30})
        assert "Please fill this in." in mistake_at(page, "given0")
        assert value_of(page, "given0") == "please choose"


class Knowing:
    """A classifier that knows its columns, so that the problem need not."""

    wanted = ("age", "term", "amount", "account")

    def favourable(self, inputs: Any) -> Any:
        return grant(inputs.frame())


def test_examples_without_what_the_model_wants_stop_nobody() -> None:
    short = {name: value for name, value in ADA.items() if name != "age"}
    problem = replace(PROBLEM, given=(), people={"Ada": ADA, "Eve": short})
    with serve(problem, Knowing()) as site, site.client() as client:
        site.service.warm_up()
        assert mistake_at(client.get("/?example=1").text, "given0").startswith("Please fill this in.")


def test_the_api_takes_records(credit: Site) -> None:
    with credit.client() as client:
        person = {**ADA, "customer": "x-7"}
        menu = client.post("/api/v1/menu", json={"person": person}).json()
        assert menu["record"] == person
        assert menu["plans"][0]["verification"]["accepted"] == menu["plans"][0]["verification"]["points"] > 0
        asked = client.get("/api/v1/openapi.json").json()["components"]["schemas"]["PersonIn"]["properties"]["person"]
        assert asked["required"] == list(ADA)
        assert asked["properties"]["term"]["anyOf"][0] == {"type": "number", "minimum": 6, "maximum": 60}
        wrong = client.post("/api/v1/menu", json={"person": {**ADA, "term": 61}}).json()
        assert [(item["code"], item["place"]) for item in wrong["mistakes"]] == [("too_high", "term")]
        del person["age"]
        wrong = client.post("/api/v1/menu", json={"person": person}).json()
        assert ("missing_given", "age") in [(item["code"], item["place"]) for item in wrong["mistakes"]]


def test_counts_that_make_no_round_number() -> None:
    """A chance of 2 in 3 can be filled in, and left alone it is exactly that."""
    actions = {"earn": {"cost": 1, "chance": {"worked": 2, "tried": 3}, "change": {"a": "high"}}}
    problem = sa.parse_problem(
        {
            "safear": 1,
            "title": "Counted",
            "horizon": 1,
            "features": {"a": {"kind": "nominal", "levels": ["low", "high"]}},
            "classifier": {"rule": "a == high"},
            "actions": actions,
            "people": {"me": {"a": "low"}},
        }
    )
    form = {"feature0": "low", "chance0": "66.67"}
    with serve(problem) as site, site.client() as client:
        told = words(client.post("/", data=form).text)
        answers = [client.post("/answers", data={**form, **more}).json() for more in ({}, {"chance0": "66.6"})]
    assert "check this again" not in told
    assert ["terms" in found for found in answers] == [False, True]


@pytest.mark.parametrize(
    "name", ["feature0", "feature1", "given0", "cost0", "chance0", "weight", "position", "history"]
)
def test_a_number_of_any_length_is_answered(credit: Site, name: str) -> None:
    with credit.client() as client:
        for text in ("9" * 5000, "1" * 400 + "." + "1" * 400, "." * 5000):
            assert client.post("/", data={"do": "menu", name: text}).status_code == 200
