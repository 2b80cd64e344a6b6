"""Greedy plans (exact ones for the mean) of people with their own costs, chances and limits, in the core.

People of a family of blocks share its rows and edges; `core.people.solve_one_by_one` goes from one to the next.

Whether an action is offered depends on which of its outcomes can happen at all, so an action for which people bring
chances of their own is compiled in four variants: as the problem has it, and with a first outcome that may happen, is
certain, or never happens. Each person is offered one of them; only in the second do the chances differ from the edges'.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import Enum
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.core import people as core
from safear.core.reach import Scratch
from safear.errors import TooLargeError
from safear.mdp.compile import Compiler
from safear.mdp.compiled import count_bytes
from safear.mdp.families import Family, FamilyCompiler, count_block_states
from safear.mdp.goals import NO, YES
from safear.mdp.ground import ground_of
from safear.mdp.lattice import MAX_UNITS, Lattice, count_decimals
from safear.memory import MAX_BYTES
from safear.population.crowd import Crowd, as_printed
from safear.problem.model import MAX_ACTIONS, Action, Problem
from safear.problem.quantity import Amount
from safear.problem.terms import ActionTerms, merge_action
from safear.risk.distribution import EPSILON
from safear.risk.objectives import MeanLowerStd
from safear.solvers.sweep import TIE, Stepwise, aversion_of

KERNEL_MEASURES = ("success", "mean", "std", "var", "cvar", "overall_mean", "overall_cvar", "value", "best_success")
_IN_UNITS = slice(1, 8)  # of the measures, those that are costs
TOO_FINE = 3  # as `core.people` numbers decisions, after those of `figures`
KEPT = 8  # sets of rows and edges: for combinations of levels that actions look at, and of chances that people bring


class Solved(NamedTuple):
    """Of some people of a crowd: the decision (as `core.people` numbers them), the first action, KERNEL_MEASURES."""

    decision: NDArray[np.uint8]
    first_action: NDArray[np.int16]
    figures: NDArray[np.float64]


class Units(NamedTuple):
    """Costs [person, action] as whole numbers of a unit for each person; -1 where the problem's own holds.

    `fit` says whose do not become too large, `per_one` how many units make one, `scale` how many the problem's quantum.
    """

    fit: NDArray[np.bool_]
    costs: NDArray[np.int64]
    per_one: NDArray[np.float64]
    scale: NDArray[np.int64]

    def take(self, people: NDArray[np.int64]) -> Units:
        """Those of some people."""
        return Units(self.fit[people], self.costs[people], self.per_one[people], self.scale[people])


class VariantCompiler:
    """Families for people who bring chances for some of the actions; the classifier's answers are shared by all."""

    def __init__(self, compiler: Compiler) -> None:
        self._compiler = compiler
        self._known: dict[frozenset[int], tuple[Variants, FamilyCompiler]] = {}
        self._lock = Lock()

    def get(self, chances: NDArray[np.float64]) -> tuple[Variants, FamilyCompiler]:
        """For people who bring these chances [person, action]."""
        personal = find_personal(chances)
        with self._lock:
            if personal not in self._known:
                while len(self._known) >= KEPT:
                    del self._known[next(iter(self._known))]
                variants = make_variants(self._compiler.problem, personal)
                compiler = Compiler(variants.problem, self._compiler.goals, self._compiler.lattice)
                self._known[personal] = variants, FamilyCompiler(compiler, kept=KEPT)
            return self._known[personal]

    def fits(self, chances: NDArray[np.float64], *, whole_blocks: bool = True) -> bool:
        """Whether all variants of the actions fit, and a block with them, if it is needed."""
        problem, personal = self._compiler.problem, len(find_personal(chances))
        # With chances of their own an action has four variants, each with rows and edges.
        more = 1 + 3 * personal / max(len(problem.actions), 1)
        need = count_block_states(problem) * count_bytes(problem) * more
        return (need <= MAX_BYTES or not whole_blocks) and len(problem.actions) + 3 * personal <= MAX_ACTIONS


