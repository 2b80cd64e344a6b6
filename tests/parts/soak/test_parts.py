"""A short version of each part of `make soak`, each in a process of its own, since they fork."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from soak.counts import Count
from soak.parts import PARTS

from lanes import scaled

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
