"""The person's page without a script: a form that is sent, and a page that comes back."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

import safear as sa
from promises.web.conftest import APPLICANT, CREDIT, Site, fill_in, serve
from safear import walk

LOAN = sa.load_example("loan")
START = fill_in(LOAN, APPLICANT)


class _Reader(HTMLParser):
    """The texts of a page by the id of the element that they are in."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def words(page: str) -> str:
    """All text of a page, on one line."""
    reader = _Reader()
    reader.feed(page)
    return " ".join(" ".join(reader.words).split())


def ask(site: Site, wish: str = "menu", **fields: Any) -> str:
    with site.client() as client:
        answer = client.post("/", data={**START, **fields, "do": wish})
    assert answer.status_code == 200
    return answer.text


def months(amount: float) -> str:
    """A cost as the page writes it."""
    return f"{round(amount, 2):g} months"


def field(page: str, name: str) -> str:
    """The value of a field of the page."""
    found = re.search(rf'<input[^>]*name="{name}"[^>]*value="([^"]*)"', page)
    assert found is not None
    return found[1]


def test_the_page_begins_empty(loan: Site) -> None:
    """Nobody has entered anything, so nothing was decided about anybody."""
    with loan.client() as client:
        page = client.get("/").text
    told = words(page)
    assert "1 Step 1: About you" in told
    assert "2 Step 2: What steps mean to you (optional)" in told
    assert "3 Your plans" in told
    assert "approved" not in told
    assert "example person" not in told
    assert page.count(" selected>please choose") == len(LOAN.features)
    assert not re.findall(r'name="cannot\d" value="1" checked', page)


def test_an_example_can_be_looked_at(loan: Site) -> None:
    with loan.client() as client:
        assert 'href="/?example=0">applicant</a>' in client.get("/").text
        assert 'href="/?language=de&amp;example=0">applicant</a>' in client.get("/?language=de").text
        page = client.get("/?example=0").text
    told = words(page)
    assert "Your application was not approved" in told
    assert "Safest" in told
    assert "Cheapest on average" in told
    assert "Study part-time, then increase savings" in told
    assert "9 of 10 people: done in 1 month." in told
    assert "You lose your job (1 of 10 people)" in told
    assert "Risk: 5 of 5" in told
    assert "2.19 months" in told
    assert "forgotten" in told


def test_a_favourable_decision(loan: Site) -> None:
    told = words(ask(loan, feature2="rich"))
    assert "Your application was approved" in told
    assert "There is nothing you need to do." in told
    assert "How much risk" not in told


def test_own_costs_chances_and_limits(loan: Site) -> None:
    told = words(ask(loan, cost2="5", chance2="50", cannot1="1"))
    own = sa.Terms.of(cost={"study part-time": 5}, chance={"study part-time": 0.5}, forbid=["change job"])
    menu = sa.recommend(LOAN, terms=own)
    for offer in menu:
        assert months(offer.mean) in told
        assert months(offer.tail) in told
    assert "change job" not in words(ask(loan, cannot1="1")).partition("How much risk")[2].partition("How this")[0]


def test_terms_say_what_is_typical_and_what_was_changed(loan: Site) -> None:
    page = ask(loan, cost1="2", language="de")
    told = words(page)
    assert "Monate üblich: 1 Monat von 100 gelingen üblich: 90" in told
    assert "üblich: 1,4 Monate" in told
    assert told.count("Von Ihnen geändert.") == 1
    assert 'placeholder="1,4"' in page
    again = ask(loan, "reset:1", cost1="2", cost0="3")
    assert (field(again, "cost1"), field(again, "cost0")) == ("", "3")


