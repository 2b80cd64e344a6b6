"""The search for a simple plan in plain Python: each sketch is followed from the start, and the queue is a list.

It goes through the same sketches as `core.search`, in the same order, and counts the same cells.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import safear as sa
from doors import Limits, look_ahead, plan_graph
from plain_runs import PlainLayer, follow_plainly
from plan_family import Rows, as_arrays, choose_by, find_options, list_base, weigh
from safear.evaluation import Policy

OPEN = -2  # in place of a row: nothing is decided
ROUNDING = 1e-12


class Known(NamedTuple):
    """A sketch, in the order of its decisions, and what is known of it; `waiting` are (step, state, chance)."""

    decided: dict[int, Rows]
    value: int
    mean: float
    success: float
    following: int
    rules: int
    waiting: list[tuple[int, int, float]]


class Size(NamedTuple):
    """How many things there are in the runs of a sketch.

    Cells that only the last decision lets runs come to, and the edges out of them; cells where they wait; ends; rows
    that are taken.
    """

    carried: int
    onward: int
    waiting: int
    ended: int
    taken: int


class UnsureError(Exception):
    """It depends on the order of cells whether there is room for them."""


class PlainSearch:
    """A search, as `SketchSearch` makes it, with room for `most` sketches; `cells` counts those gone through."""

    def __init__(self, base: Policy, start: int, limits: Limits, most: float = math.inf) -> None:
        self.base, self.start, self.limits, self.most, self.mdp = base, start, limits, most, base.mdp
        self.listed, self.kept, self.items = dict[int, list[Rows]](), 0, 0
        self.cells, self.deep, self.latest = 0, False, dict[int, Rows]()
        self.weighed, self.acts, self.ahead = weigh(self.mdp), self.mdp.acting, look_ahead(self.mdp)
        self.every = list_base(base, start)
        self.queue = list[tuple[tuple[float, ...], Known, Rows | None]]()
        self.entries = 0

    def begin(self, deep: bool) -> None:
        """Begin with the sketch in which nothing is decided."""
        self.deep, self.queue, self.entries, self.kept, self.items = deep, [], 0, 1, 1
        if self.mdp.horizon > 0 and self.acts[0, self.start]:
            root = self.look({})
            if root is not None and root.following >= 0:
                self.push(root, None, 0.0)

    def push(self, known: Known, option: Rows | None, dearer: float) -> None:
        """Let a sketch wait."""
        depth = len(known.decided) + (option is not None) if self.deep else 0
        heapq.heappush(self.queue, ((-depth, known.rules, known.value, dearer, self.entries), known, option))
        self.entries += 1

    def go_on(self, best_rules: int, best_value: float, most_cells: int, overhead: int) -> bool:
        """Go on until a sketch is complete."""

        def is_worse(known: Known) -> bool:
            if self.deep or known.rules != best_rules:
                return known.rules >= best_rules
            return known.value >= best_value

        while self.queue:
            _, known, option = self.queue[0]
            if is_worse(known):
                heapq.heappop(self.queue)
                continue
            if option is None:
                if not self.push_options(known):
                    return False
                continue
            if self.cells > most_cells or self.entries == 4 * self.most or self.kept == self.most:
                return False
            self.latest = {**known.decided, known.following: option}
            held, cells = self.items, self.carry_on(known)
            if cells < 0:
                return False
            heapq.heappop(self.queue)
            self.cells += cells + overhead
            found = self.look(self.latest)
            if found is None or is_worse(found):
                self.items = held
                continue
            self.kept += 1
            if found.following < 0:
                self.found = found
                return True
            self.push(found, None, 0.0)
        return False

    def list_decided(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return what is decided in the latest sketch, the last decision first."""
        return as_arrays(self.mdp, dict(reversed(self.latest.items())))

    def follow(self, mdp: sa.MDP, decided: dict[int, Rows]) -> list[PlainLayer]:
        """Follow the runs of a sketch, as far as it is decided."""
        return follow_plainly(mdp, choose_by(decided, self.base, self.start, mark=OPEN), self.start)

    def list_options(self, state: int) -> list[Rows] | None:
        """List what can be done in a state; None if there is no room for what can be done in all that were listed."""
        if state not in self.listed:
            rows = int(self.mdp.row_start[state + 1] - self.mdp.row_start[state])
            steps = self.every.step[(self.every.state == state) & (self.every.row >= 0) & (self.every.chance > 0)]
            times = int(np.ptp(steps)) if len(steps) else 0
            if sum(map(len, self.listed.values())) + rows + rows * rows * times + 2 > 2 * self.most:
                return None
            self.listed[state] = find_options(self.base, self.start, state, self.every)
        return self.listed[state]

    def push_options(self, known: Known) -> bool:
        """Let a sketch wait with all that it may do in the next state, but for what is surely not good enough."""
        mdp, state, (mean, success) = self.mdp, known.following, self.ahead
        options = self.list_options(state)
        if options is None or self.entries + len(options) > 4 * self.most:
            return False
        heapq.heappop(self.queue)
        for option in options:
            more = wins = 0.0
            for step, there, chance in known.waiting:
                row = option[step]
                if there == state and row >= 0:
                    edges = slice(mdp.edge_start[row], mdp.edge_start[row + 1])
                    after, share = mdp.edge_next[edges], mdp.edge_chance[edges]
                    more += chance * float(share @ (mdp.edge_cost[edges] + mean[step + 1, after]) - mean[step, state])
                    wins += chance * float(share @ success[step + 1, after] - success[step, state])
            if self.can_succeed(known.success + wins) and _within(known.mean + more * mdp.quantum, self.limits.mean):
                self.push(known, option, more)
        return True

    def carry_on(self, before: Known) -> int:
        """Return how many cells it takes to carry on the runs of the latest sketch, or -1 if there is no room."""
        cells, differs = -1, bool((self.mdp.edge_chance == 0).any())
        for mdp in (self.mdp, self.weighed)[: 1 + differs]:
            known = self.measure(mdp, before.decided, -1)
            size, room = self.measure(mdp, self.latest, before.following), 4 * self.most
            items = size.carried + size.waiting + size.ended
            if items > room or known.waiting + known.ended + known.taken > room:
                return -1
            merges = items < known.waiting + known.ended + size.onward
            if merges and items + int(np.diff(self.mdp.edge_start).max()) > room:
                raise UnsureError
            if self.items + items + size.taken > 32 * self.most:
                return -1
            self.items += size.waiting + size.ended + size.taken
            cells = size.carried + size.ended if cells < 0 else cells
        return cells

    def measure(self, mdp: sa.MDP, decided: dict[int, Rows], state: int) -> Size:
        """Measure a sketch; what is carried are cells that only runs come to which have come to a state."""
        carried, ends, taken, cells, ways, waiting = set[int](), set[tuple[bool, int]](), set[int](), 0, 0, 0
        for step, layer in enumerate(self.follow(mdp, decided)):
            onward = set[int]()
            for place, ((here, spent), row) in enumerate(zip(layer.pairs, layer.row, strict=True)):
                acts = step < mdp.horizon and self.acts[step, here]
                if here == state and acts:
                    carried.add(place)
                if row >= 0:
                    taken.add(row)
                if row >= 0 or (acts and row != OPEN):
                    cells += place in carried
                    ways += place in carried and (1 if row < 0 else int(mdp.edge_start[row + 1] - mdp.edge_start[row]))
                if row < 0 and row != OPEN:
                    ends.add((bool(mdp.goal[here]), spent))
                waiting += row == OPEN
            for origin, _, target, _ in layer.moves:
                if origin in carried:
                    onward.add(target)
            carried = onward
        return Size(cells, ways, waiting, len(ends), len(taken))

    def can_succeed(self, success: float) -> bool:
        """Return whether that is often enough."""
        return success >= self.limits.success - ROUNDING

    def look(self, decided: dict[int, Rows]) -> Known | None:
        """Find out what is known of a sketch; None if no plan that it can become is good enough."""
        mdp, limits, ahead = self.mdp, self.limits, self.ahead
        ends, waiting, success = list[tuple[float, float]](), list[tuple[int, int, float]](), 0.0
        for step, layer in enumerate(self.follow(mdp, decided)):
            for (state, spent), chance, row in zip(layer.pairs, layer.chance, layer.row, strict=True):
                if row == OPEN:
                    waiting.append((step, state, chance))
                    ends.append(((spent + float(ahead.mean[step, state])) * mdp.quantum, chance))
                    success += float(ahead.success[step, state]) * chance
                elif row < 0:
                    won = bool(mdp.goal[state])
                    ends.append(((spent + (0.0 if won else float(mdp.failure_cost))) * mdp.quantum, chance))
                    success += won * chance
        mean = sum(cost * chance for cost, chance in ends)
        tail, value = find_tail(ends, limits.level), find_value(limits.objective, ends)
        if not (self.can_succeed(success) and _within(mean, limits.mean)):
            return None
        if not (_within(tail, limits.tail) and _within(value, limits.value)):
            return None
        following, rules = self.count_rules(decided)
        return Known(decided, math.floor(value / limits.grain + 0.5), mean, success, following, rules, waiting)

    def count_rules(self, decided: dict[int, Rows]) -> tuple[int, int]:
        """Return the open state that most runs come to, and how many rules there are at least."""
        mdp, rare = self.mdp, plan_graph.RARE_STEP
        often, since = Counter[tuple[int, int]](), dict[tuple[int, int], int]()  # of a row, or (as OPEN) of a state
        for step, layer in enumerate(self.follow(self.weighed, decided)):
            for (state, _), chance, row in zip(layer.pairs, layer.chance, layer.row, strict=True):
                if row >= 0 or row == OPEN:
                    often[state, row] += chance  # type: ignore[assignment]
                    since.setdefault((state, row), step)
        likely = {
            pair: times
            for pair, times in often.items()
            if times >= rare and since[pair] + int(mdp.steps_to_goal[pair[0]]) <= mdp.horizon
        }
        told = [row for _, row in likely if row >= 0]
        waits = {state: times for (state, row), times in likely.items() if row == OPEN}

        def has_just_worked(state: int, action: int) -> bool:
            return any(
                int(mdp.row_action[row]) == action
                and int(mdp.row_state[row]) != state
                and any(
                    int(mdp.edge_next[edge]) == state and bool(mdp.working[edge])
                    for edge in range(mdp.edge_start[row], mdp.edge_start[row + 1])
                )
                for row in told
            )

        rules = sum(not has_just_worked(int(mdp.row_state[row]), int(mdp.row_action[row])) for row in told)
        for state in waits:
            offered = mdp.row_action[mdp.row_start[state] : mdp.row_start[state + 1]].tolist()
            rules += not any(has_just_worked(state, action) for action in offered)
        return max(waits, key=lambda state: (waits[state], -state), default=-1), max(rules, 1)


def _within(own: float, most: float) -> bool:
    return own <= most * (1 + ROUNDING) + ROUNDING


def find_tail(ends: list[tuple[float, float]], level: float) -> float:
    """Return the mean of the worst 1 - level of the cases."""
    if level >= 1:
        return max(cost for cost, _ in ends)
    left, total = 1 - level, 0.0
    for cost, chance in sorted(ends, reverse=True):
        total += cost * min(chance, left)
        left -= min(chance, left)
    return total / (1 - level)


def find_value(objective: object, ends: list[tuple[float, float]]) -> float:
    """Return what an objective makes small, or 0 for one that says nothing beforehand."""
    mean = sum(cost * chance for cost, chance in ends)
    match objective:
        case sa.SuccessFirst():
            return find_value(objective.then, ends)
        case sa.Mean():
            return mean
        case sa.CVaR(level):
            return find_tail(ends, level)
        case sa.MeanCVaR(weight, level):
            return (1 - weight) * mean + weight * find_tail(ends, level)
        case sa.Entropic(aversion) if aversion > 0:
            return math.log(sum(chance * math.exp(aversion * cost) for cost, chance in ends)) / aversion
        case sa.Entropic():
            return mean
    return 0.0
