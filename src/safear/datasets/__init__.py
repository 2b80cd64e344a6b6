"""The three data sets of the paper, and the bundled problems.

    data = sa.datasets.load("german")
    data.problem, data.levels, data.classifier(seed=0).accuracy

The function's module is called `dataset`: a submodule `load` would take the function's place.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from safear.datasets.dataset import Dataset as Dataset
    from safear.datasets.dataset import dataset_names as dataset_names
    from safear.datasets.dataset import load as load
    from safear.datasets.forest import TrainedClassifier as TrainedClassifier

_HOMES = {
    "Dataset": "safear.datasets.dataset",
    "TrainedClassifier": "safear.datasets.forest",
    "dataset_names": "safear.datasets.dataset",
    "load": "safear.datasets.dataset",
}

__all__ = ["Dataset", "TrainedClassifier", "dataset_names", "load"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'safear.datasets' has no attribute '{name}'")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
