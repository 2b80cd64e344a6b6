"""Derivatives of what a plan leads to by every chance and cost of the problem: the adjoint of the forward pass.

With P_h(s, x) how likely a run is to be at (s, x) at step h, and W_h(s, x) what a figure is expected to be from there,

    d figure / d p(edge) = sum over h and (s, x) of P_h(s, x) * W_{h+1}(s', x + c)

so that one pass forward and one back give the derivatives by all chances. The plan is held fixed: what it does after
each history stays the same, whatever the history costs. For the optimum of an objective that is also the derivative of
its value (envelope theorem). The derivative of the mean by a cost is how often it is expected to be paid.

The tail (CVaR) is w + E[max(C - w, 0)] / (1 - level) at the best target w, and can have a kink: two targets may be
equally good, and of the runs that cost exactly w, moving a cost moves some and not others. So it has a derivative for a
rise and one for a fall. The value at risk has none: it jumps from one total to another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.core import runs as core_runs
from safear.core.runs import Cells, Runs
from safear.core.sweeps import Ranges
from safear.evaluation.forward import add_digits, follow, total_costs
from safear.evaluation.policy import Planned, Policy, policy_of
from safear.mdp.arrays import MDP
from safear.mdp.parameters import Parameter
from safear.problem.model import Record
from safear.risk.distribution import EPSILON, check_level
from safear.steady import dot

Reals = NDArray[np.float64]
_NO_RANGES = Ranges(np.empty(0), np.empty(0), 0)


class Slope(NamedTuple):
    """The derivative of a figure if the amount falls, and if it rises; nearly always the same."""

    down: float
    up: float


@dataclass(frozen=True, slots=True, eq=False)
class Derivatives:
    """By how much the figures of a plan, over all runs, rise per unit of a parameter."""

    parameter: Parameter
    success: float
    mean: float
    tail: Slope


def differentiate(
    plan: Planned | Policy, parameters: Sequence[Parameter], start: Record | int | None = None, *, level: float
) -> tuple[Derivatives, ...]:
    """The derivatives of success, mean and tail (CVaR at a level) of a plan by each parameter."""
    check_level(level)
    policy = policy_of(plan)
    origin = policy.mdp.locate_start(start)
    passes = _Passes(policy, origin, level)
    return tuple(Derivatives(parameter, *passes.by(parameter)) for parameter in parameters)


def expect_back(runs: Runs, chances: Sequence[Reals], ends: Reals, *, worst: bool = False) -> Reals:
    """W_h of each cell of runs: what is expected of several figures [cell, figure] that are known at the `ends`.

    With several `chances` [edge], whatever comes out higher (`worst`) or lower is taken at each cell and figure anew.
    """
    sign = 1.0 if worst or len(chances) == 1 else -1.0
    values = sign * ends[:, :, None]
    core_runs.expect_back(runs.moves, runs.moves.target, _NO_RANGES, np.stack(chances), values)
    return sign * values[:, :, 0]


class _Passes:
    """The pass forward and the pass back for one plan, and what they say of a parameter."""

    def __init__(self, policy: Policy, origin: int, level: float) -> None:
        self.policy, self.origin, self.level = policy, origin, level
        self.mdp, self.choose = policy.mdp, policy.choosing(int(policy.accounts[origin]))
        self.runs = follow(self.mdp, self.choose, origin, possible=True)
        figures = _figures(self.runs.cells, self.mdp, self._best_targets())
        back = expect_back(self.runs, [self.mdp.edge_chance], figures)
        moves, chance = self.runs.moves, np.asarray(self.runs.cells.chance)
        self.gradient, self.uses = np.zeros((self.mdp.n_edges, back.shape[1])), np.zeros(self.mdp.n_edges)
        np.add.at(self.gradient, moves.edge, chance[moves.origin, None] * back[moves.target])
        np.add.at(self.uses, moves.edge, moves.chance)
        self.success = float(back[0, 0])

    def by(self, parameter: Parameter) -> tuple[float, float, Slope]:
        """The derivatives of success, mean and tail."""
        if parameter.is_chance:
            quantum = float(self.mdp.quantum)
            success, mean, *excess = (parameter.slope[:, None] * self.gradient[parameter.edges]).sum(axis=0)
            share = 1 - self.level
            tails = [part * quantum / share for part in excess] if share > EPSILON else [0.0]
            return float(success), float(mean) * quantum, Slope(float(max(tails)), float(min(tails)))
        if parameter.kind == "failure_cost":
            return 0.0, 1 - self.success, self._tail_by(parameter)
        paid = float(self.uses[parameter.edges].sum())
        return 0.0, paid, self._tail_by(parameter) if paid > 0 else Slope(0.0, 0.0)

    def _best_targets(self) -> Reals:
        """All totals that are best targets of the tail, in quanta."""
        totals, chances, _ = _ends(self.runs.cells, self.mdp)
        distinct, inverse = np.unique(totals, return_inverse=True)
        mass = np.bincount(inverse, weights=chances)
        below = np.cumsum(mass) / mass.sum()
        first = int(np.searchsorted(below, max(self.level - EPSILON, EPSILON)))
        first = min(first, len(distinct) - 1)
        last = first
        if below[first] <= self.level + EPSILON:  # no more than the level: all up to the next that happens are as good
            last = int(np.searchsorted(below, below[first] + EPSILON))
        return distinct[first : min(last, len(distinct) - 1) + 1].astype(np.float64)

    def _tail_by(self, parameter: Parameter) -> Slope:
        """How often a cost is paid in the worst runs.

        CVaR is the largest mean over weights of runs of at most 1 / (1 - level) that add up to 1. Its derivative is the
        largest (for a fall, the least) mean number of payments over the weights that attain it: of the runs that cost
        the same, those that pay most often (least often) come first.
        """
        if parameter.kind == "failure_cost":
            totals, chances, success = _ends(self.runs.cells, self.mdp)
            paid = (~success).astype(int)
        else:
            base = self.mdp.horizon + 1  # payments ride along as the last digit of what was spent
            payments = np.zeros(self.mdp.n_edges, dtype=np.int64)
            payments[parameter.edges] = 1
            cost = add_digits(self.mdp.edge_cost, payments, base, self.mdp.horizon)
            failure = self.mdp.failure_cost * base
            counted = replace(self.mdp, edge_cost=cost, failure_cost=failure)
            choose = self.choose
            runs = follow(counted, lambda step, states, spent: choose(step, states, spent // base), self.origin)
            totals, chances, _ = _ends(runs.cells, counted)
            totals, paid = np.divmod(totals, base)
        return Slope(*(_mean_of_worst(totals, paid * sign, chances, self.level) * sign for sign in (-1, 1)))


def _mean_of_worst(totals: NDArray[np.int64], paid: NDArray[np.int64], chances: Reals, level: float) -> float:
    """The mean of `paid` over the runs with the largest totals, 1 - level of all; among equals, the largest first."""
    happens = chances > 0
    totals, paid, chances = totals[happens], paid[happens], chances[happens]
    order = np.lexsort((paid, totals))[::-1]
    share = 1 - level
    if share <= EPSILON:
        return float(paid[order[0]])
    used = np.diff(np.minimum(np.cumsum(chances[order]), share), prepend=0.0)
    return dot(used, paid[order]) / share


def _ends(cells: Cells, mdp: MDP) -> tuple[NDArray[np.int64], Reals, NDArray[np.bool_]]:
    """The total cost of each way a run may end, in quanta, with its chance and whether it succeeds."""
    over = np.asarray(cells.row) < 0
    return total_costs(cells, mdp)[over], np.asarray(cells.chance)[over], mdp.goal[cells.state][over]


def _figures(cells: Cells, mdp: MDP, targets: Reals) -> Reals:
    """Success, the total, and by how much it exceeds each target, if runs ended there [cell, figure]."""
    success, totals = mdp.goal[cells.state].astype(np.float64), total_costs(cells, mdp).astype(np.float64)
    return np.stack([success, totals, *(np.maximum(totals - target, 0.0) for target in targets)], axis=1)