def test_ranked_steps_count_as_the_rule_says(loan: Site) -> None:
    page = ask(loan, by="rank", rank2="2", rank3="1", rank1="2")
    told = words(page)
    assert "easy (1) to hard counts as 0.5 months" in told  # 3 months in all: 0.5, 1.25, 1.25
    assert told.count("counts as 1.25 months") == 2
    without = words(ask(loan, by="rank", rank2="4", rank3="1", rank1="2", cannot1="1"))
    assert without.count("easy (1) to hard counts as") == 2  # 2 months in all: 0.67, 1.33
    assert "counts as 0.67 months" in without
    assert "counts as 1.33 months" in without
    terms = sa.Terms.of(rank=["increase savings", ["change job", "study part-time"]])
    menu = sa.recommend(LOAN, terms=terms)
    for offer in menu:
        assert months(offer.mean) in told


def test_no_way(loan: Site) -> None:
    page = ask(loan, **{f"cannot{number}": "1" for number in range(len(LOAN.actions))})
    assert "As things are, no step is open to you." in words(page)
    assert len(re.findall(r'name="cannot\d" value="1" checked', page)) == len(LOAN.actions)


def test_mistakes_stand_beside_their_fields(loan: Site) -> None:
    page = ask(loan, feature0="yuong", feature1="", cost0="a lot", cost1="0.00001", chance2="190")
    told = words(page)
    assert "Please check this again Some fields are empty or cannot be read." in told
    links = re.findall(r'<li><a href="#(\w+)">([^<]*)</a>', page.partition('class="summary"')[2].partition("</ul>")[0])
    assert [name for name, _ in links] == ["feature0", "feature1", "cost0", "cost1", "chance2"]
    assert links[1] == ("feature1", "Education: Please fill this in.")
    assert links[4][1].startswith("Study part-time: “190” is not")
    assert "“yuong” is not one of the choices. Please choose one." in told
    assert "Please fill this in." in told
    assert "“a lot” is not a number from 0 to 1,000,000 with at most four decimals." in told
    assert "“0.00001” is not a number" in told
    assert "“190” is not a number from 0 to 100." in told
    wrong = re.findall(r'id="(\w+)"[^>]*aria-invalid="true"', page)
    assert wrong == ["feature0", "feature1", "cost0", "cost1", "chance2"]
    assert 'value="a lot"' in page


def test_what_breaks_a_constraint_is_told() -> None:
    document = sa.dump_problem(LOAN) | {"constraints": ["not (housing == own and job == unemployed)"]}
    with serve(sa.parse_problem(document)) as site:
        told = words(ask(site, feature3="unemployed", feature4="own"))
        german = words(ask(site, feature3="unemployed", feature4="own", language="de"))
    constraint = "“not (housing == own and job == unemployed)”"
    assert f"Your entries do not fit together. This should hold: {constraint}." in told
    assert "Ihre Angaben passen nicht zusammen. Es sollte gelten: „not (" in german


def test_what_is_filled_in_is_text_not_markup(loan: Site) -> None:
    page = ask(loan, feature0="<script>alert(1)</script>", cost0='"><img src=x>')
    assert "<script>alert" not in page
    assert "<img" not in page


def test_the_slider_shows_every_plan_of_the_frontier(loan: Site) -> None:
    menu = sa.recommend(LOAN)
    for position, offer in enumerate(reversed(menu.frontier)):
        page = ask(loan, "slide", position=str(position))
        chosen = words(page.partition('chosen"')[2].partition("</article>")[0])
        assert months(offer.tail) in chosen
    assert "Between safest and cheapest on average" in words(ask(loan, "slide", position="1"))
    assert "What can happen: cheapest on average" in words(ask(loan, "choose:2"))
    assert "What can happen: cheapest on average" in words(ask(loan, "slide", position="99"))


def test_the_choice_outlives_other_changes(loan: Site) -> None:
    """Who chose the cheapest plan and then changes a cost still looks at the cheapest plan."""
    page = ask(loan, "choose:2")
    again = ask(loan, weight=field(page, "weight"), cost4="2")
    assert "What can happen: cheapest on average" in words(again)
    assert "What can happen: safest" in words(ask(loan, weight="1", cost4="2"))


