"""Several classifiers as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from safear.classifier.asking import ask
from safear.classifier.protocol import Classifier, Inputs

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class UnanimousClassifier:
    """Several classifiers of which all must agree: favourable where each of them says so."""

    members: tuple[Classifier, ...]

    @property
    def sees_levels(self) -> bool:
        """Whether none of them looks at anything but levels."""
        return all(getattr(member, "sees_levels", False) for member in self.members)

    @property
    def wanted(self) -> tuple[str, ...] | None:
        """The columns that those want who say so."""
        names = [name for member in self.members for name in getattr(member, "wanted", None) or ()]
        return tuple(dict.fromkeys(names)) or None

    def splits(self, sample: pd.DataFrame) -> Mapping[str, NDArray[np.float64] | None] | None:
        """Where one of them may change its mind; None if that is not known of all."""
        found: dict[str, list[NDArray[np.float64] | None]] = {}
        for member in self.members:
            if getattr(member, "sees_levels", False):
                continue
            splits = member.splits(sample) if hasattr(member, "splits") else None
            if splits is None:
                return None
            for name, numbers in splits.items():
                found.setdefault(name, []).append(numbers)
        return {name: _merge(parts) for name, parts in found.items()}

    def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
        """Ask each of them about all inputs."""
        return np.asarray(np.stack([ask(member, inputs) for member in self.members]).all(axis=0))


def _merge(parts: list[NDArray[np.float64] | None]) -> NDArray[np.float64] | None:
    known = [part for part in parts if part is not None]
    return np.unique(np.concatenate(known)) if len(known) == len(parts) else None
