"""What can at best still come, and which actions keep the highest probability of success.

Backward, with the outcomes (p, c, s') of a row:

    V_h(s) = min over rows of sum p (c + V_{h+1}(s')),    P_h(s) = max over rows of q_h(s, a) = sum p P_{h+1}(s')

where V is 0 and P is 1 at goals, and V is the failure cost and P is 0 where the run is over without one. No plan has a
lower mean, or a higher success, from there on; the two need not be those of one plan.

A plan has the highest probability of success if and only if it takes an action with q(s, a) = P(s) wherever it can get
to, so any objective can be made small among these plans by sweeping over such actions only.

Robust, the p are the worst within their intervals, and so is P: the highest success that can be had whatever they are.
Taking such actions everywhere is then enough for it, also from every later situation on, but no longer necessary: a
plan may fall short where the worst chances never lead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.core.sweeps import Backward
from safear.mdp.arrays import MDP, once_per_mdp
from safear.problem.model import Record
from safear.solvers.sweep import Allowed, Reals, basis, list_final_costs, sweep_back


class Ahead(NamedTuple):
    """The least mean (in quanta, a failure with its cost) and the highest success: [step, state], horizon included."""

    mean: NDArray[np.float64]
    success: NDArray[np.float64]


@once_per_mdp
def look_ahead(mdp: MDP) -> Ahead:
    """Look ahead from all states and steps of an MDP."""
    known = basis(mdp)
    mean = sweep_back(mdp, list_final_costs(mdp), Backward(*known), by_step=True)
    return Ahead(mean, 0.0 - sweep_back(mdp, _end(mdp), Backward(*known, paid=0.0), by_step=True))


FEW = 2_000_000  # states times steps of one person


@once_per_mdp
def sweep_success(mdp: MDP, *, slack: float = 1e-12, robust: bool = False) -> tuple[Reals, Allowed]:
    """P of each state at step 0, and for each step which rows have q(s, a) >= (1 - slack) P(s)."""
    keeps = np.ones((mdp.horizon, mdp.n_rows), dtype=np.uint8)
    aim = Backward(*basis(mdp, robust=robust), paid=0.0, slack=slack, keeps=keeps)
    success = 0.0 - sweep_back(mdp, _end(mdp), aim)
    return success, keeps.view(np.bool_)


def _end(mdp: MDP) -> Reals:
    """Return what is made small of success at the end: its negative."""
    return np.where(mdp.goal, -1.0, 0.0)


def highest_success(mdp: MDP, person: Record | int | None = None, *, robust: bool = False) -> float:
    """The highest probability of success that any plan has for a person; with `robust`, at the worst chances."""
    state, is_robust = mdp.locate_start(person), robust and mdp.has_intervals
    if not is_robust and len(mdp.starts) == 1 and mdp.n_states * mdp.horizon <= FEW:
        return float(look_ahead(mdp).success[0, state])  # which the search for simple plans needs, too
    return float(sweep_success(mdp, robust=is_robust)[0][state])


def allowed_rows(mdp: MDP, slack: float | None, *, robust: bool = False) -> Allowed | None:
    """What a plan may do if each step may give away the share `slack` of the highest success; None is everything."""
    return None if slack is None else sweep_success(mdp, slack=slack, robust=robust)[1]
