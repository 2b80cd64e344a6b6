"""Evaluation of policies: exact distributions, forward for one person, backward for all states.

Simulation, a cross-check, is `safear.simulate`.
"""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
