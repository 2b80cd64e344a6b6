"""Pages in a real browser: on a phone nothing collapses, and what is too wide scrolls in its own region."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from heavy import require
from reports.examples import make_audit, make_nasty_audit
from safear.reports import Page, Sources, report_audit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext
    from playwright.sync_api import Page as Tab

Axe = require("axe_playwright_python.sync_playwright", "browser").Axe

PHONE, LEAST_LETTERS = {"width": 390, "height": 844}, 13.0
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
@pytest.mark.parametrize("language", ["en", "de"])
def test_the_audit_on_a_phone(look: Open, make: Any, language: str) -> None:
    sources = Sources("problems/german credit.yaml", "models/german-2026.skops", ["people/2026/january.parquet"])
    tab = look(report_audit(make(), sources=sources, language=language))
    check_phone(tab)
    wide = tab.locator(".scroll").evaluate_all("nodes => nodes.filter(n => n.scrollWidth > n.clientWidth).length")
    assert wide > 5  # tables keep their width
    assert [(found["id"], found["nodes"][0]["html"]) for found in Axe().run(tab).response["violations"]] == []
