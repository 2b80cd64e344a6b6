"""The program, called as in the tests of what users are promised."""

from __future__ import annotations

from promises.cli.conftest import safear

__all__ = ["safear"]
