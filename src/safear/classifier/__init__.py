"""Classifiers: who decides. The protocol, and adapters for models, functions, rules and tables."""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
