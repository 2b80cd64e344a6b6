"""What a plan tells, found from the runs of its policy (see `recourse.plan_graph`).

The nodes, and the ways between them; which of them are told, in which order, and which are one rule.
"""

from __future__ import annotations

import cython

if not cython.compiled:
    from safear.core.arrays import Arrays, Bytes, Real, Whole, make_grid, make_reals, make_table, make_wholes
    from safear.core.runs import Cells, Moves, Runs

    GOAL, END, STUCK, LOST = -1, -2, -3, -4  # where a run may go besides a node
    FIRST, LAST, LOW, HIGH = range(4)  # the sides of a box: of steps, and of what was spent
    STATE, ROW, PART = range(4, 7)  # what a piece has besides


class Telling:
    """What is known of an MDP besides its arrays, and what is too rare to be told: a step, and a way on.

    `stuck` are the states that offer nothing, `needed` the steps to a goal, `works` the edges that count as working.
    """

    def __init__(
        self,
        goal: Bytes,
        stuck: Bytes,
        needed: Whole,
        works: Bytes,
        horizon: int,
        rare_step: float,
        rare_way: float,
    ) -> None:
        self.goal, self.stuck, self.needed, self.works = goal, stuck, needed, works
        self.horizon, self.rare_step, self.rare_way = horizon, rare_step, rare_way


class Nodes:
    """Sets of cells of one state in which the same is done: `of` is the node of each cell, or how runs end there.

    By node: the row, how often a run comes here and the same by weight, the `box` [side, node] around its cells,
    `entered` [FIRST or LAST, node], at which step a run comes from elsewhere, and the `hope`, whether a goal can be
    reached: 2 with this plan from some cell, 1 with another, 0 not at all. The first `n_pieces` columns of `pieces` are
    those of the nodes that are told apart by more than the state.
    """

    of: Whole
    row: Whole
    visits: Real
    weight: Real
    box: Whole
    entered: Whole
    hope: Whole
    pieces: Whole
    n_pieces: int


class Ways:
    """Where the edges of nodes lead, in order of time.

    Those of edge number e of node n are `start[slot[n] + e]` to `start[slot[n] + e + 1] - 1`; after the last node
    comes one more slot. `share` is their share of the cases in which the edge is taken, `share_if_off` the same by
    weight. `box` [side, way] has the steps at which they lead there, and what is spent by then.
    """

    slot: Whole
    start: Whole
    target: Whole
    share: Real
    share_if_off: Real
    box: Whole


# -------------------------------------------------------------------------------------------------------------- pieces


def boxes_meet(boxes: Whole, number: int, first: int, last: int, low: int, high: int) -> bool:
    """Return whether a box of `boxes` [side, number] has something in common with these sides."""
    return (
        boxes[FIRST, number] <= last
        and first <= boxes[LAST, number]
        and boxes[LOW, number] <= high
        and low <= boxes[HIGH, number]
    )


def put_box(boxes: Whole, number: int, others: Whole, other: int) -> None:
    """Make a box the same as another."""
    for side in range(4):
        boxes[side, number] = others[side, other]


def stretch_box(boxes: Whole, number: int, others: Whole, other: int) -> None:
    """Make a box hold another."""
    boxes[FIRST, number] = min(boxes[FIRST, number], others[FIRST, other])
    boxes[LAST, number] = max(boxes[LAST, number], others[LAST, other])
    boxes[LOW, number] = min(boxes[LOW, number], others[LOW, other])
    boxes[HIGH, number] = max(boxes[HIGH, number], others[HIGH, other])


def list_pieces(cells: Cells, chosen: Whole, pieces: Whole) -> int:
    """Write the stretches of what was spent along which one thing is done, and return how many there are.

    `chosen` are cells in order of state, step and spent; `pieces` [FIRST to PART, piece] are still without part: -1.
    """
    count = 0
    for place in range(chosen.shape[0]):
        cell = chosen[place]
        if place > 0 and goes_on(cells, chosen[place - 1], cell):
            pieces[HIGH, count - 1] = cells.spent[cell]
            continue
        pieces[FIRST, count] = pieces[LAST, count] = cells.step[cell]
        pieces[LOW, count] = pieces[HIGH, count] = cells.spent[cell]
        pieces[STATE, count], pieces[ROW, count], pieces[PART, count] = cells.state[cell], cells.row[cell], -1
        count += 1
    return count


