"""Functions that Numba compiles: kept in our way, in Numba's, or not at all."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from numba.core import caching

import safear
from safear.compiling import is_at_hand, njit


def add(a: int, b: int) -> int:
    return a + b


def kind(function: Any) -> str:
    return type(function._cache).__name__


def test_what_is_kept_and_what_is_not() -> None:
    assert kind(njit(cache=True, nogil=True)(add)) == "CheckedCache"
    plain = njit(nogil=True)(add)
    assert kind(plain) == "NullCache"
    assert not is_at_hand(plain)
    assert plain(1, 2) == 3
    assert is_at_hand(plain)


def test_a_numba_without_room_for_our_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Numba's own classes change from version to version; then it is as if there were nothing of ours."""
    monkeypatch.setitem(sys.modules, "safear.numba_cache", None)
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    function = njit(cache=True, nogil=True)(add)
    assert kind(function) == "FunctionCache"
    assert not is_at_hand(function)
    assert function(1, 2) == 3
    assert list(tmp_path.rglob("*.nbi"))
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])  # nor is there a folder for its own
    function = njit(cache=True, nogil=True)(add)
    assert kind(function) == "NullCache"
    assert function(1, 2) == 3


def test_nobody_takes_it_from_numba() -> None:
    """Numba's decorator refuses to compile for users who cannot write."""
    sources = Path(safear.__file__).parent.rglob("*.py")
    named = {path.name for path in sources if re.search(r"(from|import) numba\b", path.read_text(encoding="utf-8"))}
    assert named == {"compiling.py", "numba_cache.py"}
