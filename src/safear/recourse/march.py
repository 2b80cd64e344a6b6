"""One amount moving away from what it is, over a grid, until the advice changes: the search behind all flips.

Whoever compares says whether the advice is still as good as any at a point of the grid, and whether that is certain on
a whole stretch of it; see `flips` and `choices`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from safear.mdp.arrays import MDP
from safear.mdp.parameters import Parameter
from safear.recourse.offer import Offer
from safear.risk.distribution import CostDistribution
from safear.risk.objectives import Objective
from safear.solvers.fine_costs import MAX_WORK
from safear.solvers.optimal import count_columns, needs_targets

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
    file holds the value. `plan`: the offered plan that is better there, if plans are what was compared.
    """

    parameter: Parameter
    direction: Direction
    same: float
    value: float
    action: str | None
    cost: CostDistribution
    is_guessed: bool
    plan: Offer | None = None

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


class March(ABC):
    """One parameter moving in one direction, in steps of a grid numbered from 0."""

    def __init__(
        self,
        mdp: MDP,
        objective: Objective,
        parameter: Parameter,
        direction: Direction,
        *,
        tolerance: float,
        solves: int = SOLVES,
    ) -> None:
        self.mdp, self.objective, self.parameter, self.direction = mdp, objective, parameter, direction
        self.grid = choose_grid(mdp, objective, parameter, tolerance)
        self.end = parameter.high if direction == "up" else parameter.low
        self.steps = math.ceil(abs(self.end - parameter.value) / self.grid)
        finer = 1 if parameter.is_chance else max(1, int(mdp.quantum / self.grid))
        work = _work_of(mdp, objective) * finer
        self.left = max(LEAST_SOLVES, min(solves, WORK // work))
        self.samples = max(LEAST_SAMPLES, min(SAMPLES, WORK // work))

    @property
    @abstractmethod
    def has_bounds(self) -> bool:
        """Whether anything can be said of a stretch."""

    @abstractmethod
    def is_tied(self, step: int) -> bool:
        """Whether another is exactly as good after so many steps."""

    @abstractmethod
    def is_as_good(self, step: int) -> bool:
        """Whether nothing is better after so many steps."""

    @abstractmethod
    def is_certain(self, near: int, far: int) -> bool:
        """Whether nothing is better anywhere from one step of the grid to another."""

    @abstractmethod
    def better(self, step: int) -> tuple[str | None, CostDistribution, Offer | None]:
        """What is better: its first step, what it leads to, and which plan it is if plans are compared."""

    def leeway(self) -> Leeway:
        """March until the advice changes or the end is reached."""
        here = certain = 0
        stride, coarse = self.steps, max(1, self.steps // self.samples)
        tied, flip = self.is_tied(here), None
        while here < self.steps and flip is None:
            stride = max(1, min(stride, self.steps - here))
            can_be_certain = self.left > 0 and not tied and self.has_bounds
            if not can_be_certain:
                stride = min(coarse, self.steps - here)
            elif not self.is_certain(here, here + stride) and stride > 1:
                stride //= 3
                continue
            passed = here + stride
            if self.is_as_good(passed):
                certain = passed if certain == here and (can_be_certain or stride == 1) else certain
                here, stride = passed, 2 * stride
                tied = tied and self.is_tied(here)
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
            same, other = (middle, other) if self.is_as_good(middle) else (same, middle)
        return same, other

    def _describe(self, same: int, other: int) -> Flip:
        action, cost, plan = self.better(other)
        value, amount = float(self.value(other)), self.parameter.amount
        inside = amount.is_interval and float(amount.low) <= value <= float(amount.high)
        return Flip(self.parameter, self.direction, float(self.value(same)), value, action, cost, inside, plan)

    def moved(self, step: int) -> MDP:
        """The MDP after so many steps."""
        return self.parameter.move(self.mdp, self.value(step))
