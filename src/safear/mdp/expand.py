"""The edges that leave given states: actions, outcomes, changes, side effects, constraints.

An action is offered in a state if its `when` holds, if at least one possible outcome changes the state, and if no
possible outcome breaks a constraint or has a side effect in proportion that goes beyond its scale. What is hidden does
not count as a change. An outcome is possible if its chance, or the upper end of its interval, is above 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.errors import ProblemError
from safear.mdp.lattice import Lattice
from safear.mdp.space import StateArray, StateSpace
from safear.problem.chance_limits import give_rest, limit_chances, stuck_interval
from safear.problem.model import Action, Outcome, Problem
from safear.problem.quantity import Amount, amounts
from safear.problem.quantity_checks import TOLERANCE
from safear.problem.vector import Codes, apply_change, apply_side_effects, evaluate_quantity, holds

MAX_DIGITS = 16  # of a chance: the sum of 255 such fits 64 bits, and what is below half of the last digit is no chance


class Edges(NamedTuple):
    """Edges between states given by their index in the space; arrays of the same length.

    Whether an edge `shows` and is `fine` is as `SideBySide` has it.
    """

    source: StateArray
    action: NDArray[np.int64]
    outcome: NDArray[np.int64]
    target: StateArray
    chance: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    cost: NDArray[np.int64]
    shows: NDArray[np.bool_]
    fine: NDArray[np.bool_]


def expand(
    problem: Problem, lattice: Lattice, space: StateSpace, states: StateArray, *, for_all: bool = False
) -> Edges:
    """All edges that leave `states`, those of each state by action and outcome.

    With `for_all`, those of every action that can be tried and may change something, possible or not, whoever tries it:
    one with a single outcome has another that never happens.
    """
    columns = space.columns(space.decode(states))
    parts = [_NO_EDGES]
    for number, action in enumerate(problem.actions):
        rows = np.flatnonzero(holds(action.when, columns, problem.feature_by_name) & can_try(problem, action, columns))
        if not len(rows):
            continue
        before = {name: column[rows] for name, column in columns.items()}
        ends = stack_ends(problem, lattice, space, action, states[rows], before, may_fail=for_all)
        possible = np.ones_like(ends.fine) if for_all else ends.high > 0
        offered = (possible & ends.shows).any(axis=1, keepdims=True)
        if not for_all:
            offered &= (~possible | ends.fine).all(axis=1, keepdims=True)
        row, outcome = np.nonzero(possible & offered)
        tried: list[NDArray[Any]] = [states[rows[row]], np.full(len(row), number, dtype=np.int64), outcome]
        parts.append(Edges(*tried, *(part[row, outcome] for part in ends)))
    edges = [np.concatenate(some) for some in zip(*parts, strict=True)]
    parts.clear()  # they may be large
    order = np.argsort(edges[0], kind="stable")
    return Edges(*(column[order] for column in edges))


def can_try(problem: Problem, action: Action, columns: Codes) -> NDArray[np.bool_]:
    """In which states an action has not been tried as often as it may be."""
    if not action.counted_by:
        return np.ones(1, dtype=bool)
    last = len(problem.feature_by_name[action.counted_by].levels) - 1
    return np.asarray(columns[action.counted_by] < last)


_NO_EDGES = Edges(*(np.empty(0, dtype=kind) for kind in ["i8"] * 4 + ["f8"] * 3 + ["i8", "?", "?"]))


def allowed(problem: Problem, columns: Codes, count: int) -> NDArray[np.bool_]:
    """Which states fulfil every constraint."""
    result = np.ones(count, dtype=bool)
    for constraint in problem.constraints:
        result &= holds(constraint, columns, problem.feature_by_name)
    return result


def find_allowed(problem: Problem, space: StateSpace) -> StateArray:
    """The states of a space that fulfil every constraint, rising."""
    states = np.arange(space.size, dtype=np.int64)
    return states[allowed(problem, space.columns(space.decode(states)), len(states))]


class SideBySide(NamedTuple):
    """The ends of an action in some states, side by side [state, outcome], possible or not.

    `shows`: it changes something that is not hidden. `fine`: as `is_fine`.
    """

    target: NDArray[np.int64]
    chance: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    cost: NDArray[np.int64]
    shows: NDArray[np.bool_]
    fine: NDArray[np.bool_]


def stack_ends(
    problem: Problem,
    lattice: Lattice,
    space: StateSpace,
    action: Action,
    states: StateArray,
    before: Codes,
    *,
    may_fail: bool = False,
) -> SideBySide:
    """What comes of an action in some states where its `when` holds.

    With `may_fail`, an action with a single outcome has another that never happens: nothing comes of it.
    """
    features = problem.feature_by_name

    def cost_units(amount: Amount) -> int:
        return lattice.units(amount.nominal)

    outcomes, ends = list(action.outcomes), find_ends(problem, action, before)
    if may_fail and len(outcomes) == 1:
        never, nothing = np.zeros(len(states)), apply_change({}, before, features)
        outcomes.append(Outcome())
        ends.append(End(never, never, never, nothing, *_follow_up(problem, action, before, nothing)))
    general = evaluate_quantity(action.cost, before, ends[0].reached, features=features, number=cost_units)
    targets, costs, fine, shows = [], [], [], []
    for outcome, end in zip(outcomes, ends, strict=True):
        targets.append(space.moved(states, before, end.after))
        shown = {name: column for name, column in end.after.items() if not features[name].hidden}
        shows.append(space.moved(states, before, shown) != states)
        fine.append(is_fine(problem, end))
        own = outcome.cost
        costs.append(
            general
            if own is None
            else evaluate_quantity(own, before, end.reached, features=features, number=cost_units)
        )
    chance, low, high = zip(*(end[:3] for end in ends), strict=True)
    cost = np.array(costs).astype(np.int64)
    return SideBySide(*(np.array(part).T for part in (targets, chance, low, high, cost, shows, fine)))


class End(NamedTuple):
    """One outcome of an action in some states: how likely, what its own change reaches, where it ends after all.

    Its chance lies between `low` and `high`. `inside`: no side effect in proportion goes beyond its scale.
    """

    chance: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    reached: Codes
    after: Codes
    inside: NDArray[np.bool_]

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Where it can happen at all."""
        return np.asarray(self.high > 0)


