"""The MDP: a problem as arrays, compiled for one person, for a block of states, or for all of them."""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
