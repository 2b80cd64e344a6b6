"""Reading text with errors that name the file, and writing files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from safear.errors import InputError, Place


def read_text(path: Path, error: type[InputError]) -> str:
    """The text of a UTF-8 file; whatever prevents reading it becomes an `error` at that file."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        code, message, remedy = "not_utf8", f"not UTF-8 text (byte {cause.start})", "save the file as UTF-8"
    except IsADirectoryError:
        code, message, remedy = "unreadable", "is a directory", "name a file"
    except FileNotFoundError:
        code, message, remedy = "no_file", "no such file", None
    except (OSError, ValueError) as cause:  # ValueError: a name that no file can have
        code, message, remedy = "unreadable", f"cannot be read: {getattr(cause, 'strerror', None) or cause}", None
    raise error.at(Place(file=str(path)), message, remedy, code=code)


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8, whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write to `path` by way of a temporary file beside it, so that nobody ever sees half of it."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", text=False)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as cause:
        raise InputError.at(Place(file=str(path)), f"cannot be written: {cause.strerror}", code="unwritable") from cause


def _umask() -> int:
    """The process's umask; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
