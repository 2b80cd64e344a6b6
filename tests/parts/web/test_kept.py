"""Menus that are kept for a while: how long, how many, and under which keys."""

from __future__ import annotations

import safear as sa
from doors import LEAST, KeptMenus, make_key, make_ticket
from promises.web.conftest import APPLICANT

MENU = sa.recommend(sa.load_example("loan"))


def test_what_was_not_looked_at_for_two_minutes_is_forgotten() -> None:
    now = 1000.0
    kept = KeptMenus(clock=lambda: now)
    kept.keep(b"one", MENU)
    kept.keep(b"other", MENU)
    now = 1072
    assert kept.find(b"one") is MENU
    now = 1121
    assert kept.find(b"other") is None
    assert kept.find(b"one") is MENU
    now = 1240
    kept.forget_old()
    assert len(kept) == 1
    now = 1242
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
    assert make_key(ticket, APPLICANT, sa.Terms()) == make_key(ticket, other, sa.Terms())
    assert make_key(ticket, APPLICANT, sa.Terms()) != make_key(ticket, APPLICANT, sa.Terms(forbid=("change job",)))
