"""Solvers: what `safear.solve` takes and gives."""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
