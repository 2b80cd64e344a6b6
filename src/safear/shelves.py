"""Folders for what can be made again: compiled code and trained classifiers.

A shelf may be missing, full, read-only or somebody else's. Then nothing is kept there, and nothing else happens.
"""

from __future__ import annotations

import logging
import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from safear.files.leftovers import create_beside, move_into_place, remove_leftovers_once, temporary_folder

logger = logging.getLogger("safear")


class Shelf(NamedTuple):
    """A folder. One that `is_private` is made for this user alone, and is not touched if others could have written it.

    That is for what runs when it is read (pickles), and for places where anybody may make folders. One that several
    users share may hold what runs if it is `for_code` that has its source in this file. Then nothing is read but what
    was put there by this user, by root, by whoever owns the source, or by those to whom they gave the folder.
    """

    folder: Path
    is_private: bool = False
    for_code: Path | None = None

    def read(self, name: str) -> bytes | None:
        """What is kept under a name, or None if nothing is that may be read."""
        try:
            self._check()
            with (self.folder / name).open("rb") as stream:
                # The folder may have been changed for another one since it was looked at: the open file cannot be.
                found = os.fstat(stream.fileno())
                if self.is_private and not _is_mine(found):
                    return None
                if self.for_code is not None and not self._is_trusted(found, self.for_code):
                    _tell_refused(self.folder)
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

    def _is_trusted(self, file: os.stat_result, source: Path) -> bool:
        """Whether whoever could write an open file could have this user run anything anyway."""
        if os.name != "posix":
            return True
        folder, owners = self.folder.stat(), {os.geteuid(), 0, source.stat().st_uid}
        if folder.st_uid in owners and not folder.st_mode & stat.S_IWOTH:
            return not file.st_mode & stat.S_IWOTH
        return file.st_uid in owners and not file.st_mode & (stat.S_IWOTH | stat.S_IWGRP)


@cache
def _tell_refused(folder: Path) -> None:
    logger.info(f"compiled code in {folder} is not used: other users could have written it")


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
