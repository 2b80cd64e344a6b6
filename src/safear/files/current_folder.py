"""The current folder, from which relative names are meant: code of others may go to another one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def keep_folder() -> Iterator[None]:
    """Come back to the current folder if foreign code goes to another while it is loaded."""
    before = _find_folder()
    try:
        yield
    finally:
        _go_to(before)


class _Home:
    folder: str | None = None


@contextmanager
def stay_here() -> Iterator[None]:
    """Meanwhile, come back to the current folder whenever a model was asked: relative names are meant from here.

    That is for programs of ours. An application may itself go to another folder while a question waits for its answer.
    """
    before, _Home.folder = _Home.folder, _find_folder()
    try:
        yield
    finally:
        _Home.folder = before


def go_home() -> None:
    """Come back to where we are to stay, if anywhere."""
    _go_to(_Home.folder)


def _go_to(folder: str | None) -> None:
    if folder is not None and _find_folder() != folder:
        os.chdir(folder)


def _find_folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109  # a path takes three times as long
    except OSError:  # it was removed
        return None
