"""Greedy plans (exact ones for the mean) of all states of a family of blocks in one sweep, and their exact figures.

See `mdp.families` for what a family is. The distributions that figures come from are not kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safear.core import sweeps
from safear.errors import ObjectiveError
from safear.evaluation.policy import StatePolicy
from safear.mdp.compiled import CompiledMDP
from safear.mdp.families import Family
from safear.mdp.lattice import advise_resolution
from safear.mdp.spending import largest_spent
from safear.memory import MAX_BYTES, require_room
from safear.risk.distribution import EPSILON, check_level
from safear.risk.objectives import Objective
from safear.solvers.solution import Solution
from safear.solvers.solve import choose_method
from safear.solvers.sweep import Stepwise, sweep_lanes

COSTS = ("success", "mean", "variance", "var", "cvar", "tail_mean")
ENDS = ("sparsity", "proximity")
FAMILY_MEASURES = (*COSTS, *ENDS, "best_success")
_POWERS = {"success": 0, "variance": 2}  # of the quantum; 1 for the others of COSTS


@dataclass(frozen=True, eq=False, repr=False)
class FamilySolution:
    """The greedy plans of a family of blocks: choices [step, state, lane] and planned values [state, lane]."""

    family: Family
    objective: Stepwise
    choices: NDArray[np.uint8]
    planned: NDArray[np.float64]

    def block(self, lane: int) -> Solution:
        """The solution of one block, as `solve` gives it."""
        mdp = self.family.block(lane)
        policy = StatePolicy(mdp, np.ascontiguousarray(self.choices[:, :, lane]))
        return Solution(mdp, self.objective, "greedy", policy, np.ascontiguousarray(self.planned[:, lane]))


def solve_family(family: Family, objective: Objective) -> FamilySolution:
    """G-RSVI (exact for the mean) for all blocks of a family in one sweep."""
    if not isinstance(objective, Stepwise):
        choose_method(objective)  # is it one at all?
        remedy = "use Mean, MeanStd or MeanLowerStd here, and solve(mdp, ...) for the optimum of the others"
        raise ObjectiveError.at(
            (), f"'{objective}' cannot be solved for many blocks in one sweep", remedy, code="unsuited"
        )
    choices, values = sweep_lanes(family.shared, objective, family.goal)
    return FamilySolution(family, objective, choices, values * float(family.shared.quantum))


def summarise(
    solution: FamilySolution,
    *,
    level: float = 0.95,
    measures: tuple[str, ...] = FAMILY_MEASURES,
    max_bytes: int = MAX_BYTES,
) -> Mapping[str, NDArray[np.float64]]:
    """Of every state of every lane [state, lane] the `measures`, as `evaluate_states` gives them for each block.

    NaN where a figure is undefined; VaR, CVaR and tail mean are those at `level`.
    """
    check_level(level)
    mdp, choices = solution.family.shared, np.ascontiguousarray(solution.choices)
    goal = np.ascontiguousarray(solution.family.goal).view(np.uint8)
    found: dict[str, NDArray[np.float64]] = {}
    if not set(COSTS).isdisjoint(measures):
        width = int(largest_spent(mdp).max(initial=0)) + 1
        what = f"the distributions of a block of {mdp.n_states:,} states with {width:,} possible totals"
        need = measure_room(mdp) + len(COSTS) * 8 * goal.size
        remedy = advise_resolution(mdp, need / max_bytes, "evaluate one person at a time")
        require_room(need, what, max_bytes=max_bytes, remedy=remedy)
        figures = np.empty((len(COSTS), *goal.shape))
        sweeps.summarise_costs(mdp.arrays, goal, choices, width, level, EPSILON, figures)
        figures[0] = np.minimum(figures[0], 1.0)  # chances that add up to one may do so up to rounding
        times, by = mdp.quantum.numerator, mdp.quantum.denominator  # a quotient is the float nearest to the decimal
        for name, values in zip(COSTS, figures, strict=True):
            power = _POWERS.get(name, 1)
            found[name] = values * times**power / by**power
    if not set(ENDS).isdisjoint(measures):
        figures = np.empty((len(ENDS), *goal.shape))
        shown = [i for i, feature in enumerate(mdp.features) if not feature.hidden]
        codes = np.ascontiguousarray(mdp.codes(np.arange(mdp.n_states))[:, shown])
        sizes = np.array([len(mdp.features[i].levels) for i in shown], dtype=np.int64)
        ordered = np.array([mdp.features[i].is_ordered for i in shown], dtype=np.uint8)
        sweeps.summarise_ends(mdp.arrays, goal, choices, codes, sizes, ordered, figures)
        found |= dict(zip(ENDS, figures, strict=True))
    if "best_success" in measures:
        found["best_success"] = sweeps.find_highest_success(mdp.arrays, goal, mdp.horizon)
    return {name: found[name] for name in measures}


def measure_room(mdp: CompiledMDP) -> int:
    """The bytes that the distributions of all states of a block take, two steps of them."""
    return 2 * 8 * mdp.n_states * (int(largest_spent(mdp).max(initial=0)) + 1)
