"""Names that others have written, as they may stand in a text."""

from __future__ import annotations

from safear.errors import UNSEEN


def show_name(name: str) -> str:
    """A name on one line, without characters that cannot be shown or that change what stands beside it."""
    return replace_unseen(" ".join(name.split()))


def replace_unseen(text: str) -> str:
    """Text of one or several lines with a sign in place of each character that XML and terminals must not get."""
    return UNSEEN.sub(lambda found: found[0] if found[0] in "\n\t" else "\ufffd", text)


def capital(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]