def test_a_walk_along_the_plan(loan: Site) -> None:
    page = ask(loan, "choose:2")
    assert "Now: change job" in words(page)
    fields = {"position": "2", "history": field(page, "history")}
    page = ask(loan, "outcome:1", **fields)
    told = words(page)
    assert "change job: failed, 1 month (you lose your job)" in told
    assert "Now: find work" in told
    assert "Spent so far: 1 month." in told
    assert field(page, "history") == "1"
    page = ask(loan, "outcome:0", position="2", history="1")
    assert f"Now: {walk(sa.recommend(LOAN)['cheapest on average'], [1, 0]).action}" in words(page)
    assert "Now: find work" in words(ask(loan, "back", position="2", history="1,0"))
    assert "Now: change job" in words(ask(loan, "restart", position="2", history="1,0"))
    done = words(ask(loan, "outcome:0", position="2", history=""))
    assert "Done: “approved” You have spent 1 month." in done
    assert "outcomes[0]: this step cannot end in outcome 9" in words(ask(loan, "outcome:9", position="2", history=""))


def test_asking_again_from_where_one_is(loan: Site) -> None:
    page = ask(loan, "here", position="2", history="1")
    assert re.search(r"<option value=\"unemployed\" selected>unemployed</option>", page)
    assert "Now: find work" in words(page)
    assert field(page, "history") == ""


def test_asking_again_where_there_is_no_way(loan: Site) -> None:
    forbidden = {f"cannot{number}": "on" for number in range(len(LOAN.actions))}
    menu = sa.recommend(LOAN, terms=sa.Terms.of(forbid=[action.name for action in LOAN.actions]))
    said = words(ask(loan, "here", position="2", history="1", **forbidden))
    assert str(menu.no_recourse) in said
    assert menu.advice is not None
    assert menu.advice.relaxations
    for change in menu.advice.relaxations:
        assert f"If “{change.action}” is possible for you after all, " in said
        assert f"would reach “approved”, for {months(change.mean)} on average." in said


def test_what_has_not_changed_stays_as_filed(german: Site) -> None:
    with german.client() as client:
        page = client.get("/?example=0").text
        names = set(re.findall(r'name="(feature\d+)"', page))
        fields = {name: field(page, name) for name in names if re.search(rf'<input[^>]*name="{name}"', page)}
        fields |= dict(re.findall(r'<select[^>]*name="(feature\d+)".*?<option selected>(.*?)</option>', page, re.S))
        again = client.post("/", data={**fields, "do": "here", "position": "0", "history": ""}).text
    assert field(again, "feature0") == field(page, "feature0").strip() != ""
    assert field(again, "feature0").isdigit()


def test_examples_can_be_filled_in(german: Site) -> None:
    with german.client() as client:
        page = client.get("/?example=1").text
        nobody = [client.get(f"/?example={number}").text for number in ("99", "-1", "x", "99999999")]
    assert field(page, "feature0") == "29"
    assert "counts as: young" in words(page)
    assert all("What is decided about you, and what can you do?" in words(one) for one in nobody)


def test_an_empty_form_is_no_mistake_until_it_is_sent(loan: Site) -> None:
    with loan.client() as client:
        drafts = [client.post("/", data={**START, "feature1": "", "do": "draft"}).text]
        drafts += [client.post("/", data={"do": "draft"}).text, client.post("/", data={**START, "do": "clear"}).text]
        sent = client.post("/", data={"do": "menu"}).text
        wrong = client.post("/", data={"feature0": "yuong", "do": "draft"}).text
    assert all("What is decided about you, and what can you do?" in words(page) for page in drafts)
    assert not any("Please fill this in" in words(page) for page in drafts)
    assert field(drafts[2], "cost0") == ""
    assert sent.count('<p class="mistake">Please fill this in.') == len(LOAN.features)
    assert "“yuong” is not one of the choices." in words(wrong)
    assert "Please fill this in" not in words(wrong)


