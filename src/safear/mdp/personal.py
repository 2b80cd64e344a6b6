"""What one person's terms change of a problem, where that is a matter of numbers: costs, chances, what is offered."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from safear.core.reach import Personal
from safear.mdp.expand import split_chance
from safear.mdp.lattice import Lattice
from safear.problem.model import Action, Outcome, Problem
from safear.problem.quantity import Amount

_AS_EVER = (np.nan, np.nan)
_SHARED = ("features", "side_effects", "constraints", "cost_resolution")  # on which it depends where actions lead


def find_difference(common: Problem, lattice: Lattice, problem: Problem, own: Lattice) -> Personal | None:
    """What a problem with terms (and its lattice) has of its own beside the common one; None if it is more than that.

    Both have the same features, side effects and constraints, and the actions of the one are some of the other's.
    """
    if problem is not common and any(getattr(problem, name) != getattr(common, name) for name in _SHARED):
        return None
    if problem.actions is common.actions and own.quantum == lattice.quantum:
        return as_ever(problem)
    numbers, costs = [-1] * len(common.actions), [-1] * len(common.actions)
    chances: list[tuple[float, float]] = [_AS_EVER] * len(common.actions)
    waiting = iter(enumerate(common.actions))
    for number, action in enumerate(problem.actions):
        place, usual = next(((i, one) for i, one in waiting if one.name == action.name), (-1, action))
        chance = _find_chance(usual, action)
        if place < 0 or chance is None or action.when != usual.when or action.counted_by != usual.counted_by:
            return None
        numbers[place], chances[place] = number, chance
        if action.cost is not usual.cost:
            if not isinstance(action.cost, Amount):
                return None
            costs[place] = own.units(action.cost.nominal)
    ratio = lattice.quantum / own.quantum
    chance_table = np.array(chances).reshape(-1, 2)
    whole, costs_table = np.array(numbers, dtype=np.int64), np.array(costs, dtype=np.int64)
    return Personal(whole, costs_table, chance_table, ratio.numerator, ratio.denominator)


def as_ever(problem: Problem) -> Personal:
    """Return what holds for one person in a problem that is their own."""
    count = len(problem.actions)
    chances = np.full((count, 2), np.nan)
    return Personal(np.arange(count, dtype=np.int64), np.full(count, -1, dtype=np.int64), chances, 1, 1)


def _find_chance(usual: Action, action: Action) -> tuple[float, float] | None:
    """The chances of the two outcomes of an action, NaN if they are as ever; None if it is not told so shortly."""
    if action.outcomes is usual.outcomes or action.outcomes == usual.outcomes:
        return _AS_EVER
    if len(action.outcomes) != 2 or len(usual.outcomes) > 2:
        return None
    for old, new in zip((*usual.outcomes, Outcome()), action.outcomes, strict=False):
        if new.change != old.change or new.cost != old.cost:
            return None
    stated, rest = (outcome.chance for outcome in action.outcomes)
    is_number = isinstance(stated, Amount) and not stated.is_interval and 0 <= stated.nominal <= 1
    return split_chance(_nominal(stated)) if is_number and rest is None else None


def _nominal(chance: object) -> Decimal:
    return chance.nominal if isinstance(chance, Amount) else Decimal("NaN")
