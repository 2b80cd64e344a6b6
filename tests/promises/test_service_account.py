"""Installed by root, run by an account for a service: it may read the package, has no home, and writes hardly anywhere.

These are the conditions in a container (`container/Containerfile`), without one: another user, a package that cannot be
written, and once a system on which nothing can be.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import safear
from accounts import NOBODY, as_nobody, frozen, only_root
from safear.cli.main import cli

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


def test_the_recipe_of_a_container() -> None:
    """There is no engine to build it: what it names is there, and the server understands what it is told."""
    recipe = (ROOT / "container" / "Containerfile").read_text(encoding="utf-8")
    sources = set(re.findall(r"source=(\w+)", recipe))
    assert sources == {"container", "dist"}
    assert "\nUSER 65534:65534\n" in recipe
    (told,) = re.findall(r"^CMD (.*)$", recipe, re.MULTILINE)
    command, *arguments = json.loads(told)
    found = cli.get_command(click.Context(cli), command)
    assert found
    options = found.make_context(command, arguments).params
    assert (options["host"], options["names"], options["no_analyst"]) == ("0.0.0.0", ("localhost",), True)
