"""All runs of a policy from one state, cell by cell (see `evaluation.forward`)."""

from __future__ import annotations

from collections.abc import Callable

import cython
import numpy as np

if not cython.compiled:
    from safear.core.arrays import (
        Arrays,
        PolicyArrays,
        Real,
        Whole,
        choose_row,
        make_grid,
        make_table,
        sort_keys,
    )
    from safear.core.sweeps import Ranges, find_worst

FEW = 256  # cells and moves that there is room for at first
STEP, STATE, SPENT, ROW = range(4)  # of `cell` below
ORIGIN, EDGE, TARGET = range(3)  # of `move` below


class Cells:
    """Where runs may be: step, state, what was spent, the row taken (below 0: none), and how probable that is.

    Step by step and, within a step, sorted by state and what was spent. `weight` is the same as `chance` for other
    chances of the edges.
    """

    def __init__(self, step: Whole, state: Whole, spent: Whole, row: Whole, chance: Real, weight: Real) -> None:
        self.step, self.state, self.spent, self.row = step, state, spent, row
        self.chance, self.weight = chance, weight


class Moves:
    """Every way from a cell to another: the cells' numbers, the edge, how probable it is, and of which weight."""

    def __init__(self, origin: Whole, edge: Whole, target: Whole, chance: Real, weight: Real) -> None:
        self.origin, self.edge, self.target, self.chance, self.weight = origin, edge, target, chance, weight


class Runs:
    """The cells of runs and the moves between them."""

    def __init__(self, cells: Cells, moves: Moves) -> None:
        self.cells, self.moves = cells, moves


class Going:
    """How runs are followed: the chances of edges by which weights go, and from which step to which.

    Without `counts_spent` what was spent stays 0; with `possible` runs also take edges of the chance 0. `span` is more
    than any run can have spent, or 0 if one number cannot hold both a state and an amount. If there is a `rule`,
    rule(step, states, spent) names the rows, and the policy does not. There may be at most `most` moves.
    """

    def __init__(
        self,
        often: Real,
        step: int,
        horizon: int,
        span: int,
        counts_spent: bool,
        possible: bool,
        rule: Callable[[int, Whole, Whole], Whole] | None,
        most: int,
    ) -> None:
        self.often, self.step, self.horizon, self.span = often, step, horizon, span
        self.counts_spent, self.possible, self.rule, self.most = counts_spent, possible, rule, most


def choose_by(going: Going, step: int, cell: Whole, begin: int, end: int) -> None:
    """Write the rows that the rule names for some cells."""
    if going.rule is None:
        raise TypeError(going)
    table = np.asarray(cell)
    table[ROW, begin:end] = going.rule(step, table[STATE, begin:end], table[SPENT, begin:end])


def make_room(count: int, most: int) -> int:
    """Return for how many moves to make room when there are so many."""
    if count >= most:
        raise OverflowError(f"the runs make more than {most:,} moves")
    return min(2 * count, most)


def widen_grid(known: Whole, room: int) -> Whole:
    """Return the same columns with room for more."""
    wider = np.empty((known.shape[0], room), np.int64)
    wider[:, : known.shape[1]] = known
    return wider


def widen_table(known: Real, room: int) -> Real:
    """Return the same columns with room for more."""
    wider = np.empty((known.shape[0], room))
    wider[:, : known.shape[1]] = known
    return wider


