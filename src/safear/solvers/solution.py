"""What a solver returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safear.mdp.model import MDP
from safear.risk.objectives import Objective
from safear.solvers.policy import Policy
from safear.spec.model import Record


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """How an episodic solver went: per episode its total cost, whether it succeeded, and how often it explored."""

    costs: NDArray[np.float64]
    succeeded: NDArray[np.bool_]
    exploration: NDArray[np.float64]

    def moving_average(self, window: int = 100) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and standard deviation of the cost over the last `window` episodes, from the first full window on."""
        if not 1 <= window <= len(self.costs):
            return np.empty(0), np.empty(0)
        windows = np.lib.stride_tricks.sliding_window_view(self.costs, window)
        return windows.mean(axis=1), windows.std(axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """A policy, what it was computed for, and how.

    `planned` is the number that the solver's own recursion computed for each state at step 0, in the problem's unit. It
    is the objective's value only where the recursion is exact (`Mean`); greedy solvers add up one-step deviations.
    The exact value is `objective.of(evaluate(solution, start))`.
    """

    mdp: MDP
    objective: Objective
    method: str
    policy: Policy
    planned: NDArray[np.float64]
    learning: LearningCurve | None = None

    def __repr__(self) -> str:
        return f"Solution({self.objective}, {self.method}, {self.mdp!r})"

    def planned_value(self, person: Record | int | None = None) -> float:
        """What the recursion computed for a person."""
        return float(self.planned[self.mdp.locate_start(person)])


def policy_of(solution: Solution | Policy) -> Policy:
    """The policy of a solution, or the policy itself: whatever looks at plans takes both."""
    return solution.policy if isinstance(solution, Solution) else solution
