"""The exact distribution of what a policy costs, from every state of a block at once.

Backward over the steps, with D_h(s, x) the probability that a run from s at step h costs x quanta more and succeeds:

    D_h(s, x) = sum of p * D_{h+1}(s', x - c)    over the outcomes (p, c, s') of the action that the policy takes at s

and likewise for runs that fail. A policy that looks at what was spent is followed forward from each state instead
(`follow_all`), as in `forward`. Sparsity and proximity come from the chances of ending at each level of each
feature, which follow the same recursion without the costs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safear.core import figures
from safear.errors import ObjectiveError
from safear.evaluation.policy import Planned, Policy, SpentPolicy, StatePolicy, policy_of
from safear.mdp.arrays import MDP
from safear.mdp.lattice import advise_resolution
from safear.mdp.spending import bound_spent, largest_spent
from safear.memory import MAX_BYTES, require_room
from safear.problem.model import Feature, Record
from safear.risk.distribution import EPSILON, CostDistribution, Masked, check_level


@dataclass(frozen=True, eq=False)
class StateCosts:
    """A distribution of costs for each state: `mass[s, i]` at `totals[i]` quanta, rising; rows need not add up to 1.

    The figures are arrays over states, masked where a row has no mass. See `Costs` for their formulas.
    """

    mass: NDArray[np.float64]
    totals: NDArray[np.int64]
    quantum: Fraction

    @cached_property
    def _mass(self) -> NDArray[np.float64]:
        """The mass as compiled loops take it: row after row."""
        return np.ascontiguousarray(self.mass)

    @cached_property
    def _moments(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The sums of mass and of total * mass."""
        return self._beyond(np.zeros(len(self.mass), dtype=np.int64))

    @property
    def total(self) -> NDArray[np.float64]:
        """The mass of each row."""
        return self._moments[0]

    @cached_property
    def mean(self) -> Masked:
        """The expected cost."""
        return self._figures(_divide(self._moments[1], self.total))

    @cached_property
    def variance(self) -> Masked:
        """The variance."""
        squares = figures.centred_squares(self.totals, self._mass, _divide(self._moments[1], self.total))
        return self._figures(_divide(squares, self.total), power=2)

    @property
    def std(self) -> Masked:
        """The standard deviation."""
        deviations: Masked = np.ma.sqrt(self.variance)
        return deviations

    def var(self, level: float) -> Masked:
        """The value at risk."""
        return self._figures(self.totals[self._var_position(level)].astype(np.float64))

    def cvar(self, level: float) -> Masked:
        """The conditional value at risk."""
        position = self._var_position(level)
        threshold, (tail, weighted) = self.totals[position], self._beyond(position + 1)
        share = np.maximum((1 - level) * self.total, tail)  # see Costs.cvar
        return self._figures(threshold + _divide(weighted - threshold * tail, share))

    def tail_mean(self, level: float) -> Masked:
        """The paper's CVaR; masked where nothing exceeds the value at risk."""
        tail, weighted = self._beyond(self._var_position(level) + 1)
        means = self._figures(_divide(weighted, tail))
        means.mask = tail <= 0
        return means

    def _var_position(self, level: float) -> NDArray[np.int64]:
        check_level(level)
        positions: NDArray[np.int64] = figures.quantile_positions(self._mass, level, EPSILON)
        return positions

    def _beyond(self, first: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        moments: tuple[NDArray[np.float64], NDArray[np.float64]] = figures.moments_beyond(
            self.totals, self._mass, first
        )
        return moments

    def _figures(self, in_quanta: NDArray[np.float64], power: int = 1) -> Masked:
        """Quanta (or their squares) in the problem's unit."""
        scaled = in_quanta * self.quantum.numerator**power / self.quantum.denominator**power
        return np.ma.array(scaled, mask=self.total <= 0)


@dataclass(frozen=True, eq=False)
class StateDistributions:
    """Distributions of the total cost for all states: `succeeded[s, x]` and `failed[s, x]`, x in quanta from 0.

    The figures are arrays over states, given success, as in `CostDistribution`; `all_runs` has those over all runs.
    """

    policy: Policy
    succeeded: NDArray[np.float64]
    failed: NDArray[np.float64]
    followed_levels: NDArray[np.float64] | None = None  # `final_levels`, if they are known already

    @property
    def mdp(self) -> MDP:
        """The MDP."""
        return self.policy.mdp

    @cached_property
    def given_success(self) -> StateCosts:
        """The costs of the runs that succeed."""
        return StateCosts(self.succeeded, np.arange(self.succeeded.shape[1]), self.mdp.quantum)

    @cached_property
    def all_runs(self) -> StateCosts:
        """The costs of all runs, failures with the failure cost."""
        states, width = self.succeeded.shape
        spent = np.arange(width)
        totals = np.union1d(spent, self.mdp.failure_cost + spent)  # nothing between, however high the failure cost
        mass = np.zeros((states, len(totals)))
        mass[:, :width] = self.succeeded
        mass[:, -width:] += self.failed
        return StateCosts(mass, totals, self.mdp.quantum)

    def distribution(self, start: Record | int) -> CostDistribution:
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
        good = self.given_success.total
        return _divide(good, good + self.failed.sum(axis=1))  # see CostDistribution.success

    @property
    def mean(self) -> Masked:
        """The expected cost given success."""
        return self.given_success.mean

    @property
    def variance(self) -> Masked:
        """The variance given success."""
        return self.given_success.variance

    @property
    def std(self) -> Masked:
        """The standard deviation given success."""
        return self.given_success.std

    def var(self, level: float) -> Masked:
        """The value at risk given success."""
        return self.given_success.var(level)

    def cvar(self, level: float) -> Masked:
        """The conditional value at risk given success."""
        return self.given_success.cvar(level)

    def tail_mean(self, level: float) -> Masked:
        """The paper's CVaR given success."""
        return self.given_success.tail_mean(level)

    @property
    def sparsity(self) -> Masked:
        """The expected number of features that differ at the end of a successful run."""
        return self._final_distance(ordered=False)

    @property
    def proximity(self) -> Masked:
        """The expected distance at the end of a successful run: |levels| for ordered features, 1 for others."""
        return self._final_distance(ordered=True)

    @cached_property
    def final_levels(self) -> NDArray[np.float64]:
        """[s, l]: the probability that a run from s succeeds and ends at level l, all features' levels in a row."""
        if self.followed_levels is not None:
            return self.followed_levels
        if not isinstance(self.policy, StatePolicy):
            raise TypeError(self.policy)  # a policy that looks at what was spent is followed with its levels
        return _carry_back(self.policy, _level_table(self.mdp), cost=np.zeros_like(self.mdp.edge_cost))

    def _final_distance(self, *, ordered: bool) -> Masked:
        mdp = self.mdp
        codes = mdp.codes(np.arange(mdp.n_states)).astype(np.int64)
        total, column = np.zeros(mdp.n_states), 0
        for i, feature in _shown(mdp):
            for code in range(len(feature.levels)):
                distance = np.abs(codes[:, i] - code)
                total += self.final_levels[:, column] * (
                    distance if ordered and feature.is_ordered else np.minimum(distance, 1)
                )
                column += 1
        mass = self.given_success.total
        return np.ma.array(_divide(total, mass), mask=mass <= 0)


def evaluate_states(
    solution: Planned | Policy, *, starts: NDArray[np.int64] | None = None, max_bytes: int = MAX_BYTES
) -> StateDistributions:
    """The exact distribution of the total cost of a policy from every state of its MDP.

    With `starts` only from these; the others have no mass then.
    """
    policy = policy_of(solution)
    mdp = policy.mdp
    origins = np.arange(mdp.n_states) if starts is None else np.unique(starts)
    for state in (*origins[:1], *origins[-1:]):
        mdp.locate(state)
    if mdp.depth[origins].any():
        cause = "this MDP was compiled from one person: runs reach its other states only later"
        raise ObjectiveError.at(
            (), cause, "compile a block (block=...) or the whole space, or use evaluate(...)", code="not_whole"
        )
    width = _largest_spent(policy) + 1
    _require_room(mdp, width, 4 * 8, max_bytes)  # both distributions, and what the recursion holds beside them
    if isinstance(policy, SpentPolicy):
        return _follow_all(policy, width, origins)
    if not isinstance(policy, StatePolicy):
        raise TypeError(policy)  # there are no other policies
    ends = (mdp.goal[:, None].astype(np.float64), (~mdp.goal)[:, None].astype(np.float64))
    succeeded, failed = (_carry_back(policy, end, cost=mdp.edge_cost, width=width) for end in ends)
    if starts is not None:
        others = np.delete(np.arange(mdp.n_states), origins)
        succeeded[others] = failed[others] = 0.0
    return StateDistributions(policy, succeeded, failed)


def _require_room(mdp: MDP, width: int, bytes_each: int, max_bytes: int) -> None:
    """Refuse what does not fit, before anything is allocated."""
    what, need = f"the distributions of {mdp.n_states:,} states with {width:,} possible totals", bytes_each * width
    remedy = advise_resolution(mdp, need * mdp.n_states / max_bytes, "evaluate one person at a time")
    require_room(need * mdp.n_states, what, max_bytes=max_bytes, remedy=remedy)


def _shown(mdp: MDP) -> list[tuple[int, Feature]]:
    """The features that count for distances, with their numbers."""
    return [(i, feature) for i, feature in enumerate(mdp.features) if not feature.hidden]


def _level_table(mdp: MDP) -> NDArray[np.float64]:
    """[s, l]: 1 where s is a goal and at level l, all shown features' levels in a row."""
    codes = mdp.codes(np.arange(mdp.n_states))
    columns = [codes[:, i] == code for i, feature in _shown(mdp) for code in range(len(feature.levels))]
    return (np.stack(columns, axis=1) & mdp.goal[:, None]).astype(np.float64)


def _follow_all(policy: SpentPolicy, width: int, starts: NDArray[np.int64]) -> StateDistributions:
    """Forward from each of these states."""
    mdp = policy.mdp
    levels = _level_table(mdp)
    succeeded, failed = np.zeros((mdp.n_states, width)), np.zeros((mdp.n_states, width))
    final = np.zeros_like(levels)
    goal, opening = mdp.goal.view(np.uint8), policy.accounts
    figures.follow_all(mdp.arrays, goal, mdp.horizon, policy.arrays, starts, opening, levels, succeeded, failed, final)
    return StateDistributions(policy, succeeded, failed, final)


def _carry_back(
    policy: StatePolicy, final: NDArray[np.float64], *, cost: NDArray[np.int64], width: int | None = None
) -> NDArray[np.float64]:
    """From what holds after the last step (its first columns) to what holds at step 0; `cost` shifts columns."""
    mdp = policy.mdp
    shape = (mdp.n_states, final.shape[1] if width is None else width)
    later, now = np.empty(shape), np.empty(shape)
    later[:, : final.shape[1]] = final
    low = np.zeros(mdp.n_states, dtype=np.int64)
    high = np.where(final.any(axis=1), final.shape[1], 0)
    arrays = mdp.arrays if cost is mdp.edge_cost else replace(mdp, edge_cost=cost).arrays
    choices = np.asarray(policy.arrays.table)[:, :, None]
    result = np.asarray(figures.carry_back(arrays, choices, 0, later, now, low, high))
    figures.clear_outside(result, low, high)
    return result


def _largest_spent(policy: Policy) -> int:
    """The most quanta that the policy can spend from any state and step on; any policy, if it looks at the spent."""
    mdp = policy.mdp
    if not isinstance(policy, StatePolicy):
        return int(largest_spent(mdp).max(initial=0))
    choices = np.asarray(policy.arrays.table)
    return int(bound_spent(mdp, 0, is_most=True, choices=choices).max(initial=0))


def _divide(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> NDArray[np.float64]:
    """The quotient, 0 where nothing is divided by."""
    result: NDArray[np.float64] = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
    return result
