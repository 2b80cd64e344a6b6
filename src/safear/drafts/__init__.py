"""From a table and a model to a first problem: `safear.draft_problem`."""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
