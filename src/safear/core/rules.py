"""What a plan tells, found from the runs of its policy: which nodes, in which order, and which of them are one rule."""

from __future__ import annotations

import cython

if not cython.compiled:
    from safear.core.arrays import Arrays, Whole, make_grid, make_wholes
    from safear.core.nodes import END, Nodes, Telling, Ways, add_up_ways, boxes_meet, find_nodes
    from safear.core.runs import Cells, Moves, Runs


class Outline:
    """The nodes of a policy and the ways between them.

    The first `along` of `line` are the nodes that a run meets if every action works the first time; `is_main` [node]
    says the same. `told` are those that a plan without limit tells if steps lead there: the likely ones, and if the
    first has hope, those that have.
    """

    nodes: Nodes
    ways: Ways
    along: int
    line: Whole
    is_main: Whole
    told: Whole

    def __init__(self, arrays: Arrays, telling: Telling) -> None:
        self.arrays, self.telling = arrays, telling

    def walk(self, told: Whole) -> tuple[list[int], list[tuple[int, int, int]]]:
        """Return the nodes that are told, in walking order, and which may be one rule with the one before.

        What no step likely leads to is not there. Of those that may be one rule: the place in the order, and both rows.
        """
        nodes, ways, hope, is_main = self.nodes, self.ways, self.nodes.hope, self.is_main
        room = make_grid(4, told.shape[0])
        order, found, spot, entered = room[0], room[1], room[2], room[3]
        with cython.nogil:
            count = walk_along(ways, self.line, self.along, told, self.telling.rare_way, found, order)
            mark_entered(ways, order, count, spot, entered)
        repeating = []
        for place in range(1, count):
            one, other = order[place - 1], order[place]
            same = hope[one] == hope[other] and is_main[one] == is_main[other]
            if same and not entered[place] and repeats(self.arrays, self.telling, nodes, ways, one, other):
                repeating.append((int(place), int(nodes.row[one]), int(nodes.row[other])))
        return [int(order[place]) for place in range(count)], repeating


def outline(arrays: Arrays, telling: Telling, runs: Runs) -> Outline:
    """Return the nodes of runs, which go wherever it is possible, and what a plan tells of them."""
    found, nodes = Outline(arrays, telling), find_nodes(arrays, telling, runs)
    room = make_grid(3, nodes.row.shape[0])
    line, is_main, told = room[0], room[1], room[2]
    found.nodes, found.ways = nodes, add_up_ways(arrays, runs, nodes)
    with cython.nogil:
        found.along = follow_line(arrays, telling, runs.cells, runs.moves, nodes, line, is_main)
        mark_told(telling, nodes, told)
    found.line, found.is_main, found.told = line, is_main, told
    return found


def choose_edge(arrays: Arrays, telling: Telling, row: int) -> int:
    """Return the most probable edge of a row among those that work, or among all if none does."""
    best = arrays.edge_start[row]
    for edge in range(best + 1, arrays.edge_start[row + 1]):
        likelier = arrays.edge_chance[edge] > arrays.edge_chance[best]
        if telling.works[edge] > telling.works[best] or (telling.works[edge] == telling.works[best] and likelier):
            best = edge
    return best


def follow_line(
    arrays: Arrays, telling: Telling, cells: Cells, moves: Moves, nodes: Nodes, line: Whole, is_main: Whole
) -> int:
    """Write the nodes that a run meets in which every action works the first time, each once; return how many.

    Every action goes as it most often does if it works.
    """
    for node in range(is_main.shape[0]):
        is_main[node] = 0
    cell, move, count = 0, 0, 0
    while cells.row[cell] >= 0:
        row, step, spent = cells.row[cell], cells.step[cell], cells.spent[cell]
        for node in range(is_main.shape[0]):
            if nodes.row[node] == row and not is_main[node] and boxes_meet(nodes.box, node, step, step, spent, spent):
                line[count], is_main[node] = node, 1
                count += 1
        best = choose_edge(arrays, telling, row)
        while move < moves.edge.shape[0] and (moves.origin[move] != cell or moves.edge[move] != best):
            move += 1  # moves are in the order of cells and edges
        if move == moves.edge.shape[0]:  # these runs do not go wherever it is possible
            break
        cell = moves.target[move]
    return count


