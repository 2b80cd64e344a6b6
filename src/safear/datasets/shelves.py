"""Folders in which trained forests are kept.

A shelf may be missing, full, read-only or somebody else's. Then nothing is kept there, and nothing else happens.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from safear.files.leftovers import create_beside, move_into_place, remove_leftovers_once, temporary_folder


class Shelf(NamedTuple):
    """A folder. One that `is_private` is made for this user alone, and is not touched if others could have written it.

    That is for places where anybody may make folders.
    """

    folder: Path
    is_private: bool = False

    def read(self, name: str) -> bytes | None:
        """What is kept under a name, or None if nothing is that may be read."""
        try:
            self._check()
            with (self.folder / name).open("rb") as stream:
                # The folder may have been changed for another one since it was looked at: the open file cannot be.
                found = os.fstat(stream.fileno())
                if self.is_private and not _is_mine(found):
                    return None
                return stream.read()
        except OSError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """Keep something under a name, whole or not at all; an OSError if that is impossible."""
        if self.is_private:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                self.folder.mkdir(mode=0o700)
            self._check()
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers_once(self.folder)
        target = self.folder / name
        temporary, handle = create_beside(target, 0o644)
        stream = os.fdopen(handle, "wb")
        try:
            stream.write(content)
            move_into_place(stream, temporary, target)
        except BaseException:
            with suppress(OSError):  # it has yet more to write
                stream.close()
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise

    def _check(self) -> None:
        """Refuse a private folder that is a link, that somebody else made, or that others may enter."""
        if not self.is_private:
            return
        found = self.folder.lstat()
        is_open = os.name == "posix" and found.st_mode & 0o077
        if not stat.S_ISDIR(found.st_mode) or not _is_mine(found) or is_open:
            raise PermissionError(f"{self.folder} is not a folder of this user alone")


def write_first(shelves: Iterable[Shelf], name: str, content: bytes) -> Shelf | None:
    """Keep something on the first shelf that takes it; None if there is none."""
    for shelf in shelves:
        with suppress(OSError):
            shelf.write(name, content)
            return shelf
    return None


def cache_folder() -> Path | None:
    """`$SAFEAR_CACHE`, or `safear` in the place that the system keeps for such files; None without a home."""
    chosen = os.environ.get("SAFEAR_CACHE")
    if chosen:
        return Path(chosen)
    with suppress(RuntimeError):  # nobody knows where this user is at home
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "safear" / "cache"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "safear"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "safear"
    return None


def temporary_shelf(kind: str) -> list[Shelf]:
    """This user's own among the temporary files, for a kind of things; none if there is no temporary folder."""
    try:
        folder = temporary_folder()
    except OSError:  # not one that can be written
        return []
    user = f"-{os.geteuid()}" if os.name == "posix" else ""
    return [Shelf(folder / f"safear-{kind}{user}", is_private=True)]


def _is_mine(found: os.stat_result) -> bool:
    """Whether this user made a file or folder. Except on POSIX, temporary folders are a user's own anyway."""
    return os.name != "posix" or found.st_uid == os.geteuid()
