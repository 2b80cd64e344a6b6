"""Compiled loops about sketches: what can be done in a state, how far runs come, and the policy that one becomes.

They do with arrays what `sketch` and `unfolding` do with dictionaries, in the same order. Imported when first needed:
Numba takes a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.compiling import njit
from safear.evaluation.policy import PolicyArrays
from safear.evaluation.run_kernels import INNER, CellArrays, Going, choose_row, follow_policy
from safear.mdp.arrays import Arrays

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]

FOLLOW = -3  # in place of a row: what the base does (see `sketch`)
FORGET = -4  # in place of a row: what the base most often does at the step
WON, LOST = -1, -2  # in place of a state: runs have ended
STATE, STEP, SPENT, NEXT, SLOT = range(5)  # of an item; of a row that is taken, ROW and SINCE
ROW, SINCE = STATE, STEP
BEGIN, ENDED, TAKEN, FINISH = range(4)  # where the items of a sketch begin, by kind: waiting, ended, taken; their end


class SearchGround(NamedTuple):
    """What all sketches of a search share: the MDP, the base with what its account opens with, and what lies ahead.

    `often` are the chances by which what is told happens (see `plan_graph`), if it `differs`; `acts` [step, state] is
    whether there is anything to do, `ahead_mean` and `ahead_success` [step, state] what can at best still come (see
    `ahead`).
    """

    arrays: Arrays
    often: Real
    differs: bool
    goal: Flags
    acts: Flags
    needed: Whole
    works: Flags
    ahead_mean: Real
    ahead_success: Real
    base: PolicyArrays
    account: int
    start: int
    horizon: int
    stops: bool
    failure: float
    quantum: float


class Used(NamedTuple):
    """What the base does: whether it takes a row, from which step to which it acts in a state (none: 0 to -1).

    `forget` [number of the state among these, step] is what it most often does there; at other steps, what it did the
    last time, or does first.
    """

    row: Flags
    first: Whole
    last: Whole
    number: Whole
    forget: Whole


class SearchScratch(NamedTuple):
    """Room to unfold one sketch: items in chains, found by a table of slots.

    There is a chain [head, tail] per step for runs that go on, per open state for those that wait, and of those that
    have ended. `option` is what a sketch does in a state, -1 where it is open. `counts` are the items, the states with
    a chain, which `open` lists, and the rows taken, which `taken` lists with how often and since when.
    """

    item: Whole
    chance: Real
    slot: Whole
    chain: Whole
    open: Whole
    option: Whole
    taken: Whole
    taken_often: Real
    taken_since: Whole
    counts: Whole


@njit(cache=True, nogil=True)
def look_at_base(arrays: Arrays, base: PolicyArrays, going: Going, start: int, account: int) -> Used:
    """What the base does, read from all cells of its runs; those of the weight 0 do not count."""
    cells, _ = follow_policy(arrays, base, going, start, account)
    horizon, n_states = going.horizon, len(arrays.row_start) - 1
    row = np.zeros(len(arrays.row_action), np.bool_)
    first, last, number = np.zeros(n_states, np.int64), np.full(n_states, -1), np.full(n_states, -1)
    count = 0
    for cell in range(len(cells.row)):
        state = cells.state[cell]
        if cells.row[cell] >= 0 and cells.weight[cell] > 0:
            row[cells.row[cell]] = True
            if number[state] < 0:
                first[state], number[state] = cells.step[cell], count
                count += 1
            last[state] = cells.step[cell]
    forget = np.full((count, horizon), -1)
    begin = 0
    while (
        begin < len(cells.row) and cells.step[begin] < horizon
    ):  # a group of cells with one step and one state after the other
        step, state, end = cells.step[begin], cells.state[begin], begin + 1
        while end < len(cells.row) and cells.state[end] == state and cells.step[end] == step:
            end += 1
        if number[state] >= 0:
            forget[number[state], step] = _find_likeliest(cells, begin, end)
        begin = end
    for known in forget:
        before = -1
        for step in range(horizon):
            before = known[step] if known[step] >= 0 else before
            known[step] = before
        for step in range(horizon - 1, -1, -1):
            before = known[step] if known[step] >= 0 else before
            known[step] = before
    return Used(row, first, last, number, forget)


@njit(**INNER)
def _find_likeliest(cells: CellArrays, begin: int, end: int) -> int:
    """The row that is most often taken in some cells; of several the first, -1 if there is none."""
    likeliest, most = -1, 0.0
    for one in range(begin, end):
        if cells.row[one] < 0 or cells.weight[one] <= 0:
            continue
        often = 0.0
        for other in range(begin, end):
            if cells.row[other] == cells.row[one]:
                often += cells.weight[other]
        if often > most or (often == most and cells.row[one] < likeliest):
            likeliest, most = cells.row[one], often
    return likeliest


@njit(**INNER)
def row_at(ground: SearchGround, used: Used, option: Whole, state: int, step: int) -> int:
    """What an option, (one row, up to which step, another row), does in a state at a step; below 0: nothing."""
    if option[0] == FOLLOW:
        return FOLLOW
    if ground.stops and step > ground.horizon - ground.needed[state]:
        return -1
    if option[0] == FORGET:
        return used.forget[used.number[state], step]
    return option[0] if step < option[1] else option[2]


@njit(**INNER)
def count_options(ground: SearchGround, used: Used, state: int) -> int:
    """How many options a state may have."""
    rows = ground.arrays.row_start[state + 1] - ground.arrays.row_start[state]
    return rows + rows * rows * max(used.last[state] - used.first[state], 0) + 2


@njit(**INNER)
def list_options(ground: SearchGround, used: Used, state: int, options: Whole, count: int) -> int:
    """Write what can be done in a state, simplest first (see `sketch.find_options`); returns the count afterwards."""
    begin, end = ground.arrays.row_start[state], ground.arrays.row_start[state + 1]
    first = count
    for row in range(begin, end):
        options[count] = (row, ground.horizon, row)
        count += 1
    if used.row[begin:end].sum() > 1:
        for one in range(begin, end):
            for other in range(begin, end):
                if one != other and used.row[one] and used.row[other]:
                    for step in range(used.first[state] + 1, used.last[state] + 1):
                        options[count] = (one, step, other)
                        count += 1
        options[count] = (FORGET, 0, 0)
        options[count + 1] = (FOLLOW, 0, 0)
        count += 2
    if state != ground.start:
        return count
    does = choose_row(ground.arrays.row_start, ground.base, 0, state, ground.account)
    kept = first
    for option in range(first, count):  # it begins as the base does
        row = row_at(ground, used, options[option], state, 0)
        if row in (does, FOLLOW):
            options[kept] = options[option]
            kept += 1
    return kept


@njit(**INNER)
def _locate(scratch: SearchScratch, state: int, step: int, spent: int) -> int:
    """The slot of an item: its own, or a free one."""
    mask = len(scratch.slot) - 1
    mixed = (state * 1_000_003 + step) * 1_000_003 + spent
    slot = (mixed ^ (mixed >> 17)) & mask
    while scratch.slot[slot] >= 0:
        item = scratch.item[scratch.slot[slot]]
        if item[STATE] == state and item[STEP] == step and item[SPENT] == spent:
            break
        slot = (slot + 1) & mask
    return slot


@njit(**INNER)
def add_item(ground: SearchGround, scratch: SearchScratch, state: int, step: int, spent: int, chance: float) -> None:
    """Add the chance of runs that are in a state, or have ended, to those that are there already."""
    slot = _locate(scratch, state, step, spent)
    number = scratch.slot[slot]
    if number < 0:
        number = scratch.counts[0]
        scratch.counts[0] += 1
        scratch.slot[slot], scratch.chance[number] = number, 0.0
        scratch.item[number] = (state, step, spent, -1, slot)
        chain = ground.horizon  # of what has ended
        if state >= 0:
            chain = step if scratch.option[state] >= 0 else ground.horizon + 1 + state
        head, tail = scratch.chain[chain]
        if head < 0:
            scratch.chain[chain, 0] = number
            if chain > ground.horizon:
                scratch.open[scratch.counts[1]] = state
                scratch.counts[1] += 1
        else:
            scratch.item[tail, NEXT] = number
        scratch.chain[chain, 1] = number
    scratch.chance[number] += chance


@njit(**INNER)
def take_row(scratch: SearchScratch, row: int, step: int, chance: float) -> None:
    """Count how often a row is taken, and since when."""
    if scratch.taken_since[row] < 0:
        scratch.taken[scratch.counts[2]] = row
        scratch.counts[2] += 1
        scratch.taken_often[row], scratch.taken_since[row] = 0.0, step
    scratch.taken_often[row] += chance
    scratch.taken_since[row] = min(scratch.taken_since[row], step)


@njit(**INNER)
def clear_rows(ground: SearchGround, scratch: SearchScratch) -> None:
    """Forget what was unfolded, but not what is decided."""
    for number in range(scratch.counts[0]):
        scratch.slot[scratch.item[number, SLOT]] = -1
    for place in range(scratch.counts[1]):
        scratch.chain[ground.horizon + 1 + scratch.open[place]] = -1
    for place in range(scratch.counts[2]):
        scratch.taken_since[scratch.taken[place]] = -1
    scratch.chain[: ground.horizon + 1] = -1
    scratch.counts[:] = 0


@njit(**INNER)
def unfold(
    ground: SearchGround,
    used: Used,
    options: Whole,
    scratch: SearchScratch,
    chances: Real,
    items: Whole,
    item_chances: Real,
    kinds: Whole,
) -> int:
    """Carry on the runs that wait in a state which is decided now (see `unfolding`).

    `items` and `item_chances` from kinds[BEGIN] on are what was known before. Returns how many cells were gone through;
    -1 if there is not enough room.
    """
    arrays, horizon = ground.arrays, ground.horizon
    if kinds[FINISH] - kinds[BEGIN] > len(scratch.item):
        return -1
    for number in range(kinds[BEGIN], kinds[ENDED]):
        state, step, spent = items[number, STATE], items[number, STEP], items[number, SPENT]
        add_item(ground, scratch, state, step, spent, item_chances[number])
    for number in range(kinds[ENDED], kinds[TAKEN]):
        add_item(ground, scratch, items[number, STATE], 0, items[number, SPENT], item_chances[number])
    for number in range(kinds[TAKEN], kinds[FINISH]):
        take_row(scratch, items[number, ROW], items[number, SINCE], item_chances[number])
    cells = 0
    for step in range(horizon):
        number = scratch.chain[step, 0]
        while number >= 0:
            state, spent, chance = scratch.item[number, STATE], scratch.item[number, SPENT], scratch.chance[number]
            number, cells = scratch.item[number, NEXT], cells + 1
            row = row_at(ground, used, options[scratch.option[state]], state, step)
            if row == FOLLOW:
                row = choose_row(arrays.row_start, ground.base, step, state, ground.account - spent)
            edges = arrays.edge_start[row + 1] - arrays.edge_start[row] if row >= 0 else 1
            if scratch.counts[0] + edges > len(scratch.item):
                return -1
            if row < 0:
                add_item(ground, scratch, LOST, 0, spent, chance)
                continue
            take_row(scratch, row, step, chance)
            for edge in range(arrays.edge_start[row], arrays.edge_start[row + 1]):
                if chances[edge] > 0:
                    after, total, flow = arrays.edge_next[edge], spent + arrays.edge_cost[edge], chance * chances[edge]
                    if ground.goal[after]:
                        add_item(ground, scratch, WON, 0, total, flow)
                    elif step + 1 == horizon or not ground.acts[step + 1, after]:
                        add_item(ground, scratch, LOST, 0, total, flow)
                    else:
                        add_item(ground, scratch, after, step + 1, total, flow)
    return cells


@njit(**INNER)
def store(
    ground: SearchGround, scratch: SearchScratch, items: Whole, item_chances: Real, count: int, kinds: Whole
) -> int:
    """Write what was unfolded behind other items: what waits, by state, what has ended, and which rows are taken.

    Returns the count afterwards; -1 if there is not enough room.
    """
    if count + scratch.counts[0] + scratch.counts[2] > len(items):
        return -1
    kinds[BEGIN] = count
    for place in range(scratch.counts[1] + 1):
        if place == scratch.counts[1]:
            kinds[ENDED] = count
            number = scratch.chain[ground.horizon, 0]
        else:
            number = scratch.chain[ground.horizon + 1 + scratch.open[place], 0]
        while number >= 0:
            items[count, :3], item_chances[count] = scratch.item[number, :3], scratch.chance[number]
            number, count = scratch.item[number, NEXT], count + 1
    kinds[TAKEN] = count
    for place in range(scratch.counts[2]):
        row = scratch.taken[place]
        items[count, ROW], items[count, SINCE] = row, scratch.taken_since[row]
        item_chances[count] = scratch.taken_often[row]
        count += 1
    kinds[FINISH] = count
    return count
