"""Risk: exact cost distributions, their measures, and the objectives made of them."""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
