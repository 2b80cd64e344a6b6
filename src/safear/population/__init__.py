"""Many people: audits, comparisons of greedy and optimal plans, batches.

The functions are `safear.audit`, `safear.compare` and `safear.batch`.
"""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
