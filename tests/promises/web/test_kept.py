"""Menus that are kept for a while: for whom, how long, how many."""

from __future__ import annotations

import secrets

import safear as sa
from promises.web.conftest import Site, serve
from promises.web.test_person_page import START, field, words


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