def find_personal(chances: NDArray[np.float64]) -> frozenset[int]:
    """The actions for which somebody brings a chance."""
    return frozenset(np.flatnonzero((~np.isnan(chances)).any(axis=0)).tolist())


def solve_people(
    variants: Variants,
    family: Family,
    crowd: Crowd,
    lanes: NDArray[np.int64],
    *,
    units: Units,
    objective: Stepwise,
    level: float,
) -> Solved:
    """The plans of a crowd whose blocks are these lanes of the family; `units` are the crowd's costs."""
    mdp, ground = family.shared, ground_of(family.shared)
    found = Solved(
        np.empty(len(crowd), dtype=np.uint8),
        np.empty(len(crowd), dtype=np.int16),
        np.empty((len(crowd), len(KERNEL_MEASURES))),
    )
    bring = core.People(
        mdp.positions(crowd.codes),
        np.ascontiguousarray(lanes),
        np.ascontiguousarray(variants.offered(crowd.chances, crowd.forbidden)).view(np.uint8),
        np.ascontiguousarray(units.costs[:, variants.action]),
        np.ascontiguousarray(variants.chances(crowd.chances)),
        units.scale,
    )
    rules = core.Rules(
        mdp.horizon,
        mdp.failure_cost,
        aversion_of(objective),
        isinstance(objective, MeanLowerStd),
        TIE,
        level,
        EPSILON,
        mdp.stops,
    )
    said = np.where(family.goal, np.int8(YES), np.int8(NO))
    core.solve_one_by_one(ground, said, bring, rules, Scratch(ground), core.Answers(*found))
    too_fine = found.decision == TOO_FINE
    if too_fine.any():
        cause = "costs are so fine that there are too many different totals"
        place = crowd.place(int(np.argmax(too_fine)))
        raise TooLargeError.at(place, cause, "round the costs, or shorten the horizon", code="too_large")
    found.figures[:, _IN_UNITS] /= units.per_one[:, None]
    return found._replace(first_action=np.append(variants.action, -1)[found.first_action].astype(np.int16))


def count_units(problem: Problem, lattice: Lattice, costs: NDArray[np.float64]) -> Units:
    """Personal costs as whole numbers of 10^-k, with the k that each person's costs and the problem's need."""
    known = ~np.isnan(costs)
    numbers, which = np.unique(costs[known], return_inverse=True)
    exact = [lattice.rounded(as_printed(number)) for number in numbers.tolist()]
    decimals = np.full(costs.shape, count_decimals(lattice.quantum))
    decimals[known] = np.array([count_decimals(cost) for cost in exact], dtype=np.int64)[which.reshape(-1)]
    places = np.maximum(decimals.max(axis=1, initial=0), count_decimals(lattice.quantum))
    per_one = 10.0**places
    largest = np.maximum(np.where(known, costs, 0.0).max(axis=1, initial=0.0), float(lattice.largest))
    fit = (largest * problem.horizon + float(problem.goal.failure_cost)) * per_one < MAX_UNITS
    exponents = np.where(fit, places, 0)
    units = np.full(costs.shape, -1, dtype=np.int64)
    whole = np.array([int(cost * 10 ** count_decimals(cost)) for cost in exact], dtype=object)[which.reshape(-1)]
    people = np.nonzero(known)[0]
    usable = fit[people]
    shift = np.where(usable, places[people] - decimals[known], 0)
    units[known] = np.where(usable, whole, 0).astype(np.int64) * 10**shift
    scales = {place: int(lattice.quantum * 10**place) for place in np.unique(exponents).tolist()}
    scale = np.array([scales[place] for place in exponents.tolist()], dtype=np.int64)
    return Units(fit, units, per_one, scale)


# ------------------------------------------------------------------------------------------------------------- variants


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
