"""Trained classifiers on disk: NumPy archives without pickle, written whole, ignored when they cannot be read.

The folder may be missing, full, read-only or somebody else's. Then nothing is kept there, and nothing else happens.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.files.leftovers import create_beside, move_into_place, remove_leftovers_once, temporary_folder

Arrays = Mapping[str, NDArray[np.generic]]


def read_arrays(name: str) -> Arrays | None:
    """The arrays kept under a name, or None if there are none that can be read."""
    for shelf in list_shelves():
        content = shelf.read(f"{name}.npz")
        if content is None:
            continue
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as archive:
                return {key: archive[key] for key in archive.files}
        except Exception:  # noqa: BLE001, S112  # a broken file can raise anything; what it held is computed again
            continue
    return None


def write_arrays(name: str, arrays: Arrays) -> None:
    """Keep arrays under a name, on the first shelf that takes them; if that is impossible, they are not kept."""
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)  # type: ignore[arg-type]  # the stubs take a name for an option
    for shelf in list_shelves():
        with suppress(OSError):
            shelf.write(f"{name}.npz", content.getvalue())
            return


def list_shelves() -> list[Shelf]:
    """`$SAFEAR_CACHE` and nothing else if that is set, or else the user's cache, or a temporary folder of theirs."""
    folder = cache_folder()
    kept = [Shelf(folder)] if folder else []
    if os.environ.get("SAFEAR_CACHE"):
        return kept
    with suppress(OSError):  # there may be no temporary folder that can be written
        user = f"-{os.geteuid()}" if os.name == "posix" else ""
        kept.append(Shelf(temporary_folder() / f"safear-forests{user}", is_private=True))
    return kept


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


def _is_mine(found: os.stat_result) -> bool:
    """Whether this user made a file or folder. Except on POSIX, temporary folders are a user's own anyway."""
    return os.name != "posix" or found.st_uid == os.geteuid()