def goes_on(cells: Cells, before: int, cell: int) -> bool:
    """Return whether a cell belongs to the same piece as the one before."""
    return cells.row[cell] == cells.row[before] and cells.step[cell] == cells.step[before]


def is_clear(boxes: Whole, number: int, pieces: Whole, begin: int, end: int, row: int, part: int) -> bool:
    """Return whether a box meets none of the pieces from `begin` to `end` but those of a part of a row.

    Pieces of the same row without a part do not count.
    """
    for piece in range(begin, end):
        if pieces[ROW, piece] == row and (pieces[PART, piece] < 0 or pieces[PART, piece] == part):
            continue
        first, last, low = pieces[FIRST, piece], pieces[LAST, piece], pieces[LOW, piece]
        if boxes_meet(boxes, number, first, last, low, pieces[HIGH, piece]):
            return False
    return True


def join_pieces(row_start: Whole, pieces: Whole, count: int, number: Whole, fresh: int) -> int:
    """Give each piece its part, the number of a node, in as few as a greedy search finds; return how many there are.

    The pieces of a row, in order of time, join its latest part that they can join: all of them one, if the box around
    them is clear of other rows. The first part of a row has the row's number, the others get new ones.
    """
    boxes, parts = make_grid(4, count + 1), make_wholes(count)  # of the parts of a row; behind them, what is tried
    begin = 0
    while begin < count:
        state, end = pieces[STATE, begin], begin
        while end < count and pieces[STATE, end] == state:
            end += 1
        for row in range(row_start[state], row_start[state + 1]):
            if number[row] >= 0:
                fresh = join_row(pieces, begin, end, boxes, parts, row, number[row], fresh)
        begin = end
    return fresh


def join_row(pieces: Whole, begin: int, end: int, boxes: Whole, parts: Whole, row: int, number: int, fresh: int) -> int:
    """Give the pieces of a row their parts, and return the number of the next new one."""
    count = 0
    for piece in range(begin, end):
        if pieces[ROW, piece] != row:
            continue
        part = count - 1
        while part >= 0:
            put_box(boxes, count, boxes, part)
            stretch_box(boxes, count, pieces, piece)
            if is_clear(boxes, count, pieces, begin, end, row, parts[part]):
                break
            part -= 1
        if part >= 0:
            put_box(boxes, part, boxes, count)
        else:
            part = count
            put_box(boxes, part, pieces, piece)
            parts[part] = number if part == 0 else fresh
            fresh += part > 0
            count += 1
        pieces[PART, piece] = parts[part]
    return fresh


# --------------------------------------------------------------------------------------------------------------- nodes


def number_rows(arrays: Arrays, telling: Telling, cells: Cells, number: Whole, apart: Whole) -> int:
    """Number the rows that are taken, the others are -1, and return how many there are.

    Those of a state that are taken often enough to be told, if there are several, are told `apart` by more than the
    state; that of rows which are not taken is left open.
    """
    weight = make_reals(number.shape[0])
    for row in range(number.shape[0]):
        number[row] = -1
    for cell in range(cells.row.shape[0]):
        row = cells.row[cell]
        if row >= 0:
            if number[row] < 0:
                number[row], weight[row] = 0, 0.0
            weight[row] += cells.weight[cell]
    count = 0
    for state in range(arrays.row_start.shape[0] - 1):
        frequent = 0
        for row in range(arrays.row_start[state], arrays.row_start[state + 1]):
            if number[row] == 0:
                number[row] = count
                count += 1
                apart[row] = weight[row] >= telling.rare_step
                frequent += apart[row]
        if frequent == 1:
            for row in range(arrays.row_start[state], arrays.row_start[state + 1]):
                apart[row] = 0
    return count


