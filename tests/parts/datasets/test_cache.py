"""Folders for what can be made again: used when they are there, and when nobody else could have filled them."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path

import pytest

from accounts import NOBODY, full_disk, only_root
from doors import Shelf, cache_folder, list_shelves


@pytest.fixture
def private(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "own", is_private=True)


@pytest.mark.parametrize("is_private", [False, True])
def test_what_is_written_is_read(tmp_path: Path, is_private: bool) -> None:
    shelf = Shelf(tmp_path / "deep" / "folder", is_private)
    assert shelf.read("a") is None
    for content in (b"one", b"two", b""):
        shelf.write("a", content)
        assert shelf.read("a") == content
    assert [path.name for path in shelf.folder.iterdir()] == ["a"]
    assert shelf.read("b") is None


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_modes(tmp_path: Path, private: Shelf) -> None:
    """What is private is nobody else's; the rest can be read by whoever the umask lets read."""
    private.write("a", b"")
    assert stat.S_IMODE(private.folder.stat().st_mode) == 0o700
    before = os.umask(0o022)
    try:
        Shelf(tmp_path / "shared").write("a", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "shared" / "a").stat().st_mode) == 0o644


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o750, 0o701])
@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_a_folder_that_others_may_enter_is_not_touched(private: Shelf, mode: int) -> None:
    private.write("a", b"one")
    private.folder.chmod(mode)
    assert private.read("a") is None
    with pytest.raises(PermissionError, match="not a folder of this user alone"):
        private.write("a", b"two")
    private.folder.chmod(0o700)
    assert private.read("a") == b"one"


def test_a_link_is_not_followed(tmp_path: Path, private: Shelf) -> None:
    other = Shelf(tmp_path / "other", is_private=True)
    other.write("a", b"one")
    private.folder.symlink_to(other.folder)
    assert private.read("a") is None
    with pytest.raises(PermissionError):
        private.write("a", b"two")
    assert other.read("a") == b"one"


@only_root
def test_what_another_user_made_is_not_touched(private: Shelf) -> None:
    private.write("a", b"one")
    os.chown(private.folder / "a", NOBODY, NOBODY)  # the file alone
    assert private.read("a") is None
    private.write("a", b"two")
    assert private.read("a") == b"two"
    os.chown(private.folder, NOBODY, NOBODY)  # the folder alone
    assert private.read("a") is None
    with pytest.raises(PermissionError):
        private.write("a", b"three")
    assert (private.folder / "a").read_bytes() == b"two"


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    left = tmp_path / ".safear-0123456789abcdef.tmp"
    left.touch()
    Shelf(tmp_path).write("a", b"")
    assert not left.exists()


def test_a_full_disk_leaves_nothing_behind(private: Shelf) -> None:
    private.write("a", b"one")
    with full_disk(), pytest.raises(OSError, match="too large"):
        private.write("a", bytes(1000))
    assert [path.name for path in private.folder.iterdir()] == ["a"]
    assert private.read("a") == b"one"


def test_temporary_files_of_users_do_not_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv("SAFEAR_CACHE")
    shelf = list_shelves()[-1]
    assert shelf.is_private
    assert shelf.folder.parent == tmp_path
    if os.name == "posix":
        assert shelf.folder.name == f"safear-forests-{os.geteuid()}"


def test_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user whom the system does not know, as containers have them."""
    for name in ("SAFEAR_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)

    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    assert cache_folder() is None


class TestCacheFolder:
    @pytest.fixture(autouse=True)
    def nothing_set(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("SAFEAR_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(Path, "home", lambda: Path("/home/somebody"))

    @pytest.mark.parametrize(
        ("platform", "variable", "folder"),
        [
            ("linux", None, "/home/somebody/.cache/safear"),
            ("linux", "XDG_CACHE_HOME", "/elsewhere/safear"),
            ("darwin", None, "/home/somebody/Library/Caches/safear"),
            ("win32", None, "/home/somebody/AppData/Local/safear/cache"),
            ("win32", "LOCALAPPDATA", "/elsewhere/safear/cache"),
            ("linux", "SAFEAR_CACHE", "/elsewhere"),
            ("win32", "SAFEAR_CACHE", "/elsewhere"),
        ],
    )
    def test_by_system(self, platform: str, variable: str | None, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "platform", platform)
        if variable:
            monkeypatch.setenv(variable, "/elsewhere")
        assert cache_folder() == Path(folder)
