"""Forms with files in them (`multipart/form-data`), as browsers send them; they are read in memory alone.

Only what browsers send is read, in time that grows with its length: what is meant for mail (parts in parts, encodings,
headers over several lines) is refused, since anybody may send it.
"""

from __future__ import annotations

import re

from safear.web.asked import MOST_FIELDS

MOST_HEAD = 1024  # bytes of the headers of a part
_BOUNDARY = re.compile(r""";[ \t]*boundary=("?)([\w'()+,./:=?-]{1,70})\1[ \t]*(?:;|$)""", re.ASCII | re.IGNORECASE)
_NAME = re.compile(
    rb'(?:^|\r\n)content-disposition:[ \t]*form-data;[ \t]*name="([^"\r\n]*)"[ \t]*(?:;|\r\n|$)', re.IGNORECASE
)
_END = re.compile(rb"--[ \t]*(?:\r\n|$)")


def read_upload(content_type: str, body: bytes) -> dict[str, str]:
    """The fields of a form, with the texts of its files. Raises a ValueError if it is none."""
    boundary = _BOUNDARY.search(content_type[:MOST_HEAD])
    if boundary is None:
        raise ValueError("not a form")
    _, *parts = (b"\r\n" + body).split(b"\r\n--" + boundary[2].encode(), MOST_FIELDS + 1)
    if not parts or not _END.match(parts[-1]):
        raise ValueError("not a form, or not all of it, or one of too many fields")
    return dict(map(_read_part, parts[:-1]))


def _read_part(part: bytes) -> tuple[str, str]:
    """Name and text of a part, which begins with the end of the line that its boundary is in."""
    end = part.find(b"\r\n\r\n", 0, MOST_HEAD)
    name = _NAME.search(part[:end]) if part.startswith(b"\r\n") and end >= 0 else None
    if name is None:
        raise ValueError("not a form: a part has no name, or headers that are too long")
    return name[1].decode("utf-8", errors="replace"), part[end + 4 :].decode("utf-8", errors="replace")
