"""What one person can reach, their plan, and what it may cost, for person after person (see `population.own_terms`)."""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

    from safear.core.arrays import (
        NONE,
        Arrays,
        Bytes,
        PolicyArrays,
        Real,
        Short,
        Whole,
        make_bytes,
        make_reals,
        make_table,
        make_wholes,
        sort_keys,
    )
    from safear.core.figures import Room, describe, follow, make_places
    from safear.core.reach import (
        YES,
        Gathered,
        Ground,
        Personal,
        Said,
        Scratch,
        Signs,
        begin,
        clear,
        collect,
        make_shorts,
        seek,
    )
    from safear.core.sweeps import Deviation, lower_steps, sweep_lane, weigh_two_outcomes

FAVOURABLE, PLANNED, NO_RECOURSE, TOO_FINE = 0, 1, 2, 3
MAX_PAIRS = 2_000_000  # of a state and what was spent, in one step of one person
PLACES = 256  # in which these are found
NAN = float("nan")


class People:
    """Of each person: where they start, in which lane, and what holds for them [person, action].

    A person has offered[action], cost[action] (-1: that of the edge) and chance[action] of the first outcome (NaN: that
    of the edge). Costs of edges and of failing are `scale` times the person's unit.
    """

    def __init__(self, start: Whole, lane: Whole, offered: Bytes, cost: Whole, chance: Real, scale: Whole) -> None:
        self.start, self.lane, self.offered = start, lane, offered
        self.cost, self.chance, self.scale = cost, chance, scale


class Rules:
    """What holds for everybody."""

    def __init__(
        self,
        horizon: int,
        failure_cost: int,
        risk_aversion: float,
        upper_only: bool,
        tie: float,
        level: float,
        tolerance: float,
        stops: bool,
    ) -> None:
        self.horizon, self.failure_cost, self.stops = horizon, failure_cost, stops
        self.risk_aversion, self.upper_only, self.tie = risk_aversion, upper_only, tie
        self.level, self.tolerance = level, tolerance


class Answers:
    """What is written for each person: how it went, the first action (-1: none), and the figures.

    These are success; mean, deviation, VaR and CVaR given success; mean and CVaR over all runs; the value of the
    objective; the highest success that any plan has; NaN where undefined.
    """

    def __init__(self, status: Bytes, first_action: Short, figures: Real) -> None:
        self.status, self.first_action, self.figures = status, first_action, figures


class Bench:
    """What is made for one person, with room to be made again for the next.

    Their terms, their part of the ground with the score of its rows, their plan, and the runs that follow it.
    """

    def __init__(self, n_actions: int, horizon: int, risk_aversion: float, upper_only: bool) -> None:
        self.number, self.cost, self.chance = make_wholes(n_actions), make_wholes(n_actions), make_table(n_actions, 2)
        self.terms = Personal(self.number, self.cost, self.chance, 1, 1)
        self.part, self.rise, self.fall = Gathered(), make_reals(0), make_reals(0)
        wholes, bytes_ = make_wholes(0), make_bytes(0)
        self.own = Arrays(wholes, bytes_, wholes, wholes, self.rise, wholes, bytes_)
        self.deviation = Deviation(risk_aversion, upper_only, self.rise, self.fall)
        self.needed, self.steps, self.choices = make_steps(0), make_shorts(0), make_choices(horizon, 0)
        self.later, self.now = make_reals(0), make_reals(0)
        self.policy = PolicyArrays(self.choices, wholes, wholes, bytes_)
        self.table, self.room = make_places(PLACES), Room()
        self.order, self.spare = make_wholes(0), make_wholes(0)
        self.total, self.mass, self.some_total, self.some_mass = wholes, make_reals(0), wholes, make_reals(0)


