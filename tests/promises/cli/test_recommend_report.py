"""`safear recommend --report`: a letter for the person, written whole or not at all, and its file of figures."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

import safear as sa
from hidden_packages import hide_package
from promises.cli.conftest import Safear
from safear.reports import Sources, report_figures, report_menu

NO_WAY = ["--horizon", "1", "--forbid", "own a house", "--forbid", "change job"]


DAY, DATED = date(2026, 11, 17), ("--date", "2026-11-17")


def read(folder: Path, name: str = "plan.html") -> str:
    return (folder / name).read_text(encoding="utf-8")


def test_the_page_is_that_of_the_library(safear: Safear, tmp_path: Path) -> None:
    answer = safear("recommend", "loan", "--report", "plan.html", *DATED)
    assert (answer.code, answer.err) == (0, "")
    problem = sa.load_example("loan")
    expected = report_menu(sa.recommend(problem), original=problem, dated=DAY)
    assert read(tmp_path) == expected.html
    assert answer.out.splitlines() == [*expected.summary, "The report is in plan.html."]
    assert safear("recommend", "loan", "--report", "plan.html", "--language", "de").code == 0  # over itself
    assert read(tmp_path).startswith('<!doctype html>\n<html lang="de">')


@pytest.mark.parametrize("named", ["cheapest", "cheapest on average", "2"])
def test_the_plan_that_is_chosen(safear: Safear, tmp_path: Path, named: str) -> None:
    assert safear("recommend", "loan", "--report", "plan.html", "--plan", named, *DATED).code == 0
    problem = sa.load_example("loan")
    assert read(tmp_path) == report_menu(sa.recommend(problem), "cheapest", dated=DAY).html
    unknown = safear("recommend", "loan", "--report", "other.html", "--plan", "3")
    assert unknown.refusal.startswith("--plan 3: there is no such plan")
    assert not (tmp_path / "other.html").exists()


def test_today_is_the_day_of_a_letter(safear: Safear, tmp_path: Path) -> None:
    before = date.today()  # noqa: DTZ011
    assert safear("recommend", "loan", "--report", "plan.html").code == 0
    menu = sa.recommend(sa.load_example("loan"))
    after = date.today()  # noqa: DTZ011
    assert read(tmp_path) in {report_menu(menu, dated=day).html for day in (before, after)}


def test_the_file_of_figures(safear: Safear, tmp_path: Path) -> None:
    written = ["--report", "plan.html", "--figures", "figures.json", "--plan", "cheapest", *DATED]
    answer = safear("recommend", "loan", *written, "--set", "age=adult")
    assert (answer.code, answer.err) == (0, "")
    problem = sa.load_example("loan")
    menu = sa.recommend(problem, None, {**dict(problem.default_person or {}), "age": "adult"})
    sources = Sources("loan", "the rule of the problem", ["applicant age=adult"])
    expected = report_figures(menu, "cheapest", dated=DAY, sources=sources)
    assert json.loads(read(tmp_path, "figures.json")) == expected.model_dump(mode="json")
    assert f"<dd>{expected.reference}</dd>" in read(tmp_path)
    alone = safear("recommend", "loan", "--figures", "alone.json", "--reference", "KR 17")
    assert alone.out.startswith("Loan approval\n")  # the menu is printed as ever
    assert json.loads(read(tmp_path, "alone.json"))["reference"] == "KR 17"


def test_language_contact_terms_and_horizon(safear: Safear, tmp_path: Path) -> None:
    (tmp_path / "terms.yaml").write_text("actions: {study part-time: {cost: 2.5, chance: 0.7}}", encoding="utf-8")
    options = ["--terms", "terms.yaml", "--forbid", "own a house", "--horizon", 10, "--set", "age=adult"]
    answer = safear(
        "recommend", "loan", *options, "--report", "plan.html", "--language", "de", "--contact", "Frau Weber", *DATED
    )
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("Ihr Antrag wurde nicht bewilligt\n")
    problem = sa.load_example("loan")
    terms = sa.Terms.of(cost={"study part-time": 2.5}, chance={"study part-time": 0.7}, forbid=["own a house"])
    person = {**dict(problem.default_person or {}), "age": "adult"}
    expected = report_menu(
        sa.recommend(problem.with_horizon(10), None, person, terms=terms),
        language="de",
        original=problem,
        contact="Frau Weber",
        dated=DAY,
    )
    assert read(tmp_path) == expected.html
    assert "Ihre eigene Angabe; üblich: 1 Monat" in expected.html


def test_the_seed_is_told_where_it_matters(safear: Safear, tmp_path: Path) -> None:
    options = ["--method", "episodic", "--episodes", 50, "--objective", "mean", "--seed", 11]
    for more, seed in ((options, 11), (["--seed", 11], None)):
        assert safear("recommend", "loan", *more, "--figures", "figures.json").code == 0
        assert json.loads(read(tmp_path, "figures.json"))["sources"]["seed"] == seed


def test_json_and_report_together(safear: Safear, tmp_path: Path) -> None:
    answer = safear("recommend", "loan", "--report", "plan.html", "--json", "-o", "menu.json")
    assert answer.code == 0
    assert answer.json["decision"] == "unfavourable"
    assert "<html" in read(tmp_path)
    assert (tmp_path / "menu.json").exists()


def test_no_recourse_has_a_page_too(safear: Safear, tmp_path: Path) -> None:
    answer = safear("recommend", "loan", *NO_WAY, "--report", "plan.html", "--plan", "safest", *DATED)
    assert answer.code == 3
    assert answer.err.startswith("Nothing you can do leads to “approved” within 1 step.")
    assert answer.out.endswith("The report is in plan.html.\n")
    problem = sa.load_example("loan")
    menu = sa.recommend(problem.with_horizon(1), terms=sa.Terms.of(forbid=["own a house", "change job"]))
    assert read(tmp_path) == report_menu(menu, original=problem, dated=DAY).html


def test_already_favourable(safear: Safear, tmp_path: Path) -> None:
    answer = safear("recommend", "loan", "--set", "savings=rich", "--report", "plan.html")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("Your application was approved\nThere is nothing you need to do.\n")
    assert "<h1>Your application was approved</h1>" in read(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--report", "no/plan.html"],
            "no/plan.html: cannot be written: there is no such folder\n    make the folder '",
        ),
        (["--report", "plan.pdf"], "plan.pdf: pages are written as .html, not as '.pdf'\n    name it plan.html\n"),
        (["--report", "mine.html"], "mine.html: already exists and is not a page of SafeAR\n"),
        (
            ["--report", "plan.html", "--language", "dee"],
            "there are no texts in the language 'dee'\n    did you mean 'de'?\n",
        ),
    ],
)
def test_what_is_refused_before_anything_is_computed(
    safear: Safear, options: list[str], message: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.html").write_text("mine", encoding="utf-8")
    (tmp_path / "bank.py").write_text("def decide(frame):\n    raise AssertionError('computed')\n")
    assert safear("recommend", "loan", "--classifier", "bank.py:decide", *options).refusal.startswith(message)
    assert read(tmp_path, "mine.html") == "mine"
    assert not (tmp_path / "plan.html").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--contact", "Ms Weber"], "--contact goes with --report"),
        (DATED, "--date goes with --report"),
        (["--reference", "KR 17"], "--reference goes with --report"),
        (["--plan", "safest"], "--plan goes with --save or --report or --figures"),
        (["--figures", "a.json", "-o", "a.json"], "--output and --figures would both write this file"),
        (["--report", "a.html", "--date", "17.11.2026"], "'17.11.2026' is not a day"),
    ],
)
def test_what_belongs_to_a_letter_needs_one(safear: Safear, options: list[str], told: str) -> None:
    answer = safear("recommend", "loan", *options)
    assert answer.code == 2
    assert told in answer.err


def test_a_language_needs_no_letter(safear: Safear) -> None:
    german = safear("recommend", "loan", "--language", "de")
    assert german.out.splitlines()[1].startswith("Ihr Antrag wurde nicht bewilligt.")
    assert (
        "     Wenn es nicht gelingt (Sie verlieren Ihre Stelle): Arbeit finden (Schritt 2)." in german.out.splitlines()
    )


def test_without_jinja(safear: Safear, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide_package("jinja2", monkeypatch)
    assert (
        safear("recommend", "loan", "--report", "plan.html").refusal
        == "Jinja2 is not installed; install it with: pip install 'safear[report]'\n"
    )
    assert not (tmp_path / "plan.html").exists()
    assert safear("recommend", "loan").code == 0
