"""Sketches: what can be done in their states, how far their runs come, and what makes policies of them.

A sketch (see `recourse.simplest`) says of some states what is done there at every step. In all other states it is
open, and does what another plan, the *base*, does once it is finished. A decision on one state more carries on only
those runs that wait there, so that a sketch is known after a few additions to what was known of the one before.
"""

from __future__ import annotations

import cython
import numpy as np

if not cython.compiled:
    from safear.core.arrays import (
        NONE,
        Arrays,
        Bytes,
        PolicyArrays,
        Real,
        Whole,
        choose_row,
        fill_wholes,
        make_bytes,
        make_grid,
        make_policy,
        make_reals,
        make_table,
        make_wholes,
        widen_reals,
    )
    from safear.core.runs import Cells, Going, follow_policy

    FOLLOW = -3  # in place of a row: what the base does
    FORGET = -4  # in place of a row: what the base most often does at the step
    FULL = -2  # in place of a count: there are too many
    WON, LOST = -1, -2  # in place of a state: runs have ended
    STATE, STEP, SPENT, NEXT, SLOT = range(5)  # of an item; of a row that is taken, ROW and SINCE
    ROW, SINCE = STATE, STEP
    HEAD, TAIL = range(2)  # of a chain
    BEFORE, UNTIL, AFTER = range(3)  # of an option: one row, up to which step, another row
    BEGIN, ENDED, TAKEN, FINISH = range(4)  # where a sketch's items begin, by kind: waiting, ended, taken; their end
    PARENT, DECIDED, OPTION, DEPTH, FOLLOWING, RULES = range(6)  # of a sketch
    VALUE, LEAST_MEAN, MOST_SUCCESS = range(3)  # its bounds


class SearchGround:
    """What all sketches of a search share: the MDP, the base with what its account opens with, and what lies ahead.

    `often` are the chances by which what is told happens (see `recourse.plan_graph`), if it `differs`; `acts`
    [step, state] is whether there is anything to do, `ahead_mean` and `ahead_success` [step, state] what can at best
    still come (see `solvers.success`).
    """

    def __init__(
        self,
        *,
        arrays: Arrays,
        row_state: Whole,
        often: Real,
        differs: bool,
        goal: Bytes,
        acts: Bytes,
        needed: Whole,
        works: Bytes,
        ahead_mean: Real,
        ahead_success: Real,
        base: PolicyArrays,
        account: int,
        start: int,
        horizon: int,
        stops: bool,
        failure: float,
        quantum: float,
    ) -> None:
        self.arrays, self.row_state, self.often, self.differs = arrays, row_state, often, differs
        self.goal, self.acts, self.needed, self.works = goal, acts, needed, works
        self.ahead_mean, self.ahead_success = ahead_mean, ahead_success
        self.base, self.account, self.start, self.horizon = base, account, start, horizon
        self.stops, self.failure, self.quantum = stops, failure, quantum
        self.n_states = self.needed.shape[0]


class Used:
    """What the base does: whether it takes a row, from which step to which it acts in a state (none: 0 to -1).

    `forget` [number of the state among these, step] is what it most often does there; at other steps, what it did the
    last time, or does first.
    """

    def __init__(self, row: Bytes, first: Whole, last: Whole, number: Whole, forget: Whole) -> None:
        self.row, self.first, self.last, self.number, self.forget = row, first, last, number, forget


def look_at_base(ground: SearchGround, going: Going) -> Used:
    """Return what the base does, read from all cells of its runs; those of the weight 0 do not count."""
    cells = follow_policy(ground.arrays, ground.base, going, ground.start, ground.account).cells
    horizon, n_states, n_cells = ground.horizon, ground.n_states, cells.row.shape[0]
    row = make_bytes(ground.row_state.shape[0])
    first, last, number = fill_wholes(n_states, 0), fill_wholes(n_states, -1), fill_wholes(n_states, -1)
    count = begin = 0
    with cython.nogil:
        row[:] = 0
        for cell in range(n_cells):
            state = cells.state[cell]
            if cells.row[cell] >= 0 and cells.weight[cell] > 0:
                row[cells.row[cell]] = 1
                if number[state] < 0:
                    first[state], number[state] = cells.step[cell], count
                    count += 1
                last[state] = cells.step[cell]
        forget = make_grid(count, horizon)
        for place in range(count):
            for step in range(horizon):
                forget[place, step] = -1
        while begin < n_cells and cells.step[begin] < horizon:  # cells with one step and one state, group by group
            step, state, end = cells.step[begin], cells.state[begin], begin + 1
            while end < n_cells and cells.state[end] == state and cells.step[end] == step:
                end += 1
            if number[state] >= 0:
                forget[number[state], step] = find_likeliest(cells, begin, end)
            begin = end
        for place in range(count):
            before = -1
            for step in range(horizon):
                before = forget[place, step] if forget[place, step] >= 0 else before
                forget[place, step] = before
            for step in range(horizon - 1, -1, -1):
                before = forget[place, step] if forget[place, step] >= 0 else before
                forget[place, step] = before
    return Used(row, first, last, number, forget)


