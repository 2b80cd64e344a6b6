"""What the server takes and keeps: uploads, JSON, menus."""

from __future__ import annotations

import json
import secrets

import pytest

import safear as sa
from parts.web.test_forms import MALFORMED
from promises.web.conftest import APPLICANT, MOST_BYTES, Site, serve
from promises.web.test_person_page import START, field, words

# -------------------------------------------------------------------------------------------- Forms with files in them


def test_the_page_says_that_it_is_no_form(loan: Site) -> None:
    with loan.client() as client:
        for header, body in [one for one in MALFORMED[:-3] if len(one[1]) <= MOST_BYTES]:
            assert client.post("/open", content=body, headers={"content-type": header}).status_code == 400


# ----------------------------------------------------------------------------------------------- JSON that people send


PERSON = json.dumps(APPLICANT)
TWICE = PERSON.replace('"age"', '"age": "senior", "age"')


@pytest.mark.parametrize("path", ["decide", "menu", "plan", "plan-step"])
def test_the_api_takes_no_name_twice(loan: Site, path: str) -> None:
    body, kind = f'{{"person": {TWICE}}}', {"content-type": "application/json"}
    with loan.client() as client:
        answer = client.post(f"/api/v1/{path}", content=body, headers=kind)
        plain = client.post(f"/api/v1/{path}", content=body.replace(TWICE, PERSON), headers=kind)
    assert (answer.status_code, plain.status_code) == (422, 200)
    (mistake,) = answer.json()["mistakes"]
    assert (mistake["code"], mistake["cause"]) == ("twice", "'age' is given twice")


@pytest.mark.parametrize(("body", "status"), [("[" * 60_000, 400), ('{"person"', 422), ("", 422), ("9" * 5000, 400)])
def test_what_is_no_json_is_told_as_before(loan: Site, body: str, status: int) -> None:
    with loan.client() as client:
        answer = client.post("/api/v1/menu", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status


# ------------------------------------------------------- Menus that are kept for a while: for whom, how long, how many


def ask(site: Site, wish: str, **more: str) -> str:
    with site.client() as client:
        return client.post("/", data={**START, "do": wish, **more}).text


def test_the_slider_and_the_walk_need_no_solving(loan: Site, solved: list[object]) -> None:
    page = ask(loan, "menu")
    ticket = field(page, "ticket")
    moved = [ask(loan, "slide", ticket=ticket, position=position) for position in "012"]
    ask(loan, "outcome:0", ticket=ticket, position="0")
    with loan.client() as client:
        client.post("/report", data={**START, "ticket": ticket})
    assert len(solved) == 1
    assert {field(one, "ticket") for one in moved} == {ticket}
    fresh = [ask(loan, "slide", position=position) for position in "012"]
    assert [words(one) for one in moved] == [words(one) for one in fresh]
    assert len(solved) == 4


def test_another_question_or_another_page_is_solved_anew(loan: Site, solved: list[object]) -> None:
    """So how quick an answer comes says nothing of what others have asked."""
    ticket = field(ask(loan, "menu"), "ticket")
    for more in (
        {"cost0": "3"},
        {"cannot1": "1"},
        {"feature0": "adult"},
        {"ticket": secrets.token_hex(16)},
        {"ticket": "1"},
    ):
        before = len(solved)
        ask(loan, "menu", **{"ticket": ticket, **more})
        assert len(solved) == before + 1


def test_examples_are_the_same_for_everybody(solved: list[object]) -> None:
    with serve(sa.load_example("loan")) as site, site.client() as client:
        pages = [client.get("/?example=0").text for _ in range(3)]
    assert len(solved) == 1
    assert len({field(page, "ticket") for page in pages}) == 3
