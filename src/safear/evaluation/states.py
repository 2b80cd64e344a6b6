"""The exact distribution of what a policy costs, from every state of a block at once.

Backward over the steps, with D_h(s, x) the probability that a run from s at step h costs x quanta more and succeeds:

    D_h(s, x) = sum of p * D_{h+1}(s', x - c)    over the outcomes (p, c, s') of the action that the policy takes at s

and likewise for runs that fail. Sparsity and proximity come from the chances of ending at each level of each feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safear.errors import ObjectiveError, TooLargeError
from safear.mdp.model import MDP
from safear.risk.distribution import EPSILON, CostDistribution, check_level
from safear.solvers.policy import Policy
from safear.solvers.solution import Solution
from safear.spec.model import Person

MAX_BYTES = 4 * 2**30
Figures = np.ma.MaskedArray[tuple[int], np.dtype[np.float64]]  # masked where undefined


@dataclass(frozen=True, eq=False)
class StateDistributions:
    """Distributions of the total cost for all states: `succeeded[s, x]` and `failed[s, x]`, x in quanta from 0.

    The figures are arrays over states, given success; masked where no run succeeds.
    """

    policy: Policy
    succeeded: NDArray[np.float64]
    failed: NDArray[np.float64]

    @property
    def mdp(self) -> MDP:
        """The MDP."""
        return self.policy.mdp

    def distribution(self, start: Person | int) -> CostDistribution:
        """The distribution of one state."""
        state = self.mdp.locate(start)
        good, bad = self.succeeded[state], self.failed[state]
        return CostDistribution(
            np.flatnonzero(good),
            good[good > 0],
            np.flatnonzero(bad),
            bad[bad > 0],
            failure_cost=self.mdp.failure_cost,
            quantum=self.mdp.quantum,
        )

    @cached_property
    def success(self) -> NDArray[np.float64]:
        """The probability of reaching a goal."""
        good, bad = self.succeeded.sum(axis=1), self.failed.sum(axis=1)
        share: NDArray[np.float64] = good / (good + bad)  # see CostDistribution.success
        return share

    @cached_property
    def _share(self) -> NDArray[np.float64]:
        """Probabilities given success; rows of zeros where there is none."""
        total = self.succeeded.sum(axis=1, keepdims=True)
        share: NDArray[np.float64] = np.divide(
            self.succeeded, total, out=np.zeros_like(self.succeeded), where=total > 0
        )
        return share

    @cached_property
    def _costs(self) -> NDArray[np.float64]:
        numerator, denominator = self.mdp.quantum.as_integer_ratio()
        return np.arange(self.succeeded.shape[1]) * numerator / denominator

    @cached_property
    def mean(self) -> Figures:
        """The expected cost given success."""
        return self._masked(self._share @ self._costs)

    @cached_property
    def variance(self) -> Figures:
        """The variance given success."""
        centred = self._costs[None, :] - np.asarray(self.mean.data)[:, None]
        return self._masked(np.einsum("sx,sx->s", self._share, centred**2))

    def var(self, level: float) -> Figures:
        """The value at risk given success."""
        return self._masked(self._costs[self._var_position(level)])

    def cvar(self, level: float) -> Figures:
        """The conditional value at risk given success."""
        if level > 1 - EPSILON:
            check_level(level)
            last = self._share.shape[1] - 1 - np.argmax(self._share[:, ::-1] > 0, axis=1)
            return self._masked(self._costs[last])
        threshold = self._costs[self._var_position(level)]
        excess = np.maximum(self._costs[None, :] - threshold[:, None], 0.0)
        return self._masked(threshold + np.einsum("sx,sx->s", self._share, excess) / (1 - level))

    def tail_mean(self, level: float) -> Figures:
        """The paper's CVaR given success; masked where nothing exceeds the value at risk."""
        beyond = np.arange(self._share.shape[1])[None, :] > self._var_position(level)[:, None]
        tail = np.where(beyond, self._share, 0.0)
        mass = tail.sum(axis=1)
        means = np.divide(tail @ self._costs, mass, out=np.zeros_like(mass), where=mass > 0)
        return np.ma.array(means, mask=mass <= 0)

    @property
    def sparsity(self) -> Figures:
        """The expected number of features that differ at the end of a successful run."""
        return self._final_distance(ordered=False)

    @property
    def proximity(self) -> Figures:
        """The expected distance at the end of a successful run: |levels| for ordered features, 1 for others."""
        return self._final_distance(ordered=True)

    def _var_position(self, level: float) -> NDArray[np.int64]:
        check_level(level)
        # Leading zeros of a row do not count, so that level 0 is the least cost that can happen.
        cumulated = np.cumsum(self._share, axis=1)
        position: NDArray[np.int64] = np.argmax((cumulated >= level - EPSILON) & (cumulated > 0), axis=1)
        return position

    def _masked(self, figures: NDArray[np.float64]) -> Figures:
        return np.ma.array(figures, mask=self.success <= 0)

    def _final_distance(self, *, ordered: bool) -> Figures:
        mdp = self.mdp
        if mdp.space is None or mdp.states is None:
            return np.ma.array(np.zeros(mdp.n_states), mask=True)
        codes = mdp.space.decode(mdp.states)
        total = np.zeros(mdp.n_states)
        for i, feature in enumerate(mdp.space.features):
            for code in np.unique(codes[:, i]):
                # chance[s]: that a run from s succeeds with this feature at this level
                chance = _expect(self.policy, np.where(mdp.goal & (codes[:, i] == code), 1.0, 0.0))
                if ordered and feature.is_ordered:
                    total += chance * np.abs(codes[:, i].astype(np.int64) - code)
                else:
                    total += chance * (codes[:, i] != code)
        success = self.success
        return self._masked(np.divide(total, success, out=np.zeros_like(total), where=success > 0))


