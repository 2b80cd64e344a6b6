"""Installed by root, run by an account for a service: it may read the package, has no home, and writes hardly anywhere.

These are the conditions in a container (`container/Containerfile`), without one: another user, a package that cannot be
written, and once a system on which nothing can be.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import safear
from accounts import NOBODY, as_nobody, frozen, only_root

SOURCE = Path(safear.__file__).parent
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder that others can enter, which pytest's are not, with the package as a wheel has it."""
    folder = Path(tempfile.mkdtemp(prefix="safear-test-"))
    folder.chmod(0o755)
    shutil.copytree(SOURCE, folder / "package" / "safear", ignore=shutil.ignore_patterns("_renew.py"))
    (folder / "temporary").mkdir()
    os.chown(folder / "temporary", NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder)


def run(command: list[str], *, package: Path, temporary: str = "/nonexistent") -> tuple[str, str]:
    """What a command prints, on both streams."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"HOME": "/nonexistent", "TMPDIR": temporary, "COLUMNS": "110"}
    done = subprocess.run(
        command, env=environment, cwd=package, capture_output=True, encoding="utf-8", timeout=250, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def of_root(*arguments: str) -> str:
    """What root prints."""
    return run([sys.executable, *arguments], package=SOURCE.parent, temporary=tempfile.gettempdir())[0]


@only_root
@pytest.mark.parametrize("arguments", ["demo", "recommend loan", "compare loan", "check loan --json"])
def test_commands(place: Path, arguments: str) -> None:
    command = ["-m", "safear", *arguments.split()]
    shown = run([*as_nobody(), sys.executable, *command], package=place / "package")
    assert shown == (of_root(*command), "")


@only_root
def test_a_picture(place: Path) -> None:
    command = ["-m", "safear", "plot", "traces", "loan", "--out"]
    pictures = place / "temporary" / "nobodys.svg", place / "roots.svg"
    run([*as_nobody(), sys.executable, *command, str(pictures[0])], package=place / "package")
    of_root(*command, str(pictures[1]))
    assert pictures[0].read_bytes() == pictures[1].read_bytes()
    assert pictures[0].stat().st_uid == NOBODY


@only_root
def test_nothing_can_be_written(place: Path) -> None:
    """Not even temporary files: the core needs none."""
    nobody = [*frozen(), *as_nobody(), sys.executable]
    assert run([*nobody, "-m", "safear", "demo"], package=place / "package") == (of_root("-m", "safear", "demo"), "")
