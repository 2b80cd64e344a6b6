"""The steps of a plan, found by following all runs of a policy.

A run is at every moment in a *cell*: a step, a state and what has been spent. A *node* is a set of cells of one state
in which the same is done; it becomes a step of the plan. Runs also go where only the intervals of chances let them:
such cells have the chance 0, and a weight, which counts what nominally never happens as often as it may. A node's box,
its range of steps times its range of what has been spent, holds no cell of another node of its state, so that words
about the two tell in which node a run is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from safear.core.nodes import Outline, Telling, outline
from safear.evaluation import forward
from safear.evaluation.forward import often_if_off
from safear.evaluation.policy import Policy
from safear.mdp.arrays import MDP, once_per_mdp
from safear.recourse.turns import RARE

RARE_STEP = 0.001  # a step that fewer runs come to is not told


class Box(NamedTuple):
    """A range of steps, and of what has been spent in quanta; both ends belong to it."""

    first: int
    last: int
    low: int
    high: int

    def meets_time(self, other: Box) -> bool:
        """Whether they have a step in common."""
        return self.first <= other.last and other.first <= self.last

    def meets_spent(self, other: Box) -> bool:
        """Whether they have an amount in common."""
        return self.low <= other.high and other.low <= self.high


class Way(NamedTuple):
    """A way on from an edge of a node: to which node (or end), and with which share of the cases.

    `share_if_off` is the share by weight; `box` has the steps at which it leads there, and what is spent by then.
    """

    target: int
    share: float
    share_if_off: float
    box: Box


@dataclass(frozen=True, slots=True)
class Node:
    """What is done in some cells of a state; `pieces` are these cells step by step, where the state has other nodes.

    `visits` is how often a run comes here on average, `weight` how often if what nominally never happens does.
    `entered` are the first and the last step at which a run comes here from elsewhere. `ways` are those of each of its
    edges, in order of time.
    """

    state: int
    row: int
    visits: float
    weight: float
    box: Box
    pieces: tuple[Box, ...]
    entered: tuple[int, int]
    ways: tuple[tuple[Way, ...], ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """The nodes of a policy for a person, the first of which is where runs begin, and what a plan tells of them."""

    mdp: MDP
    outline: Outline
    nodes: tuple[Node, ...]


def follow(policy: Policy, origin: int, *, whole: bool) -> Graph:
    """The graph of a policy for a person. Unless the whole of it is told, what is rare is not told from the rest."""
    mdp, found = policy.mdp, draw(policy, origin, whole=whole)
    nodes = found.nodes
    pieces: dict[int, tuple[Box, ...]] = {}
    if nodes.n_pieces:
        for *sides, _state, _row, node in np.asarray(nodes.pieces)[:, : nodes.n_pieces].T.tolist():
            pieces[node] = (*pieces.get(node, ()), Box(*sides))
    columns = (nodes.row, nodes.visits, nodes.weight, np.transpose(nodes.box), np.transpose(nodes.entered))
    ways, state = _read_ways(found), mdp.row_state
    return Graph(
        mdp,
        found,
        tuple(
            Node(int(state[row]), row, visits, weight, Box(*box), pieces.get(node, ()), tuple(entered), ways[node])
            for node, (row, visits, weight, box, entered) in enumerate(
                zip(*(np.asarray(column).tolist() for column in columns), strict=True)
            )
        ),
    )


def _read_ways(found: Outline) -> list[tuple[tuple[Way, ...], ...]]:
    """Return the ways of each edge of each node."""
    ways = found.ways
    columns = (ways.target, ways.share, ways.share_if_off, np.transpose(ways.box)[: len(ways.target)])
    every = [
        Way(target, share, if_off, Box(*box))
        for target, share, if_off, box in zip(*(np.asarray(column).tolist() for column in columns), strict=True)
    ]
    edges = [tuple(every[begin:end]) for begin, end in pairwise(np.asarray(ways.start).tolist())]
    return [tuple(edges[begin:end]) for begin, end in pairwise(np.asarray(ways.slot).tolist())]


def draw(policy: Policy, origin: int, *, whole: bool = False) -> Outline:
    """Return what a plan tells of the runs of a policy from a state, also where only intervals let them go.

    What was spent stays 0 if the policy does not look at it.
    """
    mdp, choose = policy.mdp, policy.choosing(int(policy.accounts[origin]))
    runs = forward.follow(
        mdp, choose, origin, often=often_if_off(mdp), counts_spent=policy.looks_at_spent, possible=True
    )
    return outline(mdp.arrays, _make_telling(mdp, whole=whole), runs)


@once_per_mdp
def _make_telling(mdp: MDP, *, whole: bool) -> Telling:
    """Return what the core takes besides the runs."""
    empty = mdp.dead_end & (mdp.depth < mdp.horizon)  # what is met only at the very end was compiled without its rows
    goal, stuck, works = (flags.view(np.uint8) for flags in (mdp.goal, empty, mdp.working))
    rare = (0.0, 0.0) if whole else (RARE_STEP, RARE)
    return Telling(goal, stuck, mdp.steps_to_goal, works, mdp.horizon, *rare)


def surround(boxes: Iterable[Box]) -> Box:
    """The least box around boxes."""
    first, last, low, high = zip(*boxes, strict=True)
    return Box(min(first), max(last), min(low), max(high))