def find_likeliest(cells: Cells, begin: int, end: int) -> int:
    """Return the row that is most often taken in some cells; of several the first, -1 if there is none."""
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


class Options:
    """What can be done in states: `of` [option, BEFORE to AFTER]. Those of a state begin and end at; -1: not listed.

    There is room for `few` at first, and for `most` at most.
    """

    def __init__(self, ground: SearchGround, used: Used, few: int, most: int) -> None:
        self.ground, self.used, self.most, self.count = ground, used, most, 0
        self.of = make_grid(few, 3)
        self.begin, self.end = fill_wholes(self.ground.n_states, -1), fill_wholes(self.ground.n_states, -1)

    def list_all(self, state: int) -> bool:
        """List what can be done in a state, simplest first; return False if that is too much.

        One thing always; if the base does several things in this state, one of them up to some step and another from
        then on; and what the base does, with and without looking at what was spent. At the start, the first thing is
        the base's.
        """
        if self.end[state] >= 0:
            return True
        begin, end = self.ground.arrays.row_start[state], self.ground.arrays.row_start[state + 1]
        since, until = self.used.first[state] + 1, self.used.last[state] + 1
        rows = end - begin
        room = self.count + rows + rows * rows * max(until - since, 0) + 2
        if room > self.most:
            return False
        if room > self.of.shape[0]:
            self.of = lengthen_grid(self.of, max(room, 2 * self.of.shape[0]))
        self.begin[state], does = self.count, 0
        for row in range(begin, end):
            self.add(row, self.ground.horizon, row)
            does += self.used.row[row]
        if does > 1:
            for one in range(begin, end):
                for other in range(begin, end):
                    if one != other and self.used.row[one] and self.used.row[other]:
                        for step in range(since, until):
                            self.add(one, step, other)
            self.add(FORGET, 0, 0)
            self.add(FOLLOW, 0, 0)
        if state == self.ground.start:
            self.keep_start()
        self.end[state] = self.count
        return True

    def add(self, before: int, step: int, after: int) -> None:
        """Add an option; there is room for it."""
        self.of[self.count, BEFORE], self.of[self.count, UNTIL], self.of[self.count, AFTER] = before, step, after
        self.count += 1

    def keep_start(self) -> None:
        """Keep, of the options at the start, what begins as the base does."""
        start, last = self.ground.start, self.count
        does = choose_row(self.ground.arrays.row_start, self.ground.base, 0, start, self.ground.account)
        self.count = self.begin[start]
        for option in range(self.begin[start], last):
            row = self.find_row(option, start, 0)
            if row in (does, FOLLOW):
                self.add(self.of[option, BEFORE], self.of[option, UNTIL], self.of[option, AFTER])

    def find_row(self, option: int, state: int, step: int) -> int:
        """Return the row that an option takes in a state at a step; below 0: nothing, or FOLLOW."""
        row = self.of[option, BEFORE]
        if row == FOLLOW:
            return FOLLOW
        if self.ground.stops and step > self.ground.horizon - self.ground.needed[state]:
            return -1
        if row == FORGET:
            return self.used.forget[self.used.number[state], step]
        return row if step < self.of[option, UNTIL] else self.of[option, AFTER]


