"""When compiled code is worth loading: Numba takes most of a second, and NumPy has done a small problem by then.

Whoever has both ways of doing something asks `numba_pays`. NumPy gets PATIENCE seconds of a process, all in all, so
that many small problems are not done slowly for ever.
"""

from __future__ import annotations

import sys
from importlib import import_module

PATIENCE = 0.3  # seconds: about half of what loading takes


class _Plain:
    """How long plain work has taken so far, as estimated."""

    seconds = 0.0


def numba_pays(seconds: float, *, counts: bool = True) -> bool:
    """Whether compiled code is the better way to do what takes NumPy so many seconds, about. Counts it, if not.

    Whoever asks about several things that will ask for themselves lets those count.
    """
    if "numba" in sys.modules or _Plain.seconds + seconds > PATIENCE:
        return True
    _Plain.seconds += seconds * counts
    return False


def load_numba() -> None:
    """Load it now, so that whoever comes does not wait for it."""
    import_module("numba")
