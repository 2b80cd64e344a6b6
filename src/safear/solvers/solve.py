"""`solve`: one entrance to all solvers."""

from __future__ import annotations

from typing import Literal

import numpy as np

from safear.arguments import FLAG, NUMBER, PROGRESS, show, takes
from safear.errors import ObjectiveError, suggest
from safear.mdp.arrays import ARRAYS, MDP
from safear.progress import Progress
from safear.risk.objectives import MeanLowerStd, Objective
from safear.solvers.episodic import Episodic, learn
from safear.solvers.fine_costs import choose_unit, find_rounded
from safear.solvers.optimal import find_optimal
from safear.solvers.robust import require_robust
from safear.solvers.solution import Solution
from safear.solvers.sweep import Stepwise, sweep

Method = Literal["optimal", "greedy", "episodic"]
METHODS: tuple[Method, ...] = ("optimal", "greedy", "episodic")


@takes(mdp=ARRAYS, robust=FLAG, tolerance=NUMBER, progress=PROGRESS.or_none)
def solve(
    mdp: MDP,
    objective: Objective,
    *,
    method: Method | Episodic | None = None,
    robust: bool = False,
    tolerance: float = 1e-12,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Compute a policy.

    `"optimal"`, the default for all objectives but `MeanLowerStd`, is exact over all policies, including those that
    look at what was spent. If one person's costs are too fine, it looks for the plan with rounded costs
    (`solution.search_unit`); the value stays exact, and the bound allows for the rounding. `"greedy"` is G-RSVI; with
    `MeanLowerStd`, its LPSD variant. `"episodic"` is G-RSEVI for the person that the MDP was compiled from, and needs
    `rng`; `Episodic(...)` sets its options.

    With `robust`, the plan is the best against the worst chances within their intervals, chosen anew in each step (see
    `robust`), and value and bound are those at the worst chances. That is exact for an adversary and conservative for a
    chance that nobody knows. Among the plans of `SuccessFirst` are then those that take, everywhere, a step with the
    highest success at the worst chances: that is enough to have it, and the same from every later situation on.

    `tolerance` is the relative gap at which the search for the optimum of `MeanStd` and `MeanVariance` stops; by
    default it is that of rounding. `progress(done, total)` is called along the way.
    """
    if not 0 <= tolerance < 1:
        raise ObjectiveError.at((), f"the tolerance {tolerance} is not between 0 and 1", code="out_of_range")
    method = choose_method(objective, method)
    quantum = float(mdp.quantum)
    if robust:
        require_robust(objective, method)
    if method == "optimal":
        units, search_unit = choose_unit(mdp, objective, robust=robust), None
        if units == 1:
            found = find_optimal(mdp, objective, tolerance=tolerance, robust=robust, progress=progress)
        else:
            found = find_rounded(mdp, objective, units, tolerance=tolerance, robust=robust, progress=progress)
            search_unit = mdp.to_cost(units)
        return Solution(
            mdp,
            objective,
            method,
            found.policy,
            found.values,
            certificate=found.bounds,
            search_unit=search_unit,
            robust=robust,
        )
    if not isinstance(objective, Stepwise):
        raise TypeError(objective)  # choose_method refuses it
    if isinstance(method, Episodic) or method == "episodic":
        if not isinstance(rng, np.random.Generator):
            remedy = "give rng=np.random.default_rng(0)"
            raise ObjectiveError.at((), "an episodic solve needs a random generator", remedy, code="no_generator")
        settings = method if isinstance(method, Episodic) else Episodic()
        policy, values, curve = learn(mdp, objective, settings, rng=rng, progress=progress)
        return Solution(mdp, objective, "episodic", policy, values * quantum, learning=curve)
    policy, values = sweep(mdp, objective, progress=progress)
    return Solution(mdp, objective, method, policy, values * quantum)


def choose_method(objective: Objective, method: Method | Episodic | None = None) -> Method | Episodic:
    """The method given, or the default one for the objective. Refuses a method that cannot solve it."""
    if not isinstance(objective, Objective):
        raise ObjectiveError.at(
            (), f"{show(objective)} is not an objective", "use Mean(), CVaR(0.95), MeanStd(0.5), ...", code="wrong_type"
        )
    is_named = isinstance(method, str) and method in METHODS
    if not (is_named or isinstance(method, Episodic) or method is None):
        raise ObjectiveError.at(
            (),
            f"method {show(method)} is not known",
            suggest(show(method).strip("'"), METHODS),
            code="unknown_method",
        )
    if method is None:
        method = "greedy" if isinstance(objective, MeanLowerStd) else "optimal"
    aim = objective.cost_objective
    if method == "optimal" and isinstance(aim, MeanLowerStd):
        raise ObjectiveError.at((), f"there is no optimal method for '{aim}'", "use method 'greedy'", code="unsuited")
    if method != "optimal" and not isinstance(objective, Stepwise):
        raise ObjectiveError.at((), f"'{objective}' needs method 'optimal'", code="unsuited")
    return method
