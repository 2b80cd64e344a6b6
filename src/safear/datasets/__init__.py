"""The three data sets of the paper, and the bundled problems.

    data = sa.datasets.load("german")
    data.problem, data.levels, data.classifier(seed=0).accuracy

The function's module is called `dataset`: a submodule `load` would take the function's place.
"""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