def follow_policy(arrays: Arrays, policy: PolicyArrays, going: Going, start: int, account: int) -> Runs:
    """P_{h+1}(s', x + c) = sum of P_h(s, x) * p over the outcomes of what the policy does at (s, x), from one state."""
    row_start, edge_start, edge_next = arrays.row_start, arrays.edge_start, arrays.edge_next
    edge_chance, edge_cost, often = arrays.edge_chance, arrays.edge_cost, going.often
    horizon, span, counts_spent, possible = going.horizon, going.span, going.counts_spent, going.possible
    is_ruled, room = going.rule is not None, min(FEW, going.most)
    whole, real = make_grid(9, FEW), make_table(4, FEW)  # each piece made by itself takes as long as a few cells
    cell, move, order, mass, flow = whole[:4], whole[4:7], whole[7:], real[:2], real[2:]
    cell[STATE, 0], cell[SPENT, 0], mass[0, 0], mass[1, 0] = start, 0, 1.0, 1.0
    begin, end, moves = 0, 1, 0
    with cython.nogil:
        for step in range(going.step, horizon + 1):
            first = moves
            if is_ruled and step < horizon:
                choose_by(going, step, cell, begin, end)
            for here in range(begin, end):
                state, spent, row = cell[STATE, here], cell[SPENT, here], -1
                if step < horizon:
                    row = cell[ROW, here] if is_ruled else choose_row(row_start, policy, step, state, account - spent)
                cell[STEP, here], cell[ROW, here] = step, row
                if row < 0:
                    continue
                for edge in range(edge_start[row], edge_start[row + 1]):
                    chance = edge_chance[edge]
                    if chance <= 0 and not possible:
                        continue
                    if moves == room:
                        room = make_room(moves, going.most)
                        move, flow = widen_grid(move, room), widen_table(flow, room)
                    total = spent + edge_cost[edge] if counts_spent else 0
                    move[ORIGIN, moves], move[EDGE, moves] = here, edge
                    move[TARGET, moves] = edge_next[edge] * span + total  # what to sort by; later the cell's number
                    flow[0, moves], flow[1, moves] = mass[0, here] * chance, mass[1, here] * often[edge]
                    moves += 1
            count = moves - first
            if count == 0:
                break
            if end + count > cell.shape[1]:
                cell, mass = widen_grid(cell, 2 * (end + count)), widen_table(mass, 2 * (end + count))
            if count > order.shape[1]:
                order = make_grid(2, 2 * count)
            for place in range(count):
                order[0, place] = place
            sort_keys(move[TARGET, first:moves], order[0, :count], order[1, :count])
            if span == 0:  # by what was spent so far; now by state
                for number in range(first, moves):
                    move[TARGET, number] = edge_next[move[EDGE, number]]
                sort_keys(move[TARGET, first:moves], order[0, :count], order[1, :count])
            begin = end
            for place in range(count):
                number = first + order[0, place]
                edge = move[EDGE, number]
                state, total = edge_next[edge], 0
                if counts_spent:
                    total = cell[SPENT, move[ORIGIN, number]] + edge_cost[edge]
                if end > begin and cell[STATE, end - 1] == state and cell[SPENT, end - 1] == total:
                    mass[0, end - 1] += flow[0, number]  # in the order of the moves
                    mass[1, end - 1] += flow[1, number]
                else:
                    cell[STATE, end], cell[SPENT, end] = state, total
                    mass[0, end], mass[1, end] = flow[0, number], flow[1, number]
                    end += 1
                move[TARGET, number] = end - 1
    cells, ways, runs = Cells.__new__(Cells), Moves.__new__(Moves), Runs.__new__(Runs)
    cells.step, cells.state, cells.spent, cells.row = (
        cell[STEP, :end],
        cell[STATE, :end],
        cell[SPENT, :end],
        cell[ROW, :end],
    )
    cells.chance, cells.weight = mass[0, :end], mass[1, :end]
    ways.origin, ways.edge, ways.target = move[ORIGIN, :moves], move[EDGE, :moves], move[TARGET, :moves]
    ways.chance, ways.weight = flow[0, :moves], flow[1, :moves]
    runs.cells, runs.moves = cells, ways
    return runs


def expect_back(moves: Moves, target: Whole, ranges: Ranges, chances: Real, values: Real) -> None:
    """V(cell) = max over p of sum p V(target): of the chances [option, edge] or, if there are none, within the ranges.

    Each move goes to a `target`. `values` [cell, column, figure] are those of cells that no move leaves, and become
    those of all; within ranges the first figure is the largest, and the others go by the same chances. All possible
    moves must be there then.
    """
    columns, figures, first, last = values.shape[1], values.shape[2], 0, moves.origin.shape[0]
    with cython.nogil:
        while last > 0:
            cell, first = moves.origin[last - 1], last - 1
            while first > 0 and moves.origin[first - 1] == cell:
                first -= 1
            for column in range(columns):
                for option in range(chances.shape[0]):
                    for figure in range(figures):
                        total = 0.0
                        for move in range(first, last):
                            total += chances[option, moves.edge[move]] * values[target[move], column, figure]
                        best = values[cell, column, figure]
                        values[cell, column, figure] = total if option == 0 else max(best, total)
                if chances.shape[0] > 0:
                    continue
                for move in range(first, last):
                    ranges.value[move - first], ranges.second[move - first] = values[target[move], column, 0], 0.0
                find_worst(ranges, moves.edge[first], last - first)
                for figure in range(figures):
                    total = 0.0
                    for move in range(first, last):
                        total += ranges.chance[move - first] * values[target[move], column, figure]
                    values[cell, column, figure] = total
            last = first
