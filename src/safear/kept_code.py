"""Compiled code on disk: what was compiled once is loaded by later processes.

It lies in $NUMBA_CACHE_DIR and nowhere else if that is set, or else beside the sources, or in the user's cache. A
service account can write none of these: then it lies in a temporary folder of its own, and if there is none either,
each process compiles anew. Code is loaded from the first of these that has it: those who may only read what lies beside
the sources (in a container, say, where it was compiled when that was built) use it too.

Code is loaded only if nobody could write its file who could not have us run anything anyway (see `Shelf`). In a folder
that everybody may write to, or that is somebody else's, this user's own files serve, and those of root and of whoever
owns the sources.

Each file begins with a checksum of its content and of the sources it was compiled from. What is damaged, or was
compiled from something else, is never unpickled, let alone run.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from safear.shelves import Shelf, cache_folder, temporary_shelf, write_first

logger = logging.getLogger("safear")

PACKAGE = Path(__file__).parent
SUM = hashlib.sha256().digest_size  # bytes
SUFFIX = ".nbc"  # as Numba has it
IMPORTED = re.compile(r"^from safear\.([\w.]+) import", re.MULTILINE)


class Key(NamedTuple):
    """What compiled code is for."""

    types: Any  # of the arguments
    machine: Any
    function: Any  # its Python code


def code_shelves(source: Path) -> list[Shelf]:
    """Where code that is compiled from a source may lie, the best first."""
    chosen, folder = os.environ.get("NUMBA_CACHE_DIR"), cache_folder()
    if chosen:
        return [Shelf(Path(chosen).absolute(), for_code=source)]
    beside = Shelf(source.parent / "__pycache__", for_code=source)  # Python, too, runs what lies there
    users = [Shelf(folder.absolute() / "compiled", is_private=True)] if folder else []
    return [beside, *users, *temporary_shelf("compiled")]


@cache
def stamp_source(source: Path) -> bytes:
    """A checksum of a module and of what goes into its compiled code: functions, types and constants that it imports.

    Compiled functions hold what they call. So kernels of others count with all that they import in turn, everything
    else (types, constants) by its own text.
    """
    text = source.read_text(encoding="utf-8")
    stamp = hashlib.sha256(text.encode())
    for name in IMPORTED.findall(text):
        imported = PACKAGE.joinpath(*name.split(".")).with_suffix(".py")
        is_kernel = imported.stem.endswith("_kernels")
        stamp.update(stamp_source(imported) if is_kernel else hashlib.sha256(imported.read_bytes()).digest())
    return stamp.digest()


class KeptCode:
    """The compiled code of one function: a file for each machine and each set of types that it was called with.

    It `is_from` a stamp of its sources and of how it was compiled, and is pickled by `dump`.
    """

    def __init__(
        self, source: Path, name: str, *, is_from: bytes, shelves: Sequence[Shelf], dump: Callable[[object], bytes]
    ) -> None:
        self.source = source
        self.name = name
        self.is_from = is_from
        self.shelves = shelves
        self.dump = dump
        self.seen: object = None  # what the folders were like when `is_there` last looked
        self.found = False

    def load(self, key: Any) -> Any:
        """What was saved under a key; None if there is nothing, or nothing that is whole and up to date."""
        name = self._name(Key(*key))
        for shelf in self.shelves:
            content = self._open(shelf, name)
            if content is None:
                continue
            with suppress(Exception):  # it may name classes that are gone
                kept, data = pickle.loads(content)  # noqa: S301  # the checksum fits, and the shelf says who wrote it
                if kept == key:
                    _tell(shelf)
                    return data
        return None

    def save(self, key: Any, data: object) -> None:
        """Keep it on the first shelf that takes it, if one does."""
        content = self.dump((key, data))
        _tell(write_first(self.shelves, self._name(Key(*key)), self._sum(content) + content))

    def flush(self) -> None:
        """Forget all of it."""
        for shelf in self.shelves:
            for name in self._list(shelf, ""):
                with suppress(OSError):
                    (shelf.folder / name).unlink()

    def is_there(self, machine: object) -> bool:
        """Whether anything is kept for a machine that is whole and up to date. Looks only at folders that changed."""
        seen = [_last_change(shelf.folder) for shelf in self.shelves]
        if seen != self.seen:
            self.seen = seen
            files = [(shelf, name) for shelf in self.shelves for name in self._list(shelf, f"{_digest(machine)}-")]
            self.found = any(self._open(shelf, name) is not None for shelf, name in files)
        return self.found

    def _open(self, shelf: Shelf, name: str) -> bytes | None:
        """The content of a file whose checksum fits."""
        found = shelf.read(name)
        if found is None or found[:SUM] != self._sum(found[SUM:]):
            return None
        return found[SUM:]

    def _sum(self, content: bytes) -> bytes:
        return hashlib.sha256(self.is_from + content).digest()

    def _name(self, key: Key) -> str:
        """The file for a key. What is compiled from other sources takes its place, or else they would pile up."""
        return f"{self.name}.{_digest(key.machine)}-{_digest((self.source, key.types))}{SUFFIX}"

    def _list(self, shelf: Shelf, beginning: str) -> list[str]:
        """The files of this function whose names go on with a `beginning`."""
        try:
            names = os.listdir(shelf.folder)  # noqa: PTH208  # names are all that is needed
        except OSError:
            return []
        return [name for name in names if name.startswith(f"{self.name}.{beginning}") and name.endswith(SUFFIX)]


class _Told:
    """What was said of compiled code so far: one line tells of all of it."""

    about: ClassVar[set[bool]] = set()


def _tell(shelf: Shelf | None) -> None:
    """Say once where compiled code is kept, and once that some is not."""
    if (shelf is None) not in _Told.about:
        _Told.about.add(shelf is None)
        logger.info(
            f"compiled code is kept in {shelf.folder}" if shelf else "compiled code is not kept: no folder takes it"
        )


def _digest(thing: object) -> str:
    """Short, and the same in every process."""
    return hashlib.sha256(repr(thing).encode()).hexdigest()[:12]


def _last_change(folder: Path) -> int | None:
    """When a file last came or went."""
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return None
