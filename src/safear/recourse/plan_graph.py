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
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.core.runs import Runs
from safear.evaluation import forward
from safear.evaluation.forward import Cells, Moves, often_if_off
from safear.evaluation.policy import Policy
from safear.mdp.arrays import MDP

GOAL, END, STUCK, LOST = -1, -2, -3, -4  # where a run may go besides a node
_ENDS = 4
_OUTCOMES = 256  # no row has more
Ends = tuple[NDArray[np.int64], NDArray[np.int64]]  # the least and the most of something, each


class Box(NamedTuple):
    """A range of steps, and of what has been spent in quanta; both ends belong to it."""

    first: int
    last: int
    low: int
    high: int

    def meets(self, other: Box) -> bool:
        """Whether they have something in common."""
        return self.meets_time(other) and self.meets_spent(other)

    def meets_time(self, other: Box) -> bool:
        """Whether they have a step in common."""
        return self.first <= other.last and other.first <= self.last

    def meets_spent(self, other: Box) -> bool:
        """Whether they have an amount in common."""
        return self.low <= other.high and other.low <= self.high


class Way(NamedTuple):
    """A way on from an edge of a node: to which node (or end), how probable, of which weight.

    `since` and `until` are the first and the last step at which it leads there, `low` and `high` what is spent by then.
    """

    target: int
    chance: float
    weight: float
    since: int
    until: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Node:
    """What is done in some cells of a state; `pieces` are these cells step by step, where the state has other nodes.

    `visits` is how often a run comes here on average, `weight` how often if what nominally never happens does.
    `entered` are the first and the last step at which a run comes here from elsewhere.
    """

    state: int
    row: int
    visits: float
    weight: float
    box: Box
    pieces: tuple[Box, ...]
    entered: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Graph:
    """The nodes of a policy for a person, which of them is first (or how it ends), and the ways between them.

    `hopeful` says of each node whether a run that is there may come to a goal.

    The ways are sorted by where they come from: `key` is node * 256 + the number of the edge within its row.
    """

    mdp: MDP
    first: int
    nodes: tuple[Node, ...]
    key: NDArray[np.int64]
    target: NDArray[np.int64]
    chance: NDArray[np.float64]
    weight: NDArray[np.float64]
    since: NDArray[np.int64]
    until: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    hopeful: NDArray[np.bool_]

    def edges(self, node: int) -> list[int]:
        """The edges of a node: all that is possible."""
        row, start = self.nodes[node].row, self.mdp.edge_start
        return list(range(start[row], start[row + 1]))

    def ways(self, node: int, edge: int) -> list[Way]:
        """Where an edge of a node leads, in order of time."""
        key = node * _OUTCOMES + edge - int(self.mdp.edge_start[self.nodes[node].row])
        here = slice(*np.searchsorted(self.key, [key, key + 1]).tolist())
        columns = (self.target, self.chance, self.weight, self.since, self.until, self.low, self.high)
        ways = map(Way._make, zip(*(column[here].tolist() for column in columns), strict=True))
        return sorted(ways, key=lambda way: (way.since, way.until, way.target))


def follow(policy: Policy, origin: int, *, rare: float = 0.0) -> Graph:
    """The graph of a policy for a person. What is done in a state less than `rare` times is not told from the rest."""
    mdp = policy.mdp
    cells, moves = _read_runs(mdp, follow_runs(policy, origin))
    node, pieces = _assign(mdp, cells, rare)
    count = int(node.max(initial=-1)) + 1
    source, target = node[moves.origin], node[moves.target]
    place = source * _OUTCOMES + moves.edge - mdp.edge_start[cells.row[moves.origin]]
    keys, which = np.unique(place * (count + _ENDS) + target + _ENDS, return_inverse=True)
    step = cells.step[moves.target]
    comes = (source != target) & (target >= 0)
    start = node[:1][node[:1] >= 0]  # of the first node; none if there is nothing to do
    entered = _bound(np.append(target[comes], start), np.append(step[comes], 0 * start), count)
    return Graph(
        mdp,
        int(node[0]),
        _read_nodes(cells, node, entered, pieces),
        keys // (count + _ENDS),
        keys % (count + _ENDS) - _ENDS,
        np.bincount(which, moves.chance, len(keys)).astype(np.float64),
        np.bincount(which, moves.weight, len(keys)).astype(np.float64),
        *_bound(which, step, len(keys)),
        *_bound(which, cells.spent[moves.target], len(keys)),
        _find_hopeful(cells, moves, node, count),
    )


def _bound(group: NDArray[np.int64], values: NDArray[np.int64], count: int) -> Ends:
    """The least and the most value of each group."""
    least, most = np.full(count, np.iinfo(np.int64).max), np.zeros(count, dtype=np.int64)
    np.minimum.at(least, group, values)
    np.maximum.at(most, group, values)
    return least, most


