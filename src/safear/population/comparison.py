"""Greedy against optimal: the same objective, person by person, and summed up over a population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from safear.errors import ObjectiveError, PersonError
from safear.evaluation.forward import evaluate
from safear.mdp.arrays import MDP
from safear.mdp.slices import restrict
from safear.population.blocks import Block, group_people
from safear.problem.model import Problem
from safear.progress import Progress
from safear.recourse.failure import gives_up
from safear.recourse.offer import TAIL
from safear.risk.objectives import Mean, MeanStd
from safear.solvers.solution import Solution
from safear.solvers.solve import solve
from safear.solvers.success import highest_success
from safear.threads import work_ahead

EQUAL = 1e-12  # relative differences below this are rounding
WORSE = 1e-4  # a value that is larger by more than this, relatively, is worse; less would be splitting hairs

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Figures:
    """A plan in figures, over all runs: the value of the objective, success, mean, and the mean of the worst 5%."""

    value: float
    success: float
    mean: float
    cvar: float
    first_action: str | None


@dataclass(frozen=True, slots=True)
class Pair:
    """The greedy and the optimal plan of the people in one state, and how many they are.

    No plan has a value below `bound`, and none succeeds more often than `best_success`.
    """

    person: dict[str, str]
    count: int
    greedy: Figures
    optimal: Figures
    bound: float
    best_success: float

    @property
    def excess(self) -> float:
        """By which share of the optimal value the greedy value is larger; 1 if the optimum costs nothing."""
        more = self.greedy.value - self.optimal.value
        if more <= EQUAL * self.greedy.value:
            return 0.0
        return more / self.optimal.value if self.optimal.value > 0 else 1.0


@dataclass(frozen=True, slots=True)
class Averages:
    """Means over people."""

    value: float
    success: float
    mean: float
    cvar: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """Greedy against optimal for a population. Figures are over those who are rejected and have a way to the goal.

    `people` are all that were given, `rejected` those of them whom the classifier rejects, and `without_recourse` those
    of the rejected whom no plan helps.
    """

    objective: Mean | MeanStd
    pairs: tuple[Pair, ...]
    people: int
    rejected: int
    without_recourse: int

    @property
    def compared(self) -> int:
        """How many people are compared."""
        return sum(pair.count for pair in self.pairs)

    @property
    def greedy(self) -> Averages:
        """The greedy plans on average."""
        return self._average([pair.greedy for pair in self.pairs])

    @property
    def optimal(self) -> Averages:
        """The optimal plans on average."""
        return self._average([pair.optimal for pair in self.pairs])

    @property
    def worse(self) -> float:
        """The share of people whose greedy plan is worse."""
        return self._mean(self._excess > WORSE)

    @property
    def excess(self) -> float:
        """By how much the greedy value is larger, on average over all people."""
        return self._mean(self._excess)

    @property
    def excess_of_worse(self) -> float:
        """The same over those for whom it is worse; 0 if there are none."""
        worse = self._excess > WORSE
        return float(np.average(self._excess[worse], weights=self._counts[worse])) if worse.any() else 0.0

    @property
    def largest_excess(self) -> float:
        """By how much at most."""
        return float(self._excess.max())

    @property
    def largest_gap(self) -> float:
        """The largest relative distance between an optimal value and its bound: what the certificates leave open."""
        gaps = [(pair.optimal.value - pair.bound) / max(pair.optimal.value, 1e-12) for pair in self.pairs]
        return max(0.0, *gaps)

    @property
    def other_first_step(self) -> float:
        """The share of people to whom the two say different things to begin with."""
        return self._mean(np.array([pair.greedy.first_action != pair.optimal.first_action for pair in self.pairs]))

    @property
    def gives_up(self) -> float:
        """The share of people for whom even the optimum succeeds far less often than possible: failing is too cheap."""
        return self._mean(np.array([gives_up(pair.optimal.success, pair.best_success) for pair in self.pairs]))

    @property
    def _counts(self) -> Reals:
        return np.array([pair.count for pair in self.pairs], dtype=np.float64)

    @property
    def _excess(self) -> Reals:
        return np.array([pair.excess for pair in self.pairs])

    def _mean(self, values: NDArray[np.bool_] | Reals) -> float:
        return float(np.average(values.astype(np.float64), weights=self._counts))

    def _average(self, figures: Sequence[Figures]) -> Averages:
        names = [field.name for field in fields(Averages)]
        return Averages(*(self._mean(np.array([getattr(item, name) for item in figures])) for name in names))


def compare(
    problem: Problem,
    classifier: object,
    codes: NDArray[np.int16],
    *,
    objective: Mean | MeanStd,
    progress: Progress | None = None,
) -> Comparison:
    """Solve for everybody whom the classifier rejects, by the greedy and by the optimal method.

    `codes` are level numbers, one row per person (`read_people`). Equal people are solved once.
    """
    if not len(codes):
        raise PersonError.at((), "there is nobody to compare")
    return compare_blocks(list(group_people(problem, classifier, codes)), objective, progress=progress)


def compare_blocks(
    blocks: Sequence[Block], objective: Mean | MeanStd, *, progress: Progress | None = None
) -> Comparison:
    """The same for people who are in their blocks already."""
    if not isinstance(objective, Mean | MeanStd):
        cause = f"there is no greedy method for '{objective}', or no optimal one"
        raise ObjectiveError.at((), cause, "compare 'mean-std:0.5' or another aversion")
    tasks = [
        (block.mdp, int(state), int(count))
        for block in blocks
        for state, count in zip(*np.unique(block.states, return_counts=True), strict=True)
        if not block.mdp.goal[state]
    ]
    rejected = sum(count for _, _, count in tasks)
    pairs = []
    for number, pair in enumerate(work_ahead(lambda task: _compare_person(*task, objective=objective), tasks), start=1):
        if pair is not None:
            pairs.append(pair)
        if progress is not None:
            progress(number, len(tasks))
    people = sum(len(block.people) for block in blocks)
    helped = sum(pair.count for pair in pairs)
    if not pairs:
        cause = "nobody is rejected" if not rejected else "nobody who is rejected has a way to the goal"
        raise PersonError.at((), f"{cause}, so there is nothing to compare")
    return Comparison(objective, tuple(pairs), people, rejected, rejected - helped)


def _compare_person(mdp: MDP, state: int, count: int, *, objective: Mean | MeanStd) -> Pair | None:
    """Both plans from one state; None if no goal can be reached from it."""
    part = restrict(mdp, state).mdp
    if not part.goal.any():
        return None
    greedy, optimal = solve(part, objective, method="greedy"), solve(part, objective)
    best = highest_success(part)
    return Pair(part.person(part.locate()), count, _read_figures(greedy), _read_figures(optimal), optimal.bound, best)


def _read_figures(solution: Solution) -> Figures:
    cost = evaluate(solution)
    costs = cost.all_runs
    value = solution.objective.of(cost)
    return Figures(value, cost.success, costs.mean, costs.cvar(TAIL), solution.policy.action())
