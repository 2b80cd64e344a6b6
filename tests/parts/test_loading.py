"""Nobody waits for Numba without need, and no server stands still while something is compiled."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType

import pytest

import doors
from doors import njit


@pytest.fixture
def loading() -> ModuleType:
    """As in a process that has done nothing so far."""
    spec = doors.loading.__spec__
    assert spec is not None
    assert spec.loader is not None
    fresh = module_from_spec(spec)
    spec.loader.exec_module(fresh)
    return fresh


class NeverCompiled:
    """A function that Numba would compile, with an empty cache."""

    signatures = ()


def test_small_work_does_not_wait_for_numba_and_much_of_it_is_not_slow_for_ever(
    loading: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    asked = [loading.numba_pays(loading.PATIENCE / 4) for _ in range(10)]
    assert not asked[0]
    assert asked[-1]


def test_what_takes_long_to_compile_is_done_plainly_for_about_as_long(loading: ModuleType) -> None:
    assert not loading.compiling_pays(NeverCompiled)
    loading.count_heavy(loading.COMPILING * 0.9)
    assert not loading.compiling_pays(NeverCompiled)
    loading.count_heavy(loading.COMPILING * 0.2)
    assert loading.compiling_pays(NeverCompiled)


def test_a_server_does_not_compile_and_who_expects_many_does_at_once(loading: ModuleType) -> None:
    loading.never_compile()
    loading.count_heavy(loading.COMPILING * 2)
    assert not loading.compiling_pays(NeverCompiled)
    loading.expect_many()
    assert loading.compiling_pays(NeverCompiled)


def test_what_lies_on_the_disk_is_used(loading: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))

    def double(number: int) -> int:
        return 2 * number

    assert not loading.compiling_pays(njit(cache=True)(double))
    assert njit(cache=True)(double)(2) == 4
    assert loading.compiling_pays(njit(cache=True)(double))
