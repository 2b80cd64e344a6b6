"""Files that are read: text, and checksums."""

from __future__ import annotations

import errno
import gzip
import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

from doors import plain_text
from safear.errors import ClassifierError, InputError, ProblemError
from safear.files import SUMS, add_sum, digest_file, explain, list_sums, read_sums, read_text

# ------------------------------------------------------------------------- Text is read with errors that name the file


def test_text_is_read_as_utf8_with_or_without_a_mark(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    for content in ("größe 😀\r\n", ""):
        file.write_bytes(content.encode())
        assert read_text(file, ProblemError) == content
        file.write_bytes(b"\xef\xbb\xbf" + content.encode())
        assert read_text(file, ProblemError) == content


@pytest.mark.parametrize("error", [ProblemError, ClassifierError])
def test_what_prevents_reading_is_told(tmp_path: Path, error: type[InputError]) -> None:
    def said(file: Path) -> str:
        with pytest.raises(error) as caught:
            read_text(file, error)
        assert type(caught.value) is error
        return str(caught.value)

    broken = tmp_path / "broken.txt"
    broken.write_bytes(b"abc\xff")
    assert said(broken) == f"{broken}: not UTF-8 text (byte 3)\n    save the file as UTF-8"
    assert said(tmp_path) == f"{tmp_path}: is a directory\n    name a file"
    assert said(tmp_path / "none") == f"{tmp_path / 'none'}: no such file"
    assert said(broken / "inside") == f"{broken / 'inside'}: cannot be read: Not a directory"
    assert said(tmp_path / ("x" * 300)).endswith(": cannot be read: File name too long")


def test_a_file_without_permission_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ProblemError) as caught:
        read_text(tmp_path / "a.txt", ProblemError)
    assert str(caught.value) == f"{tmp_path / 'a.txt'}: cannot be read: Permission denied"


def test_a_device_that_goes_on_for_ever_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_text, "MOST_BYTES", 2**20)
    with pytest.raises(ProblemError) as caught:
        read_text(Path("/dev/zero"), ProblemError)
    assert str(caught.value) == "/dev/zero: is larger than 1 MiB\n    name another file"


def test_a_name_that_no_file_can_have_is_told() -> None:
    with pytest.raises(ProblemError, match="cannot be read"):
        read_text(Path("a\0b"), ProblemError)


def test_a_cause_is_never_nothing() -> None:
    assert explain(OSError(errno.ENOSPC, "No space left on device")) == "No space left on device"
    assert explain(gzip.BadGzipFile("CRC check failed")) == "CRC check failed"
    assert explain(ValueError("first\nsecond")) == "first"
    assert explain(OSError()) == "OSError"


# ------------------------------------------------------------------------ The list of checksums that a folder may have


def test_a_list_is_what_sha256sum_writes(tmp_path: Path) -> None:
    (tmp_path / "a b.bin").write_bytes(b"one")
    (tmp_path / "c.bin").write_bytes(b"two")
    for name in ("a b.bin", "c.bin"):
        add_sum(tmp_path, name, digest_file(tmp_path / name))
    assert read_sums(tmp_path) == {
        "a b.bin": hashlib.sha256(b"one").hexdigest(),
        "c.bin": hashlib.sha256(b"two").hexdigest(),
    }
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "--check", "--status", SUMS], cwd=tmp_path, check=True)


def test_the_last_line_about_a_file_counts_and_half_a_line_does_not(tmp_path: Path) -> None:
    content = list_sums({"a": "0" * 64}) + list_sums({"a": "1" * 64, "b": "2" * 64})
    (tmp_path / SUMS).write_bytes(content + b"3" * 60)
    assert read_sums(tmp_path) == {"a": "1" * 64, "b": "2" * 64}
    (tmp_path / SUMS).write_bytes(b"\xff\0")
    assert read_sums(tmp_path) == {}


def test_no_list_and_one_that_cannot_be_read(tmp_path: Path) -> None:
    assert read_sums(tmp_path) is None
    (tmp_path / SUMS).mkdir()
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_sums(tmp_path)
    with pytest.raises(InputError, match="cannot be written: Is a directory"):
        add_sum(tmp_path, "a", "0" * 64)
    with pytest.raises(InputError, match="cannot be read: No such file"):
        digest_file(tmp_path / "none")
