"""`docs/reliability.md` shows the last run of `make soak`, and names tests that are there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from soak import results
from soak.counts import Count, Failure, Tally, join_counts
from soak.parts import PARTS

ROOT = Path(__file__).parents[3]
NO_RUN = pytest.mark.skipif(not results.RESULTS.exists(), reason="NO RUN YET: make soak")
TEXT = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")


@NO_RUN
def test_the_figures_are_those_of_the_last_run() -> None:
    counts = results.read()
    assert [count.part for count in counts] == [part.name for part in PARTS]
    assert results.lay_out(counts) in TEXT


@NO_RUN
def test_the_last_run_was_long_enough_and_broke_nothing() -> None:
    everything = results.sum_up(results.read())
    assert everything.inputs >= 100_000
    assert everything.kills >= 500
    assert everything.broken == 0


def test_every_test_that_is_named_is_there() -> None:
    named = re.findall(r"`((?:tests|soak)/[\w/]+\.py)`", TEXT)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_a_run_can_be_written_and_read(tmp_path: Path) -> None:
    tally = Tally("kills")
    tally.add("kills", 3)
    tally.fail("lost", "half a file", "again")
    count = tally.done()
    assert (count.broken, count.failures) == (1, (Failure("lost", "half a file", "again"),))
    results.write([count], tmp_path / "results.json", seed=5)
    assert results.read(tmp_path / "results.json") == [count]
    assert json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["seed"] == 5
    joined = join_counts([count, Count("kills", kills=4, seconds=count.seconds + 1)])
    assert (joined.kills, joined.lost, joined.seconds) == (7, 1, count.seconds + 1)
