"""Settings for all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings

# Examples are drawn anew from the same seed each time: a green run stays green. `make fuzz` draws new ones.
_COMMON = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[phase for phase in Phase if phase is not Phase.explain],  # it takes minutes to explain a failure
)
settings.register_profile("fixed", _COMMON, derandomize=True)
settings.register_profile("fuzz", _COMMON, max_examples=2000)
settings.load_profile("fixed")