def name_end(telling: Telling, step: int, state: int) -> int:
    """Return how a run has ended that does nothing here."""
    if telling.goal[state]:
        return GOAL
    if telling.stuck[state]:
        return STUCK
    return END if step == telling.horizon else LOST


def number_cells(arrays: Arrays, telling: Telling, cells: Cells, nodes: Nodes) -> int:
    """Write the node of each cell, or how the run has ended, and the pieces; return how many nodes there are."""
    n_rows, split, of = arrays.row_action.shape[0], 0, nodes.of
    room = make_grid(2, n_rows)
    number, apart = room[0], room[1]
    count = number_rows(arrays, telling, cells, number, apart)
    for cell in range(of.shape[0]):
        row = cells.row[cell]
        if row >= 0:
            of[cell] = number[row]
            split += apart[row]
        else:
            of[cell] = name_end(telling, cells.step[cell], cells.state[cell])
    nodes.n_pieces = 0
    if split > 0:
        count = split_cells(arrays.row_start, cells, apart, split, number, count, nodes)
    return count


def split_cells(
    row_start: Whole, cells: Cells, apart: Whole, split: int, number: Whole, count: int, nodes: Nodes
) -> int:
    """Write the node of each of the `split` cells whose rows are told apart; return how many nodes there are then."""
    n_states, of = row_start.shape[0] - 1, nodes.of
    chosen, pieces, place = make_wholes(split), make_grid(7, split), make_wholes(n_states)
    for state in range(n_states):
        place[state] = 0
    for cell in range(of.shape[0]):
        if cells.row[cell] >= 0 and apart[cells.row[cell]]:
            place[cells.state[cell]] += 1
    before = 0
    for state in range(n_states):
        before += place[state]
        place[state] = before - place[state]
    for cell in range(of.shape[0]):  # by state, in order of time
        if cells.row[cell] >= 0 and apart[cells.row[cell]]:
            chosen[place[cells.state[cell]]] = cell
            place[cells.state[cell]] += 1
    nodes.pieces, nodes.n_pieces = pieces, list_pieces(cells, chosen, pieces)
    count = join_pieces(row_start, pieces, nodes.n_pieces, number, count)
    piece = -1
    for spot in range(split):
        if spot == 0 or not goes_on(cells, chosen[spot - 1], chosen[spot]):
            piece += 1
        of[chosen[spot]] = pieces[PART, piece]
    return count


def find_nodes(arrays: Arrays, telling: Telling, runs: Runs) -> Nodes:
    """Return the nodes of all runs."""
    cells, moves, nodes = runs.cells, runs.moves, Nodes()
    n_cells = cells.row.shape[0]
    room = make_grid(2, n_cells)  # many arrays are one: to make one takes longer than to use it
    of, wins = room[0], room[1]
    nodes.of = of
    with cython.nogil:
        count = number_cells(arrays, telling, cells, nodes)
        room, sums = make_grid(8, count), make_table(2, count)
        box, entered, row, hope, visits, weight = room[:4], room[4:6], room[6], room[7], sums[0], sums[1]
        for node in range(count):
            row[node], visits[node], weight[node], entered[LAST, node] = -1, 0.0, 0.0, -1
        for cell in range(n_cells):
            node = of[cell]
            wins[cell] = node == GOAL
            if node < 0:
                continue
            step, spent = cells.step[cell], cells.spent[cell]
            if row[node] < 0:
                row[node] = cells.row[cell]
                box[FIRST, node], box[LOW, node], box[HIGH, node] = step, spent, spent
                in_time = telling.needed[cells.state[cell]] <= telling.horizon - step
                hope[node] = in_time
            box[LAST, node] = step  # cells are in order of time
            box[LOW, node], box[HIGH, node] = min(box[LOW, node], spent), max(box[HIGH, node], spent)
            visits[node] += cells.chance[cell]
            weight[node] += cells.weight[cell]
        for move in range(moves.edge.shape[0] - 1, -1, -1):  # a move is from one step to the next
            if wins[moves.target[move]]:
                wins[moves.origin[move]] = 1
            node = of[moves.target[move]]
            if node >= 0 and of[moves.origin[move]] != node:
                enter(entered, node, cells.step[moves.target[move]])
        if of[0] >= 0:
            enter(entered, of[0], cells.step[0])
        for cell in range(n_cells):
            if of[cell] >= 0 and wins[cell]:
                hope[of[cell]] = 2
    nodes.row, nodes.visits, nodes.weight = row, visits, weight
    nodes.box, nodes.entered, nodes.hope = box, entered, hope
    return nodes


