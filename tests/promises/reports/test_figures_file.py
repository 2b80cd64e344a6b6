"""The file of figures: all digits, what they were computed from, and the reference of the letter."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

import safear as sa
from letter_menus import MENUS, make_health, make_loan
from page_html import read_page
from safear.reports import FiguresRecord, Sources, report_figures, report_menu

DAY = date(2026, 11, 17)


@pytest.mark.parametrize("name", MENUS)
def test_letter_and_figures_have_the_same_reference(name: str) -> None:
    menu = MENUS[name]()
    record = report_figures(menu, dated=DAY)
    letter = read_page(report_menu(menu, dated=DAY, language="de").html)
    assert letter.find("dl", class_="marks")[0].find("dd")[1].text == record.reference
    for plan, offer in zip(record.menu.plans, menu, strict=True):
        assert (plan.success, plan.all_runs.mean) == (offer.cost.success, offer.mean)
    assert FiguresRecord.model_validate_json(record.model_dump_json()) == record  # every digit is read back


def test_what_it_was_computed_from() -> None:
    sources = Sources("loan.yaml", "model.skops", ["ann.json"], 7)
    menu = make_loan()
    record = report_figures(menu, "cheapest", dated=DAY, reference="KR 17", sources=sources)
    assert (record.reference, record.dated, record.chosen, record.between) == ("KR 17", DAY, "cheapest", None)
    assert record.versions == {
        "SafeAR": sa.__version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
    }
    assert record.sources.model_dump() == {
        "problem": "loan.yaml",
        "classifier": "model.skops",
        "person": "ann.json",
        "seed": 7,
    }
    text = json.dumps(dict(menu.person), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert record.person_sha256 == hashlib.sha256(text.encode()).hexdigest()
    same = report_figures(sa.recommend(menu.problem))
    other = report_figures(sa.recommend(menu.problem, terms=sa.Terms.of(forbid=["change job"])))
    assert same.problem_sha256 == record.problem_sha256 != other.problem_sha256
    assert record.tails == {"safest": menu[0].tail, "cheapest": menu[1].tail}


def test_a_plan_between_those_of_the_menu_is_in_it() -> None:
    menu = make_health()
    between = next(offer for offer in menu.frontier if all(offer.solution is not each.best.solution for each in menu))
    record = report_figures(menu, replace(between, label="in the middle"))
    assert record.between is not None
    assert record.between.success == between.cost.success
    assert report_figures(menu, replace(menu[0], label="mine")).between is None
