"""Parameters: the amounts of a problem file, and what each moves in an MDP when it alone is another.

The chance of an edge is p + (x - x0) * slope, and so is its cost, with x0 the amount as written:

    chance of an outcome    +1 for the outcome; -1 for the one without a stated chance, which takes the rest. Where all
                            are stated, the others give way in proportion: -p / (1 - x0)
    cost                    +1 for every outcome that it is the cost of
    failure cost            no edge: what failing costs

Of two stated chances that make up for each other, only the first is a parameter: the other says the same. What cannot
happen as the file has it stays impossible, what is certain stays certain: where that is so, a chance stays as it is (in
the states in which the others leave nothing to the outcome without one, say), and if it is so everywhere, the chance is
no parameter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.errors import Path
from safear.mdp.arrays import MDP, stretches
from safear.mdp.compiled import CompiledMDP
from safear.mdp.spending import largest_spent
from safear.problem.model import Action
from safear.problem.quantity import Amount, Quantity, amount_places, map_amounts
from safear.problem.vector import Codes, apply_change, evaluate_quantity

ParameterKind = Literal["chance", "cost", "failure_cost"]
FARTHEST = 5  # costs are tried up to so many times what they are
FAILURE_COST: Path = ("goal", "failure_cost")


@dataclass(frozen=True, eq=False)
class Parameter:
    """An amount of a problem file at `path`, and the `edges` whose chance or cost it moves, each by `slope`.

    `value` is what it is, with costs as they are counted. It may move between `low` and `high`: a chance as far as all
    chances stay between 0 and 1, a cost from 0 to five times what it is (or, if it is 0, the largest cost of a step).
    """

    path: Path
    kind: ParameterKind
    amount: Amount
    value: Fraction
    low: Fraction
    high: Fraction
    edges: NDArray[np.int64]
    slope: NDArray[np.float64]

    @property
    def is_chance(self) -> bool:
        """Whether it is a chance, and not a cost."""
        return self.kind == "chance"

    def chances(self, mdp: MDP, value: Fraction) -> NDArray[np.float64]:
        """The chances of all edges if this parameter has another value."""
        chance = mdp.edge_chance
        if self.is_chance:
            chance = chance.copy()
            chance[self.edges] = np.clip(chance[self.edges] + float(value - self.value) * self.slope, 0.0, 1.0)
        return chance

    def move(self, mdp: MDP, value: Fraction) -> MDP:
        """The MDP with another value of this parameter; its quantum is as fine as that needs."""
        if self.is_chance:
            return replace(mdp, edge_chance=self.chances(mdp, value))
        step = value - self.value
        finer = (step / mdp.quantum).denominator
        units, cost = int(step / mdp.quantum * finer), mdp.edge_cost * finer
        cost[self.edges] += units
        failure = mdp.failure_cost * finer + (units if self.kind == "failure_cost" else 0)
        return replace(mdp, edge_cost=cost, failure_cost=failure, quantum=mdp.quantum / finer)


class _Use(NamedTuple):
    """What a parameter moves in some rows of an action."""

    path: Path
    amount: Amount
    edges: NDArray[np.int64]
    slope: NDArray[np.float64]


def find_parameters(mdp: CompiledMDP) -> tuple[Parameter, ...]:
    """All chances and costs that matter to somebody in these states, in the order of the file."""
    found: list[Parameter] = []
    dearest = Fraction(int(mdp.edge_cost.max(initial=0))) * mdp.quantum
    for number, action in enumerate(mdp.problem.actions):
        rows = np.flatnonzero(mdp.row_action == number)
        if len(rows):
            offered = _Offered(mdp, action, rows)
            found += [_as_cost(use, mdp, dearest) for use in offered.costs()]
            found += [_as_chance(use, mdp) for use in offered.chances()]
    if not mdp.goal.all():
        nothing = np.empty(0, dtype=np.int64)
        value = mdp.failure_cost * mdp.quantum
        most = value or max(dearest, int(largest_spent(mdp).max(initial=0)) * mdp.quantum)
        amount = Amount.exactly(mdp.problem.goal.failure_cost)
        ends = (value, Fraction(0), FARTHEST * most)
        found.append(Parameter(FAILURE_COST, "failure_cost", amount, *ends, nothing, np.empty(0)))
    movable = [parameter for parameter in found if parameter.low < parameter.high]
    return tuple(
        parameter
        for number, parameter in enumerate(movable)
        if not any(_mirrors(parameter, other) for other in movable[:number])
    )


class _Offered:
    """The rows of one action: their edges by outcome (-1: none), and which amount of a quantity holds in each."""

    def __init__(self, mdp: CompiledMDP, action: Action, rows: NDArray[np.int64]) -> None:
        self.mdp, self.action, self.rows = mdp, action, rows
        self.before = mdp.space.columns(mdp.space.decode(mdp.states[mdp.row_state[rows]]))
        features = mdp.problem.feature_by_name
        self.reached = [apply_change(outcome.change, self.before, features) for outcome in action.outcomes]
        edges = stretches(mdp.edge_start, rows)
        counts = mdp.edge_start[rows + 1] - mdp.edge_start[rows]
        self.edge = np.full((len(rows), len(action.outcomes)), -1, dtype=np.int64)
        self.edge[np.repeat(np.arange(len(rows)), counts), mdp.edge_outcome[edges]] = edges

    def costs(self) -> Iterator[_Use]:
        """The action's own cost, then those of outcomes."""
        path: Path = ("actions", self.action.name)
        shared = [number for number, outcome in enumerate(self.action.outcomes) if outcome.cost is None]
        groups = [(self.action.cost, self.reached[0], shared, (*path, "cost"))]
        groups += [
            (outcome.cost, self.reached[number], [number], (*path, "outcomes", number, "cost"))
            for number, outcome in enumerate(self.action.outcomes)
            if outcome.cost is not None
        ]
        for quantity, reached, outcomes, at in groups:
            for place, amount, here in self._split(quantity, at, reached):
                edges = self.edge[here][:, outcomes].ravel()
                edges = np.sort(edges[edges >= 0])
                if len(edges):
                    yield _Use(place, amount, edges, np.ones(len(edges)))

    def chances(self) -> Iterator[_Use]:
        """Those of outcomes. In a row without an edge that a chance needs, slopes do not cancel: there it stays."""
        outcomes = self.action.outcomes
        rest = [number for number, outcome in enumerate(outcomes) if outcome.chance is None]
        chance = np.where(self.edge >= 0, self.mdp.edge_chance[self.edge], 0.0)
        for number, outcome in enumerate(outcomes):
            if outcome.chance is None:
                continue
            slope = np.zeros(chance.shape)
            if rest:
                slope[:, rest] = -1.0
            else:
                left = 1 - chance[:, [number]]
                np.divide(-chance, left, out=slope, where=left > 0)
            slope[:, number] = 1.0
            at: Path = ("actions", self.action.name, "outcomes", number, "chance")
            for place, amount, here in self._split(outcome.chance, at, self.reached[number]):
                edges, slopes = self.edge[here], slope[here]
                there = (edges >= 0) & (slopes != 0)
                there &= np.isclose(np.where(there, slopes, 0.0).sum(axis=1), 0.0)[:, None]
                if there.any():
                    yield _Use(place, amount, edges[there], slopes[there])

    def _split(
        self, quantity: Quantity, path: Path, reached: Codes
    ) -> Iterator[tuple[Path, Amount, NDArray[np.int64]]]:
        """The amounts of a quantity that hold somewhere, each with its place and those of the rows in which it does."""
        features, numbers = self.mdp.problem.feature_by_name, count()
        numbered = map_amounts(quantity, lambda _: Amount.exactly(str(next(numbers))))
        which = evaluate_quantity(
            numbered, self.before, reached, features=features, number=lambda amount: int(amount.nominal)
        )
        for number, (place, amount) in enumerate(amount_places(quantity, path)):
            here = np.flatnonzero(which == number)
            if len(here):
                yield place, amount, here


