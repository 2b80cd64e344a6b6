"""Compiled loops that find the nodes of a plan and the ways between them (see `plan_graph`), in the same order.

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.compiling import njit
from safear.evaluation.run_kernels import INNER, CellArrays, MoveArrays
from safear.mdp.arrays import Arrays

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]

GOAL, END, STUCK, LOST = -1, -2, -3, -4  # where a run may go besides a node (see `plan_graph`)
FIRST, LAST, LOW, HIGH = range(4)  # the sides of a box


class Telling(NamedTuple):
    """What is known of an MDP besides its arrays, and what is too rare to be told: a step, and a way on.

    `stuck` are the states that offer nothing, `needed` the steps to a goal, `works` the edges that count as working.
    """

    goal: Flags
    stuck: Flags
    needed: Whole
    works: Flags
    horizon: int
    rare_step: float
    rare_way: float


class Nodes(NamedTuple):
    """Sets of cells of one state in which the same is done (see `plan_graph`): `of` is the node of each cell."""

    of: Whole
    row: Whole
    weight: Real
    box: Whole  # [node, side]
    hopeful: Flags


class Ways(NamedTuple):
    """Where the edges of nodes lead, in order of time.

    Those of edge number e of node n are `start[slot[n] + e]` to `start[slot[n] + e + 1] - 1`. `share` is the larger of
    their shares of the cases in which the edge is taken, by chance and by weight.
    """

    slot: Whole
    start: Whole
    target: Whole
    share: Real


@njit(**INNER)
def boxes_meet(box: Whole, first: int, last: int, low: int, high: int) -> bool:
    """Whether boxes have something in common."""
    return box[FIRST] <= last and first <= box[LAST] and box[LOW] <= high and low <= box[HIGH]


@njit(**INNER)
def _can_join(box: Whole, piece: Whole, pieces: Whole, state: int, own_row: int, part: int) -> bool:
    """Whether the box around a part and a piece meets no piece of the state but those of this part.

    `pieces` are [number, (first, last, low, high, state, row, part)]; those of the own row without a part do not count.
    """
    first, last = min(box[FIRST], piece[FIRST]), max(box[LAST], piece[LAST])
    low, high = min(box[LOW], piece[LOW]), max(box[HIGH], piece[HIGH])
    for other in pieces:
        counts = other[4] == state and (other[5] != own_row or (other[6] >= 0 and other[6] != part))
        if counts and boxes_meet(other, first, last, low, high):
            return False
    return True


@njit(**INNER)
def _list_pieces(cells: CellArrays, chosen: Whole) -> Whole:
    """The stretches of what was spent along which one thing is done: `chosen` cells, in order of state, step, spent."""
    pieces = np.empty((len(chosen), 7), np.int64)
    count = 0
    for place in range(len(chosen)):
        cell = chosen[place]
        step, state, spent, row = cells.step[cell], cells.state[cell], cells.spent[cell], cells.row[cell]
        before = chosen[place - 1]
        if place and row == cells.row[before] and step == cells.step[before]:
            pieces[count - 1, HIGH] = spent
        else:
            pieces[count] = (step, step, spent, spent, state, row, -1)
            count += 1
    return pieces[:count]


@njit(**INNER)
def _join_pieces(pieces: Whole, number: Whole, fresh: int) -> int:
    """Give each piece its part, the number of a node, in as few as a greedy search finds; returns how many there are.

    What is done stays in one node if its box is clear of all other pieces. Otherwise its pieces, in order of time, join
    the latest part that they can join. The first part of a row has the row's number, the others get new ones.
    """
    begin = 0
    while begin < len(pieces):
        state, end = pieces[begin, 4], begin
        while end < len(pieces) and pieces[end, 4] == state:
            end += 1
        here = pieces[begin:end]
        for row in np.unique(here[:, 5]):
            whole = np.empty(4, np.int64)
            whole[:] = -1
            for piece in here:
                if piece[5] == row:
                    if whole[FIRST] < 0:
                        whole[:] = piece[:4]
                    _stretch(whole, piece)
            if _can_join(whole, whole, here, state, row, -1):
                for piece in here:
                    if piece[5] == row:
                        piece[6] = number[row]
                continue
            boxes, parts = np.empty((len(here), 4), np.int64), np.empty(len(here), np.int64)
            count = 0
            for piece in here:
                if piece[5] != row:
                    continue
                part = count - 1
                while part >= 0 and not _can_join(boxes[part], piece, here, state, row, parts[part]):
                    part -= 1
                if part < 0:
                    part = count
                    boxes[part] = piece[:4]
                    parts[part] = number[row] if part == 0 else fresh
                    fresh += part > 0
                    count += 1
                _stretch(boxes[part], piece)
                piece[6] = parts[part]
        begin = end
    return fresh


@njit(**INNER)
def _stretch(box: Whole, other: Whole) -> None:
    """Make a box hold another."""
    box[FIRST], box[LAST] = min(box[FIRST], other[FIRST]), max(box[LAST], other[LAST])
    box[LOW], box[HIGH] = min(box[LOW], other[LOW]), max(box[HIGH], other[HIGH])


@njit(**INNER)
def _number_cells(arrays: Arrays, telling: Telling, cells: CellArrays) -> tuple[Whole, int]:
    """The node of each cell, and how many nodes there are (see `plan_graph._assign`)."""
    n_rows, n_states = len(arrays.row_action), len(arrays.row_start) - 1
    weight, number = np.zeros(n_rows), np.full(n_rows, -1)
    for cell in range(len(cells.row)):
        if cells.row[cell] >= 0:
            weight[cells.row[cell]] += cells.weight[cell]
            number[cells.row[cell]] = 0
    count = 0
    frequent = np.zeros(n_states, np.int64)
    for state in range(n_states):
        for row in range(arrays.row_start[state], arrays.row_start[state + 1]):
            if number[row] == 0:
                number[row] = count
                count += 1
                frequent[state] += weight[row] >= telling.rare_step
    node, split = np.empty(len(cells.row), np.int64), np.zeros(n_states, np.int64)
    for cell in range(len(cells.row)):
        row, state = cells.row[cell], cells.state[cell]
        if row >= 0:
            node[cell] = number[row]
            split[state] += frequent[state] > 1 and weight[row] >= telling.rare_step
        elif telling.goal[state]:
            node[cell] = GOAL
        elif telling.stuck[state]:
            node[cell] = STUCK
        else:
            node[cell] = END if cells.step[cell] == telling.horizon else LOST
    if split.sum() == 0:
        return node, count
    place = np.cumsum(split) - split
    chosen = np.empty(split.sum(), np.int64)  # by state, in order of time
    for cell in range(len(cells.row)):
        row, state = cells.row[cell], cells.state[cell]
        if row >= 0 and frequent[state] > 1 and weight[row] >= telling.rare_step:
            chosen[place[state]] = cell
            place[state] += 1
    pieces = _list_pieces(cells, chosen)
    count = _join_pieces(pieces, number, count)
    piece = -1
    for place_of in range(len(chosen)):
        cell, before = chosen[place_of], chosen[place_of - 1]
        same = place_of > 0 and cells.row[cell] == cells.row[before] and cells.step[cell] == cells.step[before]
        piece += not same
        node[cell] = pieces[piece, 6]
    return node, count


@njit(**INNER)
def find_nodes(arrays: Arrays, telling: Telling, cells: CellArrays, moves: MoveArrays) -> Nodes:
    """The nodes of all runs; a node is hopeful if a run may come to a goal from some cell of it."""
    of, count = _number_cells(arrays, telling, cells)
    row, weight, box = np.full(count, -1), np.zeros(count), np.empty((count, 4), np.int64)
    for cell in range(len(of)):
        node = of[cell]
        if node < 0:
            continue
        step, spent = cells.step[cell], cells.spent[cell]
        if row[node] < 0:
            box[node] = (step, step, spent, spent)
            row[node] = cells.row[cell]
        box[node, LAST] = max(box[node, LAST], step)
        box[node, LOW], box[node, HIGH] = min(box[node, LOW], spent), max(box[node, HIGH], spent)
        weight[node] += cells.weight[cell]
    hope = of == GOAL
    for move in range(len(moves.edge) - 1, -1, -1):  # a move is from one step to the next
        if hope[moves.target[move]]:
            hope[moves.origin[move]] = True
    hopeful = np.zeros(count, np.bool_)
    for cell in range(len(of)):
        if of[cell] >= 0 and hope[cell]:
            hopeful[of[cell]] = True
    return Nodes(of, row, weight, box, hopeful)


@njit(**INNER)
def add_up_ways(arrays: Arrays, cells: CellArrays, moves: MoveArrays, nodes: Nodes) -> Ways:
    """Where the edges of nodes lead, added up over all moves."""
    edges = arrays.edge_start[nodes.row + 1] - arrays.edge_start[nodes.row]
    slot = np.cumsum(edges) - edges
    slots = edges.sum()
    head, after = np.full(slots, -1), np.empty(len(moves.edge), np.int64)  # a chain of ways per slot
    target, when = np.empty(len(moves.edge), np.int64), np.empty((len(moves.edge), 2), np.int64)
    chance, weight = np.zeros(len(moves.edge)), np.zeros(len(moves.edge))
    count = 0
    for move in range(len(moves.edge)):
        node, step = nodes.of[moves.origin[move]], cells.step[moves.target[move]]
        aim, own = nodes.of[moves.target[move]], slot[node] + moves.edge[move] - arrays.edge_start[nodes.row[node]]
        way = head[own]
        while way >= 0 and target[way] != aim:
            way = after[way]
        if way < 0:
            way = count
            target[way], after[way], head[own] = aim, head[own], way
            when[way] = step
            count += 1
        when[way, 1] = step  # moves are in order of time
        chance[way] += moves.chance[move]
        weight[way] += moves.weight[move]
    start, sorted_target, share = np.empty(slots + 1, np.int64), np.empty(count, np.int64), np.empty(count)
    chain = np.empty(count, np.int64)
    done = 0
    for own in range(slots):
        start[own] = done
        way, size, all_chance, all_weight = head[own], 0, 0.0, 0.0
        while way >= 0:  # into order of time: there are few
            place = size
            while place > 0 and _is_earlier(way, chain[place - 1], when, target):
                chain[place] = chain[place - 1]
                place -= 1
            chain[place] = way
            way, size = after[way], size + 1
        for place in range(size):
            all_chance += chance[chain[place]]
            all_weight += weight[chain[place]]
        for place in range(size):
            way = chain[place]
            # What is too improbable for a number still happens.
            by_weight = weight[way] / all_weight if all_weight > 0 else 1 / size
            share[done] = max(chance[way] / all_chance if all_chance > 0 else by_weight, by_weight)
            sorted_target[done] = target[way]
            done += 1
    start[slots] = done
    return Ways(slot, start, sorted_target, share)


@njit(**INNER)
def _is_earlier(one: int, other: int, when: Whole, target: Whole) -> bool:
    """Whether a way comes before another: it is first or last taken earlier, or leads to a lower number."""
    if when[one, 0] != when[other, 0]:
        return when[one, 0] < when[other, 0]
    if when[one, 1] != when[other, 1]:
        return when[one, 1] < when[other, 1]
    return target[one] < target[other]
