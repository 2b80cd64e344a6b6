"""The search for a simple plan (see `recourse.simplest`, which has the formulas).

What is known of a sketch: bounds for all plans that it can become, and how many rules they have at least. Then the
queue of sketches, and what is done with the first.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import floor
else:
    from math import floor

    from safear.core.arrays import Real, Whole, make_grid, make_reals, make_table, make_wholes, widen_wholes
    from safear.core.exponentials import find_entropic
    from safear.core.runs import Going
    from safear.core.sketches import (
        BEGIN,
        DECIDED,
        DEPTH,
        ENDED,
        FINISH,
        FOLLOWING,
        LEAST_MEAN,
        MOST_SUCCESS,
        OPTION,
        PARENT,
        ROW,
        RULES,
        SINCE,
        SPENT,
        STATE,
        STEP,
        TAKEN,
        VALUE,
        WON,
        Options,
        SearchGround,
        Sketches,
        Unfolding,
        lengthen_grid,
        lengthen_table,
        look_at_base,
    )

    MEAN, CVAR, MEAN_CVAR, ENTROPIC, OTHER = range(5)  # what an objective makes small
    SKETCH, CHOICE = range(2)  # of an entry
    PARTS = 5  # of a key


ROUNDING = 1e-12  # see `recourse.nearly`


class Aim:
    """What makes a plan nearly as good (see `recourse.nearly`), and what is told of it.

    `kind` is the objective, with its `parameter` (a weight or an aversion). Values that differ by less than `grain` are
    equal. What fewer runs than `rare` come to is not told.
    """

    def __init__(
        self,
        *,
        kind: int,
        parameter: float,
        level: float,
        value: float,
        mean: float,
        tail: float,
        success: float,
        grain: float,
        rare: float,
    ) -> None:
        self.kind, self.parameter, self.level = kind, parameter, level
        self.value, self.mean, self.tail, self.success = value, mean, tail, success
        self.grain, self.rare = grain, rare

    def find_value(self, mean: float, tail: float, entropic: float) -> float:
        """Return what the objective makes small, among some figures; objectives of other kinds say nothing."""
        if self.kind == CVAR:
            return tail
        if self.kind == MEAN_CVAR:
            return (1 - self.parameter) * mean + self.parameter * tail
        if self.kind == ENTROPIC:
            return entropic
        return mean if self.kind == MEAN else 0.0

    def allows(self, success: float, mean: float) -> bool:
        """Return whether a plan can be nearly as good whose success is at most, and whose mean at least this."""
        return success >= self.success - ROUNDING and is_within(mean, self.mean)


def is_within(own: float, most: float) -> bool:
    """Return whether a figure is at most a limit, but for rounding."""
    return own <= most * (1 + ROUNDING) + ROUNDING


def find_cvar(values: Real, chances: Real, level: float) -> float:
    """Return the mean of the worst 1 - level of the cases: var + E[max(x - var, 0)] / (1 - level).

    `var` is the least value that is exceeded with a chance of at most 1 - level. The chances must add up to 1. The
    order is not kept.
    """
    if level > 1 - ROUNDING:
        return find_largest(values)
    rest = 1 - max(level - ROUNDING, ROUNDING)
    beyond = excess = 0.0
    low, high = 0, values.shape[0]  # var is among low to high; beyond lies what is surely above
    while True:
        pivot = values[(low + high) // 2]
        below, above, place = low, high, low
        while place < above:  # what is below the pivot goes to the front, what is above it to the back
            if values[place] < pivot:
                swap(values, chances, place, below)
                below, place = below + 1, place + 1
            elif values[place] > pivot:
                above -= 1
                swap(values, chances, place, above)
            else:
                place += 1
        more = same = higher = 0.0
        for place in range(above, high):
            more += chances[place]
        for place in range(below, above):
            same += chances[place]
        if beyond + more > rest:
            low = above
            continue
        for place in range(above, high):
            higher += chances[place] * values[place]
        beyond, excess = beyond + more, excess + higher
        if beyond + same > rest or below == low:
            return pivot + (excess - beyond * pivot) / max(1 - level, beyond)
        beyond, excess = beyond + same, excess + same * pivot
        high = below


def find_largest(values: Real) -> float:
    """Return the largest of some values."""
    largest = values[0]
    for place in range(values.shape[0]):
        largest = max(largest, values[place])
    return largest


def swap(values: Real, chances: Real, one: int, other: int) -> None:
    """Swap two cases."""
    values[one], values[other] = values[other], values[one]
    chances[one], chances[other] = chances[other], chances[one]


class Looker:
    """Who looks at sketches, with room for what is looked at."""

    def __init__(self, ground: SearchGround, aim: Aim, sketches: Sketches) -> None:
        self.ground, self.aim, self.sketches = ground, aim, sketches
        self.values, self.chances = make_reals(0), make_reals(0)
        self.rows, self.states = make_wholes(self.ground.row_state.shape[0]), make_wholes(self.ground.n_states)
        self.n_rows = self.n_states = 0

    def look(self, number: int) -> bool:
        """Write what is known of a sketch; return False if no plan that it can become is good enough."""
        if not self.bound_runs(number):
            return False
        self.sketches.of[number, FOLLOWING] = self.list_waiting(number)
        self.list_told(number)
        self.sketches.of[number, RULES] = self.count_least()
        return True

    def bound_runs(self, number: int) -> bool:
        """Write the bounds for all plans that a sketch can become (see `simplest`): False if none is good enough."""
        begin, ended = self.sketches.kinds[number, BEGIN], self.sketches.kinds[number, ENDED]
        count = self.sketches.kinds[number, TAKEN] - begin
        if count > self.values.shape[0]:
            self.values, self.chances = make_reals(2 * count), make_reals(2 * count)
        values, chances = self.values[:count], self.chances[:count]
        success = self.find_ends(begin, ended, values, chances)
        if success < self.aim.success - ROUNDING:
            return False
        total = mean = 0.0
        for place in range(count):
            total += chances[place]
        for place in range(count):
            values[place] *= self.ground.quantum
            chances[place] /= total
            mean += values[place] * chances[place]
        if not is_within(mean, self.aim.mean):
            return False
        is_entropic = self.aim.kind == ENTROPIC and self.aim.parameter > 0
        entropic = find_entropic(values, chances, self.aim.parameter) if is_entropic else mean
        tail = find_cvar(values, chances, self.aim.level)
        value, bounds = self.aim.find_value(mean, tail, entropic), self.sketches.bounds
        bounds[number, VALUE] = floor(value / self.aim.grain + 0.5)
        bounds[number, LEAST_MEAN], bounds[number, MOST_SUCCESS] = mean, success
        return is_within(tail, self.aim.tail) and is_within(value, self.aim.value)

    def find_ends(self, begin: int, ended: int, values: Real, chances: Real) -> float:
        """Write what runs cost in the end, or at least in the mean if they wait, and how probable they are.

        Their items begin at, and have ended from. Returns how many succeed at most.
        """
        items, mean_ahead, success_ahead = self.sketches.items, self.ground.ahead_mean, self.ground.ahead_success
        success = 0.0
        for place in range(values.shape[0]):
            item, chance = begin + place, self.sketches.chances[begin + place]
            state, step, spent = items[item, STATE], items[item, STEP], items[item, SPENT]
            if item < ended:
                values[place] = spent + mean_ahead[step, state]
                success += success_ahead[step, state] * chance
            elif state == WON:
                values[place] = spent
                success += chance
            else:
                values[place] = spent + self.ground.failure
            chances[place] = chance
        return success

    def list_waiting(self, number: int) -> int:
        """List the open states that runs come to in time and often enough to be told; return where most come to."""
        items, chances, needed = self.sketches.items, self.sketches.chances, self.ground.needed
        place, ended = self.sketches.told_kinds[number, BEGIN], self.sketches.told_kinds[number, ENDED]
        following, most = -1, 0.0
        self.n_states = 0
        while place < ended:
            state, often, in_time = items[place, STATE], 0.0, False
            while place < ended and items[place, STATE] == state:
                often += chances[place]
                in_time = in_time or items[place, STEP] + needed[state] <= self.ground.horizon
                place += 1
            if in_time and often >= self.aim.rare:
                self.states[self.n_states] = state
                self.n_states += 1
                if often > most or (often == most and state < following):
                    following, most = state, often
        return following

    def list_told(self, number: int) -> None:
        """List the rows that are taken often enough, and in time, to be told."""
        items, chances = self.sketches.items, self.sketches.chances
        needed, row_state, horizon = self.ground.needed, self.ground.row_state, self.ground.horizon
        self.n_rows = 0
        for place in range(self.sketches.told_kinds[number, TAKEN], self.sketches.told_kinds[number, FINISH]):
            row = items[place, ROW]
            if items[place, SINCE] + needed[row_state[row]] <= horizon and chances[place] >= self.aim.rare:
                self.rows[self.n_rows] = row
                self.n_rows += 1

    def count_least(self) -> int:
        """Return how many rules there are at least: told rows, and open states, without those that join others."""
        row_start, row_action, count = self.ground.arrays.row_start, self.ground.arrays.row_action, 0
        for place in range(self.n_rows):
            row = self.rows[place]
            count += not self.has_just_worked(self.ground.row_state[row], row_action[row])
        for place in range(self.n_states):
            state, joins = self.states[place], False
            for row in range(row_start[state], row_start[state + 1]):
                joins = joins or self.has_just_worked(state, row_action[row])
            count += not joins
        return max(count, 1)

    def has_just_worked(self, state: int, action: int) -> bool:
        """Return whether a run may come to a state from another by a told row of an action that has worked."""
        for place in range(self.n_rows):
            row = self.rows[place]
            if self.ground.arrays.row_action[row] == action and self.ground.row_state[row] != state:
                for edge in range(self.ground.arrays.edge_start[row], self.ground.arrays.edge_start[row + 1]):
                    if self.ground.arrays.edge_next[edge] == state and self.ground.works[edge]:
                        return True
        return False


# --------------------------------------------------------------------------------------------------------------- search


class Queue:
    """Sketches that wait: `key` [entry, part], which come in rising order, and `what` [entry, SKETCH to CHOICE].

    The choice is an option, or -1. `heap` has the entries, none of which comes before the one at half its place. There
    is room for `few` at first, and for `most` at most.
    """

    def __init__(self, few: int, most: int) -> None:
        self.most, self.entries, self.waiting = most, 0, 0
        self.key, self.what, self.heap = make_table(few, PARTS), make_grid(few, 2), make_wholes(few)

    def has_room_for(self, entries: int) -> bool:
        """Make room for so many entries more; return False if these are too many."""
        room = self.entries + entries
        if room > self.most:
            return False
        if room > self.heap.shape[0]:
            room = max(room, 2 * self.heap.shape[0])
            self.key, self.what = lengthen_table(self.key, room), lengthen_grid(self.what, room)
            self.heap = widen_wholes(self.heap, room)
        return True

    def comes_before(self, one: int, other: int) -> bool:
        """Return whether an entry comes before another."""
        for part in range(PARTS):
            if self.key[one, part] != self.key[other, part]:
                return self.key[one, part] < self.key[other, part]
        return False

    def push(self, sketch: int, choice: int, depth: int, rules: int, value: float, dearer: float) -> None:
        """Let a sketch wait: as it is, or (with an option) to be decided in one state more. There is room for it."""
        entry, place = self.entries, self.waiting
        self.entries += 1
        self.waiting += 1
        self.key[entry, 0], self.key[entry, 1], self.key[entry, 2] = -depth, rules, value
        self.key[entry, 3], self.key[entry, 4] = dearer, entry
        self.what[entry, SKETCH], self.what[entry, CHOICE] = sketch, choice
        while place > 0 and self.comes_before(entry, self.heap[(place - 1) // 2]):
            self.heap[place] = self.heap[(place - 1) // 2]
            place = (place - 1) // 2
        self.heap[place] = entry

    def pop(self) -> None:
        """Take the first entry out."""
        self.waiting -= 1
        count, place = self.waiting, 0
        entry = self.heap[count]  # the last fills the gap
        while 2 * place + 1 < count:
            child = 2 * place + 1
            if child + 1 < count and self.comes_before(self.heap[child + 1], self.heap[child]):
                child += 1
            if not self.comes_before(self.heap[child], entry):
                break
            self.heap[place] = self.heap[child]
            place = child
        self.heap[place] = entry


class SketchSearch:
    """The search for a plan with fewer rules, or a lower value, than the best so far; it may begin anew.

    It goes deep first, or takes the sketch of the least rules and value. `cells` counts those gone through. There is
    room for `few` sketches at first, a power of 2, and for `most` at most.
    """

    def __init__(self, ground: SearchGround, aim: Aim, going: Going, few: int, most: int) -> None:
        self.ground, self.aim, self.cells, self.deep = ground, aim, 0, False
        self.options = Options(ground, look_at_base(ground, going), 2 * few, 2 * most)
        self.sketches, self.queue = Sketches(few, most), Queue(4 * few, 4 * most)
        self.unfolding = Unfolding(self.options, self.sketches, 4 * few, 4 * most)
        self.looker = Looker(ground, aim, self.sketches)
        horizon, rows = self.ground.horizon, int(np.diff(self.ground.arrays.row_start).max(initial=0))
        self.steps, self.come = make_wholes(horizon), np.full(horizon, -1.0)
        self.dearer, self.likelier = make_table(horizon, rows), make_table(horizon, rows)

    def begin(self, deep: bool) -> None:
        """Let the sketch in which nothing is decided wait, if there is anything to do and it can become good enough."""
        ground, sketches, queue = self.ground, self.sketches, self.queue
        self.deep = deep
        sketches.begin(ground.start)
        queue.entries = queue.waiting = 0
        acts = ground.horizon > 0 and ground.acts[0, ground.start]
        if acts and self.looker.look(0) and sketches.of[0, FOLLOWING] >= 0:
            self.push(0, -1, 0.0)

    def push(self, sketch: int, choice: int, dearer: float) -> None:
        """Let a sketch wait: as it is, or (with an option) to be decided in one state more."""
        of = self.sketches.of
        depth = of[sketch, DEPTH] + (choice >= 0) if self.deep else 0
        self.queue.push(sketch, choice, depth, of[sketch, RULES], self.sketches.bounds[sketch, VALUE], dearer)

    def go_on(self, best_rules: int, best_value: float, most_cells: int, overhead: int) -> bool:
        """Go on until a sketch is complete; return False if the search is over.

        The best plan so far has so many rules, and this value in grains. A look costs `overhead` cells.
        """
        with cython.nogil:
            return self.find_complete(best_rules, best_value, most_cells, overhead)

    def find_complete(self, best_rules: int, best_value: float, most_cells: int, overhead: int) -> bool:
        """Go on until the latest sketch is complete; return False if the search is over."""
        while self.queue.waiting > 0:
            entry = self.queue.heap[0]
            sketch, choice = self.queue.what[entry, SKETCH], self.queue.what[entry, CHOICE]
            if self.is_worse(sketch, best_rules, best_value):
                self.queue.pop()
                continue
            if choice < 0:
                if not self.list_next(sketch):
                    return False
                continue
            if self.cells > most_cells or not self.queue.has_room_for(1):
                return False
            cells = self.unfolding.decide(sketch, choice)
            if cells < 0:
                return False
            self.queue.pop()
            self.cells += cells + overhead
            latest = self.sketches.count - 1
            if not self.looker.look(latest) or self.is_worse(latest, best_rules, best_value):
                self.sketches.drop()
            elif self.sketches.of[latest, FOLLOWING] >= 0:
                self.push(latest, -1, 0.0)
            else:
                return True
        return False

    def is_worse(self, sketch: int, best_rules: int, best_value: float) -> bool:
        """Return whether no plan that a sketch can become is better than the best so far."""
        rules = self.sketches.of[sketch, RULES]
        if self.deep or rules != best_rules:
            return rules >= best_rules
        return self.sketches.bounds[sketch, VALUE] >= best_value

    def list_next(self, sketch: int) -> bool:
        """Instead of a sketch, the first that waits, let all wait that it may do in the state that is next.

        But for what is surely not good enough: with q the least mean (the highest success) after a row, the bounds move
        by the difference to what was ahead. Returns False if there are too many.
        """
        state = self.sketches.of[sketch, FOLLOWING]
        if not self.options.list_all(state):
            return False
        begin, end = self.options.begin[state], self.options.end[state]
        if not self.queue.has_room_for(end - begin):
            return False
        self.queue.pop()
        count = self.list_arrivals(sketch, state)
        self.find_differences(state, count)
        steps, come, dearer, likelier = self.steps, self.come, self.dearer, self.likelier
        first, quantum = self.ground.arrays.row_start[state], self.ground.quantum
        mean, success = self.sketches.bounds[sketch, LEAST_MEAN], self.sketches.bounds[sketch, MOST_SUCCESS]
        for option in range(begin, end):
            more = wins = 0.0
            for place in range(count):
                step = steps[place]
                row = self.options.find_row(option, state, step)
                if row >= 0:
                    more += come[step] * dearer[step, row - first]
                    wins += come[step] * likelier[step, row - first]
            if self.aim.allows(success + wins, mean + more * quantum):
                self.push(sketch, option, more)
        for place in range(count):
            come[steps[place]] = -1.0
        return True

    def list_arrivals(self, sketch: int, state: int) -> int:
        """List at which steps runs wait in a state, and add up their chances; return how many steps there are."""
        items, chances, steps, come = self.sketches.items, self.sketches.chances, self.steps, self.come
        count = 0
        for place in range(self.sketches.kinds[sketch, BEGIN], self.sketches.kinds[sketch, ENDED]):
            if items[place, STATE] == state:
                step = items[place, STEP]
                if come[step] < 0:
                    steps[count], come[step] = step, 0.0
                    count += 1
                come[step] += chances[place]
        return count

    def find_differences(self, state: int, count: int) -> None:
        """Find by how much each row of a state is dearer, and likelier to succeed, than what can come; at `steps`."""
        edge_start, edge_next = self.ground.arrays.edge_start, self.ground.arrays.edge_next
        edge_chance, edge_cost = self.ground.arrays.edge_chance, self.ground.arrays.edge_cost
        mean_ahead, success_ahead = self.ground.ahead_mean, self.ground.ahead_success
        first, last = self.ground.arrays.row_start[state], self.ground.arrays.row_start[state + 1]
        for place in range(count):
            step = self.steps[place]
            for row in range(first, last):
                mean = success = more_mean = more_success = 0.0
                for edge in range(edge_start[row], edge_start[row + 1]):
                    chance, after = edge_chance[edge], edge_next[edge]
                    own_mean = chance * (edge_cost[edge] + mean_ahead[step + 1, after])
                    own_success = chance * success_ahead[step + 1, after]
                    if edge == edge_start[row]:
                        mean, success = own_mean, own_success
                    else:  # in the order in which NumPy adds up rows
                        more_mean += own_mean
                        more_success += own_success
                self.dearer[step, row - first] = mean + more_mean - mean_ahead[step, state]
                self.likelier[step, row - first] = success + more_success - success_ahead[step, state]

    def list_decided(self) -> tuple[Whole, Whole]:
        """Return the states in which the latest sketch is decided, and what it does there: [state, step]."""
        of, sketch = self.sketches.of, self.sketches.count - 1
        depth, horizon = of[sketch, DEPTH], self.ground.horizon
        states, rows = make_wholes(depth), make_grid(depth, horizon)
        for place in range(depth):
            states[place] = of[sketch, DECIDED]
            for step in range(horizon):
                rows[place, step] = self.options.find_row(of[sketch, OPTION], states[place], step)
            sketch = of[sketch, PARENT]
        return np.asarray(states), np.asarray(rows)
