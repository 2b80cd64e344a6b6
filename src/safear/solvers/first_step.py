"""What the best plan with a certain first step is worth, and what no plan with another is below, while chances move.

Two changes of an MDP serve, and `solve` does the rest:

    begin_with    a run begins in a copy of its start that offers some of its actions only; later, all are offered there
    either        each row whose chances lie between two given ones is there twice, with the one and with the other

Between the two, chances are a mixture of them, as if a coin chose the row at each visit. For every objective here the
best of all mixtures is attained by a plan that tosses no coins (each is concave in the law of the total cost), so no
chance between the two gives a plan that is better than the best one of `either`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.core.exponentials import log_of, steady_exp
from safear.evaluation.adjoint import expect_back
from safear.evaluation.extremes import columns_at_once, search_least
from safear.evaluation.forward import evaluate, follow, total_costs
from safear.evaluation.policy import Policy
from safear.mdp.arrays import MDP, stretches
from safear.problem.model import MAX_ACTIONS
from safear.risk.distribution import EPSILON, Costs, units_within
from safear.risk.objectives import (
    Budget,
    CostObjective,
    CVaR,
    Entropic,
    Mean,
    MeanCVaR,
    MeanStd,
    MeanVariance,
    Objective,
)
from safear.solvers.optimal import simplify
from safear.solvers.solution import Solution

Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BegunMDP(MDP):
    """An MDP with fewer rows than another, in which a goal is as far `away` as in that one.

    Else plans whose first step leads nowhere would be said to stop before it, and not to take it in vain.
    """

    away: NDArray[np.int64]

    @cached_property
    def steps_to_goal(self) -> NDArray[np.int64]:
        """The fewest steps in which any plan may reach a goal, not only those that begin so."""
        return self.away

    def keep(self, states: NDArray[np.int64]) -> Mapping[str, Any]:
        """How far away goals are from these states."""
        return {"away": self.away[states]}


def begin_with(mdp: MDP, rows: NDArray[np.int64]) -> BegunMDP:
    """The MDP of the same person whose first step is one of these rows of the start."""
    edges = stretches(mdp.edge_start, rows)
    counts = mdp.edge_start[rows + 1] - mdp.edge_start[rows]
    depth = np.append(mdp.depth, 0).astype(mdp.depth.dtype)
    depth[mdp.start] = 1
    of_edges = {name: np.append(getattr(mdp, name), getattr(mdp, name)[edges]) for name in _OF_EDGES}
    changes = {
        "goal": np.append(mdp.goal, False),
        "depth": depth,
        "row_start": np.append(mdp.row_start, mdp.n_rows + len(rows)),
        "row_action": np.append(mdp.row_action, mdp.row_action[rows]),
        "edge_start": np.append(mdp.edge_start, mdp.n_edges + np.cumsum(counts)),
        "away": np.append(mdp.steps_to_goal, mdp.steps_to_goal[mdp.start]),
    }
    return BegunMDP(**(_plain(mdp) | of_edges | changes))


def either(mdp: MDP, one: Reals, other: Reals) -> MDP | None:
    """The MDP in which each row has the chances `one` or `other` of its edges, whichever a plan takes.

    None if a state would then offer more rows than a policy, with a byte per choice, can tell apart.
    """
    differs = np.zeros(mdp.n_rows, dtype=np.int64)
    differs[mdp.edge_row[one != other]] = 1
    offered = np.bincount(mdp.row_state, 1 + differs, mdp.n_states)
    if offered.max(initial=0) > MAX_ACTIONS:
        return None
    copies = np.repeat(np.arange(mdp.n_rows), 1 + differs)
    edges = stretches(mdp.edge_start, copies)
    counts = mdp.edge_start[copies + 1] - mdp.edge_start[copies]
    is_second = np.repeat(np.append(False, copies[1:] == copies[:-1]), counts)
    start = np.concatenate([[0], np.cumsum(1 + differs)])
    changes = {name: getattr(mdp, name)[edges] for name in _OF_EDGES} | {
        "edge_chance": np.where(is_second, other[edges], one[edges]),
        "row_start": start[mdp.row_start],
        "row_action": mdp.row_action[copies],
        "edge_start": np.concatenate([[0], np.cumsum(counts)]),
    }
    return MDP(**(_plain(mdp) | changes))


_OF_EDGES = ("edge_next", "edge_chance", "edge_cost", "edge_outcome")


def _plain(mdp: MDP) -> dict[str, Any]:
    """The arrays, without the problem behind them and without intervals."""
    return {item.name: getattr(mdp, item.name) for item in fields(MDP) if item.name not in ("edge_low", "edge_high")}


class Expectation(NamedTuple):
    """An objective as E[`loss`(C)], put through `value`: equal to it for one law of C, and below it for none."""

    loss: Callable[[Reals], Reals]
    value: Callable[[float], float] = float


def as_expectation(objective: CostObjective, costs: Costs) -> Expectation | None:
    """The objective as an expectation that is equal to it for these costs; None if there is none.

    CVaR is the least over targets, a variance that over centres, a deviation d the least of (variance / d + d) / 2.
    """
    centre = costs.mean
    match objective:
        case Mean():
            return Expectation(lambda total: total)
        case MeanVariance(aversion):
            return Expectation(lambda total: total + aversion * (total - centre) ** 2)
        case MeanStd(aversion) if costs.std > 0:
            spread = costs.std
            return Expectation(lambda total: total + aversion * ((total - centre) ** 2 / spread + spread) / 2)
        case Entropic(aversion):
            top = float(costs.values[-1])
            loss = np.vectorize(lambda total: steady_exp(aversion * (total - top)), otypes=[np.float64])
            return Expectation(loss, lambda mean: top + log_of(mean, mean - 1) / aversion)
        case CVaR(level) | MeanCVaR(_, level) if level <= 1 - EPSILON:
            return _at_target(objective, costs.var(level))
    return None


def _at_target(objective: CVaR | MeanCVaR, target: float) -> Expectation:
    """CVaR, or mean and CVaR, with a target that need not be the best one."""
    weight = objective.weight if isinstance(objective, MeanCVaR) else 1.0
    share = 1 - objective.level
    return Expectation(lambda total: (1 - weight) * total + weight * (target + np.maximum(total - target, 0.0) / share))


class PlanBounds:
    """How much and how little a plan can be worth for its person while chances lie between two given ones."""

    def __init__(self, policy: Policy, objective: Objective) -> None:
        self.mdp, self.objective = policy.mdp, simplify(objective)
        start = self.mdp.start
        choose = policy.choosing(int(policy.accounts[start]))
        self.runs = follow(self.mdp, choose, start, possible=True)
        over = np.asarray(self.runs.cells.row) < 0
        totals = total_costs(self.runs.cells, self.mdp) * float(self.mdp.quantum)
        self.totals = np.where(over, totals, 0.0)
        self.ends = np.unique(totals[over])  # those with which a run may end

    def at_most(self, costs: Costs, chances: Sequence[Reals]) -> float | None:
        """The worst, from above: at the chances that these costs are for it is exact. None if nobody can say."""
        if isinstance(self.objective, Budget):
            return self._expect([self._missed()], chances, worst=True)[0]
        form = as_expectation(self.objective, costs)
        if form is None:
            return None
        return form.value(self._expect([form.loss(self.totals)], chances, worst=True)[0])

    def at_least(self, chances: Sequence[Reals]) -> float | None:
        """The best; None if nobody can say."""
        if isinstance(self.objective, Budget):
            return self._expect([self._missed()], chances, worst=False)[0]
        if isinstance(self.objective, CVaR | MeanCVaR):
            return self._least_tail(self.objective, chances)
        every = Costs(self.ends, np.full(len(self.ends), 1 / len(self.ends)))
        is_linear = isinstance(self.objective, Mean | Entropic)  # for other costs, the rest are below their expectation
        form = as_expectation(self.objective, every) if is_linear else None
        if form is None:
            return None
        return form.value(self._expect([form.loss(self.totals)], chances, worst=False)[0])

    def _least_tail(self, objective: CVaR | MeanCVaR, chances: Sequence[Reals]) -> float | None:
        """The least over targets, which are possible totals, of the best expectation."""
        if objective.level > 1 - EPSILON:
            return None
        weight = objective.weight if isinstance(objective, MeanCVaR) else 1.0

        def look(targets: Reals) -> Reals:
            losses = [_at_target(objective, float(target)).loss(self.totals) for target in targets]
            return np.array(self._expect(losses, chances, worst=False)) - weight * targets

        at_once = columns_at_once(len(self.totals))
        return search_least(self.ends, look, at_once=at_once, weight=weight)

    def _missed(self) -> Reals:
        limit = units_within(self.objective.limit, self.mdp.quantum) if isinstance(self.objective, Budget) else 0
        cells = self.runs.cells
        return (~self.mdp.goal[cells.state] | (np.asarray(cells.spent) > limit)).astype(np.float64)

    def _expect(self, losses: list[Reals], chances: Sequence[Reals], *, worst: bool) -> list[float]:
        """The highest or lowest expectation of each loss, given where runs may end."""
        found: list[float] = expect_back(self.runs, chances, np.stack(losses, axis=1), worst=worst)[0].tolist()
        return found


def bound_plan(solution: Solution, chances: Sequence[Reals]) -> float | None:
    """What the plan is at most worth for its person while chances are between these; None if nobody can say."""
    bounds = PlanBounds(solution.policy, solution.objective)
    return bounds.at_most(evaluate(solution).all_runs, chances)
