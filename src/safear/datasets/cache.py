"""Trained classifiers on disk: NumPy archives without pickle, written whole, ignored when they cannot be read."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[np.generic]]


def cache_folder() -> Path:
    """`$SAFEAR_CACHE`, or `safear` in the place that the system keeps for such files."""
    chosen = os.environ.get("SAFEAR_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "safear" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "safear"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "safear"


def read_arrays(name: str) -> Arrays | None:
    """The arrays kept under a name, or None if there are none that can be read."""
    try:
        content = (cache_folder() / f"{name}.npz").read_bytes()  # np.load leaves a broken file open
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    except Exception:  # noqa: BLE001  # a broken file can raise anything; what it held is computed again
        return None


def write_arrays(name: str, arrays: Arrays) -> None:
    """Keep arrays under a name, by way of a temporary file beside it; if that is impossible, they are not kept."""
    with suppress(OSError, RuntimeError):  # read-only or full; no home directory
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        handle, path = tempfile.mkstemp(dir=folder, prefix=f".{name}.", suffix=".tmp")
        temporary = Path(path)
        try:
            with os.fdopen(handle, "wb") as stream:
                np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]  # the stubs take a name for an option
            temporary.replace(folder / f"{name}.npz")
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
