"""What all sources of models have in common: errors that name the file, files that must be there, optional packages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from safear.classifier.protocol import tell_error
from safear.errors import ClassifierError, MissingExtraError, Place

Loaded = TypeVar("Loaded")


@dataclass(frozen=True, kw_only=True)
class Trust:
    """What the operator allows a file to bring: types in a skops file, and pickles."""

    types: Sequence[str] = ()
    pickles: bool = False


def unreadable(
    file: str | Path, cause: str, remedy: str | None = None, *, code: str = "unreadable", **values: object
) -> ClassifierError:
    """The error about a source that cannot be read."""
    return ClassifierError.at(Place(file=str(file)), cause, remedy, code=code, **values)


def require_file(path: Path) -> None:
    """Raise an error if there is no such file."""
    if not path.is_file():
        raise unreadable(path, "no such file", code="no_file")


def require_package(module: str, package: str, extra: str) -> Any:
    """An optional package, or the error that says what to install."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(package, extra) from None


def read_foreign(path: Path, what: str, read: Callable[[], Loaded]) -> Loaded:
    """Have a library read a file; whatever it raises is told in the first line of its own words."""
    try:
        return read()
    except Exception as error:  # a broken or foreign file can fail anywhere inside a library
        raise unreadable(path, f"not {what}: {tell_error(error)}") from error


@contextmanager
def on_path(folder: Path, *, last: bool = False) -> Iterator[None]:
    """Let Python find modules in a folder for a while: before all others, or those that are nowhere else."""
    entry = str(folder)
    sys.path.insert(len(sys.path) if last else 0, entry)
    try:
        yield
    finally:
        sys.path.remove(entry)