def _find_hopeful(cells: Cells, moves: Moves, node: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
    """Whether a run may come to a goal from some cell of each node."""
    found = cells.row == GOAL
    last = int(cells.step[-1])
    starts = np.searchsorted(cells.step[moves.origin], np.arange(last + 1))  # moves are in order of time
    for end, begin in pairwise(starts[::-1].tolist()):  # a move is from one step to the next, so the last come first
        origin, target = moves.origin[begin:end], moves.target[begin:end]
        found[origin[found[target]]] = True
    nodes = np.zeros(count, dtype=bool)
    nodes[node[found & (node >= 0)]] = True
    return nodes


def follow_runs(policy: Policy, origin: int) -> Runs:
    """Return all runs of a policy from a state, also where only intervals let them go.

    What was spent stays 0 if the policy does not look at it.
    """
    mdp, choose = policy.mdp, policy.choosing(int(policy.accounts[origin]))
    return forward.follow(
        mdp, choose, origin, often=often_if_off(mdp), counts_spent=policy.looks_at_spent, possible=True
    )


def _read_runs(mdp: MDP, runs: Runs) -> tuple[Cells, Moves]:
    """Return the cells and moves of runs, and how these have ended."""
    cells, moves = Cells.of(runs), Moves.of(runs)
    row = cells.row.copy()
    row[row < 0] = np.where(cells.step[row < 0] < mdp.horizon, LOST, END)
    row[list_stuck(mdp)[cells.state]] = STUCK
    row[mdp.goal[cells.state]] = GOAL
    return cells._replace(row=row), moves


def list_stuck(mdp: MDP) -> NDArray[np.bool_]:
    """Return which states offer nothing; what is met only at the very end was compiled without its rows."""
    return mdp.dead_end & (mdp.depth < mdp.horizon)


def _read_nodes(
    cells: Cells, node: NDArray[np.int64], entered: Ends, pieces: dict[int, tuple[Box, ...]]
) -> tuple[Node, ...]:
    count = len(entered[0])
    order = np.argsort(node, kind="stable")
    order = order[np.searchsorted(node[order], 0) :]
    start = np.searchsorted(node[order], np.arange(count))
    if not count:
        return ()
    end = np.append(start[1:], len(order)) - 1
    boxes = zip(
        cells.step[order[start]].tolist(),  # cells are in order of time, and the sort kept that
        cells.step[order[end]].tolist(),
        np.minimum.reduceat(cells.spent[order], start).tolist(),
        np.maximum.reduceat(cells.spent[order], start).tolist(),
        strict=True,
    )
    state, row = cells.state[order[start]].tolist(), cells.row[order[start]].tolist()
    visits, weight = (np.bincount(node[order], of[order], count).tolist() for of in (cells.chance, cells.weight))
    came = zip(*(ends.tolist() for ends in entered), strict=True)
    return tuple(
        Node(state[number], row[number], visits[number], weight[number], Box(*box), pieces.get(number, ()), steps)
        for number, (box, steps) in enumerate(zip(boxes, came, strict=True))
    )


class _Piece(NamedTuple):
    """A stretch of what has been spent, at one step in one state, along which one thing is done; and its number."""

    state: int
    row: int
    number: int
    box: Box


def _assign(mdp: MDP, cells: Cells, rare: float) -> tuple[NDArray[np.int64], dict[int, tuple[Box, ...]]]:
    """The node of each cell, and the pieces of the nodes of those states in which more than one thing is done."""
    node = cells.row.copy()
    acting = np.flatnonzero(cells.row >= 0)
    rows, which = np.unique(cells.row[acting], return_inverse=True)
    node[acting] = which
    frequent = np.bincount(which, cells.weight[acting], len(rows)) >= rare
    state = mdp.row_state[rows]
    told = state[frequent]
    several = np.isin(state, told[1:][told[1:] == told[:-1]]) & frequent
    cell = acting[several[which]]
    pieces: dict[int, tuple[Box, ...]] = {}
    if not len(cell):
        return node, pieces
    cell = cell[np.lexsort((cells.spent[cell], cells.step[cell], cells.state[cell]))]
    changes = (np.diff(cells.row[cell]) != 0) | (np.diff(cells.step[cell]) != 0)
    start = np.flatnonzero(np.append(True, changes))
    length = np.diff(np.append(start, len(cell)))
    head, tail = cell[start], cell[start + length - 1]
    columns = (cells.state[head], cells.row[head], cells.step[head], cells.spent[head], cells.spent[tail])
    found = [
        _Piece(state, row, number, Box(step, step, low, high))
        for number, (state, row, step, low, high) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True)
        )
    ]
    owner = np.zeros(len(found), dtype=np.int64)
    fresh = len(rows)
    for _, group in groupby(found, key=lambda piece: piece.state):
        for part in _join(list(group)):
            number = int(node[head[part[0].number]])
            if number in pieces:  # the first part of what is done keeps the number, the others get new ones
                number, fresh = fresh, fresh + 1
            pieces[number] = tuple(piece.box for piece in part)
            owner[[piece.number for piece in part]] = number
    node[cell] = np.repeat(owner, length)
    return node, pieces


def _join(pieces: list[_Piece]) -> list[list[_Piece]]:
    """The pieces of one state in as few nodes as a greedy search finds.

    What is done stays in one node if its box is clear of all other pieces. Otherwise its pieces, in order of time, join
    the latest part that they can join.
    """
    found: list[list[_Piece]] = []
    for row in sorted({piece.row for piece in pieces}):
        mine = [piece for piece in pieces if piece.row == row]
        others = [piece for piece in pieces if piece.row != row]
        if _is_clear(mine, others):
            found.append(mine)
            continue
        parts: list[list[_Piece]] = []
        for piece in mine:
            for part in reversed(parts):
                rest = [one for other in parts if other is not part for one in other]
                if _is_clear([*part, piece], others) and _is_clear([*part, piece], rest):
                    part.append(piece)
                    break
            else:
                parts.append([piece])
        found += parts
    return found


def _is_clear(part: list[_Piece], others: Iterable[_Piece]) -> bool:
    """Whether the box around a part meets none of the other pieces."""
    box = surround(piece.box for piece in part)
    return not any(box.meets(other.box) for other in others)


def surround(boxes: Iterable[Box]) -> Box:
    """The least box around boxes."""
    first, last, low, high = zip(*boxes, strict=True)
    return Box(min(first), max(last), min(low), max(high))
