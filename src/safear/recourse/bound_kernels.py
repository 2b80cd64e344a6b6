"""Compiled loops that look at a sketch: bounds for all plans that it can become, and how many rules they have at least.

They do with arrays what `simplest` does with dictionaries, in the same order. Imported when first needed: Numba takes
a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.compiling import njit
from safear.evaluation.run_kernels import INNER
from safear.recourse.sketch_kernels import ROW, SINCE, SPENT, STATE, STEP, WON, SearchGround

Real = NDArray[np.float64]
Whole = NDArray[np.int64]

ROUNDING = 1e-12  # see `nearly`
MEAN, CVAR, MEAN_CVAR, ENTROPIC, OTHER = range(5)  # what an objective makes small
PARENT, DECIDED, OPTION, DEPTH, FOLLOWING, RULES = range(6)  # of a sketch
VALUE, LEAST_MEAN, MOST_SUCCESS = range(3)  # its bounds


class NearlyArgs(NamedTuple):
    """What makes a plan nearly as good (see `nearly`), and what is told of it.

    `kind` is the objective, with its `parameter` (a weight or an aversion). Values that differ by less than `grain` are
    equal. What fewer runs than `rare` come to is not told.
    """

    kind: int
    parameter: float
    level: float
    value: float
    mean: float
    tail: float
    success: float
    grain: float
    rare: float


class Sketches(NamedTuple):
    """All sketches of a search: `of` [sketch, PARENT to RULES] and `bounds` [sketch, VALUE to MOST_SUCCESS].

    `kinds` [sketch, BEGIN to FINISH] tell which items are known of its runs, and `told_kinds` as often as what is told
    happens.
    """

    of: Whole
    bounds: Real
    kinds: Whole
    told_kinds: Whole
    items: Whole
    chances: Real


@njit(**INNER)
def is_within(own: float, most: float) -> bool:
    """Whether a figure is at most a limit, but for rounding."""
    return own <= most * (1 + ROUNDING) + ROUNDING


@njit(cache=True, nogil=True)
def find_cvar(values: Real, chances: Real, level: float) -> float:
    """The mean of the worst 1 - level of the cases: var + E[max(x - var, 0)] / (1 - level). The order is not kept.

    `var` is the least value that is exceeded with a chance of at most 1 - level. The chances must add up to 1.
    """
    if level > 1 - ROUNDING:
        return values.max()
    rest = 1 - max(level - ROUNDING, ROUNDING)
    low, high, beyond, excess = 0, len(values), 0.0, 0.0  # var is among low to high; beyond lies what is surely above
    while True:
        pivot = values[(low + high) // 2]
        below, above, place = low, high, low
        while place < above:  # what is below the pivot goes to the front, what is above it to the back
            if values[place] < pivot:
                _swap(values, chances, place, below)
                below, place = below + 1, place + 1
            elif values[place] > pivot:
                above -= 1
                _swap(values, chances, place, above)
            else:
                place += 1
        more, same = chances[above:high].sum(), chances[below:above].sum()
        if beyond + more > rest:
            low = above
            continue
        beyond, excess = beyond + more, excess + (chances[above:high] * values[above:high]).sum()
        if beyond + same > rest or below == low:
            return pivot + (excess - beyond * pivot) / max(1 - level, beyond)
        beyond, excess = beyond + same, excess + same * pivot
        high = below


@njit(**INNER)
def _swap(values: Real, chances: Real, one: int, other: int) -> None:
    values[one], values[other] = values[other], values[one]
    chances[one], chances[other] = chances[other], chances[one]


@njit(cache=True, nogil=True)
def find_entropic(values: Real, chances: Real, aversion: float) -> float:
    """The entropic risk log E[exp(b x)] / b (see `Costs.entropic`)."""
    largest, mass, below = values.max(), 0.0, 0.0
    for place in range(len(values)):
        exponent = aversion * (values[place] - largest)
        mass += chances[place] * math.exp(exponent)
        below += chances[place] * math.expm1(exponent)
    return largest + (math.log1p(below) if below > -0.5 else math.log(mass)) / aversion


@njit(**INNER)
def bound_runs(ground: SearchGround, aim: NearlyArgs, sketches: Sketches, number: int) -> bool:
    """Write the bounds for all plans that a sketch can become (see `simplest`): False if none is good enough."""
    begin, ended, taken, _ = sketches.kinds[number]
    values, chances = np.empty(taken - begin), sketches.chances[begin:taken].copy()
    success = 0.0
    for place in range(taken - begin):
        item = sketches.items[begin + place]
        if begin + place < ended:
            values[place] = item[SPENT] + ground.ahead_mean[item[STEP], item[STATE]]
            success += ground.ahead_success[item[STEP], item[STATE]] * chances[place]
        elif item[STATE] == WON:
            values[place] = item[SPENT]
            success += chances[place]
        else:
            values[place] = item[SPENT] + ground.failure
    if success < aim.success - ROUNDING:
        return False
    values *= ground.quantum
    chances /= chances.sum()
    mean = (values * chances).sum()
    if not is_within(mean, aim.mean):
        return False
    if aim.kind == ENTROPIC:
        value = find_entropic(values, chances, aim.parameter) if aim.parameter > 0 else mean
    tail = find_cvar(values, chances, aim.level)
    if aim.kind == MEAN:
        value = mean
    elif aim.kind == CVAR:
        value = tail
    elif aim.kind == MEAN_CVAR:
        value = (1 - aim.parameter) * mean + aim.parameter * tail
    elif aim.kind == OTHER:
        value = 0.0
    bounds = sketches.bounds[number]
    bounds[VALUE], bounds[LEAST_MEAN], bounds[MOST_SUCCESS] = math.floor(value / aim.grain + 0.5), mean, success
    return is_within(tail, aim.tail) and is_within(value, aim.value)


@njit(**INNER)
def _list_waiting(ground: SearchGround, aim: NearlyArgs, sketches: Sketches, number: int) -> tuple[int, Whole]:
    """The open states that runs come to in time and often enough to be told; before them, where most runs come to."""
    begin, ended, _, _ = sketches.told_kinds[number]
    states, count = np.empty(ended - begin, np.int64), 0
    following, most, place = -1, 0.0, begin
    while place < ended:
        state, often, in_time = sketches.items[place, STATE], 0.0, False
        while place < ended and sketches.items[place, STATE] == state:
            often += sketches.chances[place]
            in_time = in_time or sketches.items[place, STEP] + ground.needed[state] <= ground.horizon
            place += 1
        if in_time and often >= aim.rare:
            states[count] = state
            count += 1
            if often > most or (often == most and state < following):
                following, most = state, often
    return following, states[:count]


@njit(**INNER)
def _list_told(ground: SearchGround, aim: NearlyArgs, sketches: Sketches, number: int) -> Whole:
    """The rows that are taken often enough, and in time, to be told: [row, (row, its state, its action)]."""
    _, _, taken, finish = sketches.told_kinds[number]
    rows, count = np.empty((finish - taken, 3), np.int64), 0
    for place in range(taken, finish):
        row = sketches.items[place, ROW]
        state = _find_state(ground.arrays.row_start, row)
        often = sketches.chances[place]
        in_time = sketches.items[place, SINCE] + ground.needed[state] <= ground.horizon
        if in_time and often >= aim.rare:
            rows[count] = (row, state, np.int64(ground.arrays.row_action[row]))
            count += 1
    return rows[:count]


@njit(**INNER)
def _find_state(row_start: Whole, row: int) -> int:
    """The state of a row."""
    return int(np.searchsorted(row_start, row, side="right")) - 1


@njit(**INNER)
def _has_just_worked(ground: SearchGround, rows: Whole, state: int, action: int) -> bool:
    """Whether a run may come to a state from another by an action that has worked, taken in one of these rows."""
    arrays = ground.arrays
    for row, origin, own in rows:
        if own == action and origin != state:
            for edge in range(arrays.edge_start[row], arrays.edge_start[row + 1]):
                if arrays.edge_next[edge] == state and ground.works[edge]:
                    return True
    return False


@njit(**INNER)
def count_least(ground: SearchGround, rows: Whole, states: Whole) -> int:
    """How many rules there are at least: rows that are told, and open states, without those that join others."""
    count = 0
    for _, state, action in rows:
        count += not _has_just_worked(ground, rows, state, action)
    for state in states:
        joins = False
        for row in range(ground.arrays.row_start[state], ground.arrays.row_start[state + 1]):
            joins = joins or _has_just_worked(ground, rows, state, ground.arrays.row_action[row])
        count += not joins
    return max(count, 1)


@njit(**INNER)
def look(ground: SearchGround, aim: NearlyArgs, sketches: Sketches, number: int) -> bool:
    """Write what is known of a sketch; False if no plan that it can become is good enough."""
    if not bound_runs(ground, aim, sketches, number):
        return False
    following, states = _list_waiting(ground, aim, sketches, number)
    rows = _list_told(ground, aim, sketches, number)
    sketches.of[number, FOLLOWING], sketches.of[number, RULES] = following, count_least(ground, rows, states)
    return True