def solve_one_by_one(
    ground: Ground, said: Signs, people: People, rules: Rules, scratch: Scratch, answers: Answers
) -> None:
    """Answer, for each person, from the states that they can reach, the greedy sweep over these, and its exact figures.

    The ground is shared by all; which states are goals is said [state, lane] of the person's lane.
    """
    known = Said(np.asarray(said).reshape(-1), np.arange(said.shape[0], dtype=np.int64) * said.shape[1], 0)
    bench = Bench(people.offered.shape[1], rules.horizon, rules.risk_aversion, rules.upper_only)
    with cython.nogil:
        for person in range(people.start.shape[0]):
            answers.status[person] = solve_person(ground, known, people, rules, scratch, answers, bench, person)


def solve_person(
    ground: Ground,
    known: Said,
    people: People,
    rules: Rules,
    scratch: Scratch,
    answers: Answers,
    bench: Bench,
    person: int,
) -> int:
    """Write the first action and the figures of one person, and return how it went."""
    start, scale, figures = people.start[person], people.scale[person], answers.figures[person]
    for i in range(figures.shape[0]):
        figures[i] = NAN
    answers.first_action[person] = -1
    known.shift = people.lane[person]
    if known.answers[known.number[start] + known.shift] == YES:
        return FAVOURABLE
    bring_terms(people, person, bench)
    count = seek(ground, bench.terms, known, begin(scratch, start, 0), rules.horizon, 0, scratch)[0]
    collect(ground, bench.terms, known, count, scratch, bench.part)
    first = scratch.number[start]
    clear(scratch, count)
    take_part(bench.own, bench.part)
    make_room(bench, count, rules.horizon)
    goal = bench.part.goal
    figures[8] = find_best(bench.own, goal, count, rules.horizon, first, bench.later, bench.now)
    if figures[8] == 0.0:  # also where a goal is possible, but not at these chances
        figures[0] = 0.0
        return NO_RECOURSE
    plan(bench, bench.own, goal, count, rules, scale)
    choice = bench.choices[0, first]
    if choice != NONE:
        answers.first_action[person] = bench.own.row_action[bench.own.row_start[first] + choice]
    ends = follow(bench.own, goal, rules.horizon, bench.policy, first, 0, bench.table, 0, MAX_PAIRS, bench.room)
    if ends == 0:
        return TOO_FINE
    make_room_for_ends(bench, ends)
    sum_up(bench, bench.room, goal, ends, rules, scale, figures)
    return PLANNED


def bring_terms(people: People, person: int, bench: Bench) -> None:
    """Write down what holds for one person."""
    for action in range(bench.number.shape[0]):
        bench.number[action] = action if people.offered[person, action] else -1
        bench.cost[action] = people.cost[person, action]
        bench.chance[action, 0] = people.chance[person, action]
        bench.chance[action, 1] = 1 - people.chance[person, action]
    bench.terms.up = people.scale[person]


def take_part(own: Arrays, part: Gathered) -> None:
    """Have what was gathered as an MDP."""
    own.row_start, own.row_action, own.edge_start = part.row_start, part.row_action, part.edge_start
    own.edge_next, own.edge_chance, own.edge_cost = part.edge_next, part.edge_chance, part.edge_cost
    own.edge_outcome = part.edge_outcome


def make_room(bench: Bench, count: int, horizon: int) -> int:
    """Make room for so many states and their rows."""
    if count > bench.later.shape[0]:
        states = max(count, 2 * bench.later.shape[0])
        bench.later, bench.now, bench.needed = make_reals(states), make_reals(states), make_steps(states)
        bench.choices, bench.steps = make_choices(horizon, states), join_lanes(bench.needed)
        bench.policy.table = bench.choices
    n_rows = bench.own.row_start[count]
    if n_rows > bench.rise.shape[0]:
        rows = max(n_rows, 2 * bench.rise.shape[0])
        bench.rise, bench.fall = make_reals(rows), make_reals(rows)
        bench.deviation.rise, bench.deviation.fall = bench.rise, bench.fall
    return 0


