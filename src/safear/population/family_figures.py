"""Exact figures of all states of a family of blocks, without keeping the distributions they come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safear.errors import MDPError
from safear.mdp.spending import largest_spent
from safear.memory import MAX_BYTES, require_room
from safear.population.family_plans import FamilySolution
from safear.risk.distribution import EPSILON, Masked, check_level


@dataclass(frozen=True, eq=False)
class LaneFigures:
    """Of every state of every lane [state, lane]: the chance to succeed and, given success, figures of the cost."""

    success: NDArray[np.float64]
    mean: Masked
    variance: Masked
    var: Masked
    cvar: Masked


def summarise(solution: FamilySolution, *, level: float = 0.95, max_bytes: int = MAX_BYTES) -> LaneFigures:
    """The figures that `evaluate_states` would give for each of the blocks, VaR and CVaR at `level`."""
    from safear.evaluation import evaluation_kernels  # noqa: PLC0415  # Numba takes a moment to load

    check_level(level)
    if not isinstance(solution, FamilySolution):
        remedy = "of a space: [summarise(part) for part in space.families]"
        raise MDPError.at((), f"{solution!r} is not the solution of one family", remedy)
    mdp, goal = solution.family.shared, solution.family.goal
    width = int(largest_spent(mdp).max(initial=0)) + 1
    what = f"the distributions of a block of {mdp.n_states:,} states with {width:,} possible totals"
    remedy = "round costs with 'cost: {resolution: ...}', or evaluate one person at a time"
    require_room(2 * 8 * width * mdp.n_states + 5 * 8 * goal.size, what, max_bytes=max_bytes, remedy=remedy)
    figures = np.empty((5, *goal.shape))
    evaluation_kernels.summarise_lanes(mdp.arrays, goal, solution.choices, width, level, EPSILON, figures)
    success, mean, variance, var, cvar = figures
    times, by = mdp.quantum.numerator, mdp.quantum.denominator  # a quotient is the float nearest to the decimal

    def defined(values: NDArray[np.float64]) -> Masked:
        return np.ma.array(values, mask=success <= 0)

    return LaneFigures(
        np.minimum(success, 1.0),  # chances that add up to one may do so up to rounding
        defined(mean * times / by),
        defined(variance * times**2 / by**2),
        defined(var * times / by),
        defined(cvar * times / by),
    )
