"""What makes a policy of a sketch (see `recourse.simplest.settle`)."""

from __future__ import annotations

import cython
import numpy as np

if not cython.compiled:
    from safear.core.arrays import (
        NONE,
        Arrays,
        Bytes,
        PolicyArrays,
        Whole,
        choose_row,
        fill_wholes,
        make_bytes,
        make_wholes,
    )
    from safear.core.runs import Cells, Going, follow_policy
    from safear.core.sketches import FOLLOW


def settle_rows(
    arrays: Arrays, base: PolicyArrays, going: Going, states: Whole, rows: Whole, start: int, account: int
) -> tuple[bool, Bytes, Whole, Whole, Bytes]:
    """Return the policy of a sketch that does `rows` [state, step] in some states, and elsewhere what the base does.

    That is whether pieces are needed, its table, and where the pieces of each step and state begin, from which account
    on, and what is done (see `PolicyArrays`).
    """
    policy = lay_over(arrays, base, states, rows)
    cells = follow_policy(arrays, policy, going, start, account).cells
    return condense(arrays, policy, cells, rows.shape[1], account)


def lay_over(arrays: Arrays, base: PolicyArrays, states: Whole, rows: Whole) -> PolicyArrays:
    """Return the base but for what is done in some states: `rows` [state, step], FOLLOW for what the base does."""
    horizon, n_states, count = rows.shape[1], arrays.row_start.shape[0] - 1, 0
    if base.table.shape[0] > 0:
        table = np.array(base.table)
        write_over(arrays, table, states, rows)
        return PolicyArrays(table, base.piece_start, base.first, base.choice)
    known, begin = fill_wholes(n_states, -1), make_wholes(horizon * n_states + 1)
    room = base.first.shape[0] + rows.shape[0] * horizon
    first, choice = make_wholes(room), make_bytes(room)
    with cython.nogil:
        for number in range(states.shape[0]):
            known[states[number]] = number
        for place in range(horizon * n_states):
            begin[place] = count
            step, state = place // n_states, place % n_states
            row = rows[known[state], step] if known[state] >= 0 else FOLLOW
            if row != FOLLOW:
                if row >= 0:
                    first[count], choice[count] = 0, row - arrays.row_start[state]
                    count += 1
                continue
            for piece in range(base.piece_start[place], base.piece_start[place + 1]):
                first[count], choice[count] = base.first[piece], base.choice[piece]
                count += 1
        begin[horizon * n_states] = count
    return PolicyArrays(base.table, begin, first, choice)


def write_over(arrays: Arrays, table: Bytes, states: Whole, rows: Whole) -> None:
    """Write what is done in some states into a table: `rows` [state, step], but for FOLLOW."""
    with cython.nogil:
        for number in range(states.shape[0]):
            for step in range(rows.shape[1]):
                if rows[number, step] != FOLLOW:
                    table[step, states[number]] = count_row(arrays, states[number], rows[number, step])


def count_row(arrays: Arrays, state: int, row: int) -> int:
    """Return the number of a row among those of its state."""
    return NONE if row < 0 else row - arrays.row_start[state]


def condense(
    arrays: Arrays, policy: PolicyArrays, cells: Cells, horizon: int, account: int
) -> tuple[bool, Bytes, Whole, Whole, Bytes]:
    """Return what a policy does in its runs: a table if that does not depend on what was spent, and pieces if it does.

    Where no run comes, it is what it does with nothing spent.
    """
    n_states, acting, depends = arrays.row_start.shape[0] - 1, 0, False
    places = horizon * n_states
    table, met = make_bytes(places), fill_wholes(places, -1)  # the last cell of each; those with more spent come later
    with cython.nogil:
        for place in range(places):
            step, state = place // n_states, place % n_states
            table[place] = count_row(arrays, state, choose_row(arrays.row_start, policy, step, state, account))
        for cell in range(cells.row.shape[0]):
            row = cells.row[cell]
            if row >= 0:
                place = cells.step[cell] * n_states + cells.state[cell]
                acting += 1
                depends = depends or (met[place] >= 0 and cells.row[met[place]] != row)
                met[place], table[place] = cell, count_row(arrays, cells.state[cell], row)
    begin, size = fill_wholes(places + 1, 0), acting + places if depends else 0
    first, choice, count = make_wholes(size), make_bytes(size), 0
    if depends:
        with cython.nogil:
            for place in range(places):
                begin[place] = count
                step, state, cell, done = place // n_states, place % n_states, met[place], -1
                if cell < 0 and table[place] != NONE:
                    first[count], choice[count] = account, table[place]
                    count += 1
                while cell >= 0 and cells.step[cell] == step and cells.state[cell] == state:  # by rising account
                    row = cells.row[cell]
                    if row >= 0 and row != done:
                        first[count], choice[count] = account - cells.spent[cell], count_row(arrays, state, row)
                        count, done = count + 1, row
                    cell -= 1
            begin[places] = count
    pieces = np.asarray(begin), np.asarray(first)[:count].copy(), np.asarray(choice)[:count].copy()
    return depends, np.asarray(table).reshape(horizon, n_states), *pieces
