"""How probable it is that something happens at least once in a run of a plan.

What happens is a set of moves. Carried forward with the runs is the probability Q to be somewhere and to have been
spared so far; with p the chance of an outcome,

    Q_{h+1}(s') = sum of Q_h(s) * p over the other moves
    P(at least once) = sum of Q_h(s) * p over the moves of the set

Where chances are intervals, the least and the most follow backward, with chances chosen anew at every step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.extremes import Range
from safear.evaluation.forward import Layer
from safear.mdp.arrays import MDP
from safear.mdp.intervals import worst_chances

Moves = Sequence[NDArray[np.bool_]]  # by layer: which of its moves are meant


def chance_of_once(mdp: MDP, layers: Sequence[Layer], meant: Moves) -> float:
    """The probability that at least one of the moves meant is made."""
    spared: NDArray[np.float64] = np.ones(1)
    happened = 0.0
    for place, (layer, hits) in enumerate(zip(layers, meant, strict=True)):
        flow = spared[layer.origin] * mdp.edge_chance[layer.edge]
        happened += float(flow[hits].sum())
        if place + 1 < len(layers):
            spared = np.bincount(layer.target[~hits], flow[~hits], len(layers[place + 1].row)).astype(np.float64)
    return min(happened, 1.0)


def range_of_once(mdp: MDP, layers: Sequence[Layer], meant: Moves) -> Range:
    """The least and the most that this may be; the layers must hold all that is possible."""
    later = np.empty((0, 2))  # by pair: the most, and the negative of the least
    for layer, hits in zip(reversed(layers), reversed(meant), strict=True):
        ahead = np.where(hits[:, None], np.array([1.0, -1.0]), later[layer.target] if len(later) else 0.0)
        now = np.zeros((len(layer.row), 2))
        pairs, first, counts = np.unique(layer.origin, return_index=True, return_counts=True)
        for count in np.unique(counts):
            chosen = counts == count
            moves = first[chosen, None] + np.arange(count)
            edge = layer.edge[moves]
            chances = worst_chances(mdp.edge_low[edge], mdp.edge_high[edge], ahead[moves])
            now[pairs[chosen]] = (chances * ahead[moves]).sum(axis=1)
        later = now
    most, least = later[0].tolist()
    return Range(max(0.0, -least), min(most, 1.0))  # in this order: -0.0 is not above 0.0
