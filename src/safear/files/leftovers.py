"""What is made on the way to a result: files beside the one that they replace, and folders for what is not kept.

Both are locked while somebody works on them. So what a killed process leaves is known as such, and removed by the next
that works there.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO

from safear.errors import InputError, Place
from safear.files.plain_text import explain

if sys.platform != "win32":
    import fcntl

_LEFTOVER = re.compile(r"\.safear-[0-9a-f]{16}\.tmp")  # short, since a name may be as long as names can be
_SCRATCH = "safear-scratch-"
_SCRATCHED = re.compile(r"duckdb_temp_.*|made")  # all that is ever in a scratch folder
_TRIES = 10  # new names, while others remove what they take for leftovers


def is_leftover(name: str) -> bool:
    """Whether a file has such a name only while it is made."""
    return _LEFTOVER.fullmatch(name) is not None


def temporary_folder() -> Path:
    """Where temporary files go, by the rule of `tempfile`; an OSError if there is no such place."""
    if tempfile.tempdir:
        return Path(tempfile.gettempdir())
    wanted = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    return Path(_find_temporary(*filter(None, wanted)))


@cache
def _find_temporary(*wanted: str) -> str:
    """The first place that takes files.

    `tempfile` tries places with a file that a kill can leave there. A file without a name is gone with its process.
    """
    for name in (*wanted, "/tmp", "/var/tmp", "/usr/tmp", os.curdir):  # noqa: S108  # as everybody does
        try:
            os.close(os.open(name, os.O_RDWR | os.O_TMPFILE, 0o600))
        except AttributeError:  # not on this system
            break
        except OSError as cause:
            if cause.errno in {errno.EOPNOTSUPP, errno.EISDIR}:  # not on this file system
                break
        else:
            return str(Path(name).absolute())
    return tempfile.gettempdir()


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for what need not be kept, which nobody else can look into."""
    _sweep_scratch()
    try:
        folder, lock = _make_scratch()
    except OSError as cause:
        place = Place(file=os.environ.get("TMPDIR") or None)
        message = f"no temporary files can be written: {explain(cause)}"
        raise InputError.at(place, message, "set TMPDIR to a folder with room for them", code="unwritable") from cause
    try:
        yield folder
    finally:
        _empty(folder, lock)
        if lock is not None:
            os.close(lock)


def create_beside(target: Path, mode: int) -> tuple[Path, int]:
    """A new file in the folder of another, locked."""
    for _ in range(_TRIES):
        path = target.parent / f".safear-{os.urandom(8).hex()}.tmp"
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        except PermissionError:
            raise PermissionError(errno.EACCES, "you may not write to this folder") from None
        if _lock(handle) and path.exists():
            return path, handle
        os.close(handle)  # somebody took it for a leftover before it was locked
    raise OSError(errno.EAGAIN, "others remove what is made there")


def move_into_place(stream: BinaryIO, path: Path, target: Path) -> None:
    """Have a file that was created beside another, and is written to the end, take its place."""
    stream.flush()
    if sys.platform == "win32":  # where open files cannot be renamed
        stream.close()
    path.replace(target)  # while it is locked, so that nobody takes it for a leftover
    stream.close()


def _lock(handle: int) -> bool:
    """Lock an open file or folder; whether nobody else has. Where there are no locks, nobody removes leftovers."""
    if sys.platform != "win32":
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # not on this file system
            return True
    return True


def remove_leftovers(folder: Path) -> None:
    """Remove what processes that were killed have left in a folder."""
    with suppress(OSError):
        names = [name for name in os.listdir(folder) if is_leftover(name)]  # noqa: PTH208
        for name in names:
            with suppress(OSError), _orphan(folder / name, os.O_RDWR):
                (folder / name).unlink()


remove_leftovers_once = cache(remove_leftovers)  # for whoever writes: a process removes what it makes itself


@contextmanager
def _orphan(path: Path, flags: int) -> Iterator[int | None]:
    """Open and lock what nobody works on any more; OSError if somebody does, or if that cannot be told."""
    if sys.platform == "win32":  # what is open cannot be removed there
        yield None
        return
    handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield handle
    finally:
        os.close(handle)


def _make_scratch() -> tuple[Path, int | None]:
    """A new folder, and what locks it."""
    for _ in range(_TRIES):
        folder = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=temporary_folder()))
        if sys.platform == "win32":
            return folder, None
        with suppress(FileNotFoundError):  # somebody took it for a leftover before it was locked
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            if _lock(handle) and folder.exists():
                return folder, handle
            os.close(handle)
    raise OSError(errno.EAGAIN, "others remove what is made there")


@cache
def _sweep_scratch() -> None:
    """Remove the scratch folders of processes that were killed."""
    with suppress(OSError):
        place = temporary_folder()
        for name in os.listdir(place):  # noqa: PTH208
            if name.startswith(_SCRATCH):
                with suppress(OSError), _orphan(place / name, getattr(os, "O_DIRECTORY", 0)) as handle:
                    _empty(place / name, handle)


def _empty(folder: Path, handle: int | None) -> None:
    """Remove a scratch folder of this user, but nothing that no scratch folder has.

    Anybody may write where it is. So it is not looked for by its name again, which may be that of a link by now.
    """
    with suppress(OSError):
        if handle is None or sys.platform == "win32":
            for path in folder.iterdir():
                if _SCRATCHED.fullmatch(path.name):
                    path.unlink()
        elif os.fstat(handle).st_uid == os.geteuid():
            for name in os.listdir(handle):  # noqa: PTH208
                if _SCRATCHED.fullmatch(name):
                    os.unlink(name, dir_fd=handle)
        else:
            return
        folder.rmdir()  # which a link is not
