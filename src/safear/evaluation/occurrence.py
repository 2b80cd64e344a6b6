"""How probable it is that something happens at least once in a run of a plan.

What happens is a set of moves. Carried forward with the runs is the probability Q to be somewhere and to have been
spared so far; with p the chance of an outcome,

    Q_{h+1}(s') = sum of Q_h(s) * p over the other moves
    P(at least once) = sum of Q_h(s) * p over the moves of the set

Where chances are intervals, the least and the most follow backward, with chances chosen anew at every step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.core.runs import Runs
from safear.evaluation.extremes import Range
from safear.evaluation.forward import list_steps
from safear.mdp.arrays import MDP
from safear.mdp.intervals import worst_chances

Flags = NDArray[np.bool_]  # which moves are meant


def chance_of_once(mdp: MDP, runs: Runs, meant: Flags) -> float:
    """The probability that at least one of the moves meant is made."""
    origin, edge, target = (np.asarray(each) for each in (runs.moves.origin, runs.moves.edge, runs.moves.target))
    spared, happened = np.zeros(len(runs.cells.row)), 0.0
    spared[0] = 1.0
    for _, moves in list_steps(runs):
        flow, hits = spared[origin[moves]] * mdp.edge_chance[edge[moves]], meant[moves]
        happened += float(flow[hits].sum())
        np.add.at(spared, target[moves][~hits], flow[~hits])
    return min(happened, 1.0)


def range_of_once(mdp: MDP, runs: Runs, meant: Flags) -> Range:
    """The least and the most that this may be; the runs must hold all that is possible."""
    origin, edge, target = (np.asarray(each) for each in (runs.moves.origin, runs.moves.edge, runs.moves.target))
    values = np.zeros((len(runs.cells.row), 2))  # by cell: the most, and the negative of the least
    for _, moves in reversed(list_steps(runs)):
        cells, first, counts = np.unique(origin[moves], return_index=True, return_counts=True)
        for count in np.unique(counts):
            chosen = counts == count
            those = moves.start + first[chosen, None] + np.arange(count)
            ahead = np.where(meant[those, None], np.array([1.0, -1.0]), values[target[those]])
            chances = worst_chances(mdp.edge_low[edge[those]], mdp.edge_high[edge[those]], ahead)
            values[cells[chosen]] = (chances * ahead).sum(axis=1)
    most, least = values[0].tolist()
    return Range(max(0.0, -least), min(most, 1.0))  # in this order: -0.0 is not above 0.0
