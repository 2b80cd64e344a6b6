"""What is known of a sketch: bounds for all plans that it can become, and how many rules they have at least.

The formulas are those of `recourse.simplest`.
"""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import exp, expm1, floor, log, log1p
else:
    from math import exp, expm1, floor, log, log1p

    from safear.core.arrays import Real, make_reals, make_wholes
    from safear.core.sketches import (
        BEGIN,
        ENDED,
        FINISH,
        FOLLOWING,
        LEAST_MEAN,
        MOST_SUCCESS,
        ROW,
        RULES,
        SINCE,
        SPENT,
        STATE,
        STEP,
        TAKEN,
        VALUE,
        WON,
        SearchGround,
        Sketches,
    )

    MEAN, CVAR, MEAN_CVAR, ENTROPIC, OTHER = range(5)  # what an objective makes small

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


def find_entropic(values: Real, chances: Real, aversion: float) -> float:
    """Return the entropic risk log E[exp(b x)] / b (see `Costs.entropic`)."""
    largest = find_largest(values)
    mass = below = 0.0
    for place in range(values.shape[0]):
        exponent = aversion * (values[place] - largest)
        mass += chances[place] * exp(exponent)
        below += chances[place] * expm1(exponent)
    return largest + (log1p(below) if below > -0.5 else log(mass)) / aversion


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
