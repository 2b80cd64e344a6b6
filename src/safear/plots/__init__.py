"""Pictures: first the tidy tables, then the drawing of them as SVG; PNG and PDF are made of it.

sa.plots.traces(menu).save("plans.svg")
"""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
