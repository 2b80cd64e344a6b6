"""One set of rows and edges for people with different chances.

Whether an action is offered depends on which of its outcomes can happen at all, so an action for which people bring
chances of their own is compiled in four variants: as the problem has it, and with a first outcome that may happen, is
certain, or never happens. Each person is offered one of them; only in the second do the chances differ from the edges'.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from safear.problem.model import Action, Problem
from safear.problem.quantity import Amount
from safear.problem.terms import ActionTerms, merge_action


class Variant(Enum):
    """How the first outcome of an action comes about; the values are chances that stand for each."""

    OWN = None
    UNCERTAIN = 0.5
    CERTAIN = 1
    NEVER = 0


@dataclass(frozen=True, eq=False)
class Variants:
    """`problem` has each action of another one in one or more variants: `action[i]` in its `kind[i]`."""

    problem: Problem
    action: NDArray[np.int64]
    kind: tuple[Variant, ...]

    def offered(self, chances: NDArray[np.float64], forbidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """[person, variant]: what people are offered, given their chances (NaN: the problem's) and what they forbid."""
        columns = []
        for action, kind in zip(self.action.tolist(), self.kind, strict=True):
            chance = chances[:, action]
            match kind:
                case Variant.OWN:
                    fits = np.isnan(chance)
                case Variant.UNCERTAIN:
                    fits = (chance > 0) & (chance < 1)
                case Variant.CERTAIN:
                    fits = chance == 1
                case Variant.NEVER:
                    fits = chance == 0
            columns.append(fits & ~forbidden[:, action])
        return np.stack(columns, axis=1)

    def chances(self, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        """[person, variant]: the chance of the first outcome, NaN where it is that of the edges."""
        uncertain = np.array([kind is Variant.UNCERTAIN for kind in self.kind])
        return np.where(uncertain, chances[:, self.action], np.nan)


def make_variants(problem: Problem, personal: Collection[int]) -> Variants:
    """The variants of all actions; `personal` are the numbers of those for which people bring chances."""
    actions: list[Action] = []
    numbers, kinds = [], []
    for number, action in enumerate(problem.actions):
        for kind in Variant if number in personal else (Variant.OWN,):
            chance = None if kind.value is None else Amount.exactly(kind.value)
            merged = merge_action(action, ActionTerms(chance=chance))
            actions.append(merged if kind is Variant.OWN else replace(merged, name=f"{action.name} ({kind.name})"))
            numbers.append(number)
            kinds.append(kind)
    return Variants(replace(problem, actions=tuple(actions)), np.array(numbers, dtype=np.int64), tuple(kinds))
