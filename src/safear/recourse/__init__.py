"""Recourse for one person: cases, frontiers, menus, contingent plans, and how they may go.

A `Desk` opens the `Case` of a person; `recommend` makes a `Menu` of it. `safear.walk` follows one of its plans.
"""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
