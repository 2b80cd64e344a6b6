"""Menus that are kept for a while: for whom, how long, how many."""

from __future__ import annotations

import time
from typing import Any

import pytest

import safear as sa
from safear.problem.terms import Terms
from safear.web.kept import LEAST, KeptMenus, make_key, make_ticket
from safear.web.service import Service
from web.conftest import APPLICANT, Site, run_site
from web.test_person_page import START, field, words

MENU = sa.recommend(sa.load_example("loan"))


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows with each menu that is solved."""
    found: list[object] = []
    answer = Service.answer

    def counted(self: Service, *given: Any, **more: Any) -> sa.Menu:
        found.append(given)
        return answer(self, *given, **more)

    monkeypatch.setattr(Service, "answer", counted)
    return found


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
    for more in ({"cost0": "3"}, {"cannot1": "1"}, {"feature0": "adult"}, {"ticket": make_ticket("")}, {"ticket": "1"}):
        before = len(solved)
        ask(loan, "menu", **{"ticket": ticket, **more})
        assert len(solved) == before + 1


def test_examples_are_the_same_for_everybody(solved: list[object]) -> None:
    with run_site(Service.of(sa.load_example("loan"))) as site, site.client() as client:
        pages = [client.get("/?example=0").text for _ in range(3)]
    assert len(solved) == 1
    assert len({field(page, "ticket") for page in pages}) == 3


def test_what_was_not_looked_at_for_a_while_is_forgotten() -> None:
    kept = KeptMenus(seconds=0.5)
    kept.keep(b"one", MENU)
    kept.keep(b"other", MENU)
    time.sleep(0.3)
    assert kept.find(b"one") is MENU
    time.sleep(0.3)
    assert kept.find(b"other") is None
    assert kept.find(b"one") is MENU
    time.sleep(0.6)
    kept.forget_old()
    assert len(kept) == 0


def test_there_is_room_for_so_many() -> None:
    kept = KeptMenus(room=2 * LEAST)
    for key in (b"1", b"2"):
        kept.keep(key, MENU)
    kept.find(b"1")
    kept.keep(b"3", MENU)
    assert [kept.find(key) for key in (b"1", b"2", b"3")] == [MENU, None, MENU]
    none = KeptMenus(room=LEAST - 1)
    none.keep(b"1", MENU)
    assert len(none) == 0


def test_tickets_and_keys() -> None:
    ticket = make_ticket("")
    assert make_ticket(ticket) == ticket != make_ticket("")
    assert all(make_ticket(given) != given for given in ("x", "A" * 32, ticket + "0"))
    other = dict(reversed(APPLICANT.items()))
    assert make_key(ticket, APPLICANT, Terms()) == make_key(ticket, other, Terms())
    assert make_key(ticket, APPLICANT, Terms()) != make_key(ticket, APPLICANT, Terms(forbid=("change job",)))
