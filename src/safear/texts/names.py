"""Names that others have written, as they may stand in a text."""

from __future__ import annotations

import re

NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # all but those that XML allows
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # would turn the text around them


def show_name(name: str) -> str:
    """A name on one line, without characters that cannot be shown or that change what stands beside it."""
    return " ".join(NOT_XML.sub("\ufffd", _DIRECTIONS.sub("\ufffd", name)).split())


def capital(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]
