"""How far the figures of one plan can be off if chances lie anywhere in their intervals: the best and the worst case.

An adversary chooses the chances anew at every step, knowing all that has happened, anywhere in the intervals of the row
that the plan takes. With V(s, x) the most that the expected loss can be at a state s after spending x,

    V_h(s, x) = max over p of sum p * V_{h+1}(s', x + c),    V at the end = loss(total cost, success),

backward over all (state, spent) pairs that the plan can be in, with the inner maximum by `worst_chances`. The least is
the negative of the most of the negative. By loss:

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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.forward import Layer, propagate
from safear.evaluation.policy import Planned, Policy, policy_of
from safear.mdp.arrays import MDP
from safear.mdp.intervals import worst_chances
from safear.problem.model import Record
from safear.risk.distribution import EPSILON, check_level

AT_ONCE = 32  # targets in one sweep
MOST_ROUNDS = 40  # of the search for the best target; each makes the gap 30 times smaller
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
        costs = (units * quantum.numerator / quantum.denominator for units in (low, high))
        return Range(*costs)

    failure, mean = tree.extremes(_failing), tree.extremes(_total)
    success = Range(*(min(max(1.0 - chance, 0.0), 1.0) for chance in reversed(failure)))
    var = to_range(_find_var(tree, level, worst=False), _find_var(tree, level, worst=True))
    # Nothing lies beyond the worst case; without a tail, the tail is all there is.
    tail = var if level > 1 - EPSILON else to_range(_least_tail(tree, level), _worst_tail(tree, level))
    return FigureRanges(level, success, to_range(*mean), var, tail)


class _Group(NamedTuple):
    """The pairs of a layer whose rows have so many outcomes: `pair` [n], the others [n, outcomes]."""

    pair: NDArray[np.int64]
    target: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class _Step(NamedTuple):
    """A layer, read backward: which runs are over with which total, and where the others go."""

    pairs: int
    over: NDArray[np.int64]
    total: NDArray[np.float64]
    success: NDArray[np.bool_]
    groups: list[_Group]


@dataclass(frozen=True, slots=True)
class _Tree:
    """All (state, spent) pairs that a plan can be in, step by step."""

    steps: list[_Step]

    @classmethod
    def of(cls, policy: Policy, start: int) -> _Tree:
        choose = policy.choosing(int(policy.accounts[start]))
        return cls([_read_layer(policy.mdp, layer) for layer in propagate(policy.mdp, choose, start, possible=True)])

    @property
    def has_intervals(self) -> bool:
        return any(bool((group.low < group.high).any()) for step in self.steps for group in step.groups)

    @property
    def totals(self) -> NDArray[np.float64]:
        """All total costs that are possible, in quanta."""
        return np.unique(np.concatenate([step.total for step in self.steps]))

    def extremes(self, loss: Loss) -> tuple[float, float]:
        """The least and the most that an expected loss can be."""
        both = self.worst(lambda total, success: np.concatenate([-(one := loss(total, success)), one], axis=1))
        return float(-both[0, 0]), float(both[1, 0])

    def worst(self, loss: Loss) -> Values:
        """The most that each column's expected loss can be, with what is carried along: [column, what]."""
        later = np.empty((0, 0, 0))
        for step in reversed(self.steps):
            ended = loss(step.total, step.success)
            values = np.empty((step.pairs, *ended.shape[1:]))
            values[step.over] = ended
            for group in step.groups:
                ahead = later[group.target]
                chances = worst_chances(group.low, group.high, ahead[..., 0])
                values[group.pair] = (chances[..., None] * ahead).sum(axis=1)
            later = values
        found: Values = later[0]
        return found


def _read_layer(mdp: MDP, layer: Layer) -> _Step:
    over = np.flatnonzero(layer.row < 0)
    success = mdp.goal[layer.state[over]]
    total = layer.spent[over] + np.where(success, 0, mdp.failure_cost)
    pairs, first, counts = np.unique(layer.origin, return_index=True, return_counts=True)
    groups = []
    for count in np.unique(counts):
        chosen = counts == count
        moves = first[chosen, None] + np.arange(count)
        edge = layer.edge[moves]
        groups.append(_Group(pairs[chosen], layer.target[moves], mdp.edge_low[edge], mdp.edge_high[edge]))
    return _Step(len(layer.state), over, total.astype(np.float64), success, groups)


def _failing(total: NDArray[np.float64], success: NDArray[np.bool_]) -> Values:
    del total
    return (~success).astype(np.float64)[:, None, None]


