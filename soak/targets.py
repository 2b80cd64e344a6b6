"""A reader under test: how its broken inputs are drawn, and how they are read."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple


class Target(NamedTuple):
    """`draw` makes an input, `read` reads it and takes the next step with it; `weight` is how often it is drawn.

    `originals` are what inputs are made of: one that comes out as it was is not counted.
    """

    name: str
    draw: Callable[[Random], Any]
    read: Callable[[Any], None]
    weight: int
    originals: Callable[[], Iterable[object]] = tuple


@cache
def _folder_of(process: int) -> Path:
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # memory is quicker than a disk
    folder = Path(tempfile.mkdtemp(prefix=f"soak-{process}-", dir=place))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def scratch() -> Path:
    """A folder for the files of this process."""
    return _folder_of(os.getpid())
