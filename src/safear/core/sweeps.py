"""The sweeps over states, each as short as its formula: plans, what can at best still come, and a family's figures.

See `solvers.sweep`, `solvers.success` and, for all states of all lanes of a family, `population.family_figures`.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

    from safear.core.arrays import (
        INF,
        NONE,
        Arrays,
        Bytes,
        Real,
        Short,
        Whole,
        fill_wholes,
        make_reals,
        make_table,
        make_wholes,
    )
    from safear.core.exponentials import find_entropic
    from safear.core.figures import carry_back, describe

NAN = float("nan")
NEVER = 2**63 - 1  # in place of a total: there is none
ROUNDING = 1e-14  # a chance that is left and below this is none
NO_BYTES: Bytes = np.empty((0, 0), np.uint8)
NO_REALS: Real = np.empty((0, 0))


class Deviation:
    """How a deviation counts: by which factor, and whether only costs above the mean do; of two outcomes, per row.

    The score of a row with two outcomes x0 and x1 rises by `rise` per x0 - x1 above 0, and falls by `fall` (<= 0) per
    that below.
    """

    def __init__(self, risk_aversion: float, upper_only: bool, rise: Real, fall: Real) -> None:
        self.risk_aversion, self.upper_only, self.rise, self.fall = risk_aversion, upper_only, rise, fall


def weigh_two_outcomes(
    arrays: Arrays, count: int, risk_aversion: float, upper_only: bool, rise: Real, fall: Real
) -> None:
    """Write how a deviation counts in the first `count` rows, where these have two outcomes.

    Two outcomes x0, x1 with chances p, q lie q |x0 - x1| and p |x0 - x1| from their mean, so d = sqrt(p q) |x0 - x1|,
    and of the larger one alone sqrt(p) q |x0 - x1| or sqrt(q) p |x0 - x1|.
    """
    for row in range(count):
        p, q = arrays.edge_chance[arrays.edge_start[row]], arrays.edge_chance[arrays.edge_start[row + 1] - 1]
        rise[row] = risk_aversion * sqrt(p) * q if upper_only else risk_aversion * sqrt(p * q)
        fall[row] = -risk_aversion * sqrt(q) * p if upper_only else -rise[row]


def count_steps(arrays: Arrays, goal: Bytes, horizon: int) -> Short:
    """Return the fewest steps in which a goal may be reached, of all states of all lanes; horizon + 1 if it cannot."""
    found = np.where(goal, np.int16(0), np.int16(horizon + 1))
    needed = found
    with cython.nogil:
        lower_steps(arrays, needed)
    return found


def lower_steps(arrays: Arrays, needed: Short) -> None:
    """Lower the steps `needed` [state, lane] by what the next states need, until nothing changes."""
    found = True
    while found:
        found = False
        for state in range(needed.shape[0]):
            first, last = arrays.row_start[state], arrays.row_start[state + 1]
            for edge in range(arrays.edge_start[first], arrays.edge_start[last]):
                target = arrays.edge_next[edge]
                if target == state:  # or else several lanes could not be done at a time
                    continue
                nearer = 0
                for lane in range(needed.shape[1]):
                    before = needed[state, lane]
                    ahead = needed[target, lane] + 1
                    needed[state, lane] = min(before, ahead)
                    nearer |= before > ahead
                found = found or nearer > 0


def sweep_arrays(
    arrays: Arrays, deviation: Deviation, goal: Bytes, needed: Short, failure_cost: float, tie: float, choices: Bytes
) -> Real:
    """V_h(s) = min over a of m + risk_aversion * d, m and d the mean and deviation of c + V_{h+1}(s') (see `sweep`).

    For every lane [state, lane] at once: lanes share rows and edges and differ in goals. The deviation of two outcomes
    x0 and x1 is max(rise * (x0 - x1), fall * (x0 - x1)), aversion included. Writes the first row that is the least up
    to `tie` into choices[step, state, lane], 255 where there is none, and returns V at step 0. There is none where more
    steps are `needed` [state, lane] than are left; at goals that have rows, these are more than the horizon.
    """
    horizon, n_states, lanes = choices.shape[0], choices.shape[1], choices.shape[2]
    later, now = make_table(n_states, lanes), make_table(n_states, lanes)
    if not cython.compiled:  # compiled, arrays that nothing else can lie in, or each row would ask whether it does
        # Real numbers both, so that several lanes are compared at a time; and two of each, to read from and write to in
        # turns: writing where one has read becomes masked stores, which some processors (AMD's with AVX2) are slow at.
        least, chosen = make_table(2, 64), make_table(2, 64)
        mean, squares = make_table(2, 64)
    soonest = make_wholes(n_states)  # of all lanes: nothing is done in any of them while fewer steps are left
    row_start, edge_start, edge_next = arrays.row_start, arrays.edge_start, arrays.edge_next
    edge_chance, edge_cost = arrays.edge_chance, arrays.edge_cost
    rise, fall, upper_only = deviation.rise, deviation.fall, deviation.upper_only
    with cython.nogil:
        for state in range(n_states):
            soonest[state] = horizon + 1
            for lane in range(lanes):
                later[state, lane] = 0.0 if goal[state, lane] else failure_cost
                soonest[state] = min(soonest[state], needed[state, lane])
        for step in range(horizon - 1, -1, -1):
            left = horizon - step
            for state in range(n_states):
                end = row_start[state] if soonest[state] > left else row_start[state + 1]
                for begin in range(0, lanes, 64):
                    width = min(lanes - begin, 64)
                    for lane in range(width):  # where nothing is done, no row is less than what is there
                        least[0][lane] = -INF if needed[state, begin + lane] > left else INF
                        chosen[0][lane] = 255.0
                    for row in range(row_start[state], end):
                        number = float(row - row_start[state])
                        old = (row - row_start[state]) & 1
                        new = 1 - old
                        first, outcomes = edge_start[row], edge_start[row + 1] - edge_start[row]
                        second = first + outcomes - 1
                        cost0, chance0, next0 = float(edge_cost[first]), edge_chance[first], edge_next[first]
                        cost1, chance1, next1 = float(edge_cost[second]), edge_chance[second], edge_next[second]
                        if outcomes == 1:
                            for lane in range(width):
                                score = cost0 + later[next0, begin + lane]
                                best, taken = least[old][lane], chosen[old][lane]
                                better = score * (1 + tie) < best
                                least[new][lane] = score if better else best
                                chosen[new][lane] = number if better else taken
                        elif outcomes == 2:
                            above, below = rise[row], fall[row]
                            for lane in range(width):
                                x0, x1 = cost0 + later[next0, begin + lane], cost1 + later[next1, begin + lane]
                                score = chance0 * x0 + chance1 * x1 + max(above * (x0 - x1), below * (x0 - x1))
                                best, taken = least[old][lane], chosen[old][lane]
                                better = score * (1 + tie) < best
                                least[new][lane] = score if better else best
                                chosen[new][lane] = number if better else taken
                        else:
                            for lane in range(width):
                                mean[lane] = squares[lane] = 0.0
                            for edge in range(first, first + outcomes):
                                chance, cost, target = edge_chance[edge], float(edge_cost[edge]), edge_next[edge]
                                for lane in range(width):
                                    mean[lane] += chance * (cost + later[target, begin + lane])
                            for edge in range(first, first + outcomes):
                                chance, cost, target = edge_chance[edge], float(edge_cost[edge]), edge_next[edge]
                                for lane in range(width):
                                    distance = cost + later[target, begin + lane] - mean[lane]
                                    distance = max(distance, 0.0) if upper_only else distance
                                    squares[lane] += chance * distance * distance
                            for lane in range(width):
                                score = mean[lane] + deviation.risk_aversion * sqrt(squares[lane])
                                best, taken = least[old][lane], chosen[old][lane]
                                better = score * (1 + tie) < best
                                least[new][lane] = score if better else best
                                chosen[new][lane] = number if better else taken
                    last = (end - row_start[state]) & 1
                    for lane in range(width):
                        stays, best, taken = later[state, begin + lane], least[last][lane], chosen[last][lane]
                        now[state, begin + lane] = stays if taken == 255.0 else best
                    for lane in range(width):  # apart, since numbers of one width are done several at a time
                        choices[step, state, begin + lane] = cython.cast(cython.uchar, chosen[last][lane])
            later, now = now, later
    return np.asarray(later)


def sweep_single(
    arrays: Arrays, deviation: Deviation, goal: Bytes, needed: Short, failure_cost: float, tie: float, choices: Bytes
) -> Real:
    """Do what `sweep_arrays` does for a single lane, bit for bit; without that index. States that wait cost nothing."""
    later, now = make_reals(choices.shape[1]), make_reals(choices.shape[1])
    with cython.nogil:
        sweep_lane(arrays, deviation, goal, needed, failure_cost, tie, choices, later, now)
    return np.asarray(later if choices.shape[0] % 2 == 0 else now)


def sweep_lane(
    arrays: Arrays,
    deviation: Deviation,
    goal: Bytes,
    needed: Short,
    failure_cost: float,
    tie: float,
    choices: Bytes,
    later: Real,
    now: Real,
) -> None:
    """Do what `sweep_single` does; V at step 0 is in `later` or, if the horizon is odd, in `now`."""
    horizon, n_states = choices.shape[0], choices.shape[1]
    row_start, edge_start, edge_next = arrays.row_start, arrays.edge_start, arrays.edge_next
    edge_chance, edge_cost = arrays.edge_chance, arrays.edge_cost
    rise, fall = deviation.rise, deviation.fall
    for state in range(n_states):
        later[state] = 0.0 if goal[state] else failure_cost
    for step in range(horizon - 1, -1, -1):
        for state in range(n_states):
            least, chosen = INF, NONE
            end = row_start[state] if needed[state] > horizon - step else row_start[state + 1]
            for row in range(row_start[state], end):
                first, last = edge_start[row], edge_start[row + 1]
                x0 = edge_cost[first] + later[edge_next[first]]
                if last - first == 1:
                    score = x0
                elif last - first == 2:
                    x1 = edge_cost[first + 1] + later[edge_next[first + 1]]
                    beside = max(rise[row] * (x0 - x1), fall[row] * (x0 - x1))
                    score = edge_chance[first] * x0 + edge_chance[first + 1] * x1 + beside
                else:
                    mean = squares = 0.0
                    for edge in range(first, last):
                        mean += edge_chance[edge] * (edge_cost[edge] + later[edge_next[edge]])
                    for edge in range(first, last):
                        distance = edge_cost[edge] + later[edge_next[edge]] - mean
                        distance = max(distance, 0.0) if deviation.upper_only else distance
                        squares += edge_chance[edge] * distance * distance
                    score = mean + deviation.risk_aversion * sqrt(squares)
                if score * (1 + tie) < least:
                    least, chosen = score, row - row_start[state]
            now[state] = later[state] if chosen == NONE else least
            choices[step, state] = chosen
        later, now = now, later


# -------------------------------------------------------------------------------------------------------- what is ahead


class Ranges:
    """The least and the largest chance of every edge, the same if they are given; and room for the worst of a row.

    That is the value of each outcome, of `most`, another by which equal ones are told apart, order and chances.
    """

    def __init__(self, low: Real, high: Real, most: int) -> None:
        self.low, self.high, self.is_given = low, high, low is high
        self.value, self.second, self.chance, self.order = (
            np.empty(most),
            np.empty(most),
            np.empty(most),
            np.empty(most, np.int64),
        )


def find_worst(ranges: Ranges, first: int, count: int) -> None:
    """Find the chances of a row that make sum p * value the largest, of all low <= p <= high with sum p = 1.

    Every outcome has its least chance, and what that leaves goes to the worst of them, each up to its most: `order`. Of
    two outcomes that is one end of the interval.
    """
    left = 1.0
    for i in range(count):
        left -= ranges.low[first + i]
        ranges.chance[i] = ranges.low[first + i]
        place = i
        while place > 0:
            other = ranges.order[place - 1]
            is_equal = ranges.value[i] == ranges.value[other]
            if ranges.value[i] < ranges.value[other] or (is_equal and ranges.second[i] <= ranges.second[other]):
                break
            ranges.order[place] = other
            place -= 1
        ranges.order[place] = i
    if count == 2:
        find_end(ranges, first, ranges.order[0] == 0)
        return
    for place in range(count):
        if left <= ROUNDING:
            break
        i = ranges.order[place]
        more = min(ranges.high[first + i] - ranges.low[first + i], left)
        left -= more
        ranges.chance[i] += more


def find_end(ranges: Ranges, first: int, is_first: bool) -> None:
    """Find the chances of two outcomes with the largest chance of the first, or the least."""
    p = ranges.high[first] if is_first else ranges.low[first]
    q = ranges.low[first + 1] if is_first else ranges.high[first + 1]
    if p + q != 1.0:  # arrays made by hand may have wider bounds than add up to 1
        p = min(p, 1.0 - q) if is_first else max(p, 1.0 - q)
        q = 1.0 - p
    ranges.chance[0], ranges.chance[1] = p, q


class Backward:
    """What a sweep back goes by, and what it writes: see `sweep_back`, and `solvers.sweep` for what is left out.

    Something is done in a state up to, but not including, step `late`, by rows that are `allowed` [step, row]. Costs
    count if `paid` is 1, and not if it is 0; with an `aversion` above 0 risk is entropic.
    """

    def __init__(
        self, arrays: Arrays, ranges: Ranges, late: Whole, paid: float = 1.0, aversion: float = 0.0,
        tie: float = 0.0, slack: float = 0.0, allowed: Bytes = NO_BYTES, choices: Bytes = NO_BYTES,
        keeps: Bytes = NO_BYTES, chances: Real = NO_REALS,
    ) -> None:  # fmt: skip
        self.arrays, self.ranges, self.late, self.paid, self.aversion = arrays, ranges, late, paid, aversion
        self.tie, self.slack, self.allowed = tie, slack, allowed
        self.choices, self.keeps, self.chances = choices, keeps, chances


def sweep_back(backward: Backward, values: Real, begin: int, end: int) -> None:
    """V_h(s) = min over a of max over p of sum p x, x = c + V_{h+1}(s'), or of log(sum p exp(b x)) / b.

    From step end - 1 down to `begin`. V of step h is in values[h % turns], all of which begin as the end values.
    Writes, where there is room, the first row that is the least up to `tie` into choices[step, state], whether a row is
    at most 1 - slack times the least (below 0 then) into keeps[step, row], and the worst p into chances[step, edge].
    """
    arrays, ranges, turns = backward.arrays, backward.ranges, values.shape[0]
    row_start, edge_start, edge_next, edge_cost = (
        arrays.row_start,
        arrays.edge_start,
        arrays.edge_next,
        arrays.edge_cost,
    )
    allowed, given, late, paid, tie = backward.allowed, ranges.low, backward.late, backward.paid, 1 + backward.tie
    is_plain, is_free = ranges.is_given and backward.aversion == 0.0, allowed.shape[0] == 0
    scores = make_reals(NONE)  # of the rows of a state
    with cython.nogil:
        for step in range(end - 1, begin - 1, -1):
            later, now = (step + 1) % turns, step % turns
            for state in range(values.shape[1]):
                if step >= late[state]:
                    continue
                first, last, least, chosen = row_start[state], row_start[state + 1], INF, NONE
                for row in range(first, last):
                    if not is_free and not allowed[step, row]:
                        continue
                    score = 0.0
                    if is_plain:
                        for edge in range(edge_start[row], edge_start[row + 1]):
                            score += given[edge] * (paid * edge_cost[edge] + values[later, edge_next[edge]])
                    else:
                        score = weigh_row(backward, arrays, ranges, row, values, later)
                    scores[row - first] = score
                    if score * tie < least:
                        least, chosen = score, row - first
                    if backward.chances.shape[0] > 0 and not ranges.is_given:
                        for edge in range(edge_start[row], edge_start[row + 1]):
                            backward.chances[step, edge] = ranges.chance[edge - edge_start[row]]
                if chosen == NONE:
                    continue
                values[now, state] = least
                if backward.choices.shape[0] > 0:
                    backward.choices[step, state] = chosen
                if backward.keeps.shape[0] > 0:
                    for row in range(first, last):
                        backward.keeps[step, row] = scores[row - first] <= least * (1 - backward.slack)


def weigh_row(backward: Backward, arrays: Arrays, ranges: Ranges, row: int, values: Real, later: int) -> float:
    """Return what a row is worth at its worst chances, which are those in its ranges then."""
    first, count, total = arrays.edge_start[row], arrays.edge_start[row + 1] - arrays.edge_start[row], 0.0
    for i in range(count):
        ranges.value[i] = backward.paid * arrays.edge_cost[first + i] + values[later, arrays.edge_next[first + i]]
        ranges.second[i], ranges.chance[i] = 0.0, ranges.low[first + i]
    if not ranges.is_given:
        find_worst(ranges, first, count)
    if backward.aversion > 0.0:
        return find_entropic(ranges.value[:count], ranges.chance[:count], backward.aversion)
    for i in range(count):
        total += ranges.chance[i] * ranges.value[i]
    return total


def bound_totals(
    arrays: Arrays, possible: Real, depth: Whole, late: Whole, choices: Bytes, is_most: bool, totals: Whole,
    horizon: int,
) -> None:  # fmt: skip
    """T_h(s) = min, or max, of c + T_{h+1}(s') over the edges that leave s and, if given, are `possible`, above 0.

    T of step h is in totals[h % turns], all of which begin as T at the end: NEVER where runs do not end. Something is
    done from step `depth` up to, but not including, step `late`: if given, the `choices` [step, state].
    """
    turns, row_start, edge_start = totals.shape[0], arrays.row_start, arrays.edge_start
    edge_next, edge_cost, is_limited = arrays.edge_next, arrays.edge_cost, possible.shape[0] > 0
    with cython.nogil:
        for step in range(horizon - 1, -1, -1):
            later, now = (step + 1) % turns, step % turns
            for state in range(totals.shape[1]):
                first, last = row_start[state], row_start[state + 1]
                if choices.shape[0] > 0:
                    last = first if choices[step, state] == NONE else first + choices[step, state] + 1
                    first = max(first, last - 1)
                if first == last or not depth[state] <= step < late[state]:
                    continue
                bound = 0 if is_most else NEVER
                for edge in range(edge_start[first], edge_start[last]):
                    total = totals[later, edge_next[edge]]
                    if total == NEVER or (is_limited and possible[edge] <= 0):
                        continue
                    total += edge_cost[edge]
                    bound = max(bound, total) if is_most else min(bound, total)
                totals[now, state] = bound


def find_highest_success(arrays: Arrays, goal: Bytes, horizon: int) -> Real:
    """P_h(s) = max over a of sum p P_{h+1}(s'), of all states of all lanes; 1 at goals."""
    n_states, lanes = goal.shape[0], goal.shape[1]
    later, now, chances = make_table(n_states, lanes), make_table(n_states, lanes), make_reals(lanes)
    row_start, edge_start, edge_next = arrays.row_start, arrays.edge_start, arrays.edge_next
    edge_chance = arrays.edge_chance
    with cython.nogil:
        for state in range(n_states):
            for lane in range(lanes):
                later[state, lane] = goal[state, lane]
        for _ in range(horizon):
            for state in range(n_states):
                for lane in range(lanes):  # what could be done in fewer steps can be done in more
                    now[state, lane] = later[state, lane]
                for row in range(row_start[state], row_start[state + 1]):
                    for lane in range(lanes):
                        chances[lane] = 0.0
                    for edge in range(edge_start[row], edge_start[row + 1]):
                        chance, target = edge_chance[edge], edge_next[edge]
                        for lane in range(lanes):
                            chances[lane] += chance * later[target, lane]
                    for lane in range(lanes):
                        best = max(now[state, lane], chances[lane])
                        now[state, lane] = 1.0 if goal[state, lane] else best
            later, now = now, later
    return np.asarray(later)


# -------------------------------------------------------------------------------------------------- figures of a family


def summarise_costs(
    arrays: Arrays, goal: Bytes, choices: Bytes, width: int, level: float, tolerance: float, figures: Real
) -> None:
    """Write success and, given success, mean, variance, VaR, CVaR, tail mean: figures[:, state, lane], NaN if none."""
    n_states, lanes = goal.shape[0], goal.shape[1]
    later, now = make_table(n_states, width), make_table(n_states, width)  # one lane's, used again for the next
    low, high, values = make_wholes(n_states), make_wholes(n_states), make_wholes(width)
    for x in range(width):
        values[x] = x
    for lane in range(lanes):
        with cython.nogil:
            for state in range(n_states):
                later[state, 0] = 1.0
                low[state], high[state] = 0, goal[state, lane]
        final = carry_back(arrays, choices, lane, later, now, low, high)
        with cython.nogil:
            for state in range(n_states):
                begin, end = low[state], high[state]
                found = describe(values[begin:end], final[state, begin:end], level, tolerance)
                figures[0, state, lane], figures[1, state, lane], figures[2, state, lane] = found[0], found[1], found[2]
                figures[3, state, lane], figures[4, state, lane], figures[5, state, lane] = found[3], found[4], found[5]


def summarise_ends(
    arrays: Arrays, goal: Bytes, choices: Bytes, codes: Short, sizes: Whole, ordered: Bytes, figures: Real
) -> None:
    """Write sparsity and proximity: how far a successful run ends from where it began; figures[:, state, lane].

    From the chances of ending at each level of each feature, which follow the recursion of the costs without the costs.
    `codes` [state, feature] are level numbers, `sizes` how many levels each feature has.
    """
    n_states, lanes = goal.shape[0], goal.shape[1]
    width = 0
    for feature in range(sizes.shape[0]):
        width += sizes[feature]
    free = Arrays(
        arrays.row_start,
        arrays.row_action,
        arrays.edge_start,
        arrays.edge_next,
        arrays.edge_chance,
        fill_wholes(arrays.edge_cost.shape[0], 0),
        arrays.edge_outcome,
    )
    later, now = make_table(n_states, width), make_table(n_states, width)
    low, high = make_wholes(n_states), make_wholes(n_states)
    for lane in range(lanes):
        with cython.nogil:
            for state in range(n_states):
                low[state], high[state] = 0, width if goal[state, lane] else 0
                for x in range(width):
                    later[state, x] = 0.0
                first = 0
                for feature in range(sizes.shape[0]):
                    later[state, first + codes[state, feature]] = 1.0
                    first += sizes[feature]
        final = carry_back(free, choices, lane, later, now, low, high)
        with cython.nogil:
            for state in range(n_states):
                figures[0, state, lane] = figures[1, state, lane] = NAN
                if high[state] == 0:
                    continue
                success = changed = moved = 0.0
                for x in range(sizes[0]):
                    success += final[state, x]
                first = 0
                for feature in range(sizes.shape[0]):
                    for code in range(sizes[feature]):
                        far = code - codes[state, feature]
                        distance = max(far, -far)  # with overflows checked, Cython cannot compile abs(...)
                        chance = final[state, first + code]
                        changed += chance * min(distance, 1)
                        moved += chance * (distance if ordered[feature] else min(distance, 1))
                    first += sizes[feature]
                if success > 0:
                    figures[0, state, lane], figures[1, state, lane] = changed / success, moved / success
