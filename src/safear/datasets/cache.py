"""Trained classifiers on disk: NumPy archives without pickle, written whole, ignored when they cannot be read."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from safear.datasets.shelves import Shelf, cache_folder, temporary_shelf, write_first

Arrays = Mapping[str, NDArray[np.generic]]


def read_arrays(name: str) -> Arrays | None:
    """The arrays kept under a name, or None if there are none that can be read."""
    for shelf in _forest_shelves():
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
    """Keep arrays under a name; if that is impossible, they are not kept."""
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)  # type: ignore[arg-type]  # the stubs take a name for an option
    write_first(_forest_shelves(), f"{name}.npz", content.getvalue())


def _forest_shelves() -> list[Shelf]:
    """`$SAFEAR_CACHE` and nothing else if that is set, or else the user's cache, or a temporary folder."""
    folder = cache_folder()
    kept = [Shelf(folder)] if folder else []
    return kept if os.environ.get("SAFEAR_CACHE") else [*kept, *temporary_shelf("forests")]
