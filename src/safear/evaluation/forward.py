"""The exact distribution of what a policy costs one person.

All (state, spent) pairs that a run may be in are carried forward with their probabilities, step by step:

    P_{h+1}(s', x + c) = sum of P_h(s, x) * p    over the outcomes (p, c, s') of what the policy does at (s, x)

Nothing is sampled and no cost is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.policy import Planned, Policy, policy_of
from safear.mdp.arrays import MDP, stretches
from safear.problem.model import Record
from safear.risk.distribution import CostDistribution, merge_units


@dataclass(frozen=True, eq=False)
class Runs:
    """All ways in which runs may end: final state, what was spent (in quanta), probability, success."""

    mdp: MDP
    start: int
    state: NDArray[np.int64]
    spent: NDArray[np.int64]
    chance: NDArray[np.float64]

    @property
    def succeeded(self) -> NDArray[np.bool_]:
        """Which of them ended at a goal."""
        return self.mdp.goal[self.state]

    @property
    def distribution(self) -> CostDistribution:
        """The distribution of the total cost."""
        good = self.succeeded
        return CostDistribution(
            *merge_units(self.spent[good], self.chance[good]),
            *merge_units(self.spent[~good], self.chance[~good]),
            failure_cost=self.mdp.failure_cost,
            quantum=self.mdp.quantum,
        )

    @property
    def sparsity(self) -> float | None:
        """The expected number of features that differ at the end of a successful run; None if there is none."""
        return self._expected_distance(ordered=False)

    @property
    def proximity(self) -> float | None:
        """The expected distance at the end of a successful run: |levels| for ordered features, 1 for others."""
        return self._expected_distance(ordered=True)

    def _expected_distance(self, *, ordered: bool) -> float | None:
        good = self.succeeded
        if not good.any():
            return None
        total = self.mdp.distance(self.state[good], np.array([self.start]), ordered=ordered)
        return float(total @ self.chance[good] / self.chance[good].sum())


def evaluate(solution: Planned | Policy, start: Record | int | None = None) -> CostDistribution:
    """The exact distribution of the total cost of a policy for a person."""
    return run_exactly(solution, start).distribution


def run_exactly(solution: Planned | Policy, start: Record | int | None = None) -> Runs:
    """All ways in which runs of a policy may end for a person, with their probabilities."""
    policy = policy_of(solution)
    mdp = policy.mdp
    origin = mdp.locate_start(start)
    state = np.array([origin])
    spent = np.zeros(1, dtype=np.int64)
    chance = np.ones(1)
    ended: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []
    opening = policy.accounts[origin]
    for step in range(mdp.horizon):
        rows = policy.rows(step, state, opening - spent)
        stopped = rows < 0
        ended.append((state[stopped], spent[stopped], chance[stopped]))
        state, spent, chance = advance(mdp, rows[~stopped], spent[~stopped], chance[~stopped])
        if not len(state):
            break
    ended.append((state, spent, chance))
    return Runs(mdp, origin, *(np.concatenate(parts) for parts in zip(*ended, strict=True)))


def advance(
    mdp: MDP, rows: NDArray[np.int64], spent: NDArray[np.int64], chance: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """One step: every pair of a row and what was spent spreads over the row's edges; equal results are added up."""
    counts = mdp.edge_start[rows + 1] - mdp.edge_start[rows]
    origin, edge = np.repeat(np.arange(len(rows)), counts), stretches(mdp.edge_start, rows)
    target, total = mdp.edge_next[edge], spent[origin] + mdp.edge_cost[edge]
    weight = chance[origin] * mdp.edge_chance[edge]
    order = np.lexsort((total, target))
    target, total, weight = target[order], total[order], weight[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (np.diff(target) != 0) | (np.diff(total) != 0)
    return target[first], total[first], np.add.reduceat(weight, np.flatnonzero(first)) if len(order) else weight
