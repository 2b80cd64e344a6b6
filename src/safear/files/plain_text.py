"""Reading text, and what prevents it, told as an error at the file."""

from __future__ import annotations

from pathlib import Path

from safear.errors import InputError, Place


def explain(cause: BaseException) -> str:
    """What the system or a library says of an error, in a line; never nothing."""
    said = getattr(cause, "strerror", None) or str(cause).partition("\n")[0]
    return str(said) or type(cause).__name__


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
        code, message, remedy = "unreadable", f"cannot be read: {explain(cause)}", None
    raise error.at(Place(file=str(path)), message, remedy, code=code)
