"""`--verbose`: the library's log on the error stream, and only while the command runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crowds import JOB

if TYPE_CHECKING:
    from promises.cli.conftest import Safear


@pytest.mark.parametrize("name", ["recommend", "audit", "compare", "check", "batch"])
def test_commands_that_have_it(name: str, safear: Safear) -> None:
    assert "--verbose" in safear(name, "--help").out


def test_recommend(safear: Safear, tmp_path: Path) -> None:
    """The result on one stream, the memory on the other; without it the other is empty."""
    (tmp_path / "job.yaml").write_text(JOB, encoding="utf-8")
    (tmp_path / "p.json").write_text('{"skill": "basic", "age": "30-50", "gender": "male"}', encoding="utf-8")
    arguments = ["recommend", "job.yaml", "--person", "p.json", "--json"]
    quiet, loud = safear(*arguments), safear(*arguments, "--verbose")
    assert (quiet.code, loud.code) == (0, 0)
    assert quiet.err == ""
    assert loud.json == quiet.json
    assert loud.err.splitlines()
    others = [line for line in loud.err.splitlines() if not ("about" in line and line.endswith("of memory"))]
    assert not others or others[0].startswith("compiled code is ")  # if this process was the first to load it
    assert len(others) <= 1


WARNING_MODEL = """
import warnings

def decide(frame):
    warnings.warn("\\x1b[31mred\\x1b[0m\\nnext", stacklevel=1)
    return [False] * len(frame)
"""


def test_what_a_model_warns_of_is_no_order_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(WARNING_MODEL, encoding="utf-8")
    command = [sys.executable, "-W", "always", "-m", "safear", "recommend", "loan", "--classifier", "model.py:decide"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert "UserWarning: \\u001b[31mred\\u001b[0m\nnext" in done.stderr
    assert "\x1b" not in done.stderr