def make_room_for_ends(bench: Bench, count: int) -> int:
    """Make room for so many ends of runs."""
    if count > bench.order.shape[0]:
        ends = max(count, 2 * bench.order.shape[0])
        bench.order, bench.spare, bench.total = make_wholes(ends), make_wholes(ends), make_wholes(ends)
        bench.mass, bench.some_total, bench.some_mass = make_reals(ends), make_wholes(ends), make_reals(ends)
    return 0


def find_best(own: Arrays, goal: Bytes, count: int, horizon: int, first: int, later: Real, now: Real) -> float:
    """Return the highest success that any plan has from the first state (see `sweeps.find_highest_success`)."""
    for state in range(count):
        later[state] = goal[state]
    for _ in range(horizon):
        for state in range(count):
            best = later[state]
            for row in range(own.row_start[state], own.row_start[state + 1]):
                chance = 0.0
                for edge in range(own.edge_start[row], own.edge_start[row + 1]):
                    chance += own.edge_chance[edge] * later[own.edge_next[edge]]
                best = max(best, chance)
            now[state] = best
        later, now = now, later
    return float(later[first])


def plan(bench: Bench, own: Arrays, goal: Bytes, count: int, rules: Rules, scale: int) -> None:
    """Write the choices of the greedy plan, as `solvers.sweep` makes it."""
    steps = bench.steps
    weigh_two_outcomes(own, own.row_start[count], rules.risk_aversion, rules.upper_only, bench.rise, bench.fall)
    for state in range(count):
        steps[state] = rules.horizon + 1 if rules.stops and not goal[state] else 0
    if rules.stops:
        lower_steps(own, bench.needed[:count])
    failing, choices = float(rules.failure_cost * scale), bench.choices[:, :count]
    sweep_lane(own, bench.deviation, goal, steps, failing, rules.tie, choices, bench.later, bench.now)


def sum_up(bench: Bench, room: Room, goal: Bytes, ends: int, rules: Rules, scale: int, figures: Real) -> None:
    """Write the figures of all runs, which end in so many ways."""
    order, spare = bench.order[:ends], bench.spare[:ends]
    total, mass, some_total, some_mass = bench.total, bench.mass, bench.some_total, bench.some_mass
    for i in range(ends):
        order[i] = i
    sort_keys(room.end_spent, order, spare)
    whole, successes = 0.0, 0
    for i in range(ends):
        end = order[i]
        total[i], mass[i] = room.end_spent[end], room.end_mass[end]
        whole += mass[i]
        if goal[room.end_state[end]]:
            some_total[successes], some_mass[successes] = total[i], mass[i]
            successes += 1
        else:
            total[i] += rules.failure_cost * scale
        order[i] = i
    given = describe(some_total[:successes], some_mass[:successes], rules.level, rules.tolerance)
    figures[0] = given[0] / whole
    if given[0] > 0:
        figures[1], figures[2], figures[3], figures[4] = given[1], sqrt(given[2]), given[3], given[4]
    sort_keys(total, order, spare)
    for i in range(ends):
        some_total[i], some_mass[i] = total[order[i]], mass[order[i]]
    in_all = describe(some_total[:ends], some_mass[:ends], rules.level, rules.tolerance)
    mean, variance = in_all[1], in_all[2]
    if rules.upper_only:
        squares = 0.0
        for i in range(ends):
            above = max(some_total[i] - mean, 0.0)
            squares += some_mass[i] * (above * above)
        variance = squares / in_all[0]
    figures[5], figures[6], figures[7] = mean, in_all[4], mean + rules.risk_aversion * sqrt(variance)


def make_choices(steps: int, count: int) -> Bytes:
    """Return room for a choice in each of so many states at each step."""
    return np.empty((steps, count), np.uint8)


def make_steps(count: int) -> Short:
    """Return room for the steps that so many states need, in one lane."""
    return np.empty((count, 1), np.int16)


def join_lanes(needed: Short) -> Short:
    """Return the same steps of one lane without that index."""
    return np.asarray(needed).reshape(-1)
