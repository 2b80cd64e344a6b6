"""Settings for all tests."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings

# Examples are drawn anew from the same seed each time: a green run stays green. `make fuzz` draws new ones.
_COMMON = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[phase for phase in Phase if phase is not Phase.explain],  # it takes minutes to explain a failure
)
settings.register_profile("fixed", _COMMON, derandomize=True)
settings.register_profile("few", _COMMON, derandomize=True, max_examples=10)
settings.register_profile("fuzz", _COMMON, max_examples=2000)
settings.load_profile("fixed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Property tests, and tests that start programs, are slow without saying so."""
    for item in items:
        is_drawn = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        if is_drawn or "safear_process" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
