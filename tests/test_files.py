"""Files are read with errors that name them, and written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from safear.errors import ClassifierError, InputError, ProblemError
from safear.files import read_text, write_text


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
    def refuse(_: Path) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(ProblemError) as caught:
        read_text(tmp_path / "a.txt", ProblemError)
    assert str(caught.value) == f"{tmp_path / 'a.txt'}: cannot be read: Permission denied"


def test_a_name_that_no_file_can_have_is_told() -> None:
    with pytest.raises(ProblemError, match="cannot be read"):
        read_text(Path("a\0b"), ProblemError)


@pytest.mark.parametrize("old", [None, "old content"])
@pytest.mark.parametrize("new", ["", "a\nb\r\n", "größe 😀"])
def test_text_is_written_as_it_is(tmp_path: Path, old: str | None, new: str) -> None:
    file = tmp_path / "a.txt"
    if old is not None:
        file.write_text(old, encoding="utf-8")
    write_text(file, new)
    assert file.read_bytes() == new.encode()
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_text(Path("a.txt"), "text")
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755])
def test_permissions_are_kept(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old", encoding="utf-8")
    file.chmod(mode)
    write_text(file, "new")
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert file.read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_gets_the_usual_permissions(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_text(tmp_path / "a.txt", "new")
        (tmp_path / "b.txt").write_text("new", encoding="utf-8")
        assert os.umask(mask) == mask  # as it was
    finally:
        os.umask(before)
    assert (tmp_path / "a.txt").stat().st_mode == (tmp_path / "b.txt").stat().st_mode


def _full_disk(*_: Any, **__: Any) -> NoReturn:
    raise OSError(errno.ENOSPC, "No space left on device")


def _interrupted(*_: Any, **__: Any) -> NoReturn:
    raise KeyboardInterrupt


def _break(monkeypatch: pytest.MonkeyPatch, where: str, how: Callable[..., NoReturn]) -> None:
    """Make a step of writing fail, whichever way it is called."""
    if where == "replace":
        monkeypatch.setattr(os, "replace", how)
        monkeypatch.setattr(os, "rename", how)
        monkeypatch.setattr(Path, "replace", how)
        monkeypatch.setattr(Path, "rename", how)
    elif where == "fsync":
        monkeypatch.setattr(os, "fsync", how)
    elif where == "chmod":
        monkeypatch.setattr(os, "chmod", how)
        monkeypatch.setattr(Path, "chmod", how)
    else:
        monkeypatch.setattr(tempfile, "mkstemp", how)


@pytest.mark.parametrize("old", [None, "old content"])
@pytest.mark.parametrize("where", ["replace", "fsync", "chmod", "mkstemp"])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, old: str | None
) -> None:
    file = tmp_path / "a.txt"
    if old is not None:
        file.write_text(old, encoding="utf-8")
    with monkeypatch.context() as patched:
        _break(patched, where, _full_disk)
        with pytest.raises(InputError) as caught:
            write_text(file, "new content")
    assert str(caught.value) == f"{file}: cannot be written: No space left on device"
    assert {entry.name: entry.read_text(encoding="utf-8") for entry in tmp_path.iterdir()} == (
        {} if old is None else {"a.txt": old}
    )


@pytest.mark.parametrize("where", ["replace", "fsync"])
def test_an_interruption_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old", encoding="utf-8")
    with monkeypatch.context() as patched:
        _break(patched, where, _interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_text(file, "new")
    assert [(entry.name, entry.read_text(encoding="utf-8")) for entry in tmp_path.iterdir()] == [("a.txt", "old")]


def test_what_prevents_writing_is_told(tmp_path: Path) -> None:
    def said(file: Path) -> str:
        with pytest.raises(InputError) as caught:
            write_text(file, "text")
        return str(caught.value)

    (tmp_path / "folder" / "full").mkdir(parents=True)
    missing, folder = tmp_path / "none" / "a.txt", tmp_path / "folder"
    assert said(missing) == f"{missing}: cannot be written: No such file or directory"
    assert said(folder) == f"{folder}: cannot be written: Is a directory"
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]
