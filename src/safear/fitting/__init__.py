"""Chances and costs from what happened: `fit_problem` takes a log of attempts, or a history for bounds."""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
