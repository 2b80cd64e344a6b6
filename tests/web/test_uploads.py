"""Forms with files in them."""

from __future__ import annotations

import httpx
import pytest

from safear.web.uploads import read_upload


def send(fields: dict[str, str], content: bytes) -> tuple[str, bytes]:
    """What a client sends."""
    request = httpx.Request("POST", "http://x/", data=fields, files={"file": ("ä plan.json", content)})
    return request.headers["content-type"], request.read()


@pytest.mark.parametrize("content", [b"{}\n", "größer\r\nals".encode(), b"", b"--x\r\n\r\n"])
def test_fields_and_files_are_read(content: bytes) -> None:
    fields = {"feature0": "jünger", "cost0": "", "two words": "a\r\nb"}
    assert read_upload(*send(fields, content)) == {**fields, "file": content.decode()}


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("multipart/form-data", b"--x\r\n\r\n"),
        ("multipart/form-data; boundary=x", b""),
        ("multipart/form-data; boundary=x", b"nothing of the kind"),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\na\r\n" * 2001 + b"--x--"),
        ("text/plain", b"a"),
    ],
)
def test_what_is_no_form_is_refused(header: str, body: bytes) -> None:
    with pytest.raises(ValueError, match="not a form"):
        read_upload(header, body)
