"""The letter to the person, beside the words of the catalogue: figures, steps, and no text that is left over."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import get_args

import pytest

import safear as sa
from doors import NoticeCode, PlanTeller, ReasonCode, tell_summary
from letter_menus import MENUS, NOTICES, make_loan, make_own, make_single
from page_html import read_page, read_table
from promises.reports.test_menu_page import (
    IN_EVERY_WAY,
    accepted_without_a_name,
    make_by_age,
    make_sourced,
    page,
    plain,
    without_recourse,
)
from safear.recourse import Teller
from safear.reports import report_menu
from safear.texts import Texts, load_texts
from spoken import LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["loan", "own terms", "health", "asked", "long", "single", "hopeless", "guessed"])
def test_the_plan_and_the_others_have_the_figures_of_the_menu(name: str, language: str) -> None:
    menu = MENUS[name]()
    tell = Teller.of(language, menu.problem.glossary)
    first, *others = menu
    told = [node.text for node in page(name, language).find("ul", class_="summary")[0].find("li")]
    assert told[:4] == list(map(plain, tell_summary(first, menu, tell)))
    assert plain(tell.percent(first.cost.success)) in told[1]
    assert tell.cost(first.mean, first.unit) in told[2]
    assert tell.cost(first.tail, first.unit) in told[2]
    assert bool(page(name, language).find("section", id="others")) == bool(others)
    rows = read_table(page(name, language), tell("report.others.title", count=len(others)))[1:] if others else []
    for row, offer in zip(rows, others, strict=True):
        spans = tell.spans(offer)
        figures = (
            tell.cost(offer.mean, offer.unit),
            tell.cost(offer.tail, offer.unit),
            tell.percent(offer.cost.success),
        )
        off = (spans.mean, spans.tail, spans.success)
        assert row[1] == tell.action(offer.first_action)
        assert row[2:] == [plain(f"{each}{span}") for each, span in zip(figures, off, strict=True)]


@pytest.mark.parametrize(("name", "language"), IN_EVERY_WAY)
def test_steps_are_those_of_the_plan(name: str, language: str) -> None:
    for place, offer in enumerate(MENUS[name]()):
        tree = read_page(report_menu(MENUS[name](), place, language=language).html)
        items = {item.attributes["value"]: item for item in tree.find("li") if "value" in item.attributes}
        steps = PlanTeller(offer.long_plan, Teller.of(language, offer.glossary)).steps()
        assert set(items) == {str(step.number) for step in steps}
        for step in steps:
            item = items[str(step.number)]
            words = (step.situation, step.action, step.facts, *map(str, step.endings), step.note)
            assert item.text == plain(" ".join(word for word in words if word))
            endings = [node for node in item.find("li") if node is not item]
            assert ["class" in node.attributes for node in endings] == [not ending.works for ending in step.endings]


def test_everything_that_menus_tell_has_words() -> None:
    assert {notice.code for notice in NOTICES} == set(get_args(NoticeCode))


def test_no_text_is_left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every text of the report is on one of the pages."""
    seen: set[str] = set()
    real = Texts.__call__

    def record(self: Texts, key: str, /, **values: object) -> str:
        seen.add(key)
        return real(self, key, **values)

    monkeypatch.setattr(Texts, "__call__", record)
    for name, make in MENUS.items():
        report_menu(make(), original=sa.load_example("loan") if name in {"own terms", "none"} else None)
    report_menu(make_own(), original=make_own().problem, contact="x", dated=date(2026, 5, 1))
    for reason in get_args(ReasonCode):
        report_menu(without_recourse(reason))
    report_menu(accepted_without_a_name())
    report_menu(make_loan(), original=make_by_age())
    safest = make_loan().offers[0]
    same = replace(make_loan(), offers=(safest, replace(safest, kind="balanced")))
    report_menu(same)
    report_menu(sa.recommend(make_single().problem, terms=sa.Terms.of(cost={"dream": 2})), contact="x")
    report_menu(sa.recommend(make_sourced()), 1)
    left = {key for key in load_texts("en").entries if key.startswith("report.")} - seen
    assert left == set()
