"""What a solver returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safear.errors import ObjectiveError
from safear.evaluation.policy import Policy
from safear.mdp.arrays import MDP
from safear.problem.model import Record
from safear.risk.distribution import Masked
from safear.risk.objectives import Objective, rounding_error


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """How an episodic solver learnt: each episode's total cost, whether it succeeded, and how often it explored."""

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

    `planned` is the number that the solver's own recursion computed for each state at step 0. An optimal solution has
    a `certificate`: what no policy is below. Its `planned` is then the value of its policy (for a `Budget` with rounded
    costs, at most that). Greedy and episodic solvers add up one-step deviations; the value of their policies is
    `objective.of(evaluate(solution, start))`.
    `search_unit` is the unit to which costs were rounded to find the policy; None if they were not.

    A `robust` solution was computed against the worst chances within their intervals: its value is what the objective
    never exceeds whatever they are, its bound what no policy is below at the worst chances. At the nominal chances the
    objective is `objective.of(evaluate(solution, start))`.
    """

    mdp: MDP
    objective: Objective
    method: str
    policy: Policy
    planned: NDArray[np.float64]
    certificate: NDArray[np.float64] | None = None
    learning: LearningCurve | None = None
    search_unit: float | None = None
    robust: bool = False

    def __repr__(self) -> str:
        return f"Solution({self.objective}, {'robust ' if self.robust else ''}{self.method}, {self.mdp!r})"

    def planned_value(self, person: Record | int | None = None) -> float:
        """What the recursion computed for a person."""
        return float(self.planned[self.mdp.locate_start(person)])

    def value_of(self, person: Record | int | None = None) -> float:
        """The exact objective of the policy for a person."""
        self._require_certificate()
        return self.planned_value(person)

    def bound_of(self, person: Record | int | None = None) -> float:
        """What no policy is below for a person."""
        return float(self._require_certificate()[self.mdp.locate_start(person)])

    @property
    def value(self) -> float:
        """The exact objective of the policy for the person that the MDP was compiled from."""
        return self.value_of()

    @property
    def bound(self) -> float:
        """What no policy is below for this person."""
        return self.bound_of()

    @property
    def gap(self) -> float:
        """By how much a better policy could be better; 0 if there is none."""
        return self.value - self.bound

    @property
    def values(self) -> Masked:
        """The exact objective of the policy from all states, masked where no run can begin."""
        self._require_certificate()
        return np.ma.array(self.planned, mask=self._later)

    @property
    def bounds(self) -> Masked:
        """What no policy is below, from all states, masked where no run can begin."""
        return np.ma.array(self._require_certificate(), mask=self._later)

    @property
    def _later(self) -> NDArray[np.bool_]:
        """The states in which no run can begin."""
        return self.mdp.depth > 0

    def _require_certificate(self) -> NDArray[np.float64]:
        if self.certificate is None:
            cause = f"a solution by method '{self.method}' knows neither the value of its policy nor a bound"
            raise ObjectiveError.at(
                (), cause, "use objective.of(evaluate(solution)), or method 'optimal'", code="unsuited"
            )
        return self.certificate

    @property
    def value_error(self) -> float:
        """With costs as they were before rounding, value and bound are off by at most this (see `MDP.cost_error`)."""
        return self.value_error_of()

    def value_error_of(self, person: Record | int | None = None) -> float:
        """The same for any person."""
        return rounding_error(self.objective.cost_objective, float(self.mdp.cost_error), self.value_of(person))
