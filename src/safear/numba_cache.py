"""Numba's own cache of compiled functions, with files of ours.

The classes of Numba that stand here are not part of what it promises to keep. Whoever imports this is ready for them
to be gone (see `compiling`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.registry import cpu_target
from numba.core.serialize import dumps

from safear.kept_code import KeptCode, code_shelves, stamp_source

# What else code depends on, besides its sources and the machine.
SETTINGS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "ENABLE_AVX", "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE")


class _Locator:
    """What Numba asks for a place. It never says that there is none: `KeptCode` finds one when something is kept."""

    def __init__(self, py_file: str) -> None:
        self._py_file = py_file  # Numba names it in warnings

    @classmethod
    def from_function(cls, _: Callable[..., Any], py_file: str) -> _Locator:
        """What Numba asks in turn of all the kinds that it knows."""
        return cls(py_file)

    def ensure_cache_path(self) -> None:
        """Folders are made when something is kept."""

    def get_cache_path(self) -> str:
        """The best place, for those who ask."""
        return str(code_shelves(Path(self._py_file))[0].folder)

    def get_source_stamp(self) -> None:
        """`KeptCode` has a better one."""

    def get_disambiguator(self) -> str:
        """None is needed. Code that moved within its file replaces what was compiled before."""
        return "0"


class _Implementation(CompileResultCacheImpl):
    _locator_classes: Any = (_Locator,)


class CheckedCache(FunctionCache):
    """The cache of one function. Whatever goes wrong with it, the function is compiled instead."""

    _impl_class = _Implementation

    def __init__(self, py_func: Callable[..., Any]) -> None:
        super().__init__(py_func)  # type: ignore[no-untyped-call]  # Numba has no types
        source = Path(inspect.getfile(py_func)).absolute()
        settings = [getattr(numba.config, name, None) for name in SETTINGS]
        self.kept = KeptCode(
            source,
            self._impl.filename_base,
            is_from=stamp_source(source) + repr((numba.__version__, settings)).encode(),
            shelves=code_shelves(source),
            dump=dumps,
        )
        self._cache_file = self.kept  # type: ignore[assignment]  # as far as Numba uses it

    def is_there(self) -> bool:
        """Whether something is kept that this machine can run."""
        return self.kept.is_there(cpu_target.target_context.codegen().magic_tuple())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was compiled for a signature; None if that must be done now."""
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # noqa: BLE001
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for a signature, if that is possible."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except Exception:  # noqa: BLE001  # it was compiled, and is used
            return
