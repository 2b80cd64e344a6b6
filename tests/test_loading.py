"""When Numba is loaded."""

from __future__ import annotations

import sys

import pytest

from safear import loading
from safear.loading import PATIENCE, load_numba, numba_pays


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
