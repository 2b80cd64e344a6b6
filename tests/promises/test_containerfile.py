"""The recipe of the container, and what it installs: pinned, with hashes."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from promises.cli.conftest import SCRIPT
from safear.cli.main import cli

# --------------------------- The recipe of the container fits the program: there is no engine here that could build it


ROOT = Path(__file__).parents[2]
RECIPE = (ROOT / "container" / "Containerfile").read_text(encoding="utf-8")
IGNORE = ROOT / ".containerignore"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MADE = {"dist"}  # by `make dist`, before an image is built
PORT = "8000"
ALONE = ["unshare", "--pid", "--fork", "--kill-child"]


def read_recipe() -> list[tuple[str, str]]:
    """The instructions in their order, each on one line, with the arguments' defaults filled in."""
    lines = "\n".join(line for line in RECIPE.splitlines() if not line.startswith("#")).replace("\\\n", " ")
    found = [(word, " ".join(rest.split())) for word, _, rest in (line.partition(" ") for line in lines.splitlines())]
    defaults = dict(rest.split("=") for word, rest in found if word == "ARG")
    return [
        (word, re.sub(r"\$\{(\w+)\}", lambda match: defaults[match[1]], rest)) for word, rest in found if word.strip()
    ]


def find(word: str) -> list[str]:
    """What the instructions of a kind say."""
    return [rest for known, rest in read_recipe() if known == word]


def read_environment() -> dict[str, str]:
    """The variables that it sets."""
    return dict(pair.split("=", 1) for rest in find("ENV") for pair in shlex.split(rest))


def read_check() -> list[str]:
    """The command that looks whether the server is well."""
    (check,) = find("HEALTHCHECK")
    command: list[str] = json.loads(check.partition("CMD ")[2])
    return command


def read_start() -> list[str]:
    """What the container runs, and with what."""
    (entry,), (arguments,) = map(json.loads, find("ENTRYPOINT")), map(json.loads, find("CMD"))
    return [*entry, *arguments]


def parse(arguments: list[str]) -> dict[str, Any]:
    """What the program makes of arguments; it refuses options that it does not have, and values that do not fit."""
    command = cli.get_command(click.Context(cli), arguments[0])
    assert command is not None, arguments
    return command.make_context(arguments[0], arguments[1:], parent=click.Context(cli, **cli.context_settings)).params


def list_sources() -> set[str]:
    """What it takes from the folder in which it is built: by COPY, by ADD and by mounts."""
    copied = [rest.split()[:-1] for word, rest in read_recipe() if word in {"COPY", "ADD"}]
    mounted = re.findall(r"--mount=type=bind,source=([^,\s]+)", " ".join(find("RUN")))
    return {source for sources in [*copied, mounted] for source in sources if not source.startswith("--")}


def is_ignored(path: str) -> bool:
    """Whether .containerignore leaves a path out: the last line that fits decides."""
    ignored = False
    for line in IGNORE.read_text(encoding="utf-8").splitlines():
        pattern = line.strip().removeprefix("!")
        if pattern and not pattern.startswith("#") and (fnmatch(path, pattern) or path.startswith(f"{pattern}/")):
            ignored = not line.startswith("!")
    return ignored


def test_everything_that_it_takes_is_there_and_not_ignored() -> None:
    assert list_sources()
    for source in list_sources():
        assert source in MADE or (ROOT / source).exists(), source
    if not IGNORE.exists():
        pytest.skip("an sdist has no .containerignore")
    assert [source for source in list_sources() if is_ignored(source)] == []
    assert is_ignored("src")
    assert is_ignored(".venv")


def test_every_file_that_it_names_below_a_mount_is_there() -> None:
    """And is in a folder that the same step mounts."""
    for step in find("RUN"):
        mounts = {target: source for source, target in re.findall(r"source=(\w+),target=([/\w]+)", step)}
        named = re.findall(r"(?<==|\s)(/build/\w+)/([\w.*]+)", step)
        assert named
        for folder, name in named:
            assert mounts[folder] in MADE or (ROOT / mounts[folder] / name).is_file()
    assert "--require-hashes -r /build/container/requirements.txt" in " ".join(find("RUN"))


def test_its_python_is_one_that_the_package_takes() -> None:
    (image,) = find("FROM")
    found = re.fullmatch(r"python:(3\.\d+)-slim", image)
    assert found is not None
    assert SpecifierSet(PROJECT["requires-python"]).contains(found[1])
    assert f"Programming Language :: Python :: {found[1]}" in PROJECT["classifiers"]


def test_what_it_installs_are_the_extras_of_a_server() -> None:
    """Those that the Makefile asks for, and no others that are large."""
    text = (ROOT / "container" / "requirements.txt").read_text(encoding="utf-8")
    pinned = {Requirement(line.split(" \\")[0]).name for line in text.splitlines() if "==" in line}
    whole = {
        extra
        for extra, asked in PROJECT["optional-dependencies"].items()
        if {Requirement(one).name for one in asked} <= pinned
    }
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (named,) = re.findall(r"\$\(addprefix --extra ,([\w ]+)\) pyproject\.toml --output-file", makefile)
    assert set(named.split()) <= whole
    assert whole - set(named.split()) <= {"sklearn", "paper"}  # which come with skops
    described = (ROOT / "docs" / "web.md").read_text(encoding="utf-8")
    (said,) = re.findall(r"`container/Containerfile` builds an image with the extras ([^:]+):", described)
    assert set(re.findall(r"`(\w+)`", said)) == set(named.split())


