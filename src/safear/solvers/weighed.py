"""Plans of one person that weigh mean and tail, one after the other: what is the same for all weights is done once.

Each takes one compiled call. They are those of `solve` for `MeanCVaR`, or for `SuccessFirst` with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from safear.core.targets import SweepRules
from safear.core.weighed import Question, TailPlan, weigh_tail
from safear.evaluation.forward import Runs, way_to_go
from safear.evaluation.policy import SpentPolicy
from safear.mdp.arrays import MDP
from safear.risk.distribution import EPSILON
from safear.risk.objectives import MeanCVaR, Objective, SuccessFirst
from safear.solvers.fine_costs import unit_for
from safear.solvers.optimal import NEAR, Among, find_spans
from safear.solvers.solution import Solution
from safear.solvers.targets import find_bands, require_columns, set_course, set_rules


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
        policy = SpentPolicy.of(mdp, opening, found.policy)
        return Solution(mdp, self.objective, "optimal", policy, values, certificate=values)

    @property
    def runs(self) -> Runs:
        """All ways it may end."""
        found = self.found
        state, spent = np.asarray(found.state), np.asarray(found.spent)
        return Runs(self.mdp, self.mdp.start, state, spent, np.asarray(found.chance))


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
        """None if `solve` should do it: nothing but the worst case counts, or costs are too fine."""
        if level > 1 - EPSILON:
            return None

        def ask(spans: list[tuple[int, int, int, int]]) -> Question:
            return Question(mdp.start, level, np.array(spans, dtype=np.int64), NEAR, EPSILON, way_to_go(mdp))

        first = cls(mdp, level, slack, set_rules(mdp, Among(slack).rows(mdp)), ask([(0, 0, 0, 0)]))
        cheapest = first.find(0.0)
        spans = find_spans(mdp, level, Among(slack), cheapest=(cheapest.found.mean, cheapest.found.variance))
        if unit_for(mdp, sum(span.columns for span in spans)) > 1:
            return None
        for span in spans:
            require_columns(mdp, span.columns, tables=4)
        question = ask([(int(span.low), span.columns, span.first, span.moved) for span in spans])
        return replace(first, question=question, cheapest=cheapest)

    def find(self, weight: float) -> WeighedPlan:
        """The plan for a weight of the tail between 0 and 1."""
        if weight == 0 and self.cheapest is not None:
            return self.cheapest
        found = weigh_tail(set_course(self.mdp), find_bands(self.mdp), self.rules, self.question, weight)
        return WeighedPlan(self.mdp, aim_between(weight, self.level, self.slack), found)


def aim_between(weight: float, level: float, slack: float | None) -> Objective:
    """What such a plan makes small."""
    objective = MeanCVaR(weight, level)
    return objective if slack is None else SuccessFirst(objective, slack)
