"""Why a plan drops a step for another where nothing else has changed: what looks odd has a reason.

Somebody fails twice at the better step, and the safe plan goes on with the riskier one. With T the total that such a
plan tries to keep (a budget, or what the objective's share of the cases stays within):
- "time": from here, the first step can no longer lead to the goal in time;
- "within": it can no longer do so for T in all, and the other can;
- "past": neither can, and on average the other is cheaper;
- "deadline": before, the first step was cheaper on average; with so few tries left the other is.
Each is checked as it is said, whatever the plan was made for; anything else is left unsaid.

What a row may cost at least, and what it costs on average if the best follows, both from step h on:
L_h(r) = min over s' of c(r, s') + L_{h+1}(s'),  M_h(r) = sum over s' of p(r, s') (c(r, s') + M_{h+1}(s')),
where the value of a state is the least of its rows; at the end L is 0 or infinite, M is 0 or the failure cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.forward import run_exactly, run_on
from safear.evaluation.policy import Policy
from safear.mdp.arrays import MDP
from safear.mdp.spending import NEVER, bound_spent
from safear.recourse.plan_graph import Box, Graph, surround
from safear.risk.objectives import Budget, CVaR, MeanCVaR, Objective, VaR
from safear.solvers.success import look_ahead

ReasonCode = Literal["time", "within", "past", "deadline"]
MOST_ROWS = 5_000_000  # times steps; reasons are not worth more memory
_NEAR = 1e-9


class Reason(NamedTuple):
    """Why not an action again: `code` as above, with T in the unit of costs (None where it plays no part)."""

    code: ReasonCode
    action: str
    limit: float | None = None


@dataclass(frozen=True)
class Reasons:
    """Finds reasons in the plan of a policy that was made for an objective."""

    policy: Policy
    origin: int
    graph: Graph
    objective: Objective

    def find(self, node: int, others: Iterable[int]) -> Reason | None:
        """Why a node does what an earlier one of its state, from which one comes here, does not; None if unsaid."""
        mdp, nodes = self.policy.mdp, self.graph.nodes
        ways = [(other, self._come_from(other, node)) for other in others if nodes[other].row != nodes[node].row]
        before = [(nodes[other], way) for other, way in ways if way is not None]
        if not before or mdp.horizon * mdp.n_rows > MOST_ROWS:
            return None
        dropped, way = before[0]
        old, new = dropped.row, nodes[node].row
        action = mdp.actions[int(mdp.row_action[old])]
        if mdp.steps_to_goal[_next_states(mdp, old)].min() + 1 > mdp.horizon - way.first:
            return Reason("time", action)
        code = self._compare_totals(way, old, new)
        if code is not None:
            return Reason(code, action, self._limit)
        cheaper, start = self._find_means(new) - self._find_means(old), dropped.box.first
        turns = cheaper[start] > _NEAR and (cheaper[way.first : way.last + 1] < -_NEAR).all()
        return Reason("deadline", action) if turns else None

    def _come_from(self, other: int, node: int) -> Box | None:
        """When, and with what spent, runs come from another node to this one; None if they do not."""
        boxes = [way.box for ways in self.graph.nodes[other].ways for way in ways if way.target == node]
        return surround(boxes) if boxes else None

    def _compare_totals(self, way: Box, old: int, new: int) -> Literal["within", "past"] | None:
        if self._limit is None or not self.policy.looks_at_spent:
            return None
        mdp, limit, by_old, by_new = self.policy.mdp, self._limit + _NEAR, self._find_least(old), self._find_least(new)
        low, high = mdp.to_cost(way.low), mdp.to_cost(way.high)
        if low + by_old[way.first] > limit and high + by_new[way.last] <= limit:
            return "within"
        is_past = low + min(by_old[way.first], by_new[way.first]) > limit
        return "past" if is_past and self._is_cheaper(way, old, new) else None

    def _is_cheaper(self, way: Box, old: int, new: int) -> bool:
        """Whether the plan costs less on average than the old row would, however runs come here."""
        policy, state = self.policy, int(self.policy.mdp.row_state[new])
        opening = int(policy.accounts[self.origin])
        return all(
            run_on(policy, state, step=step, account=opening - spent).distribution.all_runs.mean
            < self._find_means(old)[step] - _NEAR
            for step in range(way.first, way.last + 1)
            for spent in {way.low, way.high}
        )

    @cached_property
    def _limit(self) -> float | None:
        """The total that the plan tries to keep."""
        match self.objective:
            case Budget(limit=limit):
                return float(limit)
            case CVaR(level=level) | MeanCVaR(level=level) | VaR(level=level):
                return run_exactly(self.policy, self.origin).distribution.all_runs.var(level)
        return None

    @cached_property
    def _totals(self) -> NDArray[np.int64]:
        """The least from each state on: [step, state]."""
        mdp = self.policy.mdp
        return bound_spent(mdp, np.where(mdp.goal, 0, NEVER), is_most=False, possible=mdp.edge_high)

    def _find_least(self, row: int) -> NDArray[np.float64]:
        """L of a row at each step, in the unit of costs."""
        mdp = self.policy.mdp
        edges = [edge for edge in range(*mdp.edge_start[row : row + 2].tolist()) if mdp.edge_high[edge] > 0]
        ahead = self._totals[1:, mdp.edge_next[edges]]
        least = np.where(ahead == NEVER, np.inf, mdp.edge_cost[edges] + ahead).min(axis=1)
        return np.asarray(mdp.to_cost(1) * least)

    def _find_means(self, row: int) -> NDArray[np.float64]:
        """M of a row at each step, in the unit of costs."""
        mdp, edges = self.policy.mdp, slice(*self.policy.mdp.edge_start[row : row + 2].tolist())
        ahead = look_ahead(mdp).mean[1:, mdp.edge_next[edges]]
        return np.asarray(mdp.to_cost(1) * ((mdp.edge_cost[edges] + ahead) * mdp.edge_chance[edges]).sum(axis=1))


def _next_states(mdp: MDP, row: int) -> NDArray[np.int64]:
    return mdp.edge_next[mdp.edge_start[row] : mdp.edge_start[row + 1]]
