"""Pages are looked at in the browser that tests of the web use."""

from __future__ import annotations

from web.conftest import browser

__all__ = ["browser"]
