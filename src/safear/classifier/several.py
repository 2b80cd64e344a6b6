"""Several classifiers as one: the first decides, and plans are made for what enough of them accept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from safear.classifier.asking import ask, ask_scores
from safear.classifier.protocol import Classifier, Inputs, find_aimed

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class SeveralClassifiers:
    """Several classifiers of which the first is in force: it alone decides.

    Plans are made for what it accepts together with others: a share `agree` of all of them, each with its own margin.
    """

    members: tuple[Classifier, ...]
    agree: float = 1.0

    @property
    def aimed(self) -> Classifier | None:
        """Who says which inputs plans are made for."""
        return AgreeingClassifiers(tuple(map(find_aimed, self.members)), self.agree)

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
        """The decision of the first."""
        return ask(self.members[0], inputs)


@dataclass(frozen=True, eq=False)
class AgreeingClassifiers(SeveralClassifiers):
    """Favourable where the first says so and, with it, a share `agree` of all of them.

    The first must be among them: what the model in force rejects is no goal, whatever others would say.
    """

    @property
    def aimed(self) -> Classifier | None:
        """They ask for no more."""
        return None

    @property
    def needed(self) -> int:
        """How many must accept."""
        return max(1, math.ceil(Decimal(repr(float(self.agree))) * len(self.members)))

    def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
        """Ask each about the inputs that may still be accepted and are not yet."""
        count, needed = len(self.members), self.needed
        votes = ask(self.members[0], inputs).astype(np.int64)
        undecided = np.flatnonzero(votes)
        for asked, member in enumerate(self.members[1:], start=1):
            missing = needed - votes[undecided]
            undecided = undecided[(missing > 0) & (missing <= count - asked)]
            if len(undecided):
                votes[undecided] += ask(member, inputs.take(undecided))
        return np.asarray((votes > 0) & (votes >= needed))

    def scores(self, inputs: Inputs) -> NDArray[np.float64] | None:
        """The score that the first and as many as are needed reach; None if one of them gives none."""
        found = [ask_scores(member, inputs) for member in self.members]
        known = [scores for scores in found if scores is not None]
        if len(known) < len(found):
            return None
        reached: NDArray[np.float64] = np.sort(np.stack(known), axis=0)[len(found) - self.needed]
        return np.minimum(known[0], reached)


def _merge(parts: list[NDArray[np.float64] | None]) -> NDArray[np.float64] | None:
    known = [part for part in parts if part is not None]
    return np.unique(np.concatenate(known)) if len(known) == len(parts) else None


def members_of(classifier: Classifier) -> tuple[Classifier, ...]:
    """The classifiers of which one is made."""
    return classifier.members if isinstance(classifier, SeveralClassifiers) else (classifier,)
