"""The run under load, in short: a real server, a few visitors and vandals, a model in all moods, a killed worker."""

from __future__ import annotations

import sys

import pytest
from soak.load import run_load
from soak.load_http import Answer, Tally


@pytest.mark.skipif(sys.platform != "linux", reason="what the server uses is read from /proc")
def test_no_promise_is_broken_under_load() -> None:
    """And everything was tried, or else nothing could have been broken."""
    record = run_load(clients=12, seconds=5, seed=1)
    assert record.broken == {}
    assert record.right > 0
    assert record.refused > 0
    assert record.model_failures + record.told_to_come_back > 0
    assert record.stuck_answers > 0
    assert record.megabytes_most >= record.megabytes_before > 0


def test_what_breaks_a_promise_is_seen() -> None:
    tally = Tally(troubles=[(5.0, 6.0)])
    tally.note("a", Answer(503, "retry-after: 5", b""), start=0.0, allowed={200})
    assert not tally.broken
    tally.note("a", Answer(503, "", b""), start=0.0, allowed={200})
    tally.note("b", Answer(502, "", b""), start=7.0, allowed={200})
    tally.note("c", Answer(500, "", b""), start=0.0, allowed={200})
    tally.note("d", Answer(404, "", b""), start=0.0, allowed={200})
    tally.note_cut("e", ConnectionResetError(), start=0.0)
    assert [name[0] for name in tally.broken] == ["a", "b", "c", "d", "e"]
