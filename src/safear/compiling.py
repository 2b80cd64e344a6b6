"""Functions that Numba compiles, and how their machine code is kept. Kernels take `njit` from here, not from Numba."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


class _OwnNumbers:
    """Numbers that no other process gives, not even a fork of this one, instead of 1, 2, 3 and so on.

    Numba puts the number of a function into the name of its machine code, and those of functions of its own that it
    calls. What several processes have compiled and kept comes together in a later one, where of two functions of the
    same name the first serves both: a sort then moved things as a sort of indices does.
    """

    def __iter__(self) -> _OwnNumbers:
        return self

    def __next__(self) -> int:
        return int.from_bytes(os.urandom(8), "big")


with suppress(ImportError):  # a newer Numba may have better names
    from numba.core.bytecode import FunctionIdentity

    FunctionIdentity._unique_ids = _OwnNumbers()  # type: ignore[assignment]  # noqa: SLF001  # only `next` is asked of it


def njit(*, cache: bool = False, **options: Any) -> Callable[[F], F]:
    """As Numba's. What it compiles with `cache` is kept on the disk as `kept_code` says, or not at all."""

    def decorate(function: F) -> F:
        dispatcher: F = numba.njit(**options)(function)
        if cache and not _is_off():
            _keep(dispatcher)
        return dispatcher

    return decorate


def is_at_hand(function: Any) -> bool:
    """Whether a function of `njit` was compiled before, here or by another process."""
    if _is_off() or function.signatures:
        return True
    cache: Any = getattr(function, "_cache", None)
    return cache is not None and hasattr(cache, "is_there") and cache.is_there()


def _is_off() -> bool:
    """Whether Numba leaves functions as they are ($NUMBA_DISABLE_JIT), so that there is nothing to keep."""
    return bool(getattr(numba.config, "DISABLE_JIT", False))


def _keep(dispatcher: Any) -> None:
    """Have it keep what it compiles; in Numba's own way if a newer Numba has no room for ours."""
    try:
        from safear.numba_cache import CheckedCache  # noqa: PLC0415  # if it can be imported

        dispatcher._cache.load_overload, dispatcher._cache.save_overload  # noqa: B018, SLF001  # what it asks its cache
    except (ImportError, AttributeError):
        with suppress(RuntimeError):  # no folder can be written
            dispatcher.enable_caching()
    else:
        dispatcher._cache = CheckedCache(dispatcher.py_func)  # noqa: SLF001
