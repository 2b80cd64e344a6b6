"""How far the chance of a step to work, or of one of its outcomes, can be off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.extremes import Range
from safear.mdp.arrays import MDP

Reals = NDArray[np.float64]


class Bounded(Protocol):
    """One way in which a step may end."""

    @property
    def works(self) -> bool:
        """Whether the action then counts as having worked."""

    @property
    def low(self) -> float:
        """The least that its chance may be."""

    @property
    def high(self) -> float:
        """The most."""


def bound_working(endings: Sequence[Bounded]) -> Range:
    """The least and the most that the chance of a step to work may be."""
    low, high, works = (np.array([getattr(one, name) for one in endings]) for name in ("low", "high", "works"))
    return _bound_sum(low, high, works)


def bound_edge(mdp: MDP, edge: int) -> Range:
    """The least and the most that the chance of an outcome may be, given those of the others."""
    first, last = mdp.edge_start[mdp.edge_row[edge]], mdp.edge_start[mdp.edge_row[edge] + 1]
    return _bound_sum(mdp.edge_low[first:last], mdp.edge_high[first:last], np.arange(first, last) == edge)


def _bound_sum(low: Reals, high: Reals, chosen: NDArray[np.bool_]) -> Range:
    """The least and the most that the chances of some outcomes of a row can add up to: the others take the rest."""
    if (low == high).all():
        exact = float(low[chosen].sum())
        return Range(exact, exact)
    least = max(float(low[chosen].sum()), 1.0 - float(high[~chosen].sum()), 0.0)
    most = min(float(high[chosen].sum()), 1.0 - float(low[~chosen].sum()), 1.0)
    return Range(least, max(least, most))
