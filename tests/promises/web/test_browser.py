"""The pages in a real browser: both roles clicked through, by mouse and by keyboard, seen by axe, on every screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from heavy import require
from promises.web.conftest import DESKTOP, EXAMPLE, PHONE, Open, Site
from spoken import LANGUAGES

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

expect = require("playwright.sync_api", "browser").expect
Axe = require("axe_playwright_python.sync_playwright", "browser").Axe

WIDE, LEAST_LETTERS = 1269, 13.0  # from which width on people see pictures, and letters in pixels
SCHEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")


def find_violations(page: Page) -> list[str]:
    """What axe finds."""
    found = Axe().run(page).response["violations"]
    return [f"{item['id']}: {[node['html'][:120] for node in item['nodes']]}" for item in found]


def require_width(page: Page) -> None:
    """No page may be wider than its screen."""
    width = page.viewport_size["width"] if page.viewport_size else 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def settle(page: Page) -> None:
    """Until the answer is there."""
    expect(page.locator("body")).not_to_have_attribute("aria-busy", "true")


# --------------------------------------------------------------------------------------------------------- the person


def test_a_person_looks_chooses_and_walks(loan: Site, open_page: Open) -> None:
    page = open_page(loan)
    expect(page.get_by_role("heading", level=1)).to_have_text("Your application was not approved")
    expect(page.locator("article.plan")).to_have_count(2)
    expect(page.locator("article.chosen h3")).to_have_text("Safest")
    expect(page.locator("#picture svg").first).to_be_visible()

    page.get_by_role("button", name="Show this plan").click()
    expect(page.locator("article.chosen h3")).to_have_text("Cheapest on average")
    expect(page.locator("#picture-title")).to_have_text("What can happen: cheapest on average")
    expect(page.locator("#position")).to_have_value("2")
    expect(page.get_by_role("status")).to_contain_text("1.5 months on average")

    page.get_by_role("button", name="This step failed").click()
    expect(page.locator("#now")).to_have_text("Now: find work")
    expect(page.locator(".taken li")).to_have_text(["change job: failed, 1 month (you lose your job)"])
    page.get_by_role("button", name="This step worked").click()
    expect(page.locator(".taken li")).to_have_count(2)
    page.get_by_role("button", name="Take back the last step").click()
    expect(page.locator(".taken li")).to_have_count(1)
    page.get_by_role("button", name="Start again").click()
    expect(page.locator("#now")).to_have_text("Now: change job")
    page.get_by_role("button", name="This step worked").click()
    expect(page.locator("#now")).to_have_text("Done: “approved”")
    assert find_violations(page) == []
    assert page.url == loan.base + EXAMPLE


def test_the_slider_moves_along_the_frontier(german: Site, open_page: Open) -> None:
    page = open_page(german)
    slider = page.get_by_role("slider")
    last = int(slider.get_attribute("max") or "0")
    assert last > 2
    slider.focus()
    spoken = set()
    for position in range(last + 1):
        expect(slider).to_have_value(str(position))
        expect(page.locator(f"#choose{position}[aria-pressed=true]")).to_have_count(1)
        spoken.add(slider.get_attribute("aria-valuetext"))
        expect(slider).to_be_focused()
        page.keyboard.press("ArrowRight")
        settle(page)
    assert len(spoken) == last + 1


def test_cards_have_their_own_colours_and_fit_the_screen(loan: Site, open_page: Open) -> None:
    look = "es => es.map(e => [getComputedStyle(e).borderTopColor, e.offsetTop, e.offsetHeight])"
    for size, is_wide in ((DESKTOP, True), (PHONE, False)):
        page = open_page(loan, size=size)
        one, other = page.eval_on_selector_all("article.plan", look)
        assert one[0] != other[0]
        assert (one[1] == other[1], one[1] + one[2] <= other[1]) == (is_wide, not is_wide)
        assert not is_wide or one[2] == other[2]
        filled = page.eval_on_selector_all(".marks", "es => es.map(e => e.querySelectorAll('.on').length)")
        assert filled == [2, 5]
        for details in page.locator("article.plan details").all():
            expect(details.locator("dl")).to_be_hidden()
            details.locator("summary").click()
            expect(details.locator("dl")).to_be_visible()


def test_own_terms_change_the_answer_at_once(loan: Site, open_page: Open) -> None:
    page = open_page(loan)
    page.locator("#terms-title").click()
    page.get_by_label("I can’t do this: Change job").check()
    expect(page.get_by_text("Change job", exact=True).and_(page.locator(".chain"))).to_have_count(0)
    field = page.get_by_label("Study part-time: cost in months")
    field.fill("nine")
    expect(page.locator("#cost2-wrong")).to_contain_text("“nine” is not a number")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_be_focused()
    expect(page.locator("article.plan")).to_have_count(0)
    assert find_violations(page) == []
    field.fill("1,009")
    expect(field).not_to_have_attribute("aria-invalid", "true")
    expect(page.locator("article.plan").first).to_be_visible()
    expect(page.locator("#cost2-hint")).to_have_text("typical: 1 month, read as 1,009 months")
    page.get_by_role("button", name="Back to typical: Study part-time").click()
    expect(field).to_have_value("")
    expect(page.locator("#changed2")).to_have_text("")
    expect(page.get_by_label("I can’t do this: Change job")).to_be_checked()
    page.get_by_role("button", name="All back to typical").click()
    expect(page.get_by_label("I can’t do this: Change job")).not_to_be_checked()


def test_steps_are_ranked(loan: Site, open_page: Open) -> None:
    page = open_page(loan)
    page.locator("#terms-title").click()
    cost, place = page.locator("#cost2"), page.get_by_label("Study part-time: place from easy (1) to hard")
    expect(cost).to_be_visible()
    expect(place).to_be_hidden()
    page.get_by_label("I rank the steps from easy to hard").check()
    expect(cost).to_be_hidden()
    place.select_option("3")
    page.get_by_label("Increase savings: place").select_option("2")
    page.get_by_label("Change job: place").select_option("1")
    expect(page.locator("#rank2-hint")).to_have_text("counts as 1.5 months")
    expect(page.locator("#changed2")).to_contain_text("Changed by you.")
    assert find_violations(page) == []
    page.reload()
    expect(place).to_have_value("3")
    expect(page.get_by_label("I rank the steps from easy to hard")).to_be_checked()
    page.get_by_role("button", name="All back to typical").click()
    expect(cost).to_be_visible()


@pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}], ids=["script", "no script"])
def test_on_a_telephone_the_answer_comes_to_who_asks(loan: Site, open_page: Open, options: dict[str, Any]) -> None:
    page = open_page(loan, "/", size=PHONE, **options)
    page.get_by_role("button", name="Show my options").first.click()
    expect(page.locator(".summary a")).to_have_count(5)
    expect(page.locator("#decision-title")).to_be_in_viewport()
    if not options:
        expect(page.locator("#decision-title")).to_be_focused()
        assert find_violations(page) == []
    page.get_by_role("link", name="Savings: Please fill this in.").click()
    expect(page.get_by_label("Savings", exact=True)).to_be_focused()
    page.get_by_label("Age", exact=True).select_option("young")
    if not options:
        expect(page.locator(".summary a")).to_have_count(4)  # they go one by one
        expect(page.get_by_label("Savings", exact=True)).to_be_focused()
    for label, level in (("Education", "school"), ("Job", "employed"), ("Housing", "rent")):
        page.get_by_label(label, exact=True).select_option(level)
    page.get_by_label("Savings", exact=True).select_option("little")
    page.get_by_role("button", name="Show my options").first.click()
    expect(page.locator("#decision-title")).to_have_text("Your application was not approved")
    expect(page.locator("#decision-title")).to_be_in_viewport()
    require_width(page)
    page.get_by_role("button", name="This step failed").click()
    expect(page.locator(".taken li")).to_have_count(1)
    expect(page.locator("#now")).to_be_in_viewport()


def test_on_a_desk_form_and_answer_stand_side_by_side(loan: Site, open_page: Open) -> None:
    boxes = [open_page(loan).locator(name).bounding_box() for name in ("#about", "#decision")]
    (form, answer) = [box for box in boxes if box is not None]
    assert form["x"] + form["width"] < answer["x"]
    assert abs(form["y"] - answer["y"]) < 150


def test_a_record_is_filled_in_and_decided_on_as_it_is(credit: Site, open_page: Open) -> None:
    page = open_page(credit)
    term = page.get_by_label("Term (months)")
    expect(page.locator("#checked")).to_contain_text("Checked with the model itself")
    assert find_violations(page) == []
    page.get_by_label("Account").fill("large")
    term.fill("20")
    expect(page.get_by_role("heading", level=1)).to_have_text("Today’s decision: “granted”")
    term.fill("20.6")  # the same level, and just too much
    expect(page.get_by_role("heading", level=1)).to_have_text("Today’s decision: not “granted”")
    term.fill("61")
    expect(page.locator("#feature0-wrong")).to_have_text("“61” is too high. The most that is possible is 60.")
    expect(term).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Account").fill("")
    page.get_by_label("Account").press("Enter")
    expect(page.locator("#given1-wrong")).to_contain_text("Please fill this in.")
    expect(term).to_have_value("61")  # Enter fills in no example
    assert find_violations(page) == []


def test_other_people(loan: Site, german: Site, open_page: Open) -> None:
    page = open_page(loan)
    page.get_by_label("Savings", exact=True).select_option("rich")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your application was approved")
    expect(page.locator("article.plan")).to_have_count(0)
    page.get_by_label("Savings", exact=True).select_option("little")
    expect(page.locator("article.plan")).to_have_count(2)
    page = open_page(german, "/")
    page.get_by_role("link", name="row 972").click()
    expect(page.get_by_label("Age", exact=True)).to_have_value("29")
    page.get_by_label("Age", exact=True).fill("61")
    expect(page.locator("#feature0-hint")).to_have_text("counts as: senior")


def test_all_of_it_by_keyboard(loan: Site, open_page: Open) -> None:
    page = open_page(loan)
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the answer")).to_be_focused()
    page.keyboard.press("Enter")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "position":
            break
    page.keyboard.press("End")
    expect(page.locator("article.chosen h3")).to_have_text("Cheapest on average")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "outcome1":
            break
    page.keyboard.press("Enter")
    expect(page.locator("#now")).to_have_text("Now: find work")
    expect(page.locator("#outcome1")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".taken li")).to_have_count(2)


def test_what_was_entered_survives(credit: Site, open_page: Open) -> None:
    """A reload, the way to another page and back, and another language."""
    page = open_page(credit, "/")
    fields = {"Term (months)": "40", "Amount": "8750.5", "Age": "33.5", "Account": "small"}
    for label, text in fields.items():
        page.get_by_label(label, exact=True).fill(text)
    page.locator("#terms-title").click()
    page.get_by_label("Shorten: cost in months").fill("2.5")
    page.reload()
    expect(page.get_by_label("Amount", exact=True)).to_have_value("8750.5")  # also while it is not complete
    page.get_by_label("Job", exact=True).select_option("employed")
    page.get_by_role("button", name="This step failed").click()
    expect(page.locator(".taken li")).to_have_count(1)
    page.get_by_role("link", name="For analysts").click()
    page.go_back()
    expect(page.locator(".taken li")).to_have_count(1)
    page.get_by_role("button", name="Deutsch").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Heutige Entscheidung: nicht „granted“")
    expect(page.get_by_label("Amount", exact=True)).to_have_value("8750,5")
    expect(page.get_by_label("Shorten: Aufwand (months)")).to_have_value("2,5")
    expect(page.locator(".taken li")).to_have_count(1)
    page.reload()
    expect(page.get_by_label("Age", exact=True)).to_have_value("33,5")
    page.get_by_role("button", name="Alles leeren und von vorn beginnen").click()
    expect(page.get_by_label("Amount", exact=True)).to_have_value("")
    page.reload()
    expect(page.get_by_label("Amount", exact=True)).to_have_value("")
    expect(page.locator("article.plan")).to_have_count(0)


def test_an_example_costs_nobody_their_entries(loan: Site, open_page: Open) -> None:
    page = open_page(loan, "/")
    page.get_by_label("Age", exact=True).select_option("senior")
    page.get_by_role("link", name="applicant").click()
    expect(page.locator(".banner")).to_contain_text("This is an example person: applicant.")
    page.get_by_role("button", name="This step failed").click()
    page.get_by_role("button", name="Deutsch").click()
    expect(page.locator(".taken li")).to_have_count(1)
    expect(page.locator(".banner")).to_contain_text("Das ist eine Beispielperson: applicant.")
    page.get_by_role("button", name="English").click()
    page.get_by_role("link", name="Start with an empty form").click()
    expect(page.get_by_label("Age", exact=True)).to_have_value("senior")
    page.go_back()
    page.get_by_label("Savings", exact=True).select_option("moderate")
    expect(page.locator(".banner")).to_have_count(0)
    assert page.url.partition("#")[0] == f"{loan.base}/"
    page.reload()
    expect(page.get_by_label("Savings", exact=True)).to_have_value("moderate")
    expect(page.locator(".banner")).to_have_count(0)


def test_another_language_waits_for_a_step_on_its_way(loan: Site, open_page: Open) -> None:
    page = open_page(loan)
    held: list[Route] = []
    page.route(f"{loan.base}/", lambda route: held.append(route), times=1)  # noqa: PLW0108  # Playwright marks functions
    with page.expect_request(lambda request: request.method == "POST"):
        page.get_by_role("button", name="This step failed").click()
    page.get_by_role("button", name="Deutsch").click()
    page.wait_for_timeout(200)  # for a page that would not wait to be gone
    held[0].continue_()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator(".taken li")).to_have_count(1)


def test_the_letter_is_saved_and_printed(loan: Site, open_page: Open, tmp_path: Path) -> None:
    page = open_page(loan)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save my letter").click()
    download.value.save_as(tmp_path / "letter.html")
    assert "study part-time" in (tmp_path / "letter.html").read_text(encoding="utf-8")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the figures").click()
    assert download.value.suggested_filename == "figures.json"
    page.evaluate("window.print = () => { document.title = 'printed'; }")
    page.get_by_role("button", name="Print").click()
    assert page.title() == "printed"
    page.emulate_media(media="print")
    expect(page.locator("#about")).to_be_hidden()
    expect(page.locator("#cards")).to_be_visible()


def test_without_script(loan: Site, open_page: Open) -> None:
    page = open_page(loan, java_script_enabled=False)
    page.get_by_label("Education").select_option("degree")
    page.get_by_role("button", name="Show my options").click()
    expect(page.locator("#now")).to_have_text("Now: increase savings")
    page.get_by_role("button", name="This step failed").click()
    expect(page.locator(".taken li")).to_have_count(1)
    expect(page.get_by_label("Education")).to_have_value("degree")
    page.goto(loan.base + EXAMPLE)
    page.get_by_role("slider").fill("1")
    page.get_by_role("button", name="Show this plan", exact=True).first.click()
    expect(page.locator("article.chosen h3")).to_have_text("Between safest and cheapest on average")
    assert page.url.partition("#")[0] == f"{loan.base}/"


# -------------------------------------------------------------------------------------------------------- the analyst


def test_the_analyst_reads_compares_and_downloads(audited: Site, open_page: Open) -> None:
    page = open_page(audited, "/analyst")
    expect(page.get_by_role("heading", level=1)).to_have_text("German Credit")
    expect(page.locator("#audit svg")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="The table as CSV").click()
    assert download.value.path().read_text().startswith("gender,n,rejected")
    page.locator("#bobjective").fill("cvar:0.9")
    page.locator("#bwithout").select_option("own a house")
    page.locator("#who").select_option("row 44")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".compared thead th").last).to_have_text("B: cvar:0.9, without “own a house”")
    assert find_violations(page) == []
    page.get_by_role("link", name="API", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("API")
    page.get_by_role("link", name="My options").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What is decided about you, and what can you do?")


# -------------------------------------------------------------------------------------------------------- all screens


@pytest.mark.parametrize("path", ["/", *(f"{EXAMPLE}&language={code}" for code in LANGUAGES), "/analyst", "/api"])
def test_axe_finds_nothing_on_any_screen(audited: Site, open_page: Open, path: str) -> None:
    page = open_page(audited, path, size=PHONE)
    for size in (PHONE, DESKTOP):
        page.set_viewport_size({"width": size["width"], "height": size["height"]})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            assert find_violations(page) == [], (size, scheme)
        require_width(page)
    assert page.locator("main").count() == 1
    assert page.locator("h1").count() == 1


@pytest.mark.parametrize("path", [EXAMPLE, "/analyst"])
def test_no_letters_of_pictures_are_shown_smaller_than_they_are_drawn(
    audited: Site, open_page: Open, path: str
) -> None:
    page = open_page(audited, path, size=PHONE)
    for width in (360, 800, 1100, 1268, 1269, 1280, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        sizes = page.locator(".picture svg text").evaluate_all(
            """texts => texts.filter(text => text.getBoundingClientRect().width).map(text =>
                text.getScreenCTM().a * parseFloat(getComputedStyle(text.querySelector("tspan") || text).fontSize))"""
        )
        assert min(sizes, default=LEAST_LETTERS) >= LEAST_LETTERS - 0.01, width
        assert sizes or width < WIDE or path != EXAMPLE, width


def test_twice_as_large_letters(loan: Site, open_page: Open) -> None:
    """200% zoom on a small laptop is a screen of half the size."""
    page = open_page(loan, size={"width": 640, "height": 450}, device_scale_factor=2)
    require_width(page)
    expect(page.locator(".ways").first).to_be_visible()
