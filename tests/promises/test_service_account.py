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
# Numba is loaded as for a large problem: this one would be solved before. Of what that takes to compile, this is least.
MAIN = "import numba; from safear.cli.main import main; main()"
COMPILED = ["-c", MAIN, "recommend", "loan", "--objective", "mean"]


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder that others can enter, which pytest's are not, with the package; Numba has compiled nothing there."""
    folder = Path(tempfile.mkdtemp(prefix="safear-test-"))
    folder.chmod(0o755)
    shutil.copytree(SOURCE, folder / "package" / "safear", ignore=shutil.ignore_patterns("*.nb?"))
    (folder / "temporary").mkdir()
    os.chown(folder / "temporary", NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder)


def run(
    command: list[str], *, package: Path, temporary: str = "/nonexistent", chosen: str | None = None
) -> tuple[str, str]:
    """What a command prints, on both streams; `chosen` is where compiled code is kept."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"HOME": "/nonexistent", "TMPDIR": temporary, "COLUMNS": "110"}
    environment |= {"NUMBA_CACHE_DIR": chosen} if chosen else {}
    done = subprocess.run(
        command, env=environment, cwd=package, capture_output=True, encoding="utf-8", timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def compiled_lines(said: str) -> list[str]:
    return [line for line in said.splitlines() if "compiled" in line]


def of_root(*arguments: str) -> str:
    """What root prints, with all that was compiled before."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    folder = str(Path(chosen).absolute()) if chosen else None
    command = [sys.executable, *arguments]
    return run(command, package=SOURCE.parent, temporary=tempfile.gettempdir(), chosen=folder)[0]


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
def test_compiled_code_is_kept_among_temporary_files(place: Path) -> None:
    """The second run loads what the first has compiled. Nobody else's folder of that name is used."""
    nobodys = [*as_nobody(), sys.executable, *COMPILED]
    folder = place / "temporary" / f"safear-compiled-{NOBODY}"
    expected = of_root(*COMPILED)
    folder.mkdir(mode=0o777)  # it is root's
    folder.chmod(0o777)
    shown, said = run([*nobodys, "--verbose"], package=place / "package", temporary=str(folder.parent))
    assert shown == expected
    assert compiled_lines(said) == ["compiled code is not kept: no folder takes it"]
    assert list(folder.iterdir()) == []
    folder.rmdir()
    for _ in range(2):
        shown, said = run([*nobodys, "--verbose"], package=place / "package", temporary=str(folder.parent))
        assert shown == expected
        assert compiled_lines(said) == [f"compiled code is kept in {folder}"]
        made = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
        assert made
    assert run(nobodys, package=place / "package", temporary=str(folder.parent)) == (expected, "")
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == made
    assert {(path.suffix, path.stat().st_uid) for path in made} == {(".nbc", NOBODY)}


@only_root
def test_compiled_code_beside_the_sources_is_used_by_those_who_cannot_write_there(place: Path) -> None:
    """What root compiles when a container is built serves whoever runs it."""
    built = place / "built"
    shutil.copytree(place / "package", built)
    command = [sys.executable, *COMPILED]
    expected, _ = run(command, package=built)
    kept = {path: path.stat().st_mtime_ns for path in built.rglob("*.nbc")}
    assert kept
    shown, said = run([*as_nobody(), *command, "--verbose"], package=built)
    assert shown == expected
    (line,) = compiled_lines(said)
    assert line.startswith(f"compiled code is kept in {built}")
    assert {path: path.stat().st_mtime_ns for path in built.rglob("*.nbc")} == kept


@only_root
def test_nothing_can_be_written(place: Path) -> None:
    """Not even temporary files: each process compiles what it needs."""
    nobody = [*frozen(), *as_nobody(), sys.executable]
    shown, said = run([*nobody, *COMPILED, "--verbose"], package=place / "package", temporary=tempfile.gettempdir())
    assert shown == of_root(*COMPILED)
    assert compiled_lines(said) == ["compiled code is not kept: no folder takes it"]
    assert run([*nobody, "-m", "safear", "demo"], package=place / "package") == (of_root("-m", "safear", "demo"), "")


def test_the_recipe_of_a_container() -> None:
    """There is no engine to build it: what it names is there, and the server understands what it is told."""
    recipe = (ROOT / "container" / "Containerfile").read_text(encoding="utf-8")
    sources = set(re.findall(r"source=(\w+)", recipe))
    assert sources == {"container", "dist", "tools"}
    for path in re.findall(r"/build/(tools/[\w.]+)", recipe):
        assert (ROOT / path).is_file()
    assert "\nUSER 65534:65534\n" in recipe
    (told,) = re.findall(r"^CMD (.*)$", recipe, re.MULTILINE)
    command, *arguments = json.loads(told)
    found = cli.get_command(click.Context(cli), command)
    assert found
    options = found.make_context(command, arguments).params
    assert (options["host"], options["names"], options["no_analyst"]) == ("0.0.0.0", ("localhost",), True)
