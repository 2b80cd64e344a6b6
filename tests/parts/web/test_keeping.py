"""Menus that the server keeps for a while, and what it logs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import safear as sa
from doors import LEAST, KeptMenus, Logbook, ModelWatch, Workers, keeping, log_crash, make_key, make_ticket
from promises.web.conftest import APPLICANT, Site, serve
from promises.web.test_keeping import open_again, save
from promises.web.test_person_page import START, words
from safear.errors import ClassifierError

# ----------------------------------------------------- Files are made and opened by workers, as one piece of work each


@pytest.fixture(scope="module")
def loan() -> Iterator[Site]:
    with serve(sa.load_example("loan")) as site:
        yield site


def test_opening_a_file_is_one_piece_of_work(loan: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two would have twice the time."""
    plan, run, started = save(loan, "/plan", position="0"), Workers.run, []

    def count(*given: Any) -> Any:
        started.append(given)
        return run(*given)

    monkeypatch.setattr(Workers, "run", count)
    assert "Your saved plan" in words(open_again(loan, plan))
    assert len(started) == 1


@pytest.mark.parametrize("name", ["report_menu", "report_figures", "save_chosen", "open_saved"])
def test_what_takes_long_is_made_by_a_worker(loan: Site, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Not where requests are taken: everybody else would wait."""
    plan, made = save(loan, "/plan", position="0"), getattr(keeping, name)
    loops: list[asyncio.AbstractEventLoop | None] = []

    def watch(*args: Any, **named: Any) -> Any:
        loops.append(asyncio._get_running_loop())  # None on the thread of a worker
        return made(*args, **named)

    monkeypatch.setattr(keeping, name, watch)
    with loan.client() as client:
        for path in ("/report", "/figures", "/plan"):
            assert "attachment" in client.post(path, data={**START, "do": "keep"}).headers["content-disposition"]
    assert "Your saved plan" in words(open_again(loan, plan))
    assert loops == [None]


# ------------------------------------------- Menus that are kept for a while: how long, how many, and under which keys


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


# ------------------------------------------------------------ What the log is told of failures, however many meet them


def test_the_same_failure_is_told_once_in_a_while(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever asks again and again could fill a disk. All who meet it find it under the reference that they have."""
    logbook = Logbook()
    with caplog.at_level(logging.ERROR), ThreadPoolExecutor(8) as threads:
        found = set(threads.map(lambda _: logbook.tell("it is down"), range(500)))
    assert len(found) == 1
    assert caplog.messages == [f"{found.pop()}: it is down"]


def test_another_failure_and_a_later_one_are_told(caplog: pytest.LogCaptureFixture) -> None:
    patient, forgetful = Logbook(), Logbook(seconds=0)
    with caplog.at_level(logging.ERROR):
        references = {patient.tell("it is down"), patient.tell("it is slow")}
        references |= {forgetful.tell("it is down"), forgetful.tell("it is down")}
    assert len(references) == len(caplog.messages) == 4


def test_failures_of_a_model_and_crashes_are_told_so(caplog: pytest.LogCaptureFixture) -> None:
    watch = ModelWatch()

    def fail(number: int) -> str:
        return watch.note_failure(ClassifierError.at(("classifier",), f"about {number}", code="classifier_failed"))

    with caplog.at_level(logging.ERROR):
        assert len({fail(number) for number in range(100)}) == 1
        assert len({log_crash(ZeroDivisionError(str(number))) for number in range(100)}) == 1
    assert len(caplog.messages) == 2
    assert watch.is_failing
