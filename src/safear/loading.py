"""When compiled code is worth loading: Numba takes most of a second, and NumPy has done a small problem by then.

Whoever has both ways of doing something asks `numba_pays`. NumPy gets PATIENCE seconds of a process, all in all, so
that many small problems are not done slowly for ever.

Some code takes a minute to compile where that was never done before. `compiling_pays` says when that is worth it: if it
lies on the disk, or once the plain way has taken about as long. A server, which should not stand still, never compiles.
"""

from __future__ import annotations

import math
import sys
from importlib import import_module
from typing import Any

PATIENCE = 0.3  # seconds: about half of what loading takes
COMPILING = 40.0  # seconds: about what compiling takes


class _Plain:
    """How long plain work has taken so far, as estimated."""

    seconds = 0.0
    heavy = 0.0  # of what takes long to compile, as measured
    may_compile = True


def numba_pays(seconds: float, *, counts: bool = True) -> bool:
    """Whether compiled code is the better way to do what takes NumPy so many seconds, about. Counts it, if not.

    Whoever asks about several things that will ask for themselves lets those count.
    """
    if is_numba_loaded() or _Plain.seconds + seconds > PATIENCE:
        return True
    _Plain.seconds += seconds * counts
    return False


def load_numba() -> None:
    """Load it now, so that whoever comes does not wait for it."""
    import_module("numba")


def is_numba_loaded() -> bool:
    """Whether compiled code costs nothing more to use."""
    return "numba" in sys.modules


def compiling_pays(function: Any) -> bool:
    """Whether to use a function that Numba compiles, of the kind that takes long."""
    from safear.compiling import is_at_hand  # noqa: PLC0415  # Numba is loaded

    return (_Plain.may_compile and _Plain.heavy > COMPILING) or is_at_hand(function)


def count_heavy(seconds: float) -> None:
    """So long something took that `compiling_pays` is asked about, compiled or not."""
    _Plain.heavy += seconds


def expect_many() -> None:
    """This process serves so many that everything is worth compiling at once."""
    load_numba()
    _Plain.heavy, _Plain.may_compile = math.inf, True


def never_compile() -> None:
    """This process had better not stand still for a minute."""
    _Plain.may_compile = False
