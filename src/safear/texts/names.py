"""Names that others have written, as they may stand in a text."""

from __future__ import annotations

import re

NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # would turn the text around them


def show_name(name: str) -> str:
    """A name on one line, without characters that cannot be shown or that change what stands beside it."""
    return " ".join(NOT_XML.sub("\ufffd", _DIRECTIONS.sub("\ufffd", name)).split())


def capital(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]
