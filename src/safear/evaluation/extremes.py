"""How far the figures of one plan can be off if chances lie anywhere in their intervals: the best and the worst case.

An adversary chooses the chances anew at every step, knowing all that has happened, anywhere in the intervals of the row
that the plan takes. With V(s, x) the most that the expected loss can be at a state s after spending x,

    V_h(s, x) = max over p of sum p * V_{h+1}(s', x + c),    V at the end = loss(total cost, success),

backward over all (state, spent) pairs that the plan can be in, with the inner maximum of `core.sweeps`. The least
is the negative of the most of the negative. By loss:

    success    [not at a goal]
    mean       C
    var(a)     [C > t]: the smallest t whose highest (lowest) chance to be exceeded is at most 1 - a
    cvar(a)    max(C - t, 0): the least over t of t + (the highest or lowest expected loss) / (1 - a)

All of these are exact for this adversary, and bounds for a fixed unknown chance. For the worst CVaR the least over t
and the worst over p may change places: the laws of C that the adversary can bring about are a convex, compact set (the
intervals are, and he may choose by history), the expectation is linear in the law and the whole convex in t (Sion).
The worst expected loss is then convex in t, linear between points of which some are no possible total: that is where
the adversary changes his mind. The chance to exceed t, carried along with the loss, is its slope, so the lines that
touch it from below bound the least from below; the search ends where they meet it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safear.core.runs import Runs, expect_back
from safear.core.sweeps import NO_REALS
from safear.evaluation.forward import follow, total_costs
from safear.evaluation.policy import Planned, Policy, policy_of
from safear.mdp.arrays import MDP
from safear.problem.model import Record
from safear.risk.distribution import EPSILON, check_level, units_within
from safear.risk.objectives import Budget, CVaR, MeanCVaR, Objective, VaR

AT_ONCE = 32  # targets in one sweep, if few pairs make it cheap
BATCH = 200_000  # pairs and targets in one sweep that take about as long as the overhead of it
MOST_ROUNDS = 200  # of the search for the best target; tangents meet long before
ROUNDING = 1e-12  # a relative gap below this is rounding

Values = NDArray[np.float64]  # [pair, column, what]: the adversary maximises the first, the rest is carried along
Loss = Callable[[NDArray[np.float64], NDArray[np.bool_]], Values]  # of (total costs in quanta, successes)


@dataclass(frozen=True, slots=True)
class Range:
    """From the least to the most that a figure can be."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class FigureRanges:
    """The ranges of a plan's figures over all runs; the tail is the mean of the worst 1 - `level` of them."""

    level: float
    success: Range
    mean: Range
    var: Range
    tail: Range


def evaluate_ranges(
    solution: Planned | Policy, start: Record | int | None = None, *, level: float
) -> FigureRanges | None:
    """The best and the worst case of a plan for a person over the intervals of its chances; None if it meets none."""
    check_level(level)
    policy = policy_of(solution)
    origin = policy.mdp.locate_start(start)
    tree = _Tree.of(policy, origin) if policy.mdp.has_intervals else None
    if tree is None or not tree.has_intervals:
        return None
    quantum = policy.mdp.quantum

    def to_range(low: float, high: float) -> Range:
        costs = (float(units) * quantum.numerator / quantum.denominator for units in (low, high))
        return Range(*costs)

    failure, mean = tree.extremes(_failing), tree.extremes(_total)
    success = Range(*(min(max(1.0 - chance, 0.0), 1.0) for chance in reversed(failure)))
    highest = _find_var(tree, level, sign=1.0, last=len(tree.totals) - 1)
    lowest = _find_var(tree, level, sign=-1.0, last=highest)
    var = to_range(*tree.totals[[lowest, highest]])
    if level > 1 - EPSILON:  # nothing lies beyond the worst case
        return FigureRanges(level, success, to_range(*mean), var, var)
    # The best target lies where a VaR can be: before and behind, 1 - (chance to exceed it) / (1 - level), which is the
    # slope, has one sign whatever the chances are.
    between = tree.totals[lowest : highest + 1]
    tail = to_range(_least_tail(tree, level, between), _worst_tail(tree, level, between))
    return FigureRanges(level, success, to_range(*mean), var, tail)


