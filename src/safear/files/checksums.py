"""Checksums of files, and the list of them that a folder may have (as `sha256sum` writes it)."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from safear.errors import InputError, Place
from safear.files.output import told_of
from safear.files.plain_text import explain

SUMS = "_parts.sha256"  # in a folder: the checksums of its files; readers of tables pass over names that begin so
_SUM = re.compile(r"([0-9a-f]{64})  ([^/]+)")


def digest_file(path: str | Path) -> str:
    """The SHA-256 of a file's content."""
    try:
        with Path(path).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as cause:
        raise InputError.at(Place(file=str(path)), f"cannot be read: {explain(cause)}", code="unreadable") from cause


def read_sums(folder: Path) -> dict[str, str] | None:
    """The SHA-256 of each file in a folder that lists them (as `sha256sum` does); None if it does not."""
    try:
        text = (folder / SUMS).read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except OSError as cause:
        place = Place(file=str(folder / SUMS))
        raise InputError.at(place, f"cannot be read: {explain(cause)}", code="unreadable") from cause
    return {found[2]: found[1] for found in map(_SUM.fullmatch, text.splitlines()) if found}


def add_sum(folder: Path, name: str, digest: str) -> None:
    """Add a file to the list of a folder."""
    with told_of(folder / SUMS), (folder / SUMS).open("ab") as stream:
        stream.write(list_sums({name: digest}))
        stream.flush()
        os.fsync(stream.fileno())


def list_sums(sums: Mapping[str, str]) -> bytes:
    """The list of a folder, or a part of it."""
    return "".join(f"{digest}  {name}\n" for name, digest in sums.items()).encode()
