"""The plain ways, which serve small problems before Numba is loaded, beside compiled loops."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def without_numba() -> Iterator[None]:
    """As if nobody had loaded Numba so far."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "numba", raising=False)
        yield
