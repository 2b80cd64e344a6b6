"""Mean and deviation, and mean and variance, for everybody who may start in an MDP.

One sweep for whole targets (in quanta) finds, for each person, plans on the hull of `hull` and the lines that no plan
is below. Neighbouring targets with the same plan have nothing between them. Where plans differ, something better may
hide, though it seldom does; only there, and only for that person, the search of `hull` goes on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safear.core.arrays import PolicyArrays, join_policies, make_policy
from safear.evaluation.policy import SpentPolicy
from safear.mdp.arrays import MDP
from safear.mdp.ground import restrict
from safear.mdp.spending import largest_spent
from safear.progress import Progress
from safear.solvers.hull import (
    ROUNDING,
    HullPlans,
    KnownPlans,
    Line,
    Point,
    Scale,
    find_optimum,
    least_between,
    sweep_least_mean,
)
from safear.solvers.success import allowed_rows
from safear.solvers.targets import SQUARE, fits, sweep_targets

Reals = NDArray[np.float64]
Whole = NDArray[np.int64]
Part = tuple[PolicyArrays, int, Whole]  # a policy, by how much it is moved up the account, and for which states
WORTH_IT = 3  # times the most that can be spent: so many targets are less work than some searches
FAR = 10  # times the most that can be spent, below 0: from there on, the best plan is most often that with least mean
MAX_ROOM = 2**30  # bytes; where a sweep takes more, a plan is searched for each person
TABLES = 18  # of all states and targets: those of the sweep, and what is made of them
TRIED = 64  # stretches of targets, from which the one that serves most people is taken


def find_deviation(
    mdp: MDP, scale: Scale, *, tolerance: float, slack: float | None = None, progress: Progress | None = None
) -> tuple[SpentPolicy, Reals, Reals]:
    """The optimum for each person, to a relative gap of `tolerance`: the policy, its values, and their bounds."""
    values = np.where(mdp.goal, 0.0, float(mdp.failure_cost))
    bounds, opening = values.copy(), np.zeros(mdp.n_states, dtype=np.int64)
    starts = mdp.starts[np.diff(mdp.row_start)[mdp.starts] > 0]
    shared = _sweep_whole_targets(mdp, scale, starts, slack, progress)
    values[starts], bounds[starts], opening[starts] = shared.value, shared.bound, shared.accounts[shared.best]
    own, top = list[Part](), int(shared.accounts[-1])
    of_shared = shared.bound >= shared.value * (1 - tolerance)
    for person in np.flatnonzero(~of_shared).tolist():
        start = int(starts[person])
        part = restrict(mdp, start)
        plans = HullPlans(part.mdp, slack)
        optimum = find_optimum(plans, scale, shared.known(person, plans), tolerance=tolerance)
        values[start], bounds[start], opening[start] = optimum.value, optimum.bound, optimum.point.opening
        of_shared[person] = optimum.point.policy is None
        if optimum.point.policy is not None:
            # Such a plan has a stretch of the account axis of its own, so that one policy holds all plans.
            base = top + 2
            top = base + plans.most
            opening[start] += base
            own.append((optimum.point.policy, base, part.states))
    parts = [*shared.policies_for(mdp, opening[starts[of_shared]]), *own]
    return SpentPolicy.of(mdp, opening, join_policies(parts, mdp.horizon, mdp.n_states)), values, bounds


@dataclass(frozen=True)
class _Shared:
    """What is known of everybody: lines [person, target] for minus infinity and rising whole targets.

    Minus infinity is for the least mean: the plan `cheapest`. The account of a target opens with `accounts`.
    """

    scale: Scale
    lines: Line[Reals]
    accounts: Whole
    cheapest: PolicyArrays
    policy: PolicyArrays

    @cached_property
    def _values(self) -> Reals:
        return self.scale.value(self.lines.mean, self.lines.variance)

    @cached_property
    def _least(self) -> Reals:
        least: Reals = self._values.min(axis=1, keepdims=True)
        return least

    @cached_property
    def best(self) -> Whole:
        """The best target of each person; of those that are equally good, that whose plan has the least mean."""
        means = np.where(self._values <= self._least * (1 + ROUNDING), self.lines.mean, np.inf)
        best: Whole = means.argmin(axis=1)
        return best

    @property
    def value(self) -> Reals:
        """The objective of the best plan."""
        return np.take_along_axis(self._values, self.best[:, None], axis=1)[:, 0]

    @cached_property
    def bound(self) -> Reals:
        """What no plan is below."""
        bound: Reals = np.hstack([self._least, self.hidden, np.where(self.is_open, self._surely, np.inf)]).min(axis=1)
        return bound

    @property
    def _surely(self) -> Reals:
        """The least mean."""
        return self.lines.mean[:, :1]

    @cached_property
    def _own_targets(self) -> tuple[Reals, Reals]:
        low, high = self.scale.own_targets(self.lines.mean[:, :1], self.lines.variance[:, :1], self._least)
        return low - ROUNDING * np.abs(low), high + ROUNDING * np.abs(high)

    @property
    def is_open(self) -> NDArray[np.bool_]:
        """[person, 1]: whether the optimum's own target may lie above all of these."""
        is_open: NDArray[np.bool_] = self.lines.target[:, -1:] < self._own_targets[1]
        return is_open

    @cached_property
    def hidden(self) -> Reals:
        """[person, i]: what no plan between the targets i and i + 1 is below.

        Infinite where both have the same plan, and where the optimum's own target cannot be.
        """
        lower, upper = (Line(*(column[:, part] for column in self.lines)) for part in (slice(-1), slice(1, None)))
        same = _is_small(upper.mean - lower.mean, lower.mean)
        same &= _is_small(upper.variance - lower.variance, lower.variance)
        low, high = self._own_targets
        outside = (upper.target < low) | (lower.target > high)
        return np.where(same | outside, np.inf, least_between(lower, upper, self.scale))

    def known(self, person: int, plans: HullPlans) -> KnownPlans:
        """What a person's own search begins with."""
        columns = zip(*(column[person].tolist() for column in self.lines), self.accounts.tolist(), strict=True)
        points = [Point(Line(*figures), None, account) for *figures, account in columns]
        pairs = [(points[i], points[i + 1]) for i in np.flatnonzero(np.isfinite(self.hidden[person])).tolist()]
        best = points[int(self.best[person])]
        if self.is_open[person, 0]:
            highest = min(float(self._own_targets[1][person, 0]), plans.largest)
            if highest > points[-1].line.target:
                dearest = plans.find(highest)
                pairs.append((points[-1], dearest))
                best = min(best, dearest, key=self.scale.of)
        return KnownPlans(best, pairs)

    def policies_for(self, mdp: MDP, openings: Whole) -> list[Part]:
        """What somebody needs whose account opens with one of these."""
        others, every = openings[openings > self.accounts[0]], np.arange(mdp.n_states, dtype=np.int64)
        parts = []
        if len(others) < len(openings):  # it has the lowest stretch of the account axis
            parts.append((self.cheapest, 2 * int(self.accounts[0]) + 2, every))
        if len(others):
            steps = np.arange(mdp.horizon * mdp.n_states, dtype=np.int64) // mdp.n_states
            low = int(others.min()) - steps * int(mdp.edge_cost.max(initial=0))
            parts.append((_crop(self.policy, low, int(others.max())), 0, every))
        return parts


