"""The list of checksums that a folder may have."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from safear.errors import InputError
from safear.files import SUMS, add_sum, digest_file, list_sums, read_sums


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
