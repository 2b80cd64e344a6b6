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
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.forward import evaluate
from safear.mdp.arrays import MDP
from safear.mdp.parameters import Parameter
from safear.risk.distribution import CostDistribution
from safear.risk.objectives import MeanLowerStd, MeanStd, MeanVariance, Objective, SuccessFirst, VaR
from safear.solvers.fine_costs import MAX_WORK
from safear.solvers.first_step import begin_with, bound_plan, either
from safear.solvers.optimal import count_columns, needs_targets
from safear.solvers.solution import Solution
from safear.solvers.solve import solve
from safear.solvers.success import allowed_rows

TOLERANCE = 0.001  # of chances; of costs, ten times this share of what they are
SOLVES, LEAST_SOLVES = 60, 10  # to be certain of one parameter in one direction; then it is sampled
SAMPLES, LEAST_SAMPLES = 25, 8
WORK = 60_000_000  # edges times columns times steps: about so much is spent on being certain, and on sampling
SURE = 1e-9  # relative differences below this are rounding
Direction = Literal["down", "up"]


@dataclass(frozen=True, eq=False)
class Flip:
    """At `same` the advice is still as good as any; at `value`, a step of the grid further, another is better.

    `action` is what to do first there, and `cost` what the best plan then leads to. `is_guessed`: the interval in the
    file holds the value.
    """

    parameter: Parameter
    direction: Direction
    same: float
    value: float
    action: str | None
    cost: CostDistribution
    is_guessed: bool

    @property
    def distance(self) -> float:
        """How far away it is: in chance, or in relation to what a cost is."""
        moved = abs(self.value - float(self.parameter.value))
        return moved if self.parameter.is_chance else moved / scale_of(self.parameter)


@dataclass(frozen=True, eq=False)
class Leeway:
    """How far a parameter can move in one direction: to the `flip`, or, if there is none, to `end`.

    Up to `certain_to` nothing is better, surely; from there on that was tried at some points only. `tolerance` is the
    step of the grid.
    """

    parameter: Parameter
    direction: Direction
    end: float
    certain_to: float
    tolerance: float
    flip: Flip | None = None

    @property
    def is_certain(self) -> bool:
        """Whether no flip can be nearer."""
        return self.certain_to == (self.end if self.flip is None else self.flip.same)


def scale_of(parameter: Parameter) -> float:
    """What a move of a cost is put in relation to: the cost, or, if that is 0, a fifth of how far it may go."""
    return float(parameter.value or parameter.high / 5)


def find_leeway(
    solution: Solution,
    parameter: Parameter,
    direction: Direction,
    *,
    tolerance: float = TOLERANCE,
    solves: int = SOLVES,
) -> Leeway:
    """How far a parameter can move before the first step of the optimal plan for an objective is not the best one."""
    return _March(solution, parameter, direction, tolerance, solves).leeway()


def find_equals(solution: Solution) -> tuple[str, ...]:
    """Other first steps that are as good as that of the optimal plan, in the order of the file."""
    mdp, (_, others) = solution.mdp, first_actions(solution)
    found = {name: solve_with(mdp, solution.objective, {name}) for name in mdp.actions if name in others}
    return tuple(name for name, best in found.items() if best is not None and _is_tied(best, solution))


def _is_tied(other: Solution, own: Solution) -> bool:
    return other.bound <= own.value * (1 + SURE)


def first_actions(solution: Solution) -> tuple[str, frozenset[str]]:
    """The first step of a plan, and what else could be done first."""
    mdp, action = solution.mdp, solution.policy.action() or ""
    rows = slice(mdp.row_start[mdp.start], mdp.row_start[mdp.start + 1])
    return action, frozenset(mdp.actions[number] for number in mdp.row_action[rows]) - {action}


def solve_with(mdp: MDP, objective: Objective, actions: Collection[str]) -> Solution | None:
    """The best plan whose first step is one of these; None if none of them may come first."""
    rows: NDArray[np.int64] = np.arange(mdp.row_start[mdp.start], mdp.row_start[mdp.start + 1])
    rows = rows[np.isin(mdp.row_action[rows], [mdp.actions.index(name) for name in actions])]
    if isinstance(objective, SuccessFirst):
        allowed = allowed_rows(mdp, objective.tolerance)
        rows = rows if allowed is None else rows[allowed[0][rows]]
    return solve(begin_with(mdp, rows), objective) if len(rows) else None


def choose_grid(mdp: MDP, objective: Objective, parameter: Parameter, tolerance: float) -> Fraction:
    """The step of the grid: for costs a round part, or a multiple, of the quantum, so that sweeps stay affordable."""
    if parameter.is_chance:
        return Fraction(str(tolerance))
    share = _round_down(scale_of(parameter) * 10 * tolerance / float(mdp.quantum))
    if needs_targets(objective):
        share = max(share, min(1 / _round_down(MAX_WORK / 4 / _work_of(mdp, objective)), Fraction(1)))
    return mdp.quantum * share


def _work_of(mdp: MDP, objective: Objective) -> int:
    """Edges times columns times steps of a solve."""
    columns = count_columns(mdp, objective) if needs_targets(objective) else 1
    return max(mdp.n_edges * mdp.horizon * columns, 1)


def _round_down(most: float) -> Fraction:
    """The largest of ..., 0.5, 1, 2, 5, 10, ... that is not above."""
    power = Fraction(10) ** math.floor(math.log10(most) + 1e-9)
    return max(factor * power for factor in (1, 2, 5) if factor * power <= most * (1 + 1e-9))


