"""The simplest plan that is nearly as good as the best one: as few rules as can be found.

A rule is a step of the contingent plan as it is told (`plan`). Looked through are the plans that begin as the best one
does and, in each state that at least one run in a thousand comes to, do (see `sketch`)

    one thing always;  one thing up to some step and another from then on;  what the best plan does there.

Where fewer runs come they do what the best plan does. The search decides one state after the other, the one that most
runs come to first, and goes on with the sketch that has the fewest rules and, of these, the least value (A*). A sketch
is given up as soon as no plan that it can become is good enough: in a run that has come to an open state with x spent,
let V be the least mean that is left there. Then for every plan that the sketch can become

    E[C] >= E[x + V],    CVaR(C) >= CVaR(x + V)

as both rise with the cost and, by Jensen's inequality, fall if the rest is replaced by its mean; and the success is at
most what it is with the highest success from there on. So what is found has the fewest rules of all these plans, unless
there are too many sketches. Then the search begins anew and goes deep, with the sketch that is decided in most states:
what it comes to has fewer rules, but perhaps not the fewest.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.forward import run_exactly
from safear.evaluation.policy import Policy
from safear.mdp.arrays import MDP
from safear.recourse.nearly import Limits
from safear.recourse.plan_making import RARE_STEP, count_rules
from safear.recourse.sketch import OPEN, Rows, RunCells, Sketch, find_options, list_cells, settle
from safear.risk.distribution import Costs
from safear.solvers.ahead import Ahead, look_ahead

FEW_RULES = 5  # a plan with no more is short already
MOST_CELLS = 10_000  # that one search may go through: some hundredths of a second
MOST_CELLS_SHORT = 2_000  # the same for plans that are short already
LOOK = 300  # cells that take as long as the overhead of a look


class Look(NamedTuple):
    """What is known of a sketch: at least so many rules, at least this value, and which state is next, -1 if none.

    Its mean is at least, its success at most this; `arrivals` are the steps at which runs come to that state, and how
    probable that is.
    """

    rules: int
    value: float
    state: int
    mean: float
    success: float
    arrivals: tuple[NDArray[np.int64], NDArray[np.float64]]


class Simple(NamedTuple):
    """A plan, the number of its rules, and its value."""

    rules: int
    value: float
    policy: Policy


class _Waiting(NamedTuple):
    """A sketch in a queue, with what is known of it if it was looked at; of equal keys the first comes first."""

    key: tuple[float, ...]
    number: int
    sketch: Sketch
    look: Look | None


@dataclass(eq=False)
class Search:
    """The search for a plan with fewer rules than `base`, from `start`, within limits. It is used once."""

    base: Policy
    start: int
    limits: Limits
    cells: int = 0  # gone through so far

    def find(self, rules: int, *, most_cells: int | None = None) -> Simple | None:
        """The plan with the fewest rules, fewer than given; None if there is none, or none was found in time."""
        if most_cells is None:
            most_cells = MOST_CELLS if rules > FEW_RULES else MOST_CELLS_SHORT
        found, is_over = self._search(rules, most_cells, deep=False)
        if found is None and not is_over:
            found, _ = self._search(rules, self.cells + most_cells, deep=True)
        return found

    def _search(self, rules: int, most_cells: int, *, deep: bool) -> tuple[Simple | None, bool]:
        """The best plan that comes up, and whether nothing was left to look at."""
        waiting, numbers = [_Waiting((), 0, Sketch.of(self.base, self.start), None)], count(1)
        best, found = (float(rules), -math.inf), None

        def wait(sketch: Sketch, known: Look, look: Look | None) -> None:
            key = (known.rules, known.value)
            heapq.heappush(waiting, _Waiting((-len(sketch.states), *key) if deep else key, next(numbers), sketch, look))

        while waiting:
            now = heapq.heappop(waiting)
            if now.look is not None:
                if now.look[:2] < best:
                    for option in self.list_options(now.sketch, now.look):
                        wait(now.sketch.decide(now.look.state, option), now.look, None)
                continue
            if self.cells > most_cells:
                return found, False
            look = self.look(now.sketch)
            if look is None or look[:2] >= best:
                continue
            if look.state >= 0:
                wait(now.sketch, look, look)
                continue
            done = self.finish(now.sketch)
            if done is not None and done[:2] < best:
                best, found = done[:2], done
        return found, True

    @property
    def mdp(self) -> MDP:
        """Where plans are made."""
        return self.base.mdp

    @cached_property
    def _ahead(self) -> Ahead:
        return look_ahead(self.mdp)

    @cached_property
    def _weighed(self) -> MDP:
        """With what nominally never happens as often as it may (see `plan_graph`)."""
        mdp = self.mdp
        never = mdp.edge_chance == 0
        return replace(mdp, edge_chance=np.where(never, mdp.edge_high, mdp.edge_chance)) if never.any() else mdp

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

    def look(self, sketch: Sketch) -> Look | None:
        """Bounds for all plans that a sketch can become; None if none of them is good enough."""
        choose = sketch.choosing(is_open=True)
        cells = list_cells(self.mdp, choose, self.start)
        self.cells += len(cells.state) + LOOK
        over = cells.row < 0
        step, state, chance, is_open = cells.step[over], cells.state[over], cells.chance[over], cells.row[over] == OPEN
        ended = np.where(self.mdp.goal[state], 0.0, float(self.mdp.failure_cost))
        rest = np.where(is_open, self._ahead.mean[step, state], ended)
        won = np.where(is_open, self._ahead.success[step, state], self.mdp.goal[state])
        success, costs = float(won @ chance), _sort(cells.spent[over].astype(np.float64) + rest, chance, self.mdp)
        value = self.limits.check_bounds(success, costs)
        if value is None:
            return None
        weighed = cells if self._weighed is self.mdp else list_cells(self._weighed, choose, self.start)
        rules = len(_frequent(weighed.row, weighed, weighed.row >= 0))
        waiting = _frequent(weighed.state, weighed, weighed.row == OPEN)
        following = max(waiting, key=lambda state: (waiting[state], -state), default=-1)
        comes = is_open & (state == following)
        return Look(rules + len(waiting), value, following, costs.mean, success, (step[comes], chance[comes]))

    def list_options(self, sketch: Sketch, look: Look) -> Iterator[Rows]:
        """What may be done in the state that is next, without what is surely not good enough.

        With q the least mean (the highest success) after a row, the bounds move by the difference to what was ahead.
        """
        mdp, ahead, state = self.mdp, self._ahead, look.state
        rows = np.arange(mdp.row_start[state], mdp.row_start[state + 1])
        edges = slice(mdp.edge_start[rows[0]], mdp.edge_start[rows[-1] + 1])
        after, starts = mdp.edge_next[edges], mdp.edge_start[rows] - mdp.edge_start[rows[0]]
        chance, cost = mdp.edge_chance[edges], mdp.edge_cost[edges]
        means = np.add.reduceat(chance * (cost + ahead.mean[1:, after]), starts, axis=1)  # [step, row]
        wins = np.add.reduceat(chance * ahead.success[1:, after], starts, axis=1)
        dearer, likelier = means - ahead.mean[:-1, [state]], wins - ahead.success[:-1, [state]]
        step, often = look.arrivals
        for option in find_options(sketch, state, self._used):
            taken = option[step] - rows[0]
            known = taken >= 0
            mean = look.mean + float(often[known] @ dearer[step[known], taken[known]]) * float(mdp.quantum)
            success = look.success + float(often[known] @ likelier[step[known], taken[known]])
            if self.limits.allow_bounds(success, mean):
                yield option

    def finish(self, sketch: Sketch) -> Simple | None:
        """The plan of a sketch; None if it is not good enough."""
        policy = settle(sketch)
        cost = run_exactly(policy, self.start).distribution
        if not self.limits.allow(cost):
            return None
        return Simple(count_rules(policy, self.start), self.limits.objective.of(cost), policy)


def _sort(units: NDArray[np.float64], chances: NDArray[np.float64], mdp: MDP) -> Costs:
    order = np.argsort(units, kind="stable")
    return Costs(units[order] * float(mdp.quantum), chances[order] / chances.sum())


def _frequent(names: NDArray[np.int64], cells: RunCells, which: NDArray[np.bool_]) -> dict[int, float]:
    """How often runs come to each of some states, or take each of some rows, if that is often enough to be told."""
    found, number = np.unique(names[which], return_inverse=True)
    weights = np.bincount(number, cells.chance[which], len(found))
    told = weights >= RARE_STEP
    return dict(zip(found[told].tolist(), weights[told].tolist(), strict=True))
