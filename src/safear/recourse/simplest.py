"""The simplest plan that is nearly as good as the best one: as few rules as can be found.

A rule is one or several steps of the contingent plan as it is told (`count_rules`). Looked through are the plans that
begin as the best one does and, in each state that at least one run in a thousand comes to in time, do (see `sketch`)

    one thing always;  one thing up to some step and another from then on;  what the best plan does there.

Elsewhere they do what the best plan does. The search decides one state after the other, the one that most runs come to
first. A sketch is given up as soon as no plan that it can become is good enough: in a run that has come to an open
state with x spent, let V be the least mean that is left there. Then for every plan that the sketch can become

    E[C] >= E[x + V],    CVaR(C) >= CVaR(x + V)

as both rise with the cost and, by Jensen's inequality, fall if the rest is replaced by its mean; and the success is at
most what it is with the highest success from there on. It has at least as many rules as there are rows and open states
that runs come to often enough and that do not merely repeat an action that has worked.

The search goes deep first, with the sketch that is decided in most states, until none with fewer rules is left. Then it
looks for a lower value with as few rules, with the sketch of the least value (A*). So what is found has the fewest
rules of all these plans and the least value of those, unless there are too many sketches.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import NamedTuple

import numpy as np

from safear.evaluation.forward import run_exactly
from safear.evaluation.policy import Policy
from safear.mdp.arrays import MDP
from safear.recourse.nearly import Limits
from safear.recourse.plan_making import RARE_STEP, count_rules
from safear.recourse.sketch import Decided, Rows, RunCells, find_options, list_cells, settle
from safear.recourse.unfolding import Unfolded, Unfolder
from safear.risk.distribution import Costs
from safear.solvers.ahead import look_ahead
from safear.steady import add_rows

FEW_RULES = 5  # a plan with no more is short already
MOST_CELLS = 40_000  # that one search may go through: some hundredths of a second
MOST_CELLS_SHORT = 5_000  # the same for plans that are short already
FINISH = 3_000  # cells that take as long as making a plan of a sketch
LOOK = 100  # cells that take as long as the overhead of a look


class Look(NamedTuple):
    """What is known of a sketch: at least so many rules, at least this value, and which state is next, -1 if none.

    Its mean is at least, its success at most this. The value is in grains (see `Limits`).
    """

    rules: int
    value: int
    state: int
    mean: float
    success: float


class Simple(NamedTuple):
    """A plan, the number of its rules, and its value."""

    rules: int
    value: float
    policy: Policy


class Known(NamedTuple):
    """A sketch unfolded: with the chances of runs, and as often as what is told happens (see `plan_graph`)."""

    runs: Unfolded
    told: Unfolded


class _Waiting(NamedTuple):
    """A sketch in a queue; of equal keys the first comes first.

    It was looked at, or is to be decided in one state more than `known` and looked at then.
    """

    key: tuple[float, ...]
    number: int
    known: Known
    look: Look
    option: Rows | None


@dataclass(eq=False)
class Search:
    """The search for a plan with fewer rules than `base`, from `start`, within limits. It is used once."""

    base: Policy
    start: int
    limits: Limits
    cells: int = 0  # gone through so far
    _options: dict[int, list[Rows]] = field(default_factory=dict)
    _bounds: dict[int, tuple[list[list[float]], list[list[float]]]] = field(default_factory=dict)

    def find(self, rules: int, *, most_cells: int | None = None) -> Simple | None:
        """The plan with the fewest rules, fewer than given; None if there is none, or none was found in time."""
        if most_cells is None:
            most_cells = MOST_CELLS if rules > FEW_RULES else MOST_CELLS_SHORT
        found = self._search((rules, -math.inf), most_cells, deep=True)
        if found is None:
            return None
        best = found.rules, float(self._to_grains(found.value))
        return self._search(best, self.cells + most_cells // 2, deep=False) or found

    def _to_grains(self, value: float) -> int:
        return math.floor(value / self.limits.grain + 0.5)

    def _search(self, best: tuple[int, float], most_cells: int, *, deep: bool) -> Simple | None:
        """The best plan that comes up in time and has fewer rules or, unless it is looked for deep, a lower value."""
        numbers, waiting, found = count(), list[_Waiting](), None

        def wait(known: Known, look: Look, option: Rows | None, dearer: float) -> None:
            depth = len(known.runs.decided) + (option is not None)
            key = (look.rules, look.value, dearer)
            heapq.heappush(waiting, _Waiting((-depth, *key) if deep else key, next(numbers), known, look, option))

        def is_worse(look: Look) -> bool:
            return look.rules >= best[0] if deep else look[:2] >= best

        known = self.begin()
        look = self.look(known)
        if look is not None and look.state >= 0:  # there is anything to do
            wait(known, look, None, 0.0)
        while waiting:
            now = heapq.heappop(waiting)
            if is_worse(now.look):
                continue
            if now.option is None:
                for option, dearer in self.list_options(now.known, now.look):
                    wait(now.known, now.look, option, dearer)
                continue
            if self.cells > most_cells:
                break
            known = self.decide(now.known, now.look.state, now.option)
            look = self.look(known)
            if look is None or is_worse(look):
                continue
            if look.state >= 0:
                wait(known, look, None, 0.0)
                continue
            done = self.finish(known.runs.decided)
            if done is not None and (done.rules, self._to_grains(done.value)) < best:
                best, found = (done.rules, self._to_grains(done.value)), done
        return found

    @property
    def mdp(self) -> MDP:
        """Where plans are made."""
        return self.base.mdp

    @cached_property
    def _weighed(self) -> MDP:
        """With what nominally never happens as often as it may (see `plan_graph`)."""
        mdp = self.mdp
        never = mdp.edge_chance == 0
        return replace(mdp, edge_chance=np.where(never, mdp.edge_high, mdp.edge_chance)) if never.any() else mdp

    @cached_property
    def _unfolders(self) -> tuple[Unfolder, Unfolder]:
        runs = Unfolder(self.mdp, self.base, self.start)
        return runs, runs if self._weighed is self.mdp else Unfolder(self._weighed, self.base, self.start)

    def begin(self) -> Known:
        """The sketch in which nothing is decided."""
        return Known(*(unfolder.begin() for unfolder in self._unfolders))

    def decide(self, known: Known, state: int, rows: Rows) -> Known:
        """The sketch with one state more."""
        one, other = self._unfolders
        runs = one.decide(known.runs, state, rows)
        told = runs if one is other else other.decide(known.told, state, rows)
        self.cells += runs.cells + len(runs.ended) + LOOK
        return Known(runs, told)

    @cached_property
    def _used(self) -> dict[int, RunCells]:
        """What the base does, by state."""
        choose = self.base.choosing(int(self.base.accounts[self.start]))
        cells = list_cells(self._weighed, choose, self.start)
        acts = cells.row >= 0
        return {
            state: RunCells(*(column[acts & (cells.state == state)] for column in cells))
            for state in np.unique(cells.state[acts]).tolist()
        }

    def look(self, known: Known) -> Look | None:
        """Bounds for all plans that a sketch can become; None if none of them is good enough."""
        mdp, runs = self.mdp, known.runs
        failure, quantum = float(mdp.failure_cost), float(mdp.quantum)
        units = [spent if won else spent + failure for spent, won in runs.ended]
        chances = list(runs.ended.values())
        success = sum(chance for (_, won), chance in runs.ended.items() if won)
        for state, cells in runs.waiting.items():
            means, wins = self._find_ahead(state)
            units += [spent + means[step] for step, spent in cells]
            chances += cells.values()
            success += sum(wins[step] * chance for (step, _), chance in cells.items())
        costs = _sort(units, chances, quantum)
        value = self.limits.check_bounds(success, costs)
        if value is None:
            return None
        waiting = {
            state: _add_up(cells.values()) for state, cells in known.told.waiting.items() if self._in_time(state, cells)
        }
        waiting = {state: chance for state, chance in waiting.items() if chance >= RARE_STEP}
        following = max(waiting, key=lambda state: (waiting[state], -state), default=-1)
        return Look(self._count(known.told, list(waiting)), self._to_grains(value), following, costs.mean, success)

    def _in_time(self, state: int, cells: dict[tuple[int, int], float]) -> bool:
        """Whether a goal can be reached by a run that waits in a state; what is done without hope is not told."""
        needed = int(self.mdp.steps_to_goal[state])
        return any(step + needed <= self.mdp.horizon for step, _ in cells)

    def _count(self, told: Unfolded, waiting: list[int]) -> int:
        """How many rules there are at least: rows that are told, and open states, without those that join others."""
        mdp, horizon, needed = self.mdp, self.mdp.horizon, self.mdp.steps_to_goal
        rows = {
            row: int(mdp.row_state[row])
            for row, often in told.taken.items()
            if often >= RARE_STEP and told.since[row] + needed[mdp.row_state[row]] <= horizon
        }
        again: dict[int, set[int]] = {}  # what has just worked, where that leads
        for row, state in rows.items():
            for after in self._list_works(row):
                if after != state:
                    again.setdefault(after, set()).add(int(mdp.row_action[row]))
        count = sum(int(mdp.row_action[row]) not in again.get(state, ()) for row, state in rows.items())
        count += sum(again.get(state, set()).isdisjoint(self._list_offered(state)) for state in waiting)
        return max(count, 1)

    def _list_works(self, row: int) -> list[int]:
        """Where a row leads if it works."""
        mdp = self.mdp
        return [int(mdp.edge_next[e]) for e in range(mdp.edge_start[row], mdp.edge_start[row + 1]) if mdp.works(e)]

    def _list_offered(self, state: int) -> list[int]:
        mdp = self.mdp
        offered: list[int] = mdp.row_action[mdp.row_start[state] : mdp.row_start[state + 1]].tolist()
        return offered

    def _find_ahead(self, state: int) -> tuple[list[float], list[float]]:
        """What can at best still come in a state, by step."""
        if state not in self._ahead:
            ahead = look_ahead(self.mdp)
            self._ahead[state] = ahead.mean[:, state].tolist(), ahead.success[:, state].tolist()
        return self._ahead[state]

    @cached_property
    def _ahead(self) -> dict[int, tuple[list[float], list[float]]]:
        return {}

    def list_options(self, known: Known, look: Look) -> Iterator[tuple[Rows, float]]:
        """What may be done in the state that is next, and how much that adds to the mean at least.

        What is surely not good enough is left out: with q the least mean (the highest success) after a row, the bounds
        move by the difference to what was ahead.
        """
        state, quantum = look.state, float(self.mdp.quantum)
        first = int(self.mdp.row_start[state])
        dearer, likelier = self._find_differences(state)
        arrivals = list(known.runs.come(state).items()) if state in known.runs.waiting else []
        if state not in self._options:
            self._options[state] = find_options(self.base, self.start, state, self._used)
        for option in self._options[state]:
            more, wins = 0.0, 0.0
            for step, often in arrivals:
                row = option[step]
                if row >= 0:
                    more += often * dearer[step][row - first]
                    wins += often * likelier[step][row - first]
            if self.limits.allow_bounds(look.success + wins, look.mean + more * quantum):
                yield option, more

    def _find_differences(self, state: int) -> tuple[list[list[float]], list[list[float]]]:
        """By how much each row of a state is dearer, and likelier to succeed, than what can come: [step][row]."""
        if state not in self._bounds:
            mdp, ahead = self.mdp, look_ahead(self.mdp)
            rows = np.arange(mdp.row_start[state], mdp.row_start[state + 1])
            edges = slice(mdp.edge_start[rows[0]], mdp.edge_start[rows[-1] + 1])
            after, starts = mdp.edge_next[edges], mdp.edge_start[rows[0] : rows[-1] + 2] - mdp.edge_start[rows[0]]
            chance, cost = mdp.edge_chance[edges], mdp.edge_cost[edges]
            means = add_rows(chance * (cost + ahead.mean[1:, after]), starts)
            wins = add_rows(chance * ahead.success[1:, after], starts)
            pair = means - ahead.mean[:-1, [state]], wins - ahead.success[:-1, [state]]
            self._bounds[state] = pair[0].tolist(), pair[1].tolist()
        return self._bounds[state]

    def finish(self, decided: Decided) -> Simple | None:
        """The plan of a sketch; None if it is not good enough."""
        self.cells += FINISH
        policy = settle(decided, self.base, self.start)
        cost = run_exactly(policy, self.start).distribution
        if not self.limits.allow(cost):
            return None
        return Simple(count_rules(policy, self.start), self.limits.objective.of(cost), policy)


def _add_up(chances: Iterable[float]) -> float:
    """The sum, one after the other as in compiled loops; `sum` has other last digits from Python 3.12 on."""
    total = 0.0
    for chance in chances:
        total += chance
    return total


def _sort(units: list[float], chances: list[float], quantum: float) -> Costs:
    values, weights = np.array(units), np.array(chances)
    order = np.argsort(values, kind="stable")
    return Costs(values[order] * quantum, weights[order] / weights.sum())
