"""Saved plans: kept in small files, loaded without the model, and followed later.

`save_plan` writes an offer, `load_plan` reads it, and `safear.resume` goes on from where somebody is.
"""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
