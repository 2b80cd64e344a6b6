"""Compiled loops that make a policy of a sketch (see `sketch.settle`).

Imported when first needed: Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.compiling import njit
from safear.evaluation.policy import PolicyArrays
from safear.evaluation.run_kernels import INNER, CellArrays, Going, choose_row, follow_policy
from safear.mdp.arrays import Arrays
from safear.recourse.sketch_kernels import FOLLOW

Whole = NDArray[np.int64]
Bytes = NDArray[np.uint8]
NOTHING = np.uint8(255)


@njit(cache=True, nogil=True)
def settle_rows(
    arrays: Arrays, base: PolicyArrays, going: Going, states: Whole, rows: Whole, start: int, account: int
) -> tuple[bool, Bytes, Whole, Whole, Bytes]:
    """The policy of a sketch that does `rows` [state, step] in some states, and elsewhere what the base does."""
    policy = lay_over(arrays.row_start, base, states, rows)
    cells, _ = follow_policy(arrays, policy, going, start, account)
    return condense(arrays.row_start, policy, cells, going.horizon, account)


@njit(**INNER)
def lay_over(row_start: Whole, base: PolicyArrays, states: Whole, rows: Whole) -> PolicyArrays:
    """The base but for what is done in some states: `rows` [state, step], FOLLOW for what the base does."""
    horizon, n_states = rows.shape[1], len(row_start) - 1
    table = base.table.copy()
    if len(table) > 0:
        for number, state in enumerate(states):
            for step in range(horizon):
                if rows[number, step] != FOLLOW:
                    table[step, state] = _count_row(row_start, state, rows[number, step])
        return PolicyArrays(table, base.piece_start, base.first, base.choice)
    known = np.full(n_states, -1)
    known[states] = np.arange(len(states))
    start = np.empty(len(base.piece_start), np.int64)
    first, choice = (
        np.empty(len(base.first) + rows.size, np.int64),
        np.empty(len(base.first) + rows.size, np.uint8),
    )
    count = 0
    for place in range(horizon * n_states):
        start[place] = count
        step, state = place // n_states, place % n_states
        row = rows[known[state], step] if known[state] >= 0 else FOLLOW
        if row != FOLLOW:
            first[count], choice[count] = 0, _count_row(row_start, state, row)
            count += row >= 0
            continue
        for piece in range(base.piece_start[place], base.piece_start[place + 1]):
            first[count], choice[count] = base.first[piece], base.choice[piece]
            count += 1
    start[horizon * n_states] = count
    return PolicyArrays(table, start, first[:count], choice[:count])


@njit(**INNER)
def _count_row(row_start: Whole, state: int, row: int) -> np.uint8:
    return NOTHING if row < 0 else np.uint8(row - row_start[state])


@njit(**INNER)
def condense(
    row_start: Whole, policy: PolicyArrays, cells: CellArrays, horizon: int, account: int
) -> tuple[bool, Bytes, Whole, Whole, Bytes]:
    """What a policy does in its runs, as a table if that does not depend on what was spent, and as pieces if it does.

    Where no run comes, it is what it does with nothing spent. Returns whether pieces are needed, the table, and where
    the pieces of each step and state begin, from which account on, and what is done.
    """
    n_states = len(row_start) - 1
    table = np.empty((horizon, n_states), np.uint8)
    for step in range(horizon):
        for state in range(n_states):
            table[step, state] = _count_row(row_start, state, choose_row(row_start, policy, step, state, account))
    met = np.full((horizon, n_states), -1)  # the last cell of a place; those with more spent come later
    acting, depends = 0, False
    for cell in range(len(cells.row)):
        step, state, row = cells.step[cell], cells.state[cell], cells.row[cell]
        if row >= 0:
            acting += 1
            before, met[step, state] = met[step, state], cell
            depends = depends or (before >= 0 and cells.row[before] != row)
            table[step, state] = _count_row(row_start, state, row)
    size = acting + horizon * n_states if depends else 0
    start = np.empty(horizon * n_states + 1, np.int64)
    first, choice = np.empty(size, np.int64), np.empty(size, np.uint8)
    count = 0
    for place in range(horizon * n_states if depends else 0):
        start[place] = count
        step, state = place // n_states, place % n_states
        cell, done = met[step, state], -1
        if cell < 0 and table[step, state] != NOTHING:
            first[count], choice[count] = account, table[step, state]
            count += 1
        while cell >= 0 and cells.step[cell] == step and cells.state[cell] == state:  # by rising account
            row = cells.row[cell]
            if row >= 0 and row != done:
                first[count], choice[count] = account - cells.spent[cell], _count_row(row_start, state, row)
                count, done = count + 1, row
            cell -= 1
    start[horizon * n_states] = count
    return depends, table, start, first[:count].copy(), choice[:count].copy()
