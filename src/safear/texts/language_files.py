"""The files of the languages: which there are. It loads nothing, so that `--help` can name them at once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

SUFFIX = ".yaml"
_FOLDER = Path(__file__).parent


@cache
def languages() -> tuple[str, ...]:
    """The languages that there are texts in."""
    names = sorted(item.name for item in _FOLDER.iterdir())
    return tuple(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))


def read_language(language: str) -> str:
    """What the file of a language says."""
    return (_FOLDER / f"{language}{SUFFIX}").read_text(encoding="utf-8")
