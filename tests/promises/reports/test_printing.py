"""Pages in a real browser: letters have two sheets of paper, and on a phone nothing collapses or scrolls sideways."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import safear as sa
from audit_examples import make_audit, make_nasty_audit
from heavy import require
from letter_menus import MENUS, ladder, make_loan, make_own
from safear.reports import Page, Sources, report_audit, report_menu
from spoken import LANGUAGES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext
    from playwright.sync_api import Page as Tab

Axe = require("axe_playwright_python.sync_playwright", "browser").Axe

PHONE, LEAST_LETTERS = {"width": 390, "height": 844}, 13.0
DAY, SHEETS = date(2026, 11, 17), ("A4", "Letter")
LONG = "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz"
Open = Callable[..., "Tab"]
# Texts of more than three letters in a box that is higher than three lines and narrower than three letters.
COLLAPSED = """() => [...document.querySelectorAll("body *")].filter(node => {
    const box = node.getBoundingClientRect();
    const own = [...node.childNodes].some(part => part.nodeType === 3 && part.textContent.trim().length > 3);
    return own && box.width > 0 && box.width < 36 && box.height > 60;
}).map(node => node.textContent)"""
SMALL = """() => [...document.querySelectorAll("body *")].filter(node => node.getClientRects().length
    && [...node.childNodes].some(part => part.nodeType === 3 && part.textContent.trim())
    && parseFloat(getComputedStyle(node).fontSize) < %s).map(node => node.textContent)"""
WIDTHS = "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"


@pytest.fixture
def look(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens a page from a file, as somebody does who has got it by mail."""
    contexts: list[BrowserContext] = []

    def open_it(made: Page, *, size: Any = PHONE, **options: Any) -> Tab:
        contexts.append(browser.new_context(viewport=size, **options))
        made.save(tmp_path / "page.html")
        tab = contexts[-1].new_page()
        tab.goto((tmp_path / "page.html").as_uri())
        return tab

    yield open_it
    for context in contexts:
        context.close()


def check_phone(tab: Tab) -> None:
    assert tab.evaluate(COLLAPSED) == []
    assert tab.evaluate(SMALL % LEAST_LETTERS) == []
    shown, room = tab.evaluate(WIDTHS)
    assert shown <= room


@pytest.mark.parametrize("make", [make_audit, make_nasty_audit])
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_audit_on_a_phone(look: Open, make: Any, language: str) -> None:
    sources = Sources("problems/german credit.yaml", "models/german-2026.skops", ["people/2026/january.parquet"])
    tab = look(report_audit(make(), sources=sources, language=language))
    check_phone(tab)
    wide = tab.locator(".scroll").evaluate_all("nodes => nodes.filter(n => n.scrollWidth > n.clientWidth).length")
    assert wide > 5  # tables keep their width
    assert [(found["id"], found["nodes"][0]["html"]) for found in Axe().run(tab).response["violations"]] == []


# --------------------------------------------------------------------------------------------------------- the letter


def count_pages(tab: Tab, sheet: str) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", tab.pdf(format=sheet)))


@cache
def find_menu(name: str) -> sa.Menu:
    """For somebody of a data set who has a plan of five steps."""
    data = sa.datasets.load(name)
    for row in data.codes[:400]:
        person = {feature.name: feature.levels[code] for feature, code in zip(data.problem.features, row, strict=True)}
        menu = sa.recommend(data.problem, data.classifier(), person)
        if len(menu) and len(menu[0].plan.steps) == 5:
            return menu
    raise LookupError


def make_adult() -> sa.Menu:
    return find_menu("adult")


def make_german() -> sa.Menu:
    return find_menu("german")


@cache
def make_wide() -> sa.Menu:
    """Thirty columns as filed, and words without end."""
    written = sa.dump_problem(sa.load_example("loan"))
    columns: dict[str, object] = {f"column {number} of the form": 12345.678 * number for number in range(27)}
    columns |= {f"{LONG} {number}": LONG for number in range(3)}
    written["given"] = list(columns)
    written["actions"]["study part-time"]["label"] = LONG
    rule, person = written.pop("classifier")["rule"], written.pop("people")["applicant"]
    assert "employed" in rule
    problem = sa.parse_problem(written)
    return sa.recommend(problem, lambda frame: frame["savings"] == "rich", {**person, **columns})


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "make", [make_loan, make_own, make_adult, make_german, make_wide, MENUS["guessed"], MENUS["none"]]
)
def test_letters_have_two_sheets(look: Open, make: Callable[[], sa.Menu], language: str) -> None:
    contact = "Ms Weber, Loans department, 0531 1234, loans@first.example"
    tab = look(report_menu(make(), dated=DAY, language=language, contact=contact))
    assert max(count_pages(tab, sheet) for sheet in SHEETS) <= 2
    check_phone(tab)


@pytest.mark.parametrize("name", MENUS)
def test_every_letter_on_a_phone(look: Open, name: str) -> None:
    tab = look(report_menu(MENUS[name](), dated=DAY))
    check_phone(tab)
    assert [(found["id"], found["nodes"][0]["html"]) for found in Axe().run(tab).response["violations"]] == []


# Where the sheets of a letter would be cut through: boxes that reach over the right edge of what is printed.
CUT = """width => [...document.querySelectorAll("body *")].filter(node => node.getBoundingClientRect().width > 1
    && node.getBoundingClientRect().right > width + 1).map(node => node.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("name", ["loan", "asked", "long", "nasty", "noted"])
def test_nothing_is_cut_on_paper(look: Open, name: str) -> None:
    inch, margins = 96, 2 * 16 / 25.4
    width = round((8.27 - margins) * inch)
    tab = look(report_menu(MENUS[name](), dated=DAY), size={"width": width, "height": 1000})
    tab.emulate_media(media="print")
    assert tab.evaluate(CUT, width) == []


def test_long_plans_flow(look: Open) -> None:
    menu = sa.recommend(ladder(6))
    assert len(menu[0].plan.steps) == 12
    assert count_pages(look(report_menu(menu, dated=DAY)), "A4") <= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_letter_in_light_and_dark(look: Open, scheme: str) -> None:
    tab = look(report_menu(make_loan(), dated=DAY), color_scheme=scheme, size={"width": 1280, "height": 900})
    assert [(found["id"], found["nodes"][0]["html"]) for found in Axe().run(tab).response["violations"]] == []