def evaluate_worst(solution: Planned | Policy, objective: Objective, start: Record | int | None = None) -> float:
    """The most that VaR, CVaR, mean and CVaR, or the chance to miss a budget of a plan can be over the intervals."""
    policy = policy_of(solution)
    quantum, tree = policy.mdp.quantum, _Tree.of(policy, policy.mdp.locate_start(start))
    match objective.cost_objective:
        case Budget(limit):
            return tree.extremes(_missing(units_within(limit, quantum)))[1]
        case VaR(level):
            worst = float(tree.totals[_find_var(tree, level, sign=1.0, last=len(tree.totals) - 1)])
        case CVaR(level):
            worst = _find_worst_tail(tree, level)
        case MeanCVaR(weight, level):
            worst = _find_worst_tail(tree, level, weight)
        case _:
            raise TypeError(objective)
    return worst * quantum.numerator / quantum.denominator


def _find_worst_tail(tree: _Tree, level: float, weight: float = 1.0) -> float:
    """The worst of the mean and the tail together: one adversary for both."""
    highest = _find_var(tree, level, sign=1.0, last=len(tree.totals) - 1)
    if level > 1 - EPSILON:  # whatever is possible is the worst case, with chances as near to any others as may be
        return (1 - weight) * tree.extremes(_total)[1] + weight * float(tree.totals[highest])
    return _worst_tail(tree, level, tree.totals[: highest + 1], weight)


@dataclass(frozen=True, eq=False)
class _Tree:
    """All (state, spent) pairs that a plan can be in, and the total and the success of runs that are `over` there."""

    mdp: MDP
    runs: Runs
    over: NDArray[np.int64]
    total: NDArray[np.float64]
    success: NDArray[np.bool_]

    @classmethod
    def of(cls, policy: Policy, start: int) -> _Tree:
        runs = follow(policy.mdp, policy.choosing(int(policy.accounts[start])), start, possible=True)
        over = np.flatnonzero(np.asarray(runs.cells.row) < 0)
        total = total_costs(runs.cells, policy.mdp)[over].astype(np.float64)
        return cls(policy.mdp, runs, over, total, policy.mdp.goal[runs.cells.state][over])

    @property
    def has_intervals(self) -> bool:
        return bool((self.mdp.edge_low < self.mdp.edge_high)[self.runs.moves.edge].any())

    @cached_property
    def totals(self) -> NDArray[np.float64]:
        """All total costs that are possible, in quanta, rising."""
        return np.unique(self.total)

    @cached_property
    def at_once(self) -> int:
        """How many targets to try in one sweep."""
        return columns_at_once(len(self.runs.cells.row))

    def extremes(self, loss: Loss) -> tuple[float, float]:
        """The least and the most that an expected loss can be."""
        both = self.worst(lambda total, success: np.concatenate([-(one := loss(total, success)), one], axis=1))
        return float(-both[0, 0]), float(both[1, 0])

    def worst(self, loss: Loss) -> Values:
        """The most that each column's expected loss can be, with what is carried along: [column, what]."""
        ended = loss(self.total, self.success)
        values = np.empty((len(self.runs.cells.row), *ended.shape[1:]))
        values[self.over] = ended
        moves = self.runs.moves
        expect_back(moves, moves.target, self.mdp.ranges(), NO_REALS, values)
        found: Values = values[0]
        return found


def _failing(total: NDArray[np.float64], success: NDArray[np.bool_]) -> Values:
    del total
    return (~success).astype(np.float64)[:, None, None]


def _total(total: NDArray[np.float64], success: NDArray[np.bool_]) -> Values:
    del success
    return total[:, None, None]


def _find_var(tree: _Tree, level: float, *, sign: float, last: int) -> int:
    """The first total, up to that at `last`, that is exceeded with a chance of at most 1 - level, as in `Costs.var`.

    What counts is the highest chance, or with the sign -1 the lowest.
    """
    most = 0.0 if level > 1 - EPSILON else min(1 - level + EPSILON, 1 - EPSILON)
    exceeded, enough = -1, last
    while enough - exceeded > 1:
        tried = spread_between(exceeded, enough, tree.at_once)
        chances = sign * tree.worst(_exceeding(tree.totals[tried], sign))[:, 0]
        fine = int((chances > most).sum())  # the chance falls with the total
        exceeded, enough = int([exceeded, *tried][fine]), int([*tried, enough][fine])
    return enough


def _exceeding(targets: NDArray[np.float64], sign: float) -> Loss:
    """Whether the total lies above each target."""
    return lambda total, _: np.where(total[:, None, None] > targets[None, :, None], sign, 0.0)