def _total(total: NDArray[np.float64], success: NDArray[np.bool_]) -> Values:
    del success
    return total[:, None, None]


def _find_var(tree: _Tree, level: float, *, worst: bool) -> float:
    """The smallest total whose highest (lowest) chance to be exceeded is at most 1 - level; as in `Costs.var`."""
    totals, sign = tree.totals, 1.0 if worst else -1.0
    most = 0.0 if level > 1 - EPSILON else min(1 - level + EPSILON, 1 - EPSILON)
    exceeded, enough = -1, len(totals) - 1  # places of totals: one that is not enough, and one that is
    while enough - exceeded > 1:
        tried = _spread(exceeded + 1, enough - 1)
        chances = sign * tree.worst(_exceeding(totals[tried], sign))[:, 0]
        fine = np.flatnonzero(chances <= most)
        if len(fine):
            enough = int(tried[fine[0]])
        exceeded = int(tried[fine[0] - 1]) if len(fine) and fine[0] else exceeded if len(fine) else int(tried[-1])
    return float(totals[enough])


def _exceeding(targets: NDArray[np.float64], sign: float) -> Loss:
    """Whether the total lies above each target."""
    return lambda total, _: np.where(total[:, None, None] > targets[None, :, None], sign, 0.0)


def _excess(targets: NDArray[np.float64]) -> Loss:
    """What lies above each target, and the chance that anything does."""

    def loss(total: NDArray[np.float64], success: NDArray[np.bool_]) -> Values:
        del success
        above = total[:, None] - targets[None, :]
        return np.stack([np.maximum(above, 0.0), (above > 0).astype(np.float64)], axis=2)

    return loss


def _worst_tail(tree: _Tree, level: float) -> float:
    """The least over all t of t + (worst expected excess) / (1 - level): convex, so tangents close in on it."""
    totals = tree.totals
    low, high, meeting = float(totals[0]), float(totals[-1]), float(totals[0])
    best = np.inf
    for _ in range(MOST_ROUNDS):
        targets = np.unique(np.append(np.linspace(low, high, AT_ONCE), meeting))
        worst = tree.worst(_excess(targets))
        values, slopes = targets + worst[:, 0] / (1 - level), 1 - worst[:, 1] / (1 - level)
        best = min(best, float(values.min()))
        falling = np.flatnonzero(slopes < 0)
        if not len(falling) or falling[-1] == len(targets) - 1:
            return best
        left, right = falling[-1], falling[-1] + 1
        low, high = float(targets[left]), float(targets[right])
        meeting = low + (values[right] - values[left] - slopes[right] * (high - low)) / (slopes[left] - slopes[right])
        meeting = min(max(float(meeting), low), high)
        if best - (values[left] + slopes[left] * (meeting - low)) <= ROUNDING * max(best, 1.0):
            return best
    return best


def _least_tail(tree: _Tree, level: float) -> float:
    """The least over possible totals t of t + (least expected excess) / (1 - level).

    Between two totals that were tried, the excess is no less than at the second, and t no less than just after the
    first: where that is not below the best value found, nothing needs to be tried.
    """
    totals = tree.totals
    least = np.full(len(totals), np.nan)
    open_ = [(0, len(totals) - 1)]
    best = np.inf
    while open_:
        tried = np.unique(np.concatenate([_spread(first, last, AT_ONCE // 2) for first, last in open_]))
        tried = tried[np.isnan(least[tried])]
        for part in np.array_split(tried, -(-len(tried) // AT_ONCE)) if len(tried) else []:
            negative = _negated(_excess(totals[part]))
            least[part] = -tree.worst(negative)[:, 0]
        known = np.flatnonzero(~np.isnan(least))
        best = min(best, float((totals[known] + least[known] / (1 - level)).min()))
        bounds = totals[np.minimum(known[:-1] + 1, len(totals) - 1)] + least[known[1:]] / (1 - level)
        hopeful = (np.diff(known) > 1) & (bounds < best - ROUNDING * max(best, 1.0))
        open_ = [(int(a) + 1, int(b) - 1) for a, b in zip(known[:-1][hopeful], known[1:][hopeful], strict=True)]
    return best


def _negated(loss: Loss) -> Loss:
    return lambda total, success: -loss(total, success)


def _spread(first: int, last: int, most: int = AT_ONCE) -> NDArray[np.int64]:
    """At most so many places between two, both included."""
    return np.unique(np.linspace(first, last, min(most, last - first + 1)).round().astype(np.int64))