def _crop(policy: PolicyArrays, low: Whole, high: int) -> PolicyArrays:
    """What holds for accounts between `low` (at each place) and `high`."""
    begin, first, choice = np.asarray(policy.piece_start), np.asarray(policy.first), np.asarray(policy.choice)
    ends, lowest = np.append(first[1:], 0), np.repeat(low, np.diff(begin))
    ends[begin[1:] - 1] = np.iinfo(np.int64).max
    kept = (first <= high) & (ends > lowest)
    return make_policy(np.append(0, kept.cumsum(dtype=np.int64))[begin], np.maximum(first, lowest)[kept], choice[kept])


def _is_small(difference: Reals, beside: Reals) -> NDArray[np.bool_]:
    """Whether numbers differ by rounding alone."""
    small: NDArray[np.bool_] = np.abs(difference) <= ROUNDING * (1 + np.abs(beside))
    return small


def _sweep_whole_targets(
    mdp: MDP, scale: Scale, starts: Whole, slack: float | None, progress: Progress | None
) -> _Shared:
    """The plans with the least mean, and a sweep for the targets that serve most people."""
    cheapest = sweep_least_mean(mdp, slack)
    most = int(largest_spent(mdp)[starts].max(initial=0))
    mean, variance = cheapest.mean[starts, :1], cheapest.variance[starts, :1]
    lowest, count = _choose_targets(scale, mean, variance, most, mdp.failure_cost)
    count = count if fits(mdp, most + count, tables=TABLES, max_bytes=MAX_ROOM) else 0
    swept, targets = cheapest, (float(lowest - most), most + count)
    if count:
        allowed = allowed_rows(mdp, slack)
        swept = sweep_targets(mdp, SQUARE, targets=targets, allowed=allowed, last=count, progress=progress)
    asked = np.concatenate([[-np.inf], lowest + np.arange(count)])
    everywhere = np.broadcast_to(asked, (len(starts), count + 1))
    tables = [table[starts, table.shape[1] - count :] for table in (swept.mean, swept.variance, swept.score)]
    least = (mean, variance, np.zeros_like(mean))
    lines = Line(everywhere, *(np.hstack(both) for both in zip(least, tables, strict=True)))
    accounts = np.concatenate([[-most - 2], most + np.arange(count)])
    return _Shared(scale, lines, accounts, cheapest.policy, swept.policy)


def _choose_targets(scale: Scale, mean: Reals, variance: Reals, most: int, failure_cost: int) -> tuple[int, int]:
    """The lowest and the number of the whole targets that may be the own target of most people's optimum.

    From `mean` and `variance` of their plans with the least mean; if there is no variance, this plan is the optimum.
    """
    unsure = variance[:, 0] > 0
    if not unsure.any():
        return 0, 0
    mean, variance, many = mean[unsure, 0], variance[unsure, 0], WORTH_IT * (most + 1)
    low, high = scale.own_targets(mean, variance, scale.value(mean, variance))
    low = np.maximum(np.maximum(low, np.minimum(mean - many // 2, high)), -FAR * (most + 1))
    high = np.maximum(np.minimum(np.minimum(high, most + failure_cost), low + many - 2), low)
    tried = np.unique(np.quantile(low, np.linspace(0, 1, TRIED), method="nearest"))
    served = [(low >= begin) & (high <= begin + many - 2) for begin in tried]
    best = max(served, key=np.count_nonzero)
    lowest = math.floor(low[best].min())
    return lowest, math.ceil(high[best].max()) - lowest + 1
