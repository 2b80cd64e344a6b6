"""Plans of one person that weigh mean and tail, one after the other: what is the same for all weights is done once.

Each takes one compiled call. They are those of `solve` for `MeanCVaR`, or for `SuccessFirst` with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from safear.evaluation.fast_runs import MOST_KEYS, find_span, way_to_go
from safear.evaluation.forward import Runs
from safear.evaluation.policy import SpentPolicy
from safear.loading import numba_pays
from safear.mdp.arrays import MDP
from safear.mdp.spending import largest_spent
from safear.risk.distribution import EPSILON
from safear.risk.objectives import MeanCVaR, Objective, SuccessFirst
from safear.solvers.fine_costs import unit_for
from safear.solvers.optimal import NEAR, Among, find_spans
from safear.solvers.plain_targets import SweepRules
from safear.solvers.solution import Solution
from safear.solvers.sweep import TIE
from safear.solvers.targets import estimate_plain, find_bands, require_columns, set_course

if TYPE_CHECKING:
    from safear.solvers.weighed_kernels import Question, TailPlan

SEVERAL = 5  # plans that are found on average


@dataclass(frozen=True, eq=False, slots=True)
class WeighedPlan:
    """A plan, and its figures over all runs: the success, and the mean and the tail of the total cost."""

    mdp: MDP
    objective: Objective
    found: TailPlan

    @property
    def success(self) -> float:
        """How often it leads to a goal."""
        return self.found.success

    @property
    def mean(self) -> float:
        """The expected cost."""
        return self.found.mean * float(self.mdp.quantum)

    @property
    def tail(self) -> float:
        """The mean cost of the worst runs."""
        return self.found.tail * float(self.mdp.quantum)

    @property
    def solution(self) -> Solution:
        """As `solve` returns it."""
        mdp, found = self.mdp, self.found
        values, opening = np.zeros(mdp.n_states), np.zeros(mdp.n_states, dtype=np.int64)
        values[mdp.start], opening[mdp.start] = found.value * float(mdp.quantum), found.opening
        policy = SpentPolicy(mdp, opening, *found.plan)
        return Solution(mdp, self.objective, "optimal", policy, values, certificate=values)

    @property
    def runs(self) -> Runs:
        """All ways it may end."""
        return Runs(self.mdp, self.mdp.start, self.found.state, self.found.spent, self.found.chance)


@dataclass(frozen=True, eq=False, slots=True)
class Weigher:
    """Finds such plans for the person that an MDP was compiled from, at a level, each step giving away `slack`."""

    mdp: MDP
    level: float
    slack: float | None
    rules: SweepRules
    question: Question
    cheapest: WeighedPlan | None = None  # that with the least mean, for the weight 0

    @classmethod
    def of(cls, mdp: MDP, level: float, slack: float | None = None) -> Weigher | None:
        """None if `solve` should do it: costs are too fine, or there is too little to do to load compiled code."""
        columns = int(largest_spent(mdp)[mdp.start]) + 1
        if level > 1 - EPSILON or mdp.n_states * find_span(mdp) >= MOST_KEYS:
            return None
        if not numba_pays(SEVERAL * estimate_plain(mdp, columns), counts=False):
            return None
        from safear.solvers import weighed_kernels  # noqa: PLC0415  # Numba takes a moment to load

        allowed = Among(slack).rows(mdp)
        rows = np.ones((1, mdp.n_rows), dtype=bool) if allowed is None else allowed
        firsts = np.zeros(mdp.horizon, dtype=np.int64)
        rules = SweepRules(rows, mdp.edge_chance[None, :], firsts, TIE, is_square=False)
        nowhere = np.zeros((1, 4), dtype=np.int64)
        first = cls(
            mdp, level, slack, rules, weighed_kernels.Question(mdp.start, level, nowhere, NEAR, EPSILON, way_to_go(mdp))
        )
        cheapest = first.find(0.0)
        spans = find_spans(mdp, level, Among(slack), cheapest=(cheapest.found.mean, cheapest.found.variance))
        if unit_for(mdp, sum(span.columns for span in spans)) > 1:
            return None
        for span in spans:
            require_columns(mdp, span.columns, tables=4)
        table = np.array([(int(span.low), span.columns, span.first, span.moved) for span in spans], dtype=np.int64)
        return replace(first, question=first.question._replace(spans=table), cheapest=cheapest)

    def find(self, weight: float) -> WeighedPlan:
        """The plan for a weight of the tail between 0 and 1."""
        if weight == 0 and self.cheapest is not None:
            return self.cheapest
        from safear.solvers.weighed_kernels import weigh_tail  # noqa: PLC0415  # Numba takes a moment to load

        found = weigh_tail(set_course(self.mdp), find_bands(self.mdp), self.rules, self.question, weight)
        return WeighedPlan(self.mdp, aim_between(weight, self.level, self.slack), found)


def aim_between(weight: float, level: float, slack: float | None) -> Objective:
    """What such a plan makes small."""
    objective = MeanCVaR(weight, level)
    return objective if slack is None else SuccessFirst(objective, slack)