class Sketches:
    """All sketches of a search: `of` [sketch, PARENT to RULES] and `bounds` [sketch, VALUE to MOST_SUCCESS].

    `kinds` [sketch, BEGIN to FINISH] tell which items are known of its runs, and `told_kinds` as often as what is told
    happens. There is room for `few` at first, and for `most` at most; for 32 times as many items.
    """

    def __init__(self, few: int, most: int) -> None:
        self.count, self.n_items, self.most = 0, 0, most
        self.of, self.bounds = make_grid(few, 6), make_table(few, 3)
        self.kinds, self.told_kinds = make_grid(few, 4), make_grid(few, 4)
        self.items, self.chances = make_grid(32 * few, 3), make_reals(32 * few)

    def has_room(self) -> bool:
        """Make room for one more; return False if there are too many."""
        if self.count == self.most:
            return False
        room = self.of.shape[0]
        if self.count == room:
            self.of, self.bounds = lengthen_grid(self.of, 2 * room), lengthen_table(self.bounds, 2 * room)
            self.kinds, self.told_kinds = lengthen_grid(self.kinds, 2 * room), lengthen_grid(self.told_kinds, 2 * room)
        return True

    def has_room_for(self, items: int) -> bool:
        """Make room for so many items more; return False if these are too many."""
        room = self.n_items + items
        if room > 32 * self.most:
            return False
        if room > self.items.shape[0]:
            room = max(room, 2 * self.items.shape[0])
            self.items, self.chances = lengthen_grid(self.items, room), widen_reals(self.chances, room)
        return True

    def begin(self, start: int) -> None:
        """Begin with the sketch in which nothing is decided."""
        self.count, self.n_items = 1, 1
        self.of[0, PARENT] = self.of[0, DECIDED] = self.of[0, OPTION] = self.of[0, FOLLOWING] = -1
        self.of[0, DEPTH], self.of[0, RULES] = 0, 1
        self.items[0, STATE], self.items[0, STEP], self.items[0, SPENT], self.chances[0] = start, 0, 0, 1.0
        for kind in range(4):
            self.kinds[0, kind] = self.told_kinds[0, kind] = 0 if kind == BEGIN else 1

    def drop(self) -> None:
        """Drop the latest; its room is free again."""
        self.count -= 1
        self.n_items = self.kinds[self.count, BEGIN]


