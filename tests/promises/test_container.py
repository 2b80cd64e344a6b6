"""What the container installs: pinned, with hashes, and what pyproject.toml asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
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