def walk_along(ways: Ways, line: Whole, along: int, told: Whole, rare_way: float, found: Whole, order: Whole) -> int:
    """Write the nodes that are told, in walking order, and return how many there are.

    First come the `along` nodes of the line, then where their steps lead if things go differently, and so on. `found`
    [node] says which there are.
    """
    # A way leads into it once, besides the line: when a node is met again, all that comes after it has been found.
    waiting = make_wholes(along + ways.target.shape[0])
    for node in range(told.shape[0]):
        found[node] = 0
    count = 0
    for place in range(along):
        if told[line[place]]:
            order[count], found[line[place]] = line[place], 1
            count += 1
    left = count
    for place in range(count):
        waiting[place] = order[count - 1 - place]
    while left > 0:
        left -= 1
        node = waiting[left]
        if not found[node]:
            order[count], found[node] = node, 1
            count += 1
        for way in range(ways.start[ways.slot[node + 1]] - 1, ways.start[ways.slot[node]] - 1, -1):
            target = ways.target[way]
            if is_likely(ways, way, rare_way) and target >= 0 and told[target] and not found[target]:
                waiting[left] = target
                left += 1
    return count


def is_likely(ways: Ways, way: int, rare_way: float) -> bool:
    """Return whether a way is not too rare to be told."""
    return max(ways.share[way], ways.share_if_off[way]) >= rare_way


def leads_only(ways: Ways, slot: int, node: int, besides: int, rare_way: float) -> bool:
    """Return whether an edge likely leads to one node, and perhaps to what is given `besides`, but nowhere else."""
    comes = False
    for way in range(ways.start[slot], ways.start[slot + 1]):
        if is_likely(ways, way, rare_way):
            target = ways.target[way]
            if target not in (node, besides):
                return False
            comes = comes or target == node
    return comes


def find_working(arrays: Arrays, telling: Telling, row: int) -> int:
    """Return the edge of a row that counts as working; -1 if there is none or more than one."""
    found, working = -1, 0
    for edge in range(arrays.edge_start[row], arrays.edge_start[row + 1]):
        if telling.works[edge]:
            found = edge
            working += 1
    return found if working == 1 else -1


def repeats(arrays: Arrays, telling: Telling, nodes: Nodes, ways: Ways, one: int, other: int) -> bool:
    """Return whether a node does again what the one before it did, once that has worked, and both try until they do.

    What is said of how they fail is left to the caller (see `recourse.rules`).
    """
    row, again = nodes.row[one], nodes.row[other]
    if arrays.row_action[row] != arrays.row_action[again]:
        return False
    works, works_again = find_working(arrays, telling, row), find_working(arrays, telling, again)
    if works < 0 or works_again < 0 or arrays.edge_cost[works] != arrays.edge_cost[works_again]:
        return False
    for edge in range(arrays.edge_start[row], arrays.edge_start[row + 1]):
        slot = ways.slot[one] + edge - arrays.edge_start[row]
        aim = other if edge == works else one
        if not leads_only(ways, slot, aim, aim, telling.rare_way):
            return False
    for edge in range(arrays.edge_start[again], arrays.edge_start[again + 1]):
        slot = ways.slot[other] + edge - arrays.edge_start[again]
        if edge != works_again and not leads_only(ways, slot, other, END, telling.rare_way):
            return False
    return True


def mark_told(telling: Telling, nodes: Nodes, told: Whole) -> None:
    """Write which nodes are told if steps lead there."""
    first, hope = nodes.of[0], nodes.hope
    for node in range(told.shape[0]):
        likely = node == first or nodes.weight[node] >= telling.rare_step
        told[node] = likely and (hope[node] == 2 or hope[first] < 2)


def mark_entered(ways: Ways, order: Whole, count: int, spot: Whole, entered: Whole) -> None:
    """Write which places of the order a step leads to that is neither the one there nor the one before."""
    for node in range(spot.shape[0]):
        spot[node] = -1
    for place in range(count):
        spot[order[place]], entered[place] = place, 0
    for place in range(count):
        node = order[place]
        for way in range(ways.start[ways.slot[node]], ways.start[ways.slot[node + 1]]):
            there = spot[ways.target[way]] if ways.target[way] >= 0 else -1
            if there >= 0 and there not in (place, place + 1):
                entered[there] = 1