def _missing(budget: int) -> Loss:
    """Whether a run does not succeed within a budget, in quanta."""
    return lambda total, success: (~success | (total > budget)).astype(np.float64)[:, None, None]


def _excess(targets: NDArray[np.float64], factor: float = 1.0, of_mean: float = 0.0) -> Loss:
    """`factor` times what lies above each target plus `of_mean` times the total; and the chance to lie above it."""

    def loss(total: NDArray[np.float64], success: NDArray[np.bool_]) -> Values:
        del success
        above = total[:, None] - targets[None, :]
        lost = factor * np.maximum(above, 0.0) + of_mean * total[:, None]
        return np.stack([lost, (above > 0).astype(np.float64)], axis=2)

    return loss


def _worst_tail(tree: _Tree, level: float, between: NDArray[np.float64], weight: float = 1.0) -> float:
    """The least over all t of k * t + (worst of (1 - k) * mean + k * expected excess / (1 - level)), k the weight.

    This is convex in t, so tangents close in on it.
    """
    factor = weight / (1 - level)

    def look(targets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Each target with the value there and the slope of what touches it: [target, 3]."""
        worst = tree.worst(_excess(targets, factor, 1 - weight))
        return np.stack([targets, weight * targets + worst[:, 0], weight - factor * worst[:, 1]], axis=1)

    known = look(between[[0, -1]])
    for _ in range(MOST_ROUNDS):
        best, right = float(known[:, 1].min()), int((known[:, 2] < 0).sum())
        if right in {0, len(known)}:
            break
        (low, value, slope), (high, other, steeper) = known[right - 1], known[right]
        meeting = low + (other - value - steeper * (high - low)) / (slope - steeper)
        if best - (value + slope * (meeting - low)) <= ROUNDING * max(best, 1.0) or not low < meeting < high:
            break
        tried = np.append(np.linspace(low, high, tree.at_once + 1)[1:-1], meeting)
        known = np.concatenate([known[right - 1 : right + 1], look(np.unique(tried))])
        known = known[np.argsort(known[:, 0], kind="stable")]
    return best


def _least_tail(tree: _Tree, level: float, between: NDArray[np.float64]) -> float:
    """The least over possible totals t of t + (least expected excess) / (1 - level)."""

    def look(targets: NDArray[np.float64]) -> NDArray[np.float64]:
        return -tree.worst(_negated(_excess(targets)))[:, 0] / (1 - level)

    return search_least(between, look, at_once=tree.at_once)


def columns_at_once(pairs: int) -> int:
    """How many targets to try in one sweep over so many pairs: few enough to be cheap, and to fit into memory."""
    return max(1, min(AT_ONCE, BATCH // pairs))


def search_least(
    targets: NDArray[np.float64],
    look: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    *,
    at_once: int,
    weight: float = 1.0,
) -> float:
    """The least over the targets t, rising, of weight * t + V(t), where V, which `look` finds, falls with t.

    Between two that were tried, V is no less than at the second, and t no less than just after the first: where that
    is not below the best value found, nothing needs to be tried.
    """
    tried, least = np.empty(0, dtype=np.int64), np.empty(0)
    new = np.unique([0, len(targets) - 1, *spread_between(0, len(targets) - 1, AT_ONCE // 4)])
    while True:
        parts = np.array_split(new, -(-len(new) // at_once))
        tried, least = np.concatenate([tried, new]), np.concatenate([least, *(look(targets[part]) for part in parts)])
        order = np.argsort(tried)
        tried, least = tried[order], least[order]
        best = float((weight * targets[tried] + least).min())
        bounds = weight * targets[np.minimum(tried[:-1] + 1, len(targets) - 1)] + least[1:]
        hopeful = np.flatnonzero((np.diff(tried) > 1) & (bounds < best - ROUNDING * max(best, 1.0)))
        if not len(hopeful):
            return best
        new = np.concatenate([spread_between(tried[place], tried[place + 1], 3) for place in hopeful])


def _negated(loss: Loss) -> Loss:
    return lambda total, success: -loss(total, success)


def spread_between(before: int, behind: int, most: int) -> NDArray[np.int64]:
    """At most so many places between two, neither included."""
    count = min(most, behind - before - 1)
    return np.unique(np.linspace(before, behind, count + 2)[1:-1].round().astype(np.int64))
