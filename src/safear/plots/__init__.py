"""Pictures: first the tidy tables, then the drawing of them as SVG.

sa.plots.traces(menu).save("plans.svg")
"""

from __future__ import annotations

from safear.plots.disparity_picture import disparity
from safear.plots.learning import learning_curves
from safear.plots.svg import Picture
from safear.plots.trace_picture import traces

__all__ = ["Picture", "disparity", "learning_curves", "traces"]