def _mirrors(one: Parameter, other: Parameter) -> bool:
    """Whether one chance is what another leaves, wherever it holds."""
    if not (one.is_chance and other.is_chance) or len(one.edges) != len(other.edges):
        return False
    order, others = np.argsort(one.edges), np.argsort(other.edges)
    return np.array_equal(one.edges[order], other.edges[others]) and np.allclose(one.slope[order], -other.slope[others])


def _as_cost(use: _Use, mdp: MDP, dearest: Fraction) -> Parameter:
    value = int(mdp.edge_cost[use.edges[0]]) * mdp.quantum
    return Parameter(
        use.path, "cost", use.amount, value, Fraction(0), FARTHEST * (value or dearest), use.edges, use.slope
    )


def _as_chance(use: _Use, mdp: MDP) -> Parameter:
    """The chance with how far it may move."""
    value, chance = Fraction(use.amount.nominal), mdp.edge_chance[use.edges]
    below, above = chance / np.abs(use.slope), (1 - chance) / np.abs(use.slope)
    rises = use.slope > 0
    down, up = (np.where(rises, one, other).min() for one, other in ((below, above), (above, below)))
    low, high = (max(value - Fraction(down), Fraction(0)), min(value + Fraction(up), Fraction(1)))
    return Parameter(use.path, "chance", use.amount, value, _plain(low), _plain(high), use.edges, use.slope)


def _plain(end: Fraction) -> Fraction:
    """A limit without the traces of binary fractions."""
    return Fraction(round(end * 10**12), 10**12)
