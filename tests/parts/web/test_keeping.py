"""Files are made and opened by workers, as one piece of work each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

import safear as sa
from doors import Workers, keeping
from promises.web.conftest import Site, serve
from promises.web.test_keeping import open_again, save
from promises.web.test_person_page import START, words


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
