"""When Numba is loaded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from safear import loading
from safear.compiling import njit
from safear.loading import (
    COMPILING,
    PATIENCE,
    compiling_pays,
    count_heavy,
    expect_many,
    load_numba,
    never_compile,
    numba_pays,
)


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has not done anything."""
    monkeypatch.setattr(loading._Plain, "seconds", 0.0)
    monkeypatch.delitem(sys.modules, "numba", raising=False)


@pytest.mark.usefixtures("unloaded")
def test_small_work_is_done_plainly_and_large_work_is_not() -> None:
    assert not numba_pays(PATIENCE / 2)
    assert numba_pays(PATIENCE)
    assert not numba_pays(PATIENCE / 2)  # what was done otherwise does not count


@pytest.mark.usefixtures("unloaded")
def test_much_small_work_is_large() -> None:
    asked = [numba_pays(PATIENCE / 4) for _ in range(6)]
    assert asked == [False] * 4 + [True] * 2


@pytest.mark.usefixtures("unloaded")
def test_what_is_loaded_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", sys)
    assert numba_pays(0.0)
    load_numba()


class NeverCompiled:
    """A function that Numba would compile, with an empty cache."""

    signatures = ()


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading._Plain, "heavy", 0.0)
    monkeypatch.setattr(loading._Plain, "may_compile", True)


@pytest.mark.usefixtures("fresh")
def test_what_takes_long_to_compile_is_done_plainly_for_about_as_long() -> None:
    assert not compiling_pays(NeverCompiled)
    count_heavy(COMPILING * 0.9)
    assert not compiling_pays(NeverCompiled)
    count_heavy(COMPILING * 0.2)
    assert compiling_pays(NeverCompiled)


@pytest.mark.usefixtures("fresh")
def test_a_server_does_not_compile_and_who_expects_many_does_at_once() -> None:
    never_compile()
    count_heavy(COMPILING * 2)
    assert not compiling_pays(NeverCompiled)
    expect_many()
    assert compiling_pays(NeverCompiled)


@pytest.mark.usefixtures("fresh")
def test_what_lies_on_the_disk_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))

    def double(number: int) -> int:
        return 2 * number

    assert not compiling_pays(njit(cache=True)(double))
    assert njit(cache=True)(double)(2) == 4
    assert compiling_pays(njit(cache=True)(double))
