"""How wide texts are in the letters of the pictures, and texts cut or wrapped to the room that there is.

Pictures are laid out for the font beside this file. It is a wide one: what fits in it fits in most others that a page
may be shown in.
"""

from __future__ import annotations

import json
import unicodedata
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "fonts"
ELLIPSIS = "…"
OTHER = 0.92  # how wide a letter is that the font does not have, in font sizes


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """How wide a text is; letters that the font does not have are guessed, rather too wide than too narrow."""
    advances = _read_advances()["bold" if bold else "regular"]
    return size * sum(advances[letter] if letter in advances else _guess(letter, advances) for letter in text)


@cache
def _read_advances() -> dict[str, dict[str, float]]:
    """The advance of each letter of either weight, in font sizes."""
    table: dict[str, dict[str, float]] = json.loads((FOLDER / "advances.json").read_text(encoding="utf-8"))
    return table


def _guess(letter: str, advances: dict[str, float]) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in {"W", "F"}:
        return 1.0
    return advances.get(unicodedata.normalize("NFD", letter)[0], OTHER)


def shorten(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """The text, or as much of its beginning as there is room for; empty if there is none."""
    if text_width(text, size, bold=bold) <= width:
        return text
    for length in range(len(text) - 1, 0, -1):
        candidate = text[:length].rstrip() + ELLIPSIS
        if text_width(candidate, size, bold=bold) <= width:
            return candidate
    return ""


def wrap(text: str, width: float, size: float, *, bold: bool = False) -> list[str]:
    """The words of a text on as few lines as there is width for; a word that is wider than that is parted."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if text_width(longer, size, bold=bold) <= width:
            lines[-1] = longer
            continue
        lines += [word] if lines[-1] else []
        lines[-1] = word
        while text_width(lines[-1], size, bold=bold) > width and len(lines[-1]) > 1:
            head = _fill(lines[-1], width, size, bold=bold)
            lines[-1:] = [head, lines[-1][len(head) :]]
    return lines


def _fill(word: str, width: float, size: float, *, bold: bool) -> str:
    """As many letters of a word as there is width for, at least one."""
    lengths = range(len(word) - 1, 1, -1)
    return next((word[:n] for n in lengths if text_width(word[:n], size, bold=bold) <= width), word[0])
