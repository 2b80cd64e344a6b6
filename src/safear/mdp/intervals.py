"""Chances that are only known to lie between bounds.

The chances of a row may be any p with low <= p <= high and sum p = 1. The p with the highest sum p * value begins with
every outcome at its least and gives what is left to the outcomes in order of their values, each up to its most
(`core.sweeps.find_worst`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.core.sweeps import Ranges
from safear.mdp.arrays import MDP


def range_chances(mdp: MDP, *, robust: bool = True) -> Ranges:
    """Return the bounds of all chances, or else the nominal ones; with room for one sweep at a time."""
    low, high = (mdp.edge_low, mdp.edge_high) if robust else (mdp.edge_chance, mdp.edge_chance)
    return Ranges(low, high, int(np.diff(mdp.edge_start).max(initial=2)))


def bound_sum(low: NDArray[np.float64], high: NDArray[np.float64], chosen: NDArray[np.bool_]) -> tuple[float, float]:
    """The least and the most that the chances of some outcomes of a row can add up to: the others take the rest."""
    if (low == high).all():
        exact = float(low[chosen].sum())
        return exact, exact
    least = max(float(low[chosen].sum()), 1.0 - float(high[~chosen].sum()), 0.0)
    most = min(float(high[chosen].sum()), 1.0 - float(low[~chosen].sum()), 1.0)
    return least, max(least, most)
