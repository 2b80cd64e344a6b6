"""What the benchmarks call ours, in one place: families of blocks, swept lane beside lane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

import safear as sa
from safear.mdp import Family, StateSpace, compile_families
from safear.population.family_figures import FamilySolution, solve_family, summarise

Floats = NDArray[np.float64]
Summaries = tuple[Floats, ...]  # success, mean, variance, VaR 95%, CVaR 95%, each by state
Built = Sequence[Family]
Plans = Sequence[FamilySolution]
LaneFigures = Mapping[str, Floats]  # by measure, [state, lane]
MEASURES = ("success", "mean", "variance", "var", "cvar")


def ours_build(problem: sa.Problem) -> Built:
    """From the problem to arrays: what is computed once, whatever the objective."""
    return list(compile_families(problem))


def ours_solve(built: Built, objective: sa.Mean | sa.MeanStd) -> Plans:
    """The greedy plans of all states, with their values."""
    return [solve_family(family, objective) for family in built]


def ours_summaries(plans: Plans) -> Sequence[LaneFigures]:
    """The exact figures of all states: success, and mean, variance, VaR and CVaR given success."""
    return [summarise(part, measures=MEASURES) for part in plans]


def ours_values(problem: sa.Problem, plans: Plans) -> Floats:
    """What the sweep computed, in the order of the states of `sa.compile_mdp(problem)`; not timed."""
    return _in_order(problem, plans, [part.planned for part in plans])


def ours_figures(problem: sa.Problem, plans: Plans, figures: Sequence[LaneFigures]) -> Summaries:
    """The figures in the same order, 0 where there are none; not timed."""
    return tuple(
        _in_order(problem, plans, [np.nan_to_num(part[name], nan=0.0) for part in figures]) for name in MEASURES
    )


def _in_order(problem: sa.Problem, plans: Plans, parts: Sequence[Floats]) -> Floats:
    """By state of the whole space from [state, lane] of each family."""
    whole = StateSpace(problem.features, {})
    immutable = [i for i, feature in enumerate(problem.features) if not feature.mutable]
    result = np.empty(whole.size)
    for plan, values in zip(plans, parts, strict=True):
        mdp = plan.family.shared
        codes = np.repeat(mdp.codes(np.arange(mdp.n_states))[:, None, :], plan.family.n_lanes, axis=1)
        codes[:, :, immutable] = plan.family.levels
        result[whole.encode(codes.reshape(-1, codes.shape[2]))] = values.reshape(-1)
    return result
