"""Writing files, whole or not at all.

Whatever is written goes through `write_pieces`: a file is made beside the one that it replaces, which is where a link
points to; a device, a pipe or an open file (/dev/stdout) is written into. A file that has other names (hard links)
becomes one of its own: the others keep what they have.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from safear.errors import InputError, Place
from safear.files.leftovers import create_beside, move_into_place, remove_leftovers_once
from safear.files.plain_text import explain

if sys.platform != "win32":
    import fcntl

_REMEDIES = {
    errno.EACCES: "name a file in another folder",
    errno.EISDIR: "name a file",
    errno.ENOSPC: "make room, or name a file elsewhere",
    errno.EDQUOT: "make room, or name a file elsewhere",
    errno.EFBIG: "allow larger files, or name a file elsewhere",
}
_kept: dict[int, TextIO] = {}  # what was open by a number that something else has now


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8, whole or not at all."""
    write_pieces(path, [text.encode()])


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes, whole or not at all."""
    write_pieces(path, [content])


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """Write bytes one after another; nobody ever sees half of a file. Errors of `pieces` themselves pass through."""
    with told_of(path):
        output = _open_output(path)
    try:
        for piece in pieces:
            with told_of(path):
                output.stream.write(piece)
        with told_of(path):
            output.finish()
    except BaseException:
        output.discard()
        raise


def require_output(path: Path) -> None:
    """Refuse what cannot be written to, before anything is computed for it; nothing is changed or opened for long."""
    with told_of(path):
        descriptor = _find_descriptor(path)
        if descriptor is not None:
            _require_open_for_writing(descriptor)
        elif _find_stream(path):  # it is not opened: whoever reads a pipe would take that for all
            _require_access(path)
        else:
            _NewFile(path).discard()


def is_stream(path: Path) -> bool:
    """Whether this is a device, a pipe or an open file: something that is written into, and never replaced."""
    try:
        return _find_descriptor(path) is not None or _find_stream(path)
    except (OSError, ValueError):
        return False


def make_folder(path: Path, *, parents: bool = False) -> None:
    """Make a folder unless it is there, and make sure that files can be written in it."""
    with told_of(path):
        path.mkdir(parents=parents, exist_ok=True)
        _require_room(path)


def require_folder(path: Path, *, parents: bool = False) -> None:
    """Refuse a folder that cannot be made, or written in, before anything is computed for it."""
    with told_of(path):
        there = path.absolute()
        while parents and not there.parent.exists():
            there = there.parent
        if there.exists() and not there.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        _require_room(there if there.is_dir() else there.parent)


@contextmanager
def told_of(path: Path) -> Iterator[None]:
    """What the system refuses, as an error at the file."""
    try:
        yield
    except (OSError, ValueError) as cause:  # ValueError: a name that no file can have
        reason, remedy = explain(cause), _REMEDIES.get(getattr(cause, "errno", None) or 0, "name another file")
        if isinstance(cause, FileNotFoundError):
            reason = "there is no such folder"
            remedy = f"make the folder '{Path(os.path.realpath(path)).parent}', or name another"
        raise InputError.at(Place(file=str(path)), f"cannot be written: {reason}", remedy, code="unwritable") from cause


def keep_descriptor(number: int, stream: TextIO) -> None:
    """From now on, whatever names an open file by a number means this stream, which has what was open by it."""
    _kept[number] = stream


def _open_output(path: Path) -> _NewFile | _Stream:
    descriptor = _find_descriptor(path)
    if descriptor is not None:
        for stream in (sys.stdout, sys.stderr, *_kept.values()):  # what was said before comes before
            if stream is not None:
                stream.flush()
        return _Stream(os.dup(descriptor))
    if _find_stream(path):
        return _Stream(os.open(path, os.O_WRONLY | getattr(os, "O_NOCTTY", 0)))
    return _NewFile(path)


def _find_descriptor(path: Path) -> int | None:
    """The number of the open file that a name such as /dev/stdout or /dev/fd/3 stands for.

    Opened by that name, a file would be written from its beginning, whatever else goes there.
    """
    name = os.path.abspath(path)  # noqa: PTH100  # keeps links
    own = {"/dev/fd", os.path.realpath("/proc/self/fd")}
    for _ in range(40):  # links in a row that systems follow
        folder, last = os.path.split(name)
        if last.isdecimal() and os.path.realpath(folder) in own:
            return _kept[int(last)].fileno() if int(last) in _kept else int(last)
        if not os.path.islink(name):  # noqa: PTH114
            return None
        name = os.path.normpath(os.path.join(os.path.realpath(folder), os.readlink(name)))  # noqa: PTH115, PTH118
    return None


def _require_room(folder: Path) -> None:
    """Refuse a folder in which no file can be made."""
    remove_leftovers_once(folder)
    path, handle = create_beside(folder / "any", 0o600)
    os.close(handle)
    path.unlink(missing_ok=True)


def _find_stream(path: Path) -> bool:
    """Whether what has this name is neither a file nor a folder; a name that nothing has may be one of a file."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _require_open_for_writing(descriptor: int) -> None:
    os.fstat(descriptor)  # it is open
    if sys.platform != "win32" and fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise PermissionError(errno.EACCES, "it is open for reading only")


def _require_access(path: Path) -> None:
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "you may not write to it")


class _Stream:
    """Something that is written into."""

    def __init__(self, handle: int) -> None:
        self.stream: BinaryIO = os.fdopen(handle, "wb")

    def finish(self) -> None:
        self.stream.close()

    def discard(self) -> None:
        with suppress(OSError):
            self.stream.close()


class _NewFile:
    """A file that replaces another, or is new, once it is finished."""

    def __init__(self, path: Path) -> None:
        self._target = Path(os.path.realpath(path))  # where a link points to, be there anything or not
        old = self._look()
        remove_leftovers_once(self._target.parent)
        self._path, handle = create_beside(self._target, 0o666 if old is None else 0o600)
        self.stream: BinaryIO = os.fdopen(handle, "wb")
        try:
            if old is not None and sys.platform != "win32":
                os.fchmod(handle, _inherit(handle, old))
        except BaseException:
            self.discard()
            raise

    def _look(self) -> os.stat_result | None:
        """What is to be replaced."""
        try:
            old = self._target.stat()
        except FileNotFoundError:
            return None
        if stat.S_ISDIR(old.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        _require_access(self._target)
        return old

    def finish(self) -> None:
        self.stream.flush()
        os.fsync(self.stream.fileno())
        move_into_place(self.stream, self._path, self._target)
        _sync_folder(self._target.parent)

    def discard(self) -> None:
        with suppress(OSError):
            self.stream.close()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def _inherit(handle: int, old: os.stat_result) -> int:
    """Give a new file to the owner and the group of the old one; the permissions that go with whom it has then.

    Whoever may not give it away owns it. What the old group might do, another group may not.
    """
    made, mode = os.fstat(handle), stat.S_IMODE(old.st_mode) & 0o777
    if (made.st_uid, made.st_gid) == (old.st_uid, old.st_gid):
        return mode
    for owner in (old.st_uid, -1):
        with suppress(OSError):
            os.fchown(handle, owner, old.st_gid)
            return mode
    return mode if made.st_gid == old.st_gid else mode & ~0o070


def _sync_folder(folder: Path) -> None:
    """Have the system keep the names in a folder, too, even if the power fails."""
    if sys.platform == "win32":
        return
    with suppress(OSError):  # some file systems have no such thing
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
