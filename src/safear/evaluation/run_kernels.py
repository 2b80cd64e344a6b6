"""Compiled loops that follow all runs of a policy from one state, cell by cell (see `forward`).

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.compiling import njit
from safear.evaluation.evaluation_kernels import Account, find_choice
from safear.evaluation.policy import PolicyArrays
from safear.mdp.arrays import Arrays

Real = NDArray[np.float64]
Whole = NDArray[np.int64]

# What only compiled loops call needs no way in from Python, which takes longer to compile than the loop.
INNER: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
FEW = 256  # cells and moves that there is room for at first
STEP, STATE, SPENT, ROW = range(4)  # of `cell` below
ORIGIN, EDGE, TARGET = range(3)  # of `move` below


class CellArrays(NamedTuple):
    """Where runs may be: step, state, what was spent, the row taken (below 0: none), and how probable that is.

    Step by step and, within a step, sorted by state and what was spent. `weight` is the same as `chance` for other
    chances of the edges.
    """

    step: Whole
    state: Whole
    spent: Whole
    row: Whole
    chance: Real
    weight: Real


class MoveArrays(NamedTuple):
    """Every way from a cell to another: the cells' numbers, the edge, how probable it is, and of which weight."""

    origin: Whole
    edge: Whole
    target: Whole
    chance: Real
    weight: Real


class Going(NamedTuple):
    """How runs are followed: the chances of edges, by which weights go, and up to which step.

    Without `counts_spent` what was spent stays 0; with `possible` runs also take edges of the chance 0. `span` is more
    than any run can have spent.
    """

    often: Real
    horizon: int
    span: int
    counts_spent: bool
    possible: bool


@njit(**INNER)
def choose_row(row_start: Whole, policy: PolicyArrays, step: int, state: int, account: int) -> int:
    """The row that a policy takes: that of the last piece which begins at or below the account; -1 if there is none."""
    if policy.table.shape[0] > 0:
        choice = int(policy.table[step, state])
    else:
        place = step * (len(row_start) - 1) + state
        choice = find_choice(Account(policy.piece_start, policy.first, policy.choice), place, account)
    return -1 if choice == 255 else row_start[state] + choice


@njit(**INNER)
def widen_whole(array: Whole, room: int) -> Whole:
    """The same columns, and room for more."""
    wider = np.empty((array.shape[0], room), np.int64)
    wider[:, : array.shape[1]] = array
    return wider


@njit(**INNER)
def widen_real(array: Real, room: int) -> Real:
    """The same columns, and room for more."""
    wider = np.empty((array.shape[0], room), np.float64)
    wider[:, : array.shape[1]] = array
    return wider


@njit(**INNER)
def follow_policy(
    arrays: Arrays, policy: PolicyArrays, going: Going, start: int, account: int
) -> tuple[CellArrays, MoveArrays]:
    """P_{h+1}(s', x + c) = sum of P_h(s, x) * p over the outcomes of what the policy does at (s, x), from one state."""
    cell, mass = np.empty((4, FEW), np.int64), np.empty((2, FEW))
    move, flow = np.empty((3, FEW), np.int64), np.empty((2, FEW))
    cell[STATE, 0], cell[SPENT, 0] = start, 0
    mass[:, 0] = 1.0
    begin, end, moves = 0, 1, 0
    for step in range(going.horizon + 1):
        first = moves
        for here in range(begin, end):
            state, spent, row = cell[STATE, here], cell[SPENT, here], -1
            if step < going.horizon:
                row = choose_row(arrays.row_start, policy, step, state, account - spent)
            cell[STEP, here], cell[ROW, here] = step, row
            if row < 0:
                continue
            for edge in range(arrays.edge_start[row], arrays.edge_start[row + 1]):
                chance = arrays.edge_chance[edge]
                if chance <= 0 and not going.possible:
                    continue
                if moves == move.shape[1]:
                    move, flow = widen_whole(move, 2 * moves), widen_real(flow, 2 * moves)
                total = spent + arrays.edge_cost[edge] if going.counts_spent else 0
                move[ORIGIN, moves], move[EDGE, moves] = here, edge
                move[TARGET, moves] = (
                    arrays.edge_next[edge] * going.span + total
                )  # the cell's number, once there is one
                flow[0, moves], flow[1, moves] = mass[0, here] * chance, mass[1, here] * going.often[edge]
                moves += 1
        if moves == first:
            break
        if end + moves - first > cell.shape[1]:
            room = 2 * (end + moves - first)
            cell, mass = widen_whole(cell, room), widen_real(mass, room)
        begin, last = end, -1
        for place in np.argsort(move[TARGET, first:moves], kind="mergesort"):
            number = first + place
            key = move[TARGET, number]
            if key != last:
                cell[STATE, end], cell[SPENT, end] = key // going.span, key % going.span
                mass[0, end], mass[1, end] = flow[0, number], flow[1, number]
                end, last = end + 1, key
            else:  # in the order of the moves
                mass[0, end - 1] += flow[0, number]
                mass[1, end - 1] += flow[1, number]
            move[TARGET, number] = end - 1
    cells = CellArrays(
        cell[STEP, :end].copy(),
        cell[STATE, :end].copy(),
        cell[SPENT, :end].copy(),
        cell[ROW, :end].copy(),
        mass[0, :end].copy(),
        mass[1, :end].copy(),
    )
    ways = MoveArrays(
        move[ORIGIN, :moves].copy(),
        move[EDGE, :moves].copy(),
        move[TARGET, :moves].copy(),
        flow[0, :moves].copy(),
        flow[1, :moves].copy(),
    )
    return cells, ways


@njit(cache=True, nogil=True)
def list_run_cells(arrays: Arrays, policy: PolicyArrays, going: Going, start: int, account: int) -> CellArrays:
    """The cells alone."""
    cells, _ = follow_policy(arrays, policy, going, start, account)
    return cells
