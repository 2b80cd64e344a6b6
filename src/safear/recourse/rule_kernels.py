"""Compiled loops that count the rules of a plan from the runs of its policy, without making its steps.

They do with arrays what `plan_making` and `rules` do with steps and words, in the same order. Imported when first
needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.compiling import njit
from safear.evaluation.policy import PolicyArrays
from safear.evaluation.run_kernels import INNER, Going, choose_row, follow_policy
from safear.mdp.arrays import Arrays
from safear.recourse.node_kernels import END, FIRST, Nodes, Telling, Ways, add_up_ways, boxes_meet, find_nodes

Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]


@njit(**INNER)
def follow_line(
    arrays: Arrays, telling: Telling, policy: PolicyArrays, nodes: Nodes, start: int, account: int, counts_spent: bool
) -> Whole:
    """The nodes met by a run in which every action works the first time, each as it most often does, each node once."""
    line, met = np.empty(len(nodes.row), np.int64), np.zeros(len(nodes.row), np.bool_)
    state, spent, count = start, 0, 0
    for step in range(telling.horizon):
        row = choose_row(arrays.row_start, policy, step, state, account - spent)
        if row < 0:
            break
        amount = spent if counts_spent else 0
        for node in range(len(nodes.row)):
            if nodes.row[node] == row and not met[node] and boxes_meet(nodes.box[node], step, step, amount, amount):
                line[count], met[node] = node, True
                count += 1
        best = arrays.edge_start[row]
        for edge in range(best + 1, arrays.edge_start[row + 1]):
            likelier = arrays.edge_chance[edge] > arrays.edge_chance[best]
            if telling.works[edge] > telling.works[best] or (telling.works[edge] == telling.works[best] and likelier):
                best = edge
        state, spent = arrays.edge_next[best], spent + arrays.edge_cost[best]
    return line[:count]


@njit(**INNER)
def walk_along(arrays: Arrays, nodes: Nodes, ways: Ways, line: Whole, told: Flags, rare_way: float) -> Whole:
    """The nodes that are told, in walking order: a line, then where its steps lead if things go differently, and on."""
    order, found = np.empty(len(nodes.row), np.int64), np.zeros(len(nodes.row), np.bool_)
    count = 0
    for node in line:
        if told[node]:
            order[count], found[node] = node, True
            count += 1
    waiting = list(order[:count][::-1])
    while len(waiting) > 0:
        node = waiting.pop()
        if not found[node]:
            order[count], found[node] = node, True
            count += 1
        edges = arrays.edge_start[nodes.row[node] + 1] - arrays.edge_start[nodes.row[node]]
        first, last = ways.start[ways.slot[node]], ways.start[ways.slot[node] + edges]
        for way in range(last - 1, first - 1, -1):
            target = ways.target[way]
            if ways.share[way] >= rare_way and target >= 0 and told[target] and not found[target]:
                waiting.append(target)
    return order[:count]


@njit(**INNER)
def _leads_only(ways: Ways, slot: int, node: int, rare_way: float, or_too_late: bool) -> bool:
    """Whether an edge likely leads to one node and nowhere else, but for the end of time if that is allowed."""
    comes = False
    for way in range(ways.start[slot], ways.start[slot + 1]):
        if ways.share[way] >= rare_way:
            target = ways.target[way]
            if target != node and not (or_too_late and target == END):
                return False
            comes = comes or target == node
    return comes


@njit(**INNER)
def _repeats(arrays: Arrays, telling: Telling, nodes: Nodes, ways: Ways, one: int, other: int) -> bool:
    """Whether a node does again what the one before it did, once that has worked, and both are tried until they do.

    What is said of how they fail is left to the caller (see `rules._repeats`).
    """
    row, again = nodes.row[one], nodes.row[other]
    if arrays.row_action[row] != arrays.row_action[again]:
        return False
    cost = np.zeros(2, np.int64)
    for place, tried in enumerate((row, again)):
        working = 0
        for edge in range(arrays.edge_start[tried], arrays.edge_start[tried + 1]):
            if telling.works[edge]:
                working += 1
                cost[place] = arrays.edge_cost[edge]
        if working != 1:
            return False
    if cost[0] != cost[1]:
        return False
    for number in range(arrays.edge_start[row + 1] - arrays.edge_start[row]):
        aim = other if telling.works[arrays.edge_start[row] + number] else one
        if not _leads_only(ways, ways.slot[one] + number, aim, telling.rare_way, False):
            return False
    for number in range(arrays.edge_start[again + 1] - arrays.edge_start[again]):
        fails = not telling.works[arrays.edge_start[again] + number]
        if fails and not _leads_only(ways, ways.slot[other] + number, other, telling.rare_way, True):
            return False
    return True


@njit(**INNER)
def judge_nodes(telling: Telling, nodes: Nodes, state: Whole) -> Whole:
    """Of each node, whether a goal can be reached: 2 with this plan, 1 with another, 0 not at all."""
    hope = np.empty(len(nodes.row), np.int64)
    for node in range(len(hope)):
        in_time = telling.needed[state[nodes.row[node]]] <= telling.horizon - nodes.box[node, FIRST]
        hope[node] = 2 if nodes.hopeful[node] else in_time
    return hope


@njit(**INNER)
def find_repeats(
    arrays: Arrays,
    telling: Telling,
    nodes: Nodes,
    ways: Ways,
    line: Whole,
    hope: Whole,
) -> tuple[int, Whole]:
    """How many steps are told, and the rows [pair, 2] of those neighbours that may be one rule."""
    first = nodes.of[0]
    told = np.empty(len(nodes.row), np.bool_)
    for node in range(len(told)):
        told[node] = node == first or nodes.weight[node] >= telling.rare_step
        if hope[first] == 2 and hope[node] < 2:
            told[node] = False
    order = walk_along(arrays, nodes, ways, line, told, telling.rare_way)
    place = np.full(len(nodes.row), -1)
    place[order] = np.arange(len(order))
    is_main = np.zeros(len(nodes.row), np.bool_)
    is_main[line] = True
    from_elsewhere = np.zeros(
        len(order), np.bool_
    )  # whether a step that is neither itself nor the one before leads there
    for here in range(len(order)):
        node = order[here]
        edges = arrays.edge_start[nodes.row[node] + 1] - arrays.edge_start[nodes.row[node]]
        for way in range(ways.start[ways.slot[node]], ways.start[ways.slot[node] + edges]):
            there = place[ways.target[way]] if ways.target[way] >= 0 else -1
            if there >= 0 and there not in (here, here + 1):
                from_elsewhere[there] = True
    pairs, count = np.empty((len(order), 2), np.int64), 0
    for here in range(1, len(order)):
        one, other = order[here - 1], order[here]
        same = hope[one] == hope[other] and is_main[one] == is_main[other]
        if same and not from_elsewhere[here] and _repeats(arrays, telling, nodes, ways, one, other):
            pairs[count] = (nodes.row[one], nodes.row[other])
            count += 1
    return len(order), pairs[:count].copy()


@njit(cache=True, nogil=True)
def count_steps_told(
    arrays: Arrays,
    telling: Telling,
    policy: PolicyArrays,
    going: Going,
    row_state: Whole,
    start: int,
    account: int,
) -> tuple[int, Whole]:
    """How many steps a plan tells, and the rows [pair, 2] of those neighbours that may be one rule."""
    cells, moves = follow_policy(arrays, policy, going, start, account)
    nodes = find_nodes(arrays, telling, cells, moves)
    if nodes.of[0] < 0:
        return 0, np.empty((0, 2), np.int64)
    ways = add_up_ways(arrays, cells, moves, nodes)
    line = follow_line(arrays, telling, policy, nodes, start, account, going.counts_spent)
    return find_repeats(arrays, telling, nodes, ways, line, judge_nodes(telling, nodes, row_state))
