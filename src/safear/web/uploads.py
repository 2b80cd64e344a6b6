"""Forms with files in them (`multipart/form-data`), as browsers send them; they are read in memory alone."""

from __future__ import annotations

from email.message import Message
from email.parser import BytesParser
from email.policy import HTTP

from safear.web.asked import MOST_FIELDS


def read_upload(content_type: str, body: bytes) -> dict[str, str]:
    """The fields of a form, with the texts of its files. Raises a ValueError if it is none."""
    head = b"Content-Type: " + content_type.encode("ascii", errors="ignore") + b"\r\n\r\n"
    parts = BytesParser(policy=HTTP).parsebytes(head + body).get_payload()
    if not isinstance(parts, list) or len(parts) > MOST_FIELDS:
        raise ValueError("not a form")
    fields: dict[str, str] = {}
    for part in parts:
        if not isinstance(part, Message):
            continue
        name, content = part.get_param("name", header="content-disposition"), part.get_payload(decode=True)
        if isinstance(name, str) and isinstance(content, bytes):
            fields[name] = content.decode("utf-8", errors="replace")
    return fields
