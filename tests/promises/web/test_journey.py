"""From the empty page to the letter, and back with a failed step: on a desk and on a telephone, in two languages, with
and without a script, by mouse and by keyboard alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from promises.web.conftest import DESKTOP, PHONE, Open, Site
from promises.web.test_browser import expect, find_violations, require_width, settle

if TYPE_CHECKING:
    from playwright.sync_api import Page

WORDS = {
    "en": {
        "levels": ["young", "school", "little", "employed", "rent"],
        "empty": "What is decided about you, and what can you do?",
        "decision": "Your application was not approved",
        "letter": "study part-time",
        "saved": "Your saved plan: safest",
        "failed": "study part-time: failed, 1 month",
        "left": "You can make 23 more tries.",
        "banner": "This is an example person: applicant.",
    },
    "de": {
        "levels": ["jung", "Schule", "wenig", "angestellt", "gemietet"],
        "empty": "Wie wird über Sie entschieden, und was können Sie tun?",
        "decision": "Ihr Antrag wurde nicht bewilligt",
        "letter": "nebenher studieren",
        "saved": "Ihr gespeicherter Plan: am sichersten",
        "failed": "nebenher studieren: misslungen, 1 Monat",
        "left": "Noch 23 Versuche sind möglich.",
        "banner": "Das ist eine Beispielperson: applicant.",
    },
}


@dataclass(frozen=True)
class Hand:
    """Somebody's hand on a page: on the mouse, or on the keyboard alone."""

    page: Page
    keyboard: bool = False

    def reach(self, selector: str) -> None:
        """With the tabulator."""
        for _ in range(150):
            if self.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"nobody reaches {selector}")

    def press(self, selector: str) -> None:
        if self.keyboard:
            self.reach(selector)
            self.page.keyboard.press("Enter")
        else:
            self.page.locator(selector).first.click()
        settle(self.page)

    def choose(self, selector: str, label: str) -> None:
        if self.keyboard:
            self.reach(selector)
            self.page.keyboard.type(label)
        else:
            self.page.locator(selector).select_option(label=label)

    def write(self, selector: str, text: str) -> None:
        if self.keyboard:
            self.reach(selector)
            self.page.keyboard.type(text)
        else:
            self.page.locator(selector).fill(text)

    def attach(self, path: Path) -> None:
        if not self.keyboard:
            self.page.locator("#file").set_input_files(path)
            return
        self.reach("#file")
        with self.page.expect_file_chooser() as chooser:
            self.page.keyboard.press("Enter")
        chooser.value.set_files(path)

    def take(self, selector: str, path: Path) -> Path:
        """What a button gives to save."""
        with self.page.expect_download() as download:
            self.press(selector)
        download.value.save_as(path)
        return path


@pytest.mark.parametrize(
    ("language", "size", "script", "keyboard"),
    [
        ("en", DESKTOP, True, False),
        ("de", PHONE, True, False),
        ("en", PHONE, False, False),
        ("de", DESKTOP, True, True),
    ],
    ids=["en-desk-script", "de-phone-script", "en-phone-noscript", "de-desk-keyboard"],
)
def test_the_journey(
    loan: Site, open_page: Open, tmp_path: Path, *, language: str, size: Any, script: bool, keyboard: bool
) -> None:
    page = open_page(loan, f"/?language={language}", size=size, java_script_enabled=script)
    hand, words, title = Hand(page, keyboard), WORDS[language], page.locator("#decision-title")
    page.on("filechooser", lambda _: None)  # caught from the start: who begins only with the key may be too late

    def look(expected: str) -> None:
        """The page says this at its top, fits the screen, and axe finds nothing wrong with it."""
        expect(title).to_have_text(expected)
        require_width(page)
        if script:  # axe is one
            assert find_violations(page) == []

    # Nobody has entered anything, and nothing is decided.
    look(str(words["empty"]))
    expect(page.locator("article.plan")).to_have_count(0)
    for number, level in enumerate(words["levels"]):
        hand.choose(f"#feature{number}", level)
    hand.press("#about .primary")
    look(str(words["decision"]))
    expect(title).to_be_in_viewport()
    if script:
        expect(title).to_be_focused()

    # What a step means to them.
    hand.press("#terms-open > summary")
    hand.write("#cost1", {"en": "1.5", "de": "1,5"}[language])
    hand.press("#terms .primary")
    look(str(words["decision"]))
    expect(page.locator("#changed1")).not_to_be_empty()

    # The letter, the plan and the answers go along.
    letter = hand.take("[formaction='/report']", tmp_path / "report.html")
    assert str(words["letter"]) in letter.read_text(encoding="utf-8")
    plan = hand.take("[formaction='/plan']", tmp_path / "plan.json")
    answers = hand.take("[formaction='/answers']", tmp_path / "answers.json")
    hand.press("[value=clear]")
    look(str(words["empty"]))
    expect(page.locator("#feature0")).to_have_value("")

    # Another day: step 1 was done, and it failed.
    hand.attach(plan)
    hand.press("[value=open]")
    look(str(words["saved"]))
    expect(title).to_be_in_viewport()
    hand.press("#outcome1")
    expect(page.locator(".taken li")).to_have_text([str(words["failed"])])
    other = {"en": "de", "de": "en"}[language]
    hand.press(f"[value='speak:{other}']")
    look(str(WORDS[other]["saved"]))
    expect(page.locator(".taken li")).to_have_text([str(WORDS[other]["failed"])])
    hand.press(f"[value='speak:{language}']")
    expect(page.locator(".taken li")).to_have_text([str(words["failed"])])
    hand.press("#here")
    look(str(words["decision"]))
    expect(page.locator(".onward")).to_contain_text(str(words["left"]))
    expect(page.locator("article.plan").first).to_be_visible()

    # And their answers, as they were.
    hand.attach(answers)
    hand.press("[value=open]")
    look(str(words["decision"]))
    expect(page.locator("#cost1")).to_have_value({"en": "1.5", "de": "1,5"}[language])
    expect(page.locator(".onward")).to_have_count(0)


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_an_example_is_a_link_with_a_banner_until_something_is_edited(
    loan: Site, open_page: Open, *, script: bool
) -> None:
    page = open_page(loan, "/", java_script_enabled=script)
    page.get_by_role("link", name="applicant").click()
    expect(page.locator(".banner")).to_contain_text(WORDS["en"]["banner"])
    expect(page.locator("article.plan")).to_have_count(2)
    page.locator("#outcome1").click()
    expect(page.locator(".taken li")).to_have_count(1)
    expect(page.locator(".banner")).to_have_count(1)
    page.get_by_label("Savings", exact=True).select_option("moderate")
    page.locator("#about .primary").click()
    expect(page.locator(".banner")).to_have_count(0)
