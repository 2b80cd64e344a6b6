"""The parts of make soak, in small, and what they are judged by."""

from __future__ import annotations

import itertools
import json
import logging
import re
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from soak import results
from soak.counts import Count, Failure, Tally, join_counts
from soak.judging import WrongError, judge
from soak.mutating import mutate_bytes, mutate_text, mutate_tree
from soak.parts import PARTS
from soak.readers import draw_input, list_targets, name_input, run
from soak.seeds import SMALL, problem_documents
from soak.targets import Target

from lanes import scaled
from safear.errors import InputError, MissingExtraError, SafearError

# -------------------------- A short version of each part of `make soak`, each in a process of its own, since they fork


ROOT = Path(__file__).parents[3]
MOST = {  # how many of each; `readers` and `load` have tests of their own
    "kills": 8,
    "commands": 40,
    "classifiers": 12,
    "disk": 27,
    "races": 2,
    "same_bytes": 2,
    "guided": 500,
    "users": 8,
}


@pytest.mark.parametrize("part", MOST)
def test_nothing_breaks(part: str, tmp_path: Path) -> None:
    record, most = tmp_path / "record.json", scaled(MOST[part], least=2)
    command = [sys.executable, "-m", "soak", part, "--most", str(most), "--seed", "17", "--json", str(record)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=500, check=False)
    (count,) = [Count.from_dict(found) for found in json.loads(record.read_text(encoding="utf-8"))["parts"]]
    assert (count.failures, done.returncode) == ((), 0)
    if count.note.startswith("left out"):
        pytest.skip(count.note)
    assert count.inputs + count.kills + count.compared > 0


def test_every_part_is_tried() -> None:
    assert {part.name for part in PARTS} - MOST.keys() == {"load", "readers"}


# ------------------------------------------------------------------- The rule by which `make soak` judges what is read


def fail(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize(
    ("error", "what", "told"),
    [
        (InputError.at(("x",), "is wrong", "do better"), "refused", ""),
        (MissingExtraError("DuckDB", "audit"), "refused", ""),
        (InputError([]), "wrong", "without a mistake"),
        (InputError.at(("x",), " "), "wrong", "without a cause"),
        (InputError.at(("x\x00",), "a" * 2001), "refused", ""),  # which words are ours to cut and to spell out
        (SafearError("a" * 2001), "wrong", "2,001"),
        (SafearError("'\x1b[31m'"), "wrong", "control"),
        (SafearError("x\x00: is wrong"), "wrong", "control"),
        (SafearError(""), "wrong", "empty"),
        (WrongError("a chance of 2"), "wrong", "a chance of 2"),
        (ValueError("no"), "tracebacks", "ValueError"),
        (RecursionError(), "tracebacks", "RecursionError"),
        (SystemExit(1), "tracebacks", "SystemExit"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_errors(error: BaseException, what: str, told: str) -> None:
    verdict = judge(lambda: fail(error))
    assert verdict.what == what
    assert told in verdict.told


def test_what_takes_too_long() -> None:
    assert judge(lambda: time.sleep(60), 0.05).told == "takes longer than 0.05 s"
    assert judge(lambda: all(True for _ in itertools.count()), 0.05).told == "takes longer than 0.05 s"
    assert judge(lambda: None).is_fine


# --------------- Broken inputs of every kind: a few hundred of each run of `make soak`, which reads a hundred thousand


EACH = 12
SLOW = {"batch: folder", "form", "people: CSV", "people: gzip", "people: Parquet", "people: row"}


@pytest.mark.parametrize("target", list_targets(), ids=lambda target: target.name)
def test_it_is_read_or_refused_by_an_error_of_ours(target: Target, tmp_path: Path) -> None:
    count, seen = run(1e9, 17, folder=tmp_path, most=3 if target.name in SLOW else EACH, only=[target.name])
    assert count.failures == ()
    assert count.inputs == len(seen) == count.read + count.refused


def test_an_input_is_the_same_whenever_it_is_drawn() -> None:
    for target in list_targets():
        assert name_input(draw_input(target, 3, 4)) == name_input(draw_input(target, 3, 4))


def test_who_comes_after_is_heard(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run(1e9, 1, folder=tmp_path, most=3, only=["API"])
    for name in ("safear", "uvicorn"):
        logging.getLogger(name).error("something")
    assert caplog.messages == ["something"] * 2


def test_what_comes_out_as_it_was_is_not_counted(tmp_path: Path) -> None:
    (target,) = (one for one in list_targets() if one.name == "objective")
    count, seen = run(1e9, 1, folder=tmp_path, most=300, only=[target.name])
    assert count.inputs == len(seen) == 300
    assert not seen & {name_input((target.name, value)) for value in target.originals()}


def test_mutations_leave_the_original_alone_and_come_from_the_seed() -> None:
    document = problem_documents()[0]
    before = repr(document)
    drawn = [repr(mutate_tree(Random(number), document)) for number in range(50)]
    assert drawn == [repr(mutate_tree(Random(number), document)) for number in range(50)]
    assert repr(document) == before
    assert len({*drawn, before}) > 40
    assert len({mutate_text(Random(number), SMALL) for number in range(50)}) > 40
    assert len({mutate_bytes(Random(number), SMALL.encode()) for number in range(50)}) > 40


# ----------------------------- `docs/reliability.md` shows the last run of `make soak`, and names tests that are there


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