def test_german(loan: Site) -> None:
    with loan.client() as client:
        page = client.get("/?language=de&example=0").text
        assert '<html lang="de">' in page
        told = words(page)
        answer = words(client.post("/", data={**START, "language": "de", "cost2": "1,5", "do": "menu"}).text)
        assert client.get("/?language=xx").text.startswith('<!doctype html>\n<html lang="en">')
    assert "Wie viel Risiko wollen Sie eingehen?" in told
    assert "2,19 Monate" in told
    assert "Am sichersten" in answer
    assert "nebenher studieren, 2. Versuch" in told  # the pictures too
    assert "Jeder Punkt ist einer von 100" in told


def test_another_language_without_a_script(credit: Site) -> None:
    """A button of the form sends all of it; numbers come back as the language writes them."""
    ada = fill_in(credit.service.problem, CREDIT["people"]["Ada"])
    form = {**ada, "given0": "33.5", "cost0": "1.25", "cannot1": "1", "language": "en", "position": "0", "history": "1"}
    with credit.client() as client:
        german = client.post("/", data={**form, "do": "speak:de"}).text
        fields = {name: field(german, name) for name in ("feature1", "given0", "cost0", "history", "language")}
        back = client.post("/", data={**form, **fields, "do": "speak:en"}).text
        odd = client.post("/", data={**form, "do": "speak:xx"}).text
    assert '<html lang="de">' in german
    assert fields == {"feature1": "8750,5", "given0": "33,5", "cost0": "1,25", "history": "1", "language": "de"}
    assert 'name="cannot1" value="1" checked' in german
    assert "misslungen" in words(german)
    assert [field(back, name) for name in ("feature1", "given0", "cost0")] == ["8750.5", "33.5", "1.25"]
    assert '<html lang="en">' in odd


def test_an_unfinished_form_in_another_language(credit: Site) -> None:
    with credit.client() as client:
        page = client.post("/", data={"feature1": "8,750.5", "given1": "0.7 l", "do": "speak:de"}).text
    assert (field(page, "feature1"), field(page, "given1")) == ("8750,5", "0.7 l")
    assert "Bitte" not in words(page).partition("Über Sie")[2].partition("Schritt 2")[0].replace("bitte wählen", "")


def test_saving_the_letter(loan: Site) -> None:
    with loan.client() as client:
        answer = client.post("/report", data={**START, "language": "de", "cannot1": "1", "do": "keep"})
        assert answer.headers["content-disposition"] == "attachment; filename=letter.html"
        assert "unsafe-inline" in answer.headers["content-security-policy"]
        assert "script" not in answer.headers["content-security-policy"]
        assert '<html lang="de">' in answer.text
        every = {f"cannot{number}": "1" for number in range(len(LOAN.actions))}
        none = client.post("/report", data={**START, **every, "do": "keep"})
        assert "As things are, no step is open to you." in words(none.text)
        wrong = client.post("/report", data={**START, "feature0": "?", "do": "keep"})
    assert "content-disposition" not in wrong.headers
    assert "Please check this again" in words(wrong.text)


def test_the_letter_is_about_the_plan_that_the_slider_stands_at(loan: Site) -> None:
    with loan.client() as client:
        told = [client.post("/report", data={**START, "position": str(at), "do": "keep"}).text for at in (0, 1, 99)]
    headings = [re.search("Your plan: [^<]*", text) for text in told]
    assert [found and found[0] for found in headings] == [
        "Your plan: safest (plan 1 of 2)",
        "Your plan: between safest and cheapest on average",
        "Your plan: cheapest on average (plan 2 of 2)",
    ]
    assert "This letter sets out the plan that was chosen, “safest”" in told[0]


