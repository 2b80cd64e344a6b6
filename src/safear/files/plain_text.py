"""Reading text, and what prevents it, told as an error at the file."""

from __future__ import annotations

import codecs
from pathlib import Path

from safear.errors import InputError, Place

MOST_BYTES = 256 * 2**20  # of a text; a device may go on for ever
_PIECE = 2**20  # bytes
HEAD = 200  # bytes by which a text is told from others
AS_UTF8 = "save the file as UTF-8 (in Excel: 'CSV UTF-8')"
_MARKS = {  # the longer ones first: they begin as the shorter ones do
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


def explain(cause: BaseException) -> str:
    """What the system or a library says of an error, in a line; never nothing."""
    said = getattr(cause, "strerror", None) or str(cause).partition("\n")[0]
    return str(said) or type(cause).__name__


def read_text(path: Path, error: type[InputError]) -> str:
    """The text of a UTF-8 file; whatever prevents reading it becomes an `error` at that file."""
    try:
        with path.open("rb") as stream:
            content = bytearray()
            while len(content) <= MOST_BYTES and (piece := stream.read(_PIECE)):  # which takes as much as it may read
                content += piece
        if len(content) > MOST_BYTES:
            cause = f"is larger than {MOST_BYTES >> 20} MiB"
            raise error.at(Place(file=str(path)), cause, "name another file", code="too_large")
        refuse_encoding(bytes(content[:HEAD]), Place(file=str(path)), error)
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        code, message, remedy = "not_utf8", f"not UTF-8 text (byte {cause.start})", "save the file as UTF-8"
    except IsADirectoryError:
        code, message, remedy = "unreadable", "is a directory", "name a file"
    except FileNotFoundError:
        code, message, remedy = "no_file", "no such file", None
    except (OSError, ValueError) as cause:  # ValueError: a name that no file can have
        code, message, remedy = "unreadable", f"cannot be read: {explain(cause)}", None
    raise error.at(Place(file=str(path)), message, remedy, code=code)


def refuse_encoding(start: bytes, place: Place, error: type[InputError]) -> None:
    """Refuse text that begins as UTF-16 or UTF-32 does, which some programs save without being asked to."""
    start = start[:HEAD]
    found = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
    if found is None and b"\0" in start:  # every other byte of plain letters
        even, odd = start[::2].count(0), start[1::2].count(0)
        found = "UTF-16" if max(even, odd) > len(start) / 4 > 2 * min(even, odd) else None
    if found is not None:
        raise error.at(place, f"is {found} text, not UTF-8", AS_UTF8, code="not_utf8")
