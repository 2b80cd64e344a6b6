"""`safear recommend --report`: a page for the person, written whole or not at all."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import safear as sa
from safear.reports import Sources, report_menu
from safear.reports.page import _environment

if TYPE_CHECKING:
    from cli.conftest import Safear

NO_WAY = ["--horizon", "1", "--forbid", "own a house", "--forbid", "change job"]


def read(folder: Path, name: str = "plan.html") -> str:
    return (folder / name).read_text(encoding="utf-8")


def test_the_page_is_that_of_the_library(safear: Safear, tmp_path: Path) -> None:
    answer = safear("recommend", "loan", "--report", "plan.html")
    assert (answer.code, answer.err) == (0, "")
    problem = sa.load_example("loan")
    sources = Sources("loan", "the rule of the problem", ["applicant"])
    expected = report_menu(sa.recommend(problem), original=problem, sources=sources)
    assert read(tmp_path) == expected.html
    assert answer.out.splitlines() == [*expected.summary, "The report is in plan.html."]
    assert safear("recommend", "loan", "--report", "plan.html", "--language", "de").code == 0  # over itself
    assert read(tmp_path).startswith('<!doctype html>\n<html lang="de">')


def test_language_contact_terms_and_horizon(safear: Safear, tmp_path: Path) -> None:
    (tmp_path / "terms.yaml").write_text("actions: {study part-time: {cost: 2.5, chance: 0.7}}", encoding="utf-8")
    options = ["--terms", "terms.yaml", "--forbid", "own a house", "--horizon", 10, "--set", "age=adult"]
    answer = safear(
        "recommend", "loan", *options, "--report", "plan.html", "--language", "de", "--contact", "Frau Weber"
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
        sources=Sources("loan", "die Regel des Problems", ["applicant age=adult"]),
    )
    assert read(tmp_path) == expected.html
    assert "Ihre eigene Angabe; üblich: 1 Monat" in expected.html


def test_the_seed_is_told_where_it_matters(safear: Safear, tmp_path: Path) -> None:
    options = ["--method", "episodic", "--episodes", 50, "--objective", "mean", "--seed", 11]
    assert safear("recommend", "loan", *options, "--report", "plan.html").code == 0
    assert "<dt>seed</dt><dd>11</dd>" in read(tmp_path)
    assert safear("recommend", "loan", "--seed", 11, "--report", "plan.html").code == 0
    assert "<dt>seed</dt>" not in read(tmp_path)


def test_json_and_report_together(safear: Safear, tmp_path: Path) -> None:
    answer = safear("recommend", "loan", "--report", "plan.html", "--json", "-o", "menu.json")
    assert answer.code == 0
    assert answer.json["decision"] == "unfavourable"
    assert "<html" in read(tmp_path)
    assert (tmp_path / "menu.json").exists()


def test_no_recourse_has_a_page_too(safear: Safear, tmp_path: Path) -> None:
    answer = safear("recommend", "loan", *NO_WAY, "--report", "plan.html")
    assert answer.code == 3
    assert answer.err.startswith("Nothing you can do leads to “approved” within 1 step.")
    assert answer.out.endswith("The report is in plan.html.\n")
    problem = sa.load_example("loan")
    menu = sa.recommend(problem.with_horizon(1), terms=sa.Terms.of(forbid=["own a house", "change job"]))
    sources = Sources("loan", "the rule of the problem", ["applicant"])
    assert read(tmp_path) == report_menu(menu, original=problem, sources=sources).html


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
    safear: Safear, options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.html").write_text("mine", encoding="utf-8")
    monkeypatch.setattr("safear.recourse.menu.recommend", lambda *_, **__: pytest.fail("computed"))
    assert safear("recommend", "loan", *options).refusal.startswith(message)
    assert read(tmp_path, "mine.html") == "mine"
    assert not (tmp_path / "plan.html").exists()


def test_a_contact_needs_a_report_and_a_language_does_not(safear: Safear) -> None:
    answer = safear("recommend", "loan", "--contact", "Ms Weber")
    assert answer.code == 2
    assert "--contact goes with --report" in answer.err
    german = safear("recommend", "loan", "--language", "de")
    assert german.out.splitlines()[1].startswith("Ihr Antrag wurde nicht bewilligt.")
    assert (
        "     Wenn es nicht gelingt (Sie verlieren Ihre Stelle): Arbeit finden (Schritt 2)." in german.out.splitlines()
    )


def test_without_jinja(safear: Safear, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert (
        safear("recommend", "loan", "--report", "plan.html").refusal
        == "Jinja2 is not installed; install it with: pip install 'safear[report]'\n"
    )
    assert not (tmp_path / "plan.html").exists()
    assert safear("recommend", "loan").code == 0
