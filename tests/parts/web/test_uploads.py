"""Forms with files in them, as they are read."""

from __future__ import annotations

import time

import httpx
import pytest

from doors import read_upload


def send(fields: dict[str, str], content: bytes) -> tuple[str, bytes]:
    """What a client sends."""
    request = httpx.Request("POST", "http://x/", data=fields, files={"file": ("ä plan.json", content)})
    return request.headers["content-type"], request.read()


@pytest.mark.parametrize("content", [b"{}\n", "größer\r\nals".encode(), b"", b"--x\r\n\r\n"])
def test_fields_and_files_are_read(content: bytes) -> None:
    fields = {"feature0": "jünger", "cost0": "", "two words": "a\r\nb"}
    assert read_upload(*send(fields, content)) == {**fields, "file": content.decode()}


def test_fields_are_read_as_browsers_send_them() -> None:
    body = (
        b'--B\r\nContent-Disposition: form-data; name="do"\r\n\r\nopen\r\n'
        b'--B\r\nContent-Disposition: form-data; name="file"; filename="; name=.json"\r\n'
        b"Content-Type: application/json\r\n\r\n{}\n\r\n--B--\r\n"
    )
    for header in ("multipart/form-data; boundary=B", 'multipart/form-data; charset=utf-8; boundary="B"'):
        assert read_upload(header, body) == {"do": "open", "file": "{}\n"}


FORM = "multipart/form-data; boundary=B"
NAMED = b'--B\r\nContent-Disposition: form-data; name="a"\r\n'
NESTED = b"".join(b"--B%d\r\nContent-Type: multipart/mixed; boundary=B%d\r\n\r\n" % (i, i + 1) for i in range(1000))
MALFORMED = [
    ("multipart/form-data", b"--B\r\n\r\n"),
    (FORM, b""),
    (FORM, b"nothing of the kind"),
    (FORM, NAMED + b"\r\na"),  # it ends too soon
    (FORM, NAMED + b"\r\na\r\n--B"),
    (FORM, (NAMED + b"\r\n\r\n") * 2001 + b"--B--"),
    (FORM, b"--B\r\n\r\na\r\n--B--"),  # no name
    (FORM, b"--B\r\nContent-Disposition: form-data; name\r\n\r\na\r\n--B--"),
    (FORM, b"--B\r\nContent-Disposition: form-data;" + b";" * 60_000 + b'name="a"\r\n\r\na\r\n--B--'),
    (FORM, b"--B\r\nContent-Disposition: form-data; name*0=" + b'"' * 60_000 + b"\r\n\r\na\r\n--B--"),
    (FORM, NAMED + b"X: y\r\n" * 500 + b"\r\na\r\n--B--"),
    ("multipart/form-data; boundary=B0", NESTED),
    ("multipart/form-data; boundary=" + "(;" * 20_000, b""),
    ("multipart/form-data; boundary=\xe4", b"--\xe4--"),
    ("text/plain", b"a"),
]


@pytest.mark.parametrize(("header", "body"), MALFORMED)
def test_what_is_no_form_is_refused_at_once(header: str, body: bytes) -> None:
    begun = time.perf_counter()
    with pytest.raises(ValueError, match="not a form"):
        read_upload(header, body)
    assert time.perf_counter() - begun < 10  # read again and again, it would be minutes
