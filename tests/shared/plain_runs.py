"""Runs of a policy, followed with dictionaries: what the core's must be, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import safear as sa

Choose = Callable[[int, NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]


class PlainLayer(NamedTuple):
    """Pairs of a state and what was spent, sorted, with their chances and rows; and the moves to the next layer."""

    pairs: list[tuple[int, int]]
    chance: list[float]
    row: list[int]
    moves: list[tuple[int, int, int, float]]  # origin, edge, target, chance


def follow_plainly(
    mdp: sa.MDP, choose: Choose, start: int, step: int = 0, *, counts_spent: bool = True, possible: bool = False
) -> list[PlainLayer]:
    """Return what a run may be in at each step, until no run goes on. Chances add up in the order of the moves."""
    layers, here = [], {(start, 0): 1.0}
    for now in range(step, mdp.horizon + 1):
        pairs = sorted(here)
        states, spent = (np.array(column) for column in zip(*pairs, strict=True))
        rows = choose(now, states, spent).tolist() if now < mdp.horizon else [-1] * len(pairs)
        there = dict[tuple[int, int], float]()
        moves = list[tuple[int, int, tuple[int, int], float]]()
        for origin, (pair, row) in enumerate(zip(pairs, rows, strict=True)):
            for edge in range(mdp.edge_start[row], mdp.edge_start[row + 1]) if row >= 0 else ():
                if mdp.edge_chance[edge] > 0 or possible:
                    to = int(mdp.edge_next[edge]), pair[1] + int(mdp.edge_cost[edge]) if counts_spent else 0
                    flow = here[pair] * float(mdp.edge_chance[edge])
                    there[to] = there.get(to, 0.0) + flow
                    moves.append((origin, edge, to, flow))
        places = {pair: place for place, pair in enumerate(sorted(there))}
        found = [(origin, edge, places[to], flow) for origin, edge, to, flow in moves]
        layers.append(PlainLayer(pairs, [here[pair] for pair in pairs], rows, found))
        if not moves:
            break
        here = there
    return layers