class Unfolding:
    """Where the runs of one sketch come to: items in chains, found by a table of slots.

    There is a chain [HEAD, TAIL] per step for runs that go on, per open state for those that wait, and of those that
    have ended. `option` is what a sketch does in a state, -1 where it is open. `open` lists the states with a chain,
    `taken` the rows that are taken, with how often and since when. There is room for `few` items at first, a power of
    2, and for `most` at most.
    """

    def __init__(self, options: Options, sketches: Sketches, few: int, most: int) -> None:
        self.options, self.sketches, self.most = options, sketches, most
        self.ground = self.options.ground
        n_states, n_rows = self.ground.n_states, self.ground.row_state.shape[0]
        chains = self.ground.horizon + 1 + n_states
        self.n_items = self.n_open = self.n_taken = 0
        self.item, self.chance = make_grid(few, 5), make_reals(few)
        self.slot = fill_wholes(4 * few, -1)  # so that few slots are taken
        self.chain = np.full((chains, 2), -1, np.int64)
        self.open, self.option = make_wholes(n_states), fill_wholes(n_states, -1)
        self.taken, self.taken_often = make_wholes(n_rows), make_reals(n_rows)
        self.taken_since = fill_wholes(n_rows, -1)

    def has_room(self, items: int) -> bool:
        """Make room for so many items; return False if these are too many."""
        room = self.item.shape[0]
        if items <= room:
            return True
        if items > self.most:
            return False
        while room < items:
            room *= 2
        self.item, self.chance = lengthen_grid(self.item, room), widen_reals(self.chance, room)
        self.slot = fill_wholes(4 * room, -1)
        for number in range(self.n_items):
            slot = self.locate(self.item[number, STATE], self.item[number, STEP], self.item[number, SPENT])
            self.slot[slot], self.item[number, SLOT] = number, slot
        return True

    @cython.overflowcheck(False)  # type: ignore[untyped-decorator]  # what is mixed may wrap around
    def locate(self, state: int, step: int, spent: int) -> int:
        """Return the slot of an item: its own, or a free one."""
        mask = self.slot.shape[0] - 1
        mixed = (cython.cast(cython.ulonglong, state) * 1_000_003 + step) * 1_000_003 + spent
        slot: int = (mixed ^ (mixed >> 17)) & mask
        while self.slot[slot] >= 0:
            number = self.slot[slot]
            if (
                self.item[number, SPENT] == spent
                and self.item[number, STATE] == state
                and self.item[number, STEP] == step
            ):
                break
            slot = (slot + 1) & mask
        return slot

    def add_item(self, state: int, step: int, spent: int, chance: float) -> None:
        """Add the chance of runs that are in a state, or have ended, to those that are there already."""
        slot = self.locate(state, step, spent)
        number = self.slot[slot]
        if number < 0:
            number = self.n_items
            self.n_items += 1
            self.slot[slot], self.chance[number] = number, 0.0
            self.item[number, STATE], self.item[number, STEP], self.item[number, SPENT] = state, step, spent
            self.item[number, NEXT], self.item[number, SLOT] = -1, slot
            chain = self.ground.horizon  # of what has ended
            if state >= 0:
                chain = step if self.option[state] >= 0 else self.ground.horizon + 1 + state
            if self.chain[chain, HEAD] < 0:
                self.chain[chain, HEAD] = number
                if chain > self.ground.horizon:
                    self.open[self.n_open] = state
                    self.n_open += 1
            else:
                self.item[self.chain[chain, TAIL], NEXT] = number
            self.chain[chain, TAIL] = number
        self.chance[number] += chance

    def take_row(self, row: int, step: int, chance: float) -> None:
        """Count how often a row is taken, and since when."""
        if self.taken_since[row] < 0:
            self.taken[self.n_taken] = row
            self.n_taken += 1
            self.taken_often[row], self.taken_since[row] = 0.0, step
        self.taken_often[row] += chance
        self.taken_since[row] = min(self.taken_since[row], step)

    def clear(self) -> None:
        """Forget what was unfolded, but not what is decided."""
        ended = self.ground.horizon
        for number in range(self.n_items):
            self.slot[self.item[number, SLOT]] = -1
        for place in range(self.n_open):
            self.chain[ended + 1 + self.open[place], HEAD] = -1
        for place in range(self.n_taken):
            self.taken_since[self.taken[place]] = -1
        for chain in range(ended + 1):
            self.chain[chain, HEAD] = -1
        self.n_items = self.n_open = self.n_taken = 0

    def unfold(self, edge_chance: Real, kinds: Whole, before: int) -> int:
        """Carry on the runs that wait in a state which is decided now.

        `kinds` tells what was known `before`. Returns how many cells were gone through; FULL if there are too many.
        """
        if not self.recall(kinds, before):
            return FULL
        edge_start, cells = self.ground.arrays.edge_start, 0
        for step in range(self.ground.horizon):
            number = self.chain[step, HEAD]
            while number >= 0:
                state, spent, chance = self.item[number, STATE], self.item[number, SPENT], self.chance[number]
                number, cells = self.item[number, NEXT], cells + 1
                row = self.options.find_row(self.option[state], state, step)
                if row == FOLLOW:
                    account = self.ground.account - spent
                    row = choose_row(self.ground.arrays.row_start, self.ground.base, step, state, account)
                edges = edge_start[row + 1] - edge_start[row] if row >= 0 else 1
                if not self.has_room(self.n_items + edges):
                    return FULL
                if row < 0:
                    self.add_item(LOST, 0, spent, chance)
                    continue
                self.take_row(row, step, chance)
                for edge in range(edge_start[row], edge_start[row + 1]):
                    if edge_chance[edge] > 0:
                        self.arrive(edge, step + 1, spent, chance * edge_chance[edge])
        return cells

    def recall(self, kinds: Whole, before: int) -> bool:
        """Begin with what was known of a sketch; return False if that is too much."""
        self.clear()
        items, chances = self.sketches.items, self.sketches.chances
        ended, taken, finish = kinds[before, ENDED], kinds[before, TAKEN], kinds[before, FINISH]
        if not self.has_room(finish - kinds[before, BEGIN]):
            return False
        for number in range(kinds[before, BEGIN], ended):
            self.add_item(items[number, STATE], items[number, STEP], items[number, SPENT], chances[number])
        for number in range(ended, taken):
            self.add_item(items[number, STATE], 0, items[number, SPENT], chances[number])
        for number in range(taken, finish):
            self.take_row(items[number, ROW], items[number, SINCE], chances[number])
        return True

    def arrive(self, edge: int, step: int, spent: int, chance: float) -> None:
        """Add the chance of runs that have taken an edge, and so come to a step."""
        state, total = self.ground.arrays.edge_next[edge], spent + self.ground.arrays.edge_cost[edge]
        if self.ground.goal[state]:
            self.add_item(WON, 0, total, chance)
        elif step == self.ground.horizon or not self.ground.acts[step, state]:
            self.add_item(LOST, 0, total, chance)
        else:
            self.add_item(state, step, total, chance)

    def store(self, kinds: Whole, sketch: int) -> bool:
        """Write what was unfolded behind other items: what waits, by state, what has ended, and which rows are taken.

        Returns False if there are too many.
        """
        if not self.sketches.has_room_for(self.n_items + self.n_taken):
            return False
        items, chances, count = self.sketches.items, self.sketches.chances, self.sketches.n_items
        kinds[sketch, BEGIN] = count
        for place in range(self.n_open + 1):
            if place == self.n_open:
                kinds[sketch, ENDED] = count
                number = self.chain[self.ground.horizon, HEAD]
            else:
                number = self.chain[self.ground.horizon + 1 + self.open[place], HEAD]
            while number >= 0:
                for part in range(3):
                    items[count, part] = self.item[number, part]
                chances[count] = self.chance[number]
                number, count = self.item[number, NEXT], count + 1
        kinds[sketch, TAKEN] = count
        for place in range(self.n_taken):
            row = self.taken[place]
            items[count, ROW], items[count, SINCE], chances[count] = row, self.taken_since[row], self.taken_often[row]
            count += 1
        kinds[sketch, FINISH] = self.sketches.n_items = count
        return True

    def decide(self, before: int, option: int) -> int:
        """Unfold a sketch with one state more, behind the others; return how many cells that took, or FULL."""
        number = self.sketches.count
        if not self.sketches.has_room():
            return FULL
        of, kinds, told_kinds = self.sketches.of, self.sketches.kinds, self.sketches.told_kinds
        of[number, PARENT], of[number, DECIDED], of[number, OPTION] = before, of[before, FOLLOWING], option
        of[number, DEPTH], of[number, FOLLOWING], of[number, RULES] = of[before, DEPTH] + 1, -1, 1
        held = self.sketches.n_items
        self.close_states(number)
        cells = self.unfold(self.ground.arrays.edge_chance, kinds, before)
        if cells >= 0 and not self.store(kinds, number):
            cells = FULL
        if cells >= 0 and self.ground.differs:
            if self.unfold(self.ground.often, told_kinds, before) < 0 or not self.store(told_kinds, number):
                cells = FULL
        else:
            told_kinds[number] = kinds[number]
        self.open_states(number)
        if cells < 0:
            self.sketches.n_items = held
            return FULL
        self.sketches.count += 1
        return cells + kinds[number, TAKEN] - kinds[number, ENDED]

    def close_states(self, sketch: int) -> None:
        """Do in the states of a sketch what it does there."""
        while sketch > 0:
            self.option[self.sketches.of[sketch, DECIDED]] = self.sketches.of[sketch, OPTION]
            sketch = self.sketches.of[sketch, PARENT]

    def open_states(self, sketch: int) -> None:
        """Leave the states of a sketch open again."""
        while sketch > 0:
            self.option[self.sketches.of[sketch, DECIDED]] = -1
            sketch = self.sketches.of[sketch, PARENT]


