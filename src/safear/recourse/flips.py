"""How far a chance or a cost can move, alone, before the first step of the optimal plan is no longer the best one.

A parameter moves over a grid of values away from what it is, stretch by stretch. A stretch is passed over if it is
certain that no other first step is better anywhere on it:

    chance    the plan of its near end, with whatever chances of the stretch are worst for it at each step, is better
              than the best plan with another first step and whatever chances of the stretch are best for that
    cost      plans cost more if a cost rises: the best plan with this first step at the dear end of the stretch is
              better than the best one with another first step at its cheap end

Else a shorter stretch is tried, down to one step of the grid. At the end of each the problem is solved. So nothing is
jumped over but what begins and ends between two neighbours of the grid. Where that would take too long, where an
objective has no such bounds, and where another first step is exactly as good all along (two steps whose order does not
matter), the rest is tried at `SAMPLES` points, and it is said up to where the answer is certain. Each flip is solved
for on both of its sides.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.forward import evaluate
from safear.mdp.arrays import MDP
from safear.mdp.parameters import Parameter
from safear.recourse.march import SOLVES, SURE, TOLERANCE, Direction, Leeway, March
from safear.recourse.offer import Offer
from safear.risk.distribution import CostDistribution
from safear.risk.objectives import MeanLowerStd, MeanStd, MeanVariance, Objective, SuccessFirst, VaR
from safear.solvers.first_step import begin_with, bound_plan, either
from safear.solvers.solution import Solution
from safear.solvers.solve import solve
from safear.solvers.success import allowed_rows


def find_leeway(
    solution: Solution,
    parameter: Parameter,
    direction: Direction,
    *,
    tolerance: float = TOLERANCE,
    solves: int = SOLVES,
) -> Leeway:
    """How far a parameter can move before the first step of the optimal plan for an objective is not the best one."""
    return _FirstStepMarch(solution, parameter, direction, tolerance=tolerance, solves=solves).leeway()


def find_equals(solution: Solution) -> tuple[str, ...]:
    """Other first steps whose best plan is worth as much as the optimal one, in the order of the file.

    Values are compared, not bounds: those of fine costs allow for the rounding of the search.
    """
    mdp, (_, others) = solution.mdp, first_actions(solution)
    found = {name: solve_with(mdp, solution.objective, {name}) for name in mdp.actions if name in others}
    return tuple(name for name, best in found.items() if best is not None and _is_tied(best.value, solution))


def _is_tied(value: float, own: Solution) -> bool:
    return value <= own.value * (1 + SURE)


def first_actions(solution: Solution) -> tuple[str, frozenset[str]]:
    """The first step of a plan, and what else could be done first."""
    mdp, action = solution.mdp, solution.policy.action() or ""
    rows = slice(mdp.row_start[mdp.start], mdp.row_start[mdp.start + 1])
    return action, frozenset(mdp.actions[number] for number in mdp.row_action[rows]) - {action}


def solve_with(mdp: MDP, objective: Objective, actions: Collection[str]) -> Solution | None:
    """The best plan whose first step is one of these; None if none of them may come first."""
    rows: NDArray[np.int64] = np.arange(mdp.row_start[mdp.start], mdp.row_start[mdp.start + 1])
    rows = rows[np.isin(mdp.row_action[rows], [mdp.actions.index(name) for name in actions])]
    allowed = allowed_rows(mdp, objective.slack)
    rows = rows if allowed is None else rows[allowed[0][rows]]
    return solve(begin_with(mdp, rows), objective) if len(rows) else None


class _FirstStepMarch(March):
    """The present first step beside all others."""

    def __init__(
        self, solution: Solution, parameter: Parameter, direction: Direction, *, tolerance: float, solves: int
    ) -> None:
        super().__init__(solution.mdp, solution.objective, parameter, direction, tolerance=tolerance, solves=solves)
        self.action, self.others = first_actions(solution)
        self.known = {0: solution}
        self.bounds: dict[tuple[int, frozenset[str]], float] = {}

    def better(self, step: int) -> tuple[str | None, CostDistribution, Offer | None]:
        """The best plan there."""
        found = self._solve(step)
        return found.policy.action(), evaluate(found), None

    def is_as_good(self, step: int) -> bool:
        """Whether no other first step is better after so many steps."""
        best = self._solve(step)
        if best.policy.action() == self.action:
            return True
        own = self._best_with({self.action}, self.moved(step))
        return own is not None and own.value <= best.value * (1 + SURE)

    def _solve(self, step: int) -> Solution:
        """The optimal plan after so many steps."""
        if step not in self.known:
            self.left -= 1
            self.known[step] = solve(self.moved(step), self.objective)
        return self.known[step]

    def _best_with(self, actions: Collection[str], mdp: MDP) -> Solution | None:
        self.left -= 1
        return solve_with(mdp, self.objective, actions)

    def is_tied(self, step: int) -> bool:
        """Whether another first step is as good."""
        own, mdp = self._solve(step), self.moved(step)
        other = self._best_with(self.others, mdp)
        return other is not None and _is_tied(other.bound, own)  # what may be as good is not certain

    @property
    def has_bounds(self) -> bool:
        """Whether anything can be said of a stretch."""
        if self.parameter.is_chance:  # with success first, what is allowed changes with chances, and not with costs
            return not isinstance(self.objective, SuccessFirst | VaR)
        return not isinstance(self.objective.cost_objective, MeanStd | MeanVariance | MeanLowerStd)

    def is_certain(self, near: int, far: int) -> bool:
        """Whether the first step is surely the best one from one step of the grid to another."""
        if self.parameter.is_chance:
            one, other = (self.parameter.chances(self.mdp, self.value(step)) for step in (near, far))
            both = either(self.mdp, one, other)
            if both is None:
                return False
            own = bound_plan(self._solve(near), (one, other))
            rival = self._best_with(self.others, both)
            return rival is None or (own is not None and own < rival.bound * (1 - SURE))
        dear, cheap = (far, near) if self.direction == "up" else (near, far)
        return self._bound(dear, frozenset({self.action})) < self._bound(cheap, self.others) * (1 - SURE)

    def _bound(self, step: int, actions: frozenset[str]) -> float:
        """What the best plan with one of these first steps is worth; infinite if none may come first."""
        if (step, actions) not in self.bounds:
            found = self._best_with(actions, self.moved(step))
            own = self.action in actions
            self.bounds[step, actions] = math.inf if found is None else found.value if own else found.bound
        return self.bounds[step, actions]
