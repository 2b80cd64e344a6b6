"""People from files and data frames: one by one, or counted, and what is wrong with their rows."""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