def lengthen_grid(known: Whole, rows: int) -> Whole:
    """Return the same rows with room for more."""
    longer = np.empty((rows, known.shape[1]), np.int64)
    longer[: known.shape[0]] = known
    return longer


def lengthen_table(known: Real, rows: int) -> Real:
    """Return the same rows with room for more."""
    longer = np.empty((rows, known.shape[1]))
    longer[: known.shape[0]] = known
    return longer


# ------------------------------------------------------------------------------------------------------------- policies


def settle_rows(
    arrays: Arrays, base: PolicyArrays, going: Going, states: Whole, rows: Whole, start: int, account: int
) -> PolicyArrays:
    """Return the policy of a sketch that does `rows` [state, step] in some states, and elsewhere what the base does."""
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
    return make_policy(begin, first, choice)


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


def condense(arrays: Arrays, policy: PolicyArrays, cells: Cells, horizon: int, account: int) -> PolicyArrays:
    """Return what a policy does in its runs: a table if that does not depend on what was spent, and pieces if it does.

    Where no run comes, it is what it does with nothing spent.
    """
    n_states, acting, depends = arrays.row_start.shape[0] - 1, 0, False
    places = horizon * n_states
    table, begin = make_bytes(places), make_wholes(places + 1)
    met = fill_wholes(places, -1)  # the last cell of each; those with more spent come later
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
    if not depends:
        return PolicyArrays(np.asarray(table).reshape(horizon, n_states), begin[:0], begin[:0], table[:0])
    first, choice, count = make_wholes(acting + places), make_bytes(acting + places), 0
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
    return make_policy(begin, np.asarray(first)[:count].copy(), np.asarray(choice)[:count].copy())
