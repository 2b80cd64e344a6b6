"""How probable it is that something happens at least once in a run of a plan.

What happens is a set of moves. With V(s) how probable it is from s on, and p the chance of an outcome,

    V_h(s) = sum of p over the moves of the set + sum of p * V_{h+1}(s') over the other moves

Where chances are intervals, the least and the most follow in the same way, with chances chosen anew at every step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.core.runs import Runs, expect_back
from safear.core.sweeps import NO_REALS
from safear.evaluation.extremes import Range
from safear.mdp.arrays import MDP

Flags = NDArray[np.bool_]  # which moves are meant


def chance_of_once(mdp: MDP, runs: Runs, meant: Flags) -> float:
    """The probability that at least one of the moves meant is made."""
    return min(_expect(mdp, runs, meant, mdp.edge_chance[None])[0], 1.0)


def range_of_once(mdp: MDP, runs: Runs, meant: Flags) -> Range:
    """The least and the most that this may be; the runs must hold all that is possible."""
    most, least = _expect(mdp, runs, meant, NO_REALS)
    return Range(max(0.0, -least), min(most, 1.0))  # in this order: -0.0 is not above 0.0


def _expect(mdp: MDP, runs: Runs, meant: Flags, chances: NDArray[np.float64]) -> list[float]:
    """The most, and the negative of the least, at some chances or, if there are none, within intervals."""
    cells = len(runs.cells.row)
    values = np.zeros((cells + 1, 2, 1))
    values[cells, :, 0] = 1.0, -1.0  # where all moves meant lead
    expect_back(runs.moves, np.where(meant, cells, runs.moves.target), mdp.ranges(), chances, values)
    found: list[float] = values[0, :, 0].tolist()
    return found
