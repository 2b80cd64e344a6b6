"""Large libraries that only some tests need: those of the group `models`, which `make test-models` installs."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import pytest


def require(module: str) -> Any:
    """A module. Without it the test is skipped, or fails if SAFEAR_REQUIRE_MODELS says that it must be there."""
    try:
        return import_module(module)
    except ImportError:
        told = f"NO {module}: run `make test-models` (SAFEAR_REQUIRE_MODELS=1 makes this a failure)"
        if os.environ.get("SAFEAR_REQUIRE_MODELS") == "1":
            pytest.fail(told)
        pytest.skip(told)