def evaluate_states(solution: Solution | Policy, *, max_bytes: int = MAX_BYTES) -> StateDistributions:
    """The exact distribution of the total cost of a policy from every state of its MDP."""
    policy = solution.policy if isinstance(solution, Solution) else solution
    mdp = policy.mdp
    if mdp.depth is not None:
        cause = "this MDP was compiled from one person: its other states are only met later"
        raise ObjectiveError.at((), cause, "compile a block (block=...) or the whole space, or use evaluate(...)")
    width = _largest_total(policy) + 1
    need = 4 * 8 * width * mdp.n_states
    if need > max_bytes:
        cause = f"{mdp.n_states:,} states with {width:,} possible totals would need about {need / 2**30:,.1f} GiB"
        raise TooLargeError.at(
            (), cause, "round costs with 'cost: {resolution: ...}', or evaluate one person at a time"
        )
    succeeded, failed = np.zeros((mdp.n_states, width)), np.zeros((mdp.n_states, width))
    succeeded[mdp.goal, 0] = 1.0
    failed[~mdp.goal, 0] = 1.0
    for step in reversed(range(mdp.horizon)):
        succeeded, failed = _step_back(policy, step, succeeded), _step_back(policy, step, failed)
    return StateDistributions(policy, succeeded, failed)


def _step_back(policy: Policy, step: int, later: NDArray[np.float64]) -> NDArray[np.float64]:
    """D_h from D_{h+1}. Edges of the same number in their row and the same cost are done together."""
    mdp = policy.mdp
    rows = policy.rows(step, np.arange(mdp.n_states))
    acting = np.flatnonzero(rows >= 0)
    now = later.copy()  # where nothing is done, nothing changes
    now[acting] = 0.0
    first, last = mdp.edge_start[rows[acting]], mdp.edge_start[rows[acting] + 1]
    for number in range(int((last - first).max(initial=0))):
        has = first + number < last
        edge, state = (first + number)[has], acting[has]
        for cost in np.unique(mdp.edge_cost[edge]):
            same = mdp.edge_cost[edge] == cost
            spread = mdp.edge_chance[edge[same], None] * later[mdp.edge_next[edge[same]], : later.shape[1] - cost]
            now[state[same], cost:] += spread
    return now


def _largest_total(policy: Policy) -> int:
    """The largest number of quanta that any run can spend."""
    mdp = policy.mdp
    largest = np.zeros(mdp.n_states, dtype=np.int64)
    for step in reversed(range(mdp.horizon)):
        rows = policy.rows(step, np.arange(mdp.n_states))
        acting = np.flatnonzero(rows >= 0)
        if len(acting):
            per_row = np.maximum.reduceat(mdp.edge_cost + largest[mdp.edge_next], mdp.edge_start[:-1])
            largest = largest.copy()
            largest[acting] = per_row[rows[acting]]
    return int(largest.max(initial=0))


def _expect(policy: Policy, final: NDArray[np.float64]) -> NDArray[np.float64]:
    """The expectation, from each state at step 0, of a function of the final state."""
    mdp = policy.mdp
    expected = final
    for step in reversed(range(mdp.horizon)):
        rows = policy.rows(step, np.arange(mdp.n_states))
        acting = np.flatnonzero(rows >= 0)
        if len(acting):
            per_row = np.add.reduceat(mdp.edge_chance * expected[mdp.edge_next], mdp.edge_start[:-1])
            expected = expected.copy()
            expected[acting] = per_row[rows[acting]]
    return expected