class _March:
    """One parameter moving in one direction, in steps of a grid numbered from 0."""

    def __init__(
        self, solution: Solution, parameter: Parameter, direction: Direction, tolerance: float, solves: int
    ) -> None:
        self.mdp, self.objective, self.parameter, self.direction = (
            solution.mdp,
            solution.objective,
            parameter,
            direction,
        )
        self.action, self.others = first_actions(solution)
        self.grid = choose_grid(self.mdp, self.objective, parameter, tolerance)
        self.end = parameter.high if direction == "up" else parameter.low
        self.steps = math.ceil(abs(self.end - parameter.value) / self.grid)
        work = _work_of(self.mdp, self.objective) * max(1, int(self.mdp.quantum / self.grid))
        self.left = max(LEAST_SOLVES, min(solves, WORK // work))
        self.samples = max(LEAST_SAMPLES, min(SAMPLES, WORK // work))
        self.known = {0: solution}
        self.bounds: dict[tuple[int, frozenset[str]], float] = {}

    def leeway(self) -> Leeway:
        """March until the advice changes or the end is reached."""
        here = certain = 0
        stride, coarse = self.steps, max(1, self.steps // self.samples)
        tied, flip = self._tied(here), None
        while here < self.steps and flip is None:
            stride = max(1, min(stride, self.steps - here))
            can_be_certain = self.left > 0 and not tied and self._has_bounds
            if not can_be_certain:
                stride = min(coarse, self.steps - here)
            elif not self._is_certain(here, here + stride) and stride > 1:
                stride //= 3
                continue
            passed = here + stride
            if self._is_as_good(passed):
                certain = passed if certain == here and (can_be_certain or stride == 1) else certain
                here, stride = passed, 2 * stride
                tied = tied and self._tied(here)
            else:
                same, other = self._narrow(here, passed)
                certain = same if certain == here and (can_be_certain or stride == 1) else certain
                here, flip = same, self._describe(same, other)
        values = float(self.end), float(self.value(certain)), float(self.grid)
        return Leeway(self.parameter, self.direction, *values, flip)

    def value(self, step: int) -> Fraction:
        """What the parameter is after so many steps; the last one ends where it may not go further."""
        far = step * self.grid
        if far >= abs(self.end - self.parameter.value):
            return self.end
        return self.parameter.value + (far if self.direction == "up" else -far)

    def _narrow(self, same: int, other: int) -> tuple[int, int]:
        """Neighbours between which the advice changes."""
        while other - same > 1:
            middle = (same + other) // 2
            same, other = (middle, other) if self._is_as_good(middle) else (same, middle)
        return same, other

    def _describe(self, same: int, other: int) -> Flip:
        found, value, amount = self._solve(other), float(self.value(other)), self.parameter.amount
        inside = amount.is_interval and float(amount.low) <= value <= float(amount.high)
        sides = float(self.value(same)), value
        return Flip(self.parameter, self.direction, *sides, found.policy.action(), evaluate(found), inside)

    def _is_as_good(self, step: int) -> bool:
        """Whether no other first step is better after so many steps."""
        best = self._solve(step)
        if best.policy.action() == self.action:
            return True
        own = self._best_with({self.action}, self._moved(step))
        return own is not None and own.value <= best.value * (1 + SURE)

    def _solve(self, step: int) -> Solution:
        """The optimal plan after so many steps."""
        if step not in self.known:
            self.left -= 1
            self.known[step] = solve(self._moved(step), self.objective)
        return self.known[step]

    def _moved(self, step: int) -> MDP:
        return self.parameter.move(self.mdp, self.value(step))

    def _best_with(self, actions: Collection[str], mdp: MDP) -> Solution | None:
        self.left -= 1
        return solve_with(mdp, self.objective, actions)

    def _tied(self, step: int) -> bool:
        """Whether another first step is as good."""
        own, mdp = self._solve(step), self._moved(step)
        other = self._best_with(self.others, mdp)
        return other is not None and _is_tied(other, own)

    @property
    def _has_bounds(self) -> bool:
        """Whether anything can be said of a stretch."""
        if isinstance(self.objective, SuccessFirst):  # what is allowed changes with chances, and not with costs
            aim, chance = self.objective.then, False
        else:
            aim, chance = self.objective, not isinstance(self.objective, VaR)
        return chance if self.parameter.is_chance else not isinstance(aim, MeanStd | MeanVariance | MeanLowerStd)

    def _is_certain(self, near: int, far: int) -> bool:
        """Whether the first step is surely the best one from one step of the grid to another."""
        if self.parameter.is_chance:
            one, other = (self.parameter.chances(self.mdp, self.value(step)) for step in (near, far))
            own = bound_plan(self._solve(near), (one, other))
            rival = self._best_with(self.others, either(self.mdp, one, other))
            return rival is None or (own is not None and own < rival.bound * (1 - SURE))
        dear, cheap = (far, near) if self.direction == "up" else (near, far)
        return self._bound(dear, frozenset({self.action})) < self._bound(cheap, self.others) * (1 - SURE)

    def _bound(self, step: int, actions: frozenset[str]) -> float:
        """What the best plan with one of these first steps is worth; infinite if none may come first."""
        if (step, actions) not in self.bounds:
            found = self._best_with(actions, self._moved(step))
            own = self.action in actions
            self.bounds[step, actions] = math.inf if found is None else found.value if own else found.bound
        return self.bounds[step, actions]