def test_the_program_understands_how_it_is_started() -> None:
    program, *arguments = read_start()
    assert program in PROJECT["scripts"]
    options = parse(arguments)
    assert options["host"] == "0.0.0.0"  # all of the container, or nobody comes in
    assert options["names"]  # without which that is refused
    assert options["no_analyst"]
    assert options["workers"] == 1


def test_the_program_understands_the_commands_that_its_first_lines_show() -> None:
    lines = re.sub(r"\\\n#", " ", RECIPE)
    shown = [shlex.split(rest) for rest in re.findall(r"^#   podman run .*? safear(?: (.*))?$", lines, re.MULTILINE)]
    assert len(shown) == 2
    for arguments in filter(None, shown):
        assert parse(arguments)["names"]
    targets = re.findall(r"^#   make (\w+)$", RECIPE, re.MULTILINE)
    assert targets == sorted(MADE)


def test_its_python_scripts_and_its_health_check_are_python() -> None:
    for script in re.findall(r"python /build/(\S+)", " ".join(find("RUN"))):
        compile((ROOT / script).read_text(encoding="utf-8"), script, "exec")
    python, flag, code = read_check()
    assert (python, flag) == ("python", "-c")
    compile(code, "HEALTHCHECK", "exec")


def test_it_does_not_run_as_root() -> None:
    """And is no longer root when it runs; before, it installs."""
    words = [word for word, _ in read_recipe()]
    (user,) = find("USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    assert max(at for at, word in enumerate(words) if word == "RUN") < words.index("USER") < words.index("CMD")


def test_all_speak_of_one_port() -> None:
    assert find("EXPOSE") == [PORT] == [str(parse(read_start()[1:])["port"])]
    assert re.findall(r"http://127\.0\.0\.1:(\d+)/", read_check()[2]) == [PORT]
    assert set(re.findall(r"-p (\d+):(\d+)", RECIPE)) == {(PORT, PORT)}


@cache
def known_variables() -> set[str]:
    """Those that Python and the package read."""
    python = subprocess.run([sys.executable, "--help-env"], capture_output=True, encoding="utf-8", check=True).stdout
    sources = (file.read_text(encoding="utf-8") for file in (ROOT / "src").rglob("*.py"))
    ours = (name for text in sources if "environ" in text for name in re.findall(r'"([A-Z_]{3,})"', text))
    return {*re.findall(r"^(PYTHON\w+)", python, re.MULTILINE), *ours}


def test_somebody_reads_the_variables_that_it_sets() -> None:
    assert {"SAFEAR_CACHE", "SAFEAR_CORE", "TMPDIR"} <= known_variables()
    assert read_environment().keys() <= known_variables()


def run_check(port: int) -> int:
    """What the health check ends with; it is asked as the container asks it."""
    _, flag, code = read_check()
    command = [sys.executable, flag, code.replace(f":{PORT}/", f":{port}/")]
    return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode


def as_first_process() -> list[str]:
    """What comes before a command that is to be process 1, as in a container; nothing where that is impossible."""
    if shutil.which("unshare") is None or subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode:
        return []
    return ALONE


@pytest.mark.usefixtures("heeded")
def test_the_server_is_well_without_a_home_or_a_folder_to_write_in_and_stops() -> None:
    """As process 1, which no signal ends unless it handles that."""
    arguments = ["127.0.0.1" if one == "0.0.0.0" else one for one in read_start()[1:]]
    environment, first = {"PATH": os.environ["PATH"], **read_environment()}, as_first_process()
    command = [*first, SCRIPT, *arguments, "--port", "0"]
    with subprocess.Popen(command, cwd="/proc", env=environment, stdout=subprocess.PIPE, encoding="utf-8") as process:
        try:
            assert process.stdout is not None
            (port,) = map(int, re.findall(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline()))
            assert run_check(port) == 0
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            begin = time.monotonic()
            os.kill(int(children.read_text().split()[0]) if first else process.pid, signal.SIGTERM)
            assert process.wait(30) == (0 if first else -signal.SIGTERM)
            assert time.monotonic() - begin < 15  # two seconds, and what a busy machine adds
            assert run_check(port) != 0
        finally:
            process.kill()


# ---------------------------------- What the container installs: pinned, with hashes, and what pyproject.toml asks for


EXTRAS = ("audit", "http", "report", "skops", "web")  # as in the Makefile


def read_pins() -> list[tuple[Requirement, int]]:
    """Each line of the file, and how many hashes it has."""
    text = (ROOT / "container" / "requirements.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.split("--hash=sha256:") for line in text.splitlines() if line.strip()]
    assert all(re.fullmatch("[0-9a-f]{64}", one.strip()) for _, *hashes in lines for one in hashes)
    return [(Requirement(first), len(hashes)) for first, *hashes in lines]


def test_everything_is_pinned_with_hashes() -> None:
    for pin, hashes in read_pins():
        assert hashes, pin
        assert [one.operator for one in pin.specifier] == ["=="], pin
        assert pin.url is None


def test_what_is_asked_for_is_pinned_in_a_version_that_will_do() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *(one for extra in EXTRAS for one in project["optional-dependencies"][extra])]
    for line in asked:
        wanted = Requirement(line)
        for python in ("3.11", "3.12", "3.13"):
            found = [pin for pin, _ in read_pins() if pin.name == wanted.name and applies(pin.marker, python)]
            assert len(found) == 1, (line, python)
            assert wanted.specifier.contains(Version(next(iter(found[0].specifier)).version)), line


def applies(marker: Marker | None, python: str) -> bool:
    where = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": "linux"}
    return marker is None or marker.evaluate(where)
