"""How a program that is stopped ends, where nothing can be raised."""

from __future__ import annotations

import sys

import pytest

from doors import stopping


def test_a_stop_where_nothing_can_be_raised_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """As in what is called when something else goes; what is no stop is told as ever."""

    class Going:
        def __init__(self, error: BaseException) -> None:
            self.error = error

        def __del__(self) -> None:
            raise self.error

    told: list[type[BaseException] | None] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "unraisablehook", lambda lost: told.append(lost.exc_type))
        with stopping.watching():
            Going(stopping.Stopped())
            Going(ValueError())
        Going(KeyError())
    assert (told, capfd.readouterr().err) == ([ValueError, KeyError], "")