def find_ends(problem: Problem, action: Action, before: Codes) -> list[End]:
    """All outcomes of an action, whether it is offered or not."""
    reached = [apply_change(outcome.change, before, problem.feature_by_name) for outcome in action.outcomes]
    ends = []
    chances = _chances(problem, action, before, reached)
    low, high = _limits(problem, action, before, reached, chances)
    for number, change in enumerate(reached):
        after, inside = _follow_up(problem, action, before, change)
        ends.append(End(chances[:, number], low[:, number], high[:, number], change, after, inside))
    return ends


def _follow_up(
    problem: Problem, action: Action, before: Codes, reached: Codes
) -> tuple[dict[str, NDArray[np.int16]], NDArray[np.bool_]]:
    """Where an outcome ends after all, and where no side effect goes beyond its scale."""
    after, inside = apply_side_effects(before, reached, problem)
    if action.counted_by:  # a try is a try, whatever its end
        after[action.counted_by] = (before[action.counted_by] + 1).astype(np.int16)
    return after, inside


def is_fine(problem: Problem, end: End) -> NDArray[np.bool_]:
    """Where an outcome breaks no constraint, and no side effect in proportion goes beyond its scale."""
    return end.inside & allowed(problem, end.after, len(end.chance))


def _chances(
    problem: Problem, action: Action, before: Codes, reached: list[dict[str, NDArray[np.int16]]]
) -> NDArray[np.float64]:
    """The chance of each outcome in each state; the outcome without one gets the rest."""
    features = problem.feature_by_name
    stated = [(i, outcome.chance) for i, outcome in enumerate(action.outcomes) if outcome.chance is not None]
    # Chances are decimals: as whole numbers of a small enough unit they add up exactly, and so does the rest.
    unit = _unit_of(amount.nominal for _, chance in stated for amount in amounts(chance))
    parts = np.zeros((len(next(iter(before.values()))), len(action.outcomes)), dtype=np.int64)
    for number, chance in stated:
        parts[:, number] = evaluate_quantity(
            chance, before, reached[number], features=features, number=lambda amount: round(amount.nominal * unit)
        )
    left = unit - parts.sum(axis=1)
    rest = [number for number, outcome in enumerate(action.outcomes) if outcome.chance is None]
    wrong = (left < -TOLERANCE * unit) | ((left > TOLERANCE * unit) & (not rest))
    if wrong.any():  # only where the levels were too many for `check_problem` to look at all of them
        cause = f"chances add up to {1 - left[np.argmax(wrong)] / unit:.10g}, not 1"
        raise ProblemError.at(("actions", action.name, "outcomes"), cause, code="sum_of_chances")
    for number in rest:
        parts[:, number] = np.maximum(left, 0)
    chances: NDArray[np.float64] = parts / parts.sum(axis=1, keepdims=True)
    return chances


def _limits(
    problem: Problem,
    action: Action,
    before: Codes,
    reached: list[dict[str, NDArray[np.int16]]],
    chances: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the largest chance of each outcome in each state.

    The outcome that takes the rest may have any: the one without a chance or, if all are stated, see `give_rest`. Each
    limit is a chance that the outcome has for some chances of the others, and what is no interval has its chance.
    """
    stated = [(i, outcome.chance) for i, outcome in enumerate(action.outcomes) if outcome.chance is not None]
    every = [amount for _, chance in stated for amount in amounts(chance)]
    if not any(amount.is_interval for amount in every):
        return chances, chances
    unit = _unit_of(end for amount in every for end in (amount.low, amount.high))
    low, high = np.zeros(chances.shape, dtype=np.int64), np.full(chances.shape, unit)
    for number, chance in stated:
        low[:, number], high[:, number] = (
            evaluate_quantity(chance, before, reached[number], features=problem.feature_by_name, number=end)
            for end in (lambda amount: round(amount.low * unit), lambda amount: round(amount.high * unit))
        )
    if len(stated) == len(action.outcomes):
        low, high, stuck = give_rest(low, high, unit)
        if stuck.any():  # as above, only where `check_problem` could not look at all levels
            raise ProblemError([stuck_interval(("actions", action.name, "outcomes"))])
    least, most = limit_chances(low, high, unit)
    exact = least >= most  # chances that add up to 1 only nearly leave a trace of room, or less than none
    return (
        np.where(exact, chances, np.minimum(least / unit, chances)),
        np.where(exact, chances, np.maximum(most / unit, chances)),
    )


def split_chance(chance: Decimal) -> tuple[float, float]:
    """A chance and the rest that it leaves, as they are where two outcomes have them."""
    unit = _unit_of([chance])
    part = round(chance * unit)
    return part / float(unit), max(unit - part, 0) / float(unit)


def _unit_of(chances: Iterable[Decimal]) -> int:
    """How many of the unit in which chances are whole numbers make one."""
    return int(10 ** min(max(map(_decimals, chances), default=0), MAX_DIGITS))


def _decimals(number: Decimal) -> int:
    """How many decimals a chance has."""
    exponent = number.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
