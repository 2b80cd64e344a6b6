"""Large libraries that only some tests need, in groups of their own: `models` and `browser`."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, Literal, NoReturn

import pytest


def require(module: str, group: Literal["models", "browser"] = "models") -> Any:
    """A module of a group. Without it the test is skipped, or fails if SAFEAR_REQUIRE_... says that it must be."""
    try:
        return import_module(module)
    except ImportError:
        miss(f"NO {module}: run `make test-{group}`", group)


def miss(told: str, group: Literal["models", "browser"]) -> NoReturn:
    """Skip a test, or a module of tests, for want of something; or fail it, if that must be there."""
    variable = f"SAFEAR_REQUIRE_{group.upper()}"
    told = f"{told} ({variable}=1 makes this a failure)"
    if os.environ.get(variable) == "1":
        pytest.fail(told)
    pytest.skip(told, allow_module_level=True)
