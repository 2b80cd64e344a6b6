"""Pictures: first the tidy tables, then the drawing of them as SVG; PNG and PDF are made of it.

sa.plots.traces(menu).save("plans.svg")
"""

from __future__ import annotations

from safear.plots.cdf_picture import cdf
from safear.plots.disparity_picture import disparity
from safear.plots.distribution_picture import distribution
from safear.plots.dots_picture import dots
from safear.plots.frontier_picture import frontier
from safear.plots.learning import learning_curves
from safear.plots.picture import Picture
from safear.plots.trace_picture import traces
from safear.plots.tree_picture import tree

__all__ = ["Picture", "cdf", "disparity", "distribution", "dots", "frontier", "learning_curves", "traces", "tree"]
