"""What tests of several commands ask for."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from promises.cli.conftest import Safear


def plans(safear: Safear, *arguments: object) -> list[dict[str, Any]]:
    answer = safear("recommend", *arguments, "--json")
    assert (answer.code, answer.err) == (0, "")
    found: list[dict[str, Any]] = answer.json["plans"]
    return found


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")
    return name
