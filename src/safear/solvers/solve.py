"""`solve`: one entrance to all solvers."""

from __future__ import annotations

from typing import Literal

import numpy as np

from safear.errors import ObjectiveError, suggest
from safear.mdp.model import MDP
from safear.risk.objectives import Mean, Objective, SuccessFirst
from safear.solvers.episodic import Episodic, learn
from safear.solvers.greedy import Progress, sweep
from safear.solvers.solution import Solution
from safear.solvers.success import sweep_success

Method = Literal["optimal", "greedy", "episodic"]
METHODS: tuple[Method, ...] = ("optimal", "greedy", "episodic")


def solve(
    mdp: MDP,
    objective: Objective,
    *,
    method: Method | Episodic | None = None,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Compute a policy.

    `"optimal"` is exact; so far there is one for `Mean` and `SuccessFirst`. `"greedy"` is G-RSVI, with `MeanLowerStd`
    its LPSD variant. `"episodic"` is G-RSEVI for the person that the MDP was compiled from and needs `rng`;
    `Episodic(...)` sets its options. The default is optimal where there is one, else greedy. `progress(done, total)` is
    called on the way.
    """
    if not isinstance(objective, Objective):
        raise ObjectiveError.at((), f"{objective!r} is not an objective", "use Mean(), MeanStd(...), ...")
    exact = isinstance(objective, Mean | SuccessFirst) or objective.risk_aversion == 0
    if method is None:
        method = "optimal" if isinstance(objective, Mean | SuccessFirst) else "greedy"
    if not isinstance(method, Episodic) and method not in METHODS:
        raise ObjectiveError.at((), f"method '{method}' is not known", suggest(str(method), METHODS))
    if method == "optimal" and not exact:
        remedy = "use method 'greedy', or the objective 'mean'"
        raise ObjectiveError.at((), f"there is no optimal method for '{objective}' yet", remedy)
    if isinstance(objective, SuccessFirst):
        if method != "optimal":
            raise ObjectiveError.at((), f"'{objective}' is solved by method 'optimal' only")
        policy, values = sweep_success(mdp, progress)
        return Solution(mdp, objective, method, policy, values * float(mdp.quantum))
    if isinstance(method, Episodic) or method == "episodic":
        if not isinstance(rng, np.random.Generator):
            remedy = "give rng=np.random.default_rng(0)"
            raise ObjectiveError.at((), "an episodic solve needs a random generator", remedy)
        settings = method if isinstance(method, Episodic) else Episodic()
        policy, values, curve = learn(mdp, objective, settings, rng=rng, progress=progress)
        return Solution(mdp, objective, "episodic", policy, values * float(mdp.quantum), curve)
    policy, values = sweep(mdp, objective, progress)
    return Solution(mdp, objective, method, policy, values * float(mdp.quantum))
