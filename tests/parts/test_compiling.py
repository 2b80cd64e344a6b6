"""Functions that Numba compiles: kept in our way, in Numba's, or not at all."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from numba.core import caching

import safear
from doors import count_steps, fast_runs, is_at_hand, loading, njit


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


def kernels() -> list[str]:
    """The modules whose functions are compiled."""
    root = Path(safear.__file__).parent
    found = sorted(path.relative_to(root.parent).with_suffix("") for path in root.rglob("*_kernels.py"))
    return [".".join(path.parts) for path in found]


def test_all_that_is_compiled_is_kept_in_our_way() -> None:
    """A mistake of ours must not leave it to Numba, whose own files nobody checks, without a word."""
    kinds = set()
    for module in map(import_module, kernels()):
        text = Path(str(module.__file__)).read_text(encoding="utf-8")
        names = re.findall(r"^@njit\(cache=True.*\)\ndef (\w+)", text, re.MULTILINE)
        assert len(names) == text.count("@njit(cache=True")
        kinds |= {kind(getattr(module, name)) for name in names}
    assert kinds == {"CheckedCache"}


PURE = """
from importlib import import_module
from types import FunctionType
from safear.compiling import is_at_hand
modules = [import_module(name) for name in {names!r}]
made = [each for module in modules for each in vars(module).values() if type(each) is FunctionType]
assert made and all(map(is_at_hand, made)), made
"""


def test_kernels_can_be_run_without_a_compiler() -> None:
    """As tools/mutants.py does, and whoever debugs them."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    program = [sys.executable, "-c", PURE.format(names=kernels())]
    done = subprocess.run(program, env=environment, capture_output=True, encoding="utf-8", check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def test_what_a_container_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for what takes a minute, whether that lies on the disk or not."""
    monkeypatch.setattr(loading._Plain, "may_compile", False)
    monkeypatch.setattr(loading, "expect_many", loading.load_numba)
    monkeypatch.setattr(fast_runs, "compiling_pays", lambda _: False)
    monkeypatch.setattr(fast_runs._Loops, "are_there", False)
    runpy.run_path(str(Path(__file__).parents[2] / "tools" / "compile_kernels.py"))["main"]()
    assert is_at_hand(count_steps)
