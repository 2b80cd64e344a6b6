"""The plan of one person that weighs mean and tail, in one call: sweeps, best target, and what it may cost."""

from __future__ import annotations

import cython
import numpy as np

if not cython.compiled:
    from safear.core.arrays import (
        INF,
        PolicyArrays,
        Real,
        Whole,
        finish_policy,
        join_spans,
        make_policy_room,
        make_reals,
        make_wholes,
        sort_keys,
    )
    from safear.core.figures import describe
    from safear.core.runs import Going, follow_policy
    from safear.core.targets import Aim, Bands, Course, SweepRules, make_tables, sweep_columns


class Question:
    """Whose plan, and at which level the tail begins.

    `spans` [span] are the sweeps that hold the best target, each with its lowest target, how many targets it has, the
    first of them that may be the best, and what its accounts are moved by (see `optimal.find_spans`). Values that are
    relatively closer than `near` are equal; `tolerance` is that of quantiles. Runs are followed as `going` says.
    """

    def __init__(self, start: int, level: float, spans: Whole, near: float, tolerance: float, going: Going) -> None:
        self.start, self.level, self.spans = start, level, spans
        self.near, self.tolerance, self.going = near, tolerance, going


class TailPlan:
    """The plan: its value, what its account opens with, what it does, all ways it may end, figures.

    The figures are the success, and mean, variance and tail of the total cost over all runs, in quanta.
    """

    def __init__(self, value: float, opening: int, policy: PolicyArrays) -> None:
        self.value, self.opening, self.policy = value, opening, policy
        self.state, self.spent, self.chance = make_wholes(0), make_wholes(0), make_reals(0)
        self.success, self.mean, self.variance, self.tail = 0.0, 0.0, 0.0, 0.0


def weigh_tail(course: Course, bands: Bands, rules: SweepRules, question: Question, weight: float) -> TailPlan:
    """Return the plan with the least (1 - weight) * E[C] + weight * CVaR(C), for one person.

    That is the least over targets w of (1 - weight) * E[C] + weight * (w + E[max(C - w, 0)] / (1 - level)); of targets
    that are equally good, the one whose plan has the least mean. With a weight of 0 it is the plan of the least mean.
    """
    start, spans, room = question.start, question.spans, 0
    for span in range(spans.shape[0]):
        room += spans[span, 1]
    values, means, openings, count = make_reals(room), make_reals(room), make_wholes(room), 0
    factor = weight / (1 - question.level) if weight > 0.0 else 1.0
    parts, least_mean = [], 0.0
    for span in range(spans.shape[0]):
        low, columns, moved = spans[span, 0], spans[span, 1], spans[span, 3]
        aim = Aim(float(low), 0.0, 1.0, factor, 1 - weight)
        tables = make_tables(course, list_excess(course, low, columns), aim, rules)
        written = make_policy_room(course.horizon, course.goal.shape[0])
        sweep_columns(course, bands, rules, aim, 0, course.horizon, tables, written)
        parts.append((finish_policy(written), moved))
        least_mean = tables.least[0, start]
        with cython.nogil:
            for j in range(spans[span, 2], columns):
                place = tables.pad + j + 1
                values[count] = weight * (low + j) + tables.score[0, start, place]
                means[count], openings[count] = tables.mean[0, start, place], moved + j
                count += 1
    value, opening = least_mean, -1
    if count > 0:
        value, least = values[0], INF
        with cython.nogil:
            for i in range(1, count):
                value = min(value, values[i])
            for i in range(count):
                if values[i] <= value * (1 + question.near) and means[i] < least:
                    least, opening = means[i], openings[i]
    found = TailPlan(value, opening, join_spans(parts, course.horizon, course.goal.shape[0]))
    follow_plan(found, course, question)
    return found


def list_excess(course: Course, low: int, columns: int) -> Real:
    """Return by how much runs that are over exceed targets [goal, column], the first of which is that below `low`."""
    ends = np.empty((2, columns + 1))
    with cython.nogil:
        for column in range(columns + 1):
            ends[0, column] = max(course.failure_cost - low - column + 1.0, 0.0)
            ends[1, column] = max(-low - column + 1.0, 0.0)
    return ends


def follow_plan(found: TailPlan, course: Course, question: Question) -> None:
    """Write all ways in which the plan may end, in the order of `follow_policy`, and the figures."""
    cells = follow_policy(course.arrays, found.policy, question.going, question.start, found.opening).cells
    room = cells.row.shape[0]
    found.state, found.spent, found.chance = make_wholes(room), make_wholes(room), make_reals(room)
    total, order, rising, mass = make_wholes(room), make_wholes(room), make_wholes(room), make_reals(room)
    count, success = 0, 0.0
    with cython.nogil:
        for cell in range(room):
            if cells.row[cell] >= 0:
                continue
            state, spent, chance = cells.state[cell], cells.spent[cell], cells.chance[cell]
            success += chance if course.goal[state] else 0.0
            total[count], order[count] = spent + (0 if course.goal[state] else course.failure_cost), count
            found.state[count], found.spent[count], found.chance[count] = state, spent, chance
            count += 1
        sort_keys(total, order[:count], rising)
        for i in range(count):
            rising[i], mass[i] = total[order[i]], found.chance[order[i]]
    found.state, found.spent, found.chance = found.state[:count], found.spent[:count], found.chance[:count]
    figures = describe(rising[:count], mass[:count], question.level, question.tolerance)
    found.success, found.mean, found.variance, found.tail = success / figures[0], figures[1], figures[2], figures[4]
