"""The analyst's page: the problem, the audit, settings side by side, downloads; and the page about the API."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pandas as pd
import pytest

import safear as sa
from english import english_in
from promises.web.conftest import Site, serve, wait_for_audit
from promises.web.test_person_page import words
from small_problems import guessed_loan, ladder

FORMULA = '=HYPERLINK("http://evil.example")'


def test_the_problem_can_be_read(loan: Site) -> None:
    with loan.client() as client:
        told = words(client.get("/analyst").text)
    assert "student < young < adult < senior" in told
    assert "fails : you lose your job: job becomes unemployed" in told
    assert "applicant: rejected; 6 goals among 13 states within reach" in told
    assert "38% of all possible inputs" in told
    assert "There are no people." in told


def test_where_numbers_come_from_can_be_read() -> None:
    document = sa.dump_problem(sa.load_example("loan"))
    document["actions"]["change job"]["cost"] = {"value": 1, "source": "guess"}
    document["actions"]["change job"]["outcomes"][0]["chance"] = {"worked": 31, "tried": 40}
    document["actions"]["change job"]["outcomes"][1].pop("chance")
    with serve(sa.parse_problem(document)) as site, site.client() as client:
        told = words(client.get("/analyst").text)
    for text in ("1 month (guess)", "0.62–0.89 (data 31/40)", "1 number is a guess: change job (cost)"):
        assert text in told


def test_the_audit(audited: Site) -> None:
    with audited.client() as client:
        page = client.get("/analyst").text
        table = client.get("/analyst/audit.csv", params={"by": "gender"})
        report = client.get("/analyst/audit.html", params={"by": "gender"})
        tables = client.get("/analyst/audit.json")
        assert client.get("/analyst/audit.csv", params={"by": "shoe size"}).status_code == 404
    told = words(page)
    assert "the model accepts 71% and rejects 291" in told
    assert "By gender: “female” carries more risk than “male”" in told
    assert "<svg" in page
    people = audited.service.people
    assert people is not None
    found = sa.audit(audited.service.problem, audited.service.classifier, people, groups=["gender"])
    assert table.text == found.table("gender").to_csv()
    assert report.text == sa.reports.report_audit(found).html
    assert tables.json()[0]["groups"]["gender"]["table"][0]["group"] == "female"
    for answer in (table, report, tables):
        assert answer.headers["content-disposition"].startswith("attachment")


def test_no_text_of_a_download_is_a_formula(tmp_path: Path) -> None:
    """Groups come from files of people, and names from the problem; spreadsheets run what begins with =."""
    climb = {"-climb": {"cost": 1, "change": {"a": "+1"}}}
    document = sa.dump_problem(ladder(climb, levels=["low", "mid", "high"], horizon=2))
    document["people"] = {"@SUM(1)": {"a": "low"}}
    people = pd.DataFrame({"a": ["low", "low", "mid"], "+side": [FORMULA, FORMULA, "plain"]})
    people.to_csv(tmp_path / "people.csv", index=False)
    with (
        serve(sa.parse_problem(document), people=str(tmp_path / "people.csv"), columns=["+side"]) as site,
        site.client() as client,
    ):
        wait_for_audit(client)
        audit = client.get("/analyst/audit.csv", params={"by": "+side"}).text
        form = {"aobjective": "mean", "bobjective": "mean", "who": "@SUM(1)", "do": "csv"}
        comparison = client.post("/analyst", data=form).text
    rows = list(csv.DictReader(io.StringIO(audit)))
    assert {row["'+side"] for row in rows} == {f"'{FORMULA}", "plain"}
    compared = list(csv.DictReader(io.StringIO(comparison)))
    assert {(row["person"], row["first step"], row["mean"]) for row in compared} == {("'@SUM(1)", "'-climb", "2.0")}


def test_two_objectives_side_by_side(loan: Site) -> None:
    form = {"aobjective": "mean", "bobjective": "cvar:0.95", "who": "applicant"}
    with loan.client() as client:
        told = words(client.post("/analyst", data=form).text)
        table = client.post("/analyst", data={**form, "do": "csv"})
    assert "cost on average 1.5 months 2.19 months" in told
    assert "worst 5% of cases 8.21 months 3.38 months" in told
    assert "first step change job study part-time" in told
    rows = list(csv.DictReader(io.StringIO(table.text)))
    menu = sa.recommend(sa.load_example("loan"))
    assert [float(row["mean"]) for row in rows] == [menu["cheapest on average"].mean, menu["safest"].mean]


def test_how_far_figures_can_be_off_stands_beside_them() -> None:
    problem = guessed_loan()
    form = {"aobjective": "mean", "bobjective": "cvar:0.95", "who": "applicant"}
    with serve(problem) as site, site.client() as client:
        told = words(client.post("/analyst", data=form).text)
        table = client.post("/analyst", data={**form, "do": "csv"})
        person = words(client.get("/?example=0").text)
    menu = sa.recommend(problem)
    cheapest, safest = (menu[name].ranges for name in ("cheapest", "safest"))
    assert cheapest is not None
    assert safest is not None
    figures = " ".join(
        f"{menu[name].mean:.3g} months, {ranges.mean.low:.2f} to {ranges.mean.high:.2f} if our estimates are off"
        for name, ranges in (("cheapest", cheapest), ("safest", safest))
    )
    assert f"cost on average {figures}" in told
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert (float(rows[0]["cvar low"]), float(rows[0]["cvar high"])) == (cheapest.tail.low, cheapest.tail.high)
    assert f"{safest.tail.low:.2f} to {safest.tail.high:.2f} if our estimates are off" in person


def test_without_an_action_and_with_fewer_steps(loan: Site) -> None:
    form = {"aobjective": "mean", "bobjective": "mean", "bwithout": "change job", "bhorizon": "2", "who": "applicant"}
    with loan.client() as client:
        told = words(client.post("/analyst", data=form).text)
    assert "B: mean, without “change job”, within 2 steps" in told
    assert "first step change job study part-time" in told


def test_why_no_plan_helps_and_what_would() -> None:
    climb = {"climb": {"cost": 1, "change": {"a": "+1"}}}
    with serve(ladder(climb, levels=["low", "mid", "high"], horizon=2)) as site, site.client() as client:
        form = {"who": "p", "aobjective": "mean", "ahorizon": "1", "bobjective": "budget:1.5"}
        page = words(client.post("/analyst", data=form).text)
    assert "A: Nothing you can do leads to “there” within 1 step. It takes at least 2 steps." in page
    assert "With 2 steps, 100% of cases would reach “there”, for 2 units on average." in page
    assert "B: Nothing you can do leads to “there” within 2 steps for 1.5 units. It takes at least 2 units." in page


def test_a_sample_of_the_people(audited: Site) -> None:
    with audited.client() as client:
        told = words(client.post("/analyst", data={"aobjective": "mean", "bobjective": "cvar:0.95"}).text)
    assert "50 rejected people, drawn at random (seed 0)" in told
    assert "people with a plan 50 of 50 50 of 50" in told


@pytest.mark.parametrize(
    ("form", "mistake"),
    [
        ({"aobjective": "mode"}, "“mode” is not an objective that we know."),
        ({"aobjective": "mean", "awithout": "fly"}, "“fly” is not one of the steps."),
        ({"aobjective": "mean", "ahorizon": "0"}, "“0” is not a number of steps from 1 to 1000."),
        ({"aobjective": "mean", "ahorizon": "99999999999999999999"}, "is not a number of steps"),
        ({"aobjective": "mean", "ahorizon": "9" * 4301}, "is not a number of steps"),  # more than Python reads
        ({"aobjective": "mean", "ahorizon": "1001"}, "is not a number of steps"),
    ],
)
def test_mistakes_in_settings(loan: Site, form: dict[str, str], mistake: str) -> None:
    with loan.client() as client:
        answer = client.post("/analyst", data=form)
    assert answer.status_code == 422
    assert mistake in words(answer.text)


@pytest.mark.parametrize("site", ["loan", "audited"])
def test_the_page_speaks_german(site: str, request: pytest.FixtureRequest) -> None:
    """All but what the problem calls things."""
    served: Site = request.getfixturevalue(site)
    problem = served.service.problem
    names = [
        problem.title,
        problem.description,
        problem.goal.favourable,
        problem.cost_unit,
        "English",
        "goal.failure_cost",
        "--people",
    ]
    names += [str(condition) for condition in problem.constraints]
    for feature in problem.features:
        names += [feature.name, *feature.levels]
    for action in problem.actions:
        names += [action.name, str(action.when), *(outcome.label for outcome in action.outcomes)]
    form = {"aobjective": "mean", "bobjective": "cvar:0.95", "bhorizon": "3", "language": "de"}
    form |= {"awithout": problem.actions[0].name}
    with served.client() as client:
        pages = [
            client.get("/analyst", params={"language": "de"}),
            client.post("/analyst", data=form),
            *(client.post("/analyst", data=form | wrong) for wrong in ({"aobjective": "mode"}, {"ahorizon": "x"})),
        ]
        english = client.get("/analyst", params={"language": "xx"}).text
    assert [page.status_code for page in pages] == [200, 200, 422, 422]
    for page in pages:
        assert '<html lang="de">' in page.text
        assert english_in(words(page.text), *(" ".join(name.split()) for name in names if name)) == []
    assert '<html lang="en">' in english
    assert "For analysts" in words(english)


def test_the_report_comes_in_the_language_of_the_page(audited: Site) -> None:
    with audited.client() as client:
        page = client.get("/analyst", params={"language": "de"}).text
        report = client.get("/analyst/audit.html", params={"by": "gender", "language": "de"}).text
    assert "/analyst/audit.html?by=gender&amp;language=de" in page
    service = audited.service
    assert service.people is not None
    found = sa.audit(service.problem, service.classifier, service.people, groups=["gender"])
    assert report == sa.reports.report_audit(found, language="de").html


def test_the_api_is_described_here(loan: Site) -> None:
    with loan.client() as client:
        page = client.get("/api").text
        document = client.get("/api/v1/openapi.json").json()
    for path in document["paths"]:
        assert path in page
    person = document["components"]["schemas"]["MenuIn"]["properties"]["person"]
    assert person["properties"]["savings"] == {"type": "string", "enum": ["little", "moderate", "rich"]}
    terms = document["components"]["schemas"]["TermsIn"]["properties"]
    assert set(terms["cost"]["properties"]) == set(loan.service.problem.action_by_name)
