"""Finding English in a text of another language: pieces of the English catalogue, and words that only English has."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import cache

from safear.texts import load_texts

ONLY_ENGLISH = """
the of and with is are be been from people by if than they them their have has had not no nobody everybody for to at
within without more less most rejected accepts accepted cost costs step steps goal way state states which what who
whom this that these those it its can could would does do you your groups change changes works fails found given made
seen becomes each only
"""
WORDS = frozenset(ONLY_ENGLISH.split())
LETTERS = re.compile(r"[^\W\d_]+")


@cache
def pieces() -> frozenset[str]:
    """What stands between the places of the English texts, if it is long enough to mean something and is not German."""
    german = " ".join(form for text in load_texts("de").entries.values() for form in _forms(text))
    return frozenset(
        piece.strip()
        for text in load_texts("en").entries.values()
        for form in _forms(text)
        for piece, *_ in string.Formatter().parse(form)
        if len(piece.strip()) > 11 and " " in piece.strip() and piece.strip() not in german
    )


def _forms(text: object) -> Iterator[str]:
    yield from [text] if isinstance(text, str) else text.values()  # type: ignore[attr-defined]  # or plural forms


def english_in(text: str, *names: str) -> list[str]:
    """The English that is in a text, apart from names that are given in it."""
    flat = " ".join(text.split())
    for name in sorted(names, key=len, reverse=True):
        flat = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "…", flat)
    return [
        *(piece for piece in pieces() if piece in flat),
        *sorted({word for word in LETTERS.findall(flat) if word.lower() in WORDS}),
    ]
