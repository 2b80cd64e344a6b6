"""Compiled loops of the search for a simple plan: the queue of sketches, and what is done with the first of them.

They do with arrays what `simplest` does with dictionaries, in the same order. Imported when first needed: Numba takes
a moment to load. Machine code is cached on disk and runs without the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.compiling import njit
from safear.evaluation.run_kernels import INNER
from safear.recourse.bound_kernels import (
    DECIDED,
    DEPTH,
    FOLLOWING,
    LEAST_MEAN,
    MOST_SUCCESS,
    OPTION,
    PARENT,
    ROUNDING,
    RULES,
    VALUE,
    NearlyArgs,
    Sketches,
    is_within,
    look,
)
from safear.recourse.sketch_kernels import (
    BEGIN,
    ENDED,
    SPENT,
    STATE,
    STEP,
    TAKEN,
    SearchGround,
    SearchScratch,
    Used,
    clear_rows,
    count_options,
    list_options,
    row_at,
    store,
    unfold,
)

Real = NDArray[np.float64]
Whole = NDArray[np.int64]

DONE, ROOM, FOUND = range(3)  # why the search has stopped: it is over, there is not enough room, a sketch is complete
SKETCHES, ITEMS, ENTRIES, QUEUED, OPTIONS, CELLS = range(6)  # what is counted


class Queue(NamedTuple):
    """Sketches that wait: `key` [entry, 5], which come in rising order, and `what` [entry] = (sketch, option or -1).

    `heap` has the entries, none of which comes before the one at half its place.
    """

    key: Real
    what: Whole
    heap: Whole


class Options(NamedTuple):
    """What can be done: `of` [option] = (one row, up to which step, another row); those of a state begin and end at."""

    of: Whole
    begin: Whole
    end: Whole


class Room(NamedTuple):
    """All that a search writes to; `counted` says how much of it is in use (SKETCHES to CELLS)."""

    sketches: Sketches
    queue: Queue
    options: Options
    scratch: SearchScratch
    counted: Whole


@njit(**INNER)
def _comes_before(key: Real, one: int, other: int) -> bool:
    """Whether an entry comes before another."""
    for place in range(key.shape[1]):
        if key[one, place] != key[other, place]:
            return key[one, place] < key[other, place]
    return False


@njit(**INNER)
def push(room: Room, number: int, option: int, dearer: float, deep: bool) -> None:
    """Let a sketch wait: as it is, or (with an option) to be decided in one state more."""
    queue, counted, of = room.queue, room.counted, room.sketches.of[number]
    entry = counted[ENTRIES]
    counted[ENTRIES] += 1
    queue.key[entry, 0] = -(of[DEPTH] + (option >= 0)) if deep else 0
    queue.key[entry, 1], queue.key[entry, 2] = of[RULES], room.sketches.bounds[number, VALUE]
    queue.key[entry, 3], queue.key[entry, 4] = dearer, entry
    queue.what[entry, 0], queue.what[entry, 1] = number, option
    place = counted[QUEUED]
    counted[QUEUED] += 1
    while place > 0 and _comes_before(queue.key, entry, queue.heap[(place - 1) // 2]):
        queue.heap[place] = queue.heap[(place - 1) // 2]
        place = (place - 1) // 2
    queue.heap[place] = entry


@njit(**INNER)
def pop(room: Room) -> None:
    """Take the first entry out."""
    queue, counted = room.queue, room.counted
    counted[QUEUED] -= 1
    count, place = counted[QUEUED], 0
    entry = queue.heap[count]  # the last fills the gap
    while 2 * place + 1 < count:
        child = 2 * place + 1
        if child + 1 < count and _comes_before(queue.key, queue.heap[child + 1], queue.heap[child]):
            child += 1
        if not _comes_before(queue.key, queue.heap[child], entry):
            break
        queue.heap[place] = queue.heap[child]
        place = child
    queue.heap[place] = entry


@njit(**INNER)
def _is_worse(room: Room, number: int, best_rules: int, best_value: float, deep: bool) -> bool:
    """Whether no plan that a sketch can become is better than what was found."""
    rules = room.sketches.of[number, RULES]
    if deep or rules != best_rules:
        return rules >= best_rules
    return room.sketches.bounds[number, VALUE] >= best_value


@njit(**INNER)
def _begin(ground: SearchGround, aim: NearlyArgs, room: Room, deep: bool) -> None:
    """The sketch in which nothing is decided waits, if there is anything to do and it can become good enough."""
    sketches = room.sketches
    room.counted[SKETCHES], room.counted[ITEMS], room.counted[ENTRIES], room.counted[QUEUED] = 1, 1, 0, 0
    sketches.of[0] = (-1, -1, -1, 0, -1, 1)
    sketches.items[0, STATE], sketches.items[0, STEP], sketches.items[0, SPENT] = ground.start, 0, 0
    sketches.chances[0] = 1.0
    sketches.kinds[0] = (0, 1, 1, 1)
    sketches.told_kinds[0] = (0, 1, 1, 1)
    first = room.counted[SKETCHES] - 1
    acts = ground.horizon > 0 and ground.acts[0, ground.start]
    if acts and look(ground, aim, sketches, first) and sketches.of[first, FOLLOWING] >= 0:
        push(room, first, -1, 0.0, deep)


@njit(**INNER)
def _has_room(ground: SearchGround, used: Used, room: Room, number: int) -> bool:
    """List the options of the state that is next, unless that was done; False if there is no room, or none to wait."""
    options, state = room.options, room.sketches.of[number, FOLLOWING]
    if options.end[state] < 0:
        if room.counted[OPTIONS] + count_options(ground, used, state) > len(options.of):
            return False
        options.begin[state] = room.counted[OPTIONS]
        room.counted[OPTIONS] = list_options(ground, used, state, options.of, room.counted[OPTIONS])
        options.end[state] = room.counted[OPTIONS]
    return room.counted[ENTRIES] + options.end[state] - options.begin[state] <= len(room.queue.key)


@njit(**INNER)
def _list_next(ground: SearchGround, aim: NearlyArgs, used: Used, room: Room, number: int, deep: bool) -> None:
    """Let all that may be done in the state that is next wait, but for what is surely not good enough.

    With q the least mean (the highest success) after a row, the bounds move by the difference to what was ahead.
    """
    sketches, options, arrays = room.sketches, room.options, ground.arrays
    state = sketches.of[number, FOLLOWING]
    come, steps, n = np.zeros(ground.horizon), np.empty(ground.horizon, np.int64), 0
    for place in range(sketches.kinds[number, BEGIN], sketches.kinds[number, ENDED]):
        if sketches.items[place, STATE] == state:
            if come[sketches.items[place, STEP]] == 0:
                steps[n] = sketches.items[place, STEP]
                n += 1
            come[sketches.items[place, STEP]] += sketches.chances[place]
    steps = steps[:n]
    first, last = arrays.row_start[state], arrays.row_start[state + 1]
    dearer, likelier = np.zeros((ground.horizon, last - first)), np.zeros((ground.horizon, last - first))
    for step in steps:
        for row in range(first, last):
            rest, wins = 0.0, 0.0
            for edge in range(arrays.edge_start[row], arrays.edge_start[row + 1]):
                chance, after = arrays.edge_chance[edge], arrays.edge_next[edge]
                a = chance * (arrays.edge_cost[edge] + ground.ahead_mean[step + 1, after])
                b = chance * ground.ahead_success[step + 1, after]
                if edge == arrays.edge_start[row]:
                    dearer[step, row - first] = a
                    likelier[step, row - first] = b
                else:
                    rest += a
                    wins += b
            dearer[step, row - first] += rest
            likelier[step, row - first] += wins
            dearer[step, row - first] -= ground.ahead_mean[step, state]
            likelier[step, row - first] -= ground.ahead_success[step, state]
    mean, success = sketches.bounds[number, LEAST_MEAN], sketches.bounds[number, MOST_SUCCESS]
    for option in range(options.begin[state], options.end[state]):
        more, wins = 0.0, 0.0
        for step in steps:
            row = row_at(ground, used, options.of[option], state, int(step))
            if row >= 0:
                more += come[step] * dearer[step, row - first]
                wins += come[step] * likelier[step, row - first]
        if success + wins >= aim.success - ROUNDING and is_within(mean + more * ground.quantum, aim.mean):
            push(room, number, option, more, deep)


@njit(**INNER)
def _decide(ground: SearchGround, used: Used, room: Room, before: int, option: int) -> int:
    """Unfold a sketch with one state more, behind the others; how many cells that took, -1 without enough room."""
    sketches, scratch, number = room.sketches, room.scratch, room.counted[SKETCHES]
    if number == len(sketches.of):
        return -1
    state, depth = sketches.of[before, FOLLOWING], sketches.of[before, DEPTH] + 1
    sketches.of[number] = (before, state, option, depth, -1, 1)
    one = number
    while one > 0:
        scratch.option[sketches.of[one, DECIDED]] = sketches.of[one, OPTION]
        one = sketches.of[one, PARENT]
    items, chances, count = sketches.items, sketches.chances, room.counted[ITEMS]
    kinds, options, own = sketches.kinds, room.options.of, ground.arrays.edge_chance
    cells = unfold(ground, used, options, scratch, own, items, chances, kinds[before])
    if cells >= 0:
        count = store(ground, scratch, items, chances, count, kinds[number])
    clear_rows(ground, scratch)
    if cells >= 0 and count >= 0 and ground.differs:
        kinds = sketches.told_kinds
        told = unfold(ground, used, options, scratch, ground.often, items, chances, kinds[before])
        count = store(ground, scratch, items, chances, count, kinds[number]) if told >= 0 else -1
        clear_rows(ground, scratch)
    else:
        sketches.told_kinds[number] = kinds[number]
    one = number
    while one > 0:
        scratch.option[sketches.of[one, DECIDED]] = -1
        one = sketches.of[one, PARENT]
    if cells < 0 or count < 0:
        return -1
    room.counted[ITEMS] = count
    room.counted[SKETCHES] += 1
    return cells + sketches.kinds[number, TAKEN] - sketches.kinds[number, ENDED]


@njit(**INNER)
def _go_on(
    ground: SearchGround,
    aim: NearlyArgs,
    used: Used,
    room: Room,
    best: tuple[int, float],
    most_cells: int,
    overhead: int,
    deep: bool,
) -> int:
    """Go on until the search is over (DONE), there is not enough room (ROOM), or a sketch is complete (FOUND)."""
    counted, sketches = room.counted, room.sketches
    while counted[QUEUED] > 0:
        entry = room.queue.heap[0]
        number, option = room.queue.what[entry]
        if _is_worse(room, number, best[0], best[1], deep):
            pop(room)
            continue
        if option < 0:
            if not _has_room(ground, used, room, number):
                return ROOM
            pop(room)
            _list_next(ground, aim, used, room, number, deep)
            continue
        if counted[CELLS] > most_cells:
            return DONE
        if counted[ENTRIES] == len(room.queue.key):
            return ROOM
        cells = _decide(ground, used, room, number, option)
        if cells < 0:
            return ROOM
        pop(room)
        counted[CELLS] += cells + overhead
        latest = counted[SKETCHES] - 1
        if not look(ground, aim, sketches, latest) or _is_worse(room, latest, best[0], best[1], deep):
            counted[SKETCHES] = latest  # its room is free again
            counted[ITEMS] = sketches.kinds[latest, BEGIN]
        elif sketches.of[latest, FOLLOWING] >= 0:
            push(room, latest, -1, 0.0, deep)
        else:
            return FOUND
    return DONE


@njit(**INNER)
def _list_decided(ground: SearchGround, used: Used, room: Room, number: int) -> tuple[Whole, Whole]:
    """The states in which a sketch is decided, and what it does there: [state, step]."""
    depth = room.sketches.of[number, DEPTH] if number >= 0 else 0
    states, rows = np.empty(depth, np.int64), np.empty((depth, ground.horizon), np.int64)
    for place in range(depth):
        _, state, option, _, _, _ = room.sketches.of[number]
        states[place] = state
        for step in range(ground.horizon):
            rows[place, step] = row_at(ground, used, room.options.of[option], state, step)
        number = room.sketches.of[number, PARENT]
    return states, rows


@njit(cache=True, nogil=True)
def continue_search(
    ground: SearchGround,
    aim: NearlyArgs,
    used: Used,
    room: Room,
    best: tuple[int, float],
    most_cells: int,
    overhead: int,
    deep: bool,
) -> tuple[int, Whole, Whole]:
    """Begin a search if no sketch is there, or go on, until it is DONE, needs more ROOM, or has FOUND a whole sketch.

    `best` are the rules and the value, in grains, of the best plan so far; `overhead` are the cells that a look costs.
    With what was FOUND come the states in which it is decided, and what it does there: [state, step].
    """
    if room.counted[SKETCHES] == 0:
        _begin(ground, aim, room, deep)
    why = _go_on(ground, aim, used, room, best, most_cells, overhead, deep)
    states, rows = _list_decided(ground, used, room, room.counted[SKETCHES] - 1 if why == FOUND else -1)
    return why, states, rows
