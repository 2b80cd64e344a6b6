"""Groups of an audit: how many people there are of each kind, and the means of their figures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safear.population.figures import MEASURES, PeopleFigures
from safear.population.statistics import Sample

BETWEEN = " × "
MISSING = "(missing)"  # how the group of those without a value is called


@dataclass(frozen=True, eq=False, repr=False)
class Group:
    """The people of one group, or of one combination of groups."""

    names: tuple[str, ...]
    counts: NDArray[np.int64]  # of each distinct person
    people: PeopleFigures
    minimum: int

    @property
    def name(self) -> str:
        """The group; a combination has all of its names."""
        return BETWEEN.join(name or MISSING for name in self.names) if self.names else "everybody"

    @cached_property
    def rejected(self) -> NDArray[np.int64]:
        """How many of each distinct person are rejected."""
        return np.where(self.people.favourable, 0, self.counts)

    @property
    def n(self) -> int:
        """How many people there are."""
        return int(self.counts.sum())

    @property
    def n_rejected(self) -> int:
        """How many of them are rejected."""
        return int(self.rejected.sum())

    @property
    def without_recourse(self) -> int:
        """How many of these nothing helps."""
        return int(self.rejected[self.people.without_recourse].sum())

    @property
    def gives_up(self) -> int:
        """How many of the rejected have a plan that succeeds far less often than they could."""
        return int(self.rejected[self.people.gives_up].sum())

    @property
    def is_small(self) -> bool:
        """Whether so few are rejected that their figures say little."""
        return self.n_rejected < self.minimum

    def sample(self, measure: str) -> Sample:
        """The figures of those who are rejected and have the measure."""
        column = self.people.rankable[:, self.people.measures.index(measure)]
        known = ~np.ma.getmaskarray(column) & (self.rejected > 0)
        return Sample(np.ma.getdata(column)[known], self.rejected[known])

    def mean(self, measure: str) -> float | None:
        """The mean of a measure over those who are rejected and have it; None if nobody has."""
        return self.sample(measure).mean

    def row(self) -> dict[str, object]:
        """The group as a row of a table; what is undefined is None."""
        return {
            "n": self.n,
            "rejected": self.n_rejected,
            "favourable": 1 - self.n_rejected / self.n,
            "no recourse": self.without_recourse / self.n_rejected if self.n_rejected else None,
            "gives up": self.gives_up / self.n_rejected if self.n_rejected else None,
            **{measure: self.mean(measure) for measure in MEASURES},
            "small": self.is_small,
        }
