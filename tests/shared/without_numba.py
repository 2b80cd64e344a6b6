"""The plain ways, which serve small problems before Numba is loaded, beside compiled loops."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from doors import loading


@contextmanager
def without_numba(*, for_good: bool = False) -> Iterator[None]:
    """As if nobody had loaded Numba so far; `for_good`, nobody does so later, however much there is to do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "numba", raising=False)
        if for_good:
            patch.setattr(loading, "PATIENCE", math.inf)
        yield
