"""Packages that one may do without: how to make them seem not installed."""

from __future__ import annotations

import sys

import pytest

from doors import load_converter, load_environment


def hide_package(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse to import a package for the rest of a test, and forget what was made with it before."""
    monkeypatch.setitem(sys.modules, name, None)
    load_environment.cache_clear()
    load_converter.cache_clear()