def enter(entered: Whole, node: int, step: int) -> None:
    """Note that runs come to a node, no later than those that are known."""
    entered[FIRST, node] = step
    entered[LAST, node] = max(entered[LAST, node], step)


# ---------------------------------------------------------------------------------------------------------------- ways


def add_up_ways(arrays: Arrays, runs: Runs, nodes: Nodes) -> Ways:
    """Return where the edges of nodes lead, added up over all moves."""
    cells, moves, ways = runs.cells, runs.moves, Ways()
    n_nodes, n_moves = nodes.row.shape[0], moves.edge.shape[0]
    slot, room, sums = make_wholes(n_nodes + 1), make_grid(12, n_moves), make_table(4, n_moves)
    after, aims, chain, target, found, box = room[0], room[1], room[2], room[3], room[4:8], room[8:]
    chance, weight, share, share_if_off = sums[0], sums[1], sums[2], sums[3]
    with cython.nogil:
        slots, count = 0, 0
        for node in range(n_nodes):
            slot[node] = slots
            slots += arrays.edge_start[nodes.row[node] + 1] - arrays.edge_start[nodes.row[node]]
        slot[n_nodes] = slots
        room = make_grid(2, slots + 1)
        head, start = room[0], room[1]
        for own in range(slots):
            head[own] = -1  # a chain of ways per slot
        for move in range(n_moves):
            node, cell = nodes.of[moves.origin[move]], moves.target[move]
            aim, own = nodes.of[cell], slot[node] + moves.edge[move] - arrays.edge_start[nodes.row[node]]
            step, spent = cells.step[cell], cells.spent[cell]
            way = head[own]
            while way >= 0 and aims[way] != aim:
                way = after[way]
            if way < 0:
                way = count
                aims[way], after[way], chance[way], weight[way] = aim, head[own], 0.0, 0.0
                found[FIRST, way], found[LOW, way], found[HIGH, way] = step, spent, spent
                head[own] = way
                count += 1
            found[LAST, way] = step  # moves are in order of time
            found[LOW, way], found[HIGH, way] = min(found[LOW, way], spent), max(found[HIGH, way], spent)
            chance[way] += moves.chance[move]
            weight[way] += moves.weight[move]
        done = 0
        for own in range(slots):
            start[own] = done
            way, size, all_chance, all_weight = head[own], 0, 0.0, 0.0
            while way >= 0:  # into order of time: there are few
                place = size
                while place > 0 and is_earlier(way, chain[place - 1], found, aims):
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
                share_if_off[done] = weight[way] / all_weight if all_weight > 0 else 1.0 / size
                share[done] = chance[way] / all_chance if all_chance > 0 else share_if_off[done]
                target[done] = aims[way]
                put_box(box, done, found, way)
                done += 1
        start[slots] = done
    ways.slot, ways.start, ways.target, ways.box = slot, start, target[:count], box
    ways.share, ways.share_if_off = share[:count], share_if_off[:count]
    return ways


def is_earlier(one: int, other: int, boxes: Whole, target: Whole) -> bool:
    """Return whether a way comes before another: it is first or last taken earlier, or leads to a lower number."""
    for side in range(FIRST, LOW):
        if boxes[side, one] != boxes[side, other]:
            return boxes[side, one] < boxes[side, other]
    return target[one] < target[other]


# -------------------------------------------------------------------------------------------------------------- outline


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