def test_the_figures_of_the_letter(loan: Site) -> None:
    form = {**START, "position": "1", "do": "keep"}
    with loan.client() as client:
        answer, letter = client.post("/figures", data=form), client.post("/report", data=form)
        wrong = client.post("/figures", data={**form, "feature0": "?"})
    assert answer.headers["content-disposition"] == "attachment; filename=figures.json"
    assert answer.headers["content-type"] == "application/json"
    assert f"<dd>{answer.json()['reference']}</dd>" in letter.text
    assert len(answer.json()["menu"]["plans"]) == 2
    assert answer.json()["between"]["success"] > 0.999
    assert "Please check this again" in words(wrong.text)


def test_a_problem_without_people() -> None:
    with serve(replace(LOAN, people={})) as site, site.client() as client:
        assert "What is decided about you, and what can you do?" in words(client.get("/").text)
        assert "Just looking?" not in words(client.get("/").text)
        assert "Your application was not approved" in words(client.post("/", data=START).text)


@pytest.mark.parametrize(
    "body", [b"", b"do=outcome:9999999999999999", b"position=-1&do=slide", b"history=a,b,,&do=back"]
)
def test_odd_forms_do_no_harm(loan: Site, body: bytes) -> None:
    with loan.client() as client:
        headers = {"content-type": "application/x-www-form-urlencoded"}
        assert client.post("/", content=body, headers=headers).status_code == 200
        start = b"&".join(f"{name}={value}".encode() for name, value in START.items())
        assert client.post("/", content=start + b"&" + body, headers=headers).status_code == 200


def test_an_example_is_called_one_until_something_is_edited(loan: Site) -> None:
    """Or somebody in a hurry takes the decision about somebody else for theirs."""
    with loan.client() as client:
        page = client.get("/?example=0").text
    kept = {name: field(page, name) for name in ("example", "untouched")}
    banner = "This is an example person: applicant."
    assert banner in words(page)
    assert banner in words(ask(loan, **kept))
    assert banner in words(ask(loan, "outcome:1", **kept, position="2", history=""))
    moved = ask(loan, "here", **kept, position="2", history="1")
    assert banner in words(moved)
    assert field(moved, "untouched") != kept["untouched"]
    for edited in ({"feature1": "degree"}, {"cost1": "2"}, {"cannot1": "1"}):
        assert banner not in words(ask(loan, **kept, **edited))
    assert banner not in words(ask(loan))


def test_the_page_says_what_failing_counts(loan: Site, german: Site) -> None:
    assert "counts as 24 months more in the figures" in words(ask(loan))
    with german.client() as client:
        assert "the figures count only what you have spent" in words(client.get("/?example=0").text)


def test_a_menu_of_one_plan_does_not_change_what_somebody_weighs_how_much(loan: Site) -> None:
    page = ask(loan)
    assert field(page, "weight") == "1.0"
    numbers = {action.name: number for number, action in enumerate(LOAN.actions)}
    without = {f"cannot{numbers[name]}": "on" for name in ("study part-time", "change job")}
    alone = ask(loan, weight="1.0", **without)
    assert field(alone, "weight") == "1.0"
    assert field(ask(loan, weight=field(alone, "weight")), "weight") == "1.0"


def test_the_page_has_the_letters_that_pictures_are_laid_out_for(loan: Site) -> None:
    with loan.client() as client:
        page = client.get("/?example=0")
        style = client.get(re.findall(r'href="(/static/[^"]+style\.css)"', page.text)[0]).text
        fonts = [client.get(address) for address in re.findall(r"url\((/static/[^)]+\.otf)\)", style)]
    assert [font.status_code for font in fonts] == [200, 200]
    assert all(font.headers["content-type"] == "font/otf" and font.content[:4] == b"OTTO" for font in fonts)
    assert "font-src 'self'" in page.headers["content-security-policy"]
    assert "'SafeAR Sans'" in html.unescape(page.text)
