"""Broken inputs of every kind: a few hundred of each run of `make soak`, which reads a hundred thousand."""

from __future__ import annotations

import logging
from pathlib import Path
from random import Random

import pytest
from soak.mutating import mutate_bytes, mutate_text, mutate_tree
from soak.readers import draw_input, list_targets, name_input, run
from soak.seeds import SMALL, problem_documents
from soak.targets import Target

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
