"""One backward sweep: exact for the mean, greedy (G-RSVI, Algorithm 1 of the paper) for mean and deviation.

With V the values of the next step, and for each row (state s, action a) the outcomes s' with chance p and cost c:

    m(s, a) = sum p (c + V(s'))
    d(s, a) = sqrt(sum p (c + V(s') - m)^2)                      MeanStd
    d(s, a) = the same over the outcomes with c + V(s') > m      MeanLowerStd  (LPSD)
    Q(s, a) = m + risk_aversion * d,    V(s) = min over a of Q(s, a)
    Q(s, a) = log(sum p exp(b (c + V(s')))) / b                  Entropic, risk aversion b

The first three are Algorithm 1 of the paper, which adds up deviations of single steps; the mean and the last are exact.
Robust, the p of each row are the worst within their intervals (see `robust`): those with the highest sum p (c + V(s')),
or sum p exp(b (c + V(s'))), which begins with the worst outcomes as well.

V is 0 at goals, and the failure cost at other states after the last step, at dead ends and, if plans stop, where no
goal can be reached any more. Ties go to the first action.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.core import sweeps
from safear.core.arrays import Arrays
from safear.core.sweeps import NO_BYTES, Backward, Ranges
from safear.evaluation.policy import NOTHING, StatePolicy
from safear.mdp.arrays import MDP
from safear.progress import Progress
from safear.risk.objectives import Entropic, Mean, MeanLowerStd, MeanStd

TIE = 1e-13  # values this close, relatively, are equal up to rounding
Stepwise = Mean | MeanStd | MeanLowerStd  # what Algorithm 1 is made for
Recursive = Stepwise | Entropic  # objectives that the sweep can do
Allowed = NDArray[np.bool_]  # [step, row]: what a plan may do at all
Reals = NDArray[np.float64]


def sweep(
    mdp: MDP,
    objective: Recursive,
    *,
    allowed: Allowed | None = None,
    robust: bool = False,
    progress: Progress | None = None,
) -> tuple[StatePolicy, NDArray[np.float64]]:
    """The policy, and the value of each state at step 0 in quanta; among the rows that are `allowed`, if given."""
    if allowed is None and not robust and not isinstance(objective, Entropic):
        needed = mdp.steps_to_goal[:, None].astype(np.int16) if mdp.stops else None
        lane_choices, lane_values = sweep_lanes(mdp, objective, mdp.goal[:, None], needed=needed)
        if progress is not None:
            progress(mdp.horizon, mdp.horizon)
        return StatePolicy(mdp, lane_choices[:, :, 0]), lane_values[:, 0]
    if not isinstance(objective, Mean | Entropic):
        raise TypeError(objective)  # `choose_method` and `require_robust` refuse it
    aversion = 0.0 if isinstance(objective, Mean) else objective.risk_aversion * float(mdp.quantum)
    choices = np.full((mdp.horizon, mdp.n_states), NOTHING, dtype=np.uint8)
    rows = NO_BYTES if allowed is None else np.ascontiguousarray(allowed).view(np.uint8)
    aim = Backward(*basis(mdp, robust=robust), aversion=aversion, tie=TIE, allowed=rows, choices=choices)
    return StatePolicy(mdp, choices), sweep_back(mdp, list_final_costs(mdp), aim, progress=progress)


def basis(mdp: MDP, *, robust: bool = False) -> tuple[Arrays, Ranges, NDArray[np.int64]]:
    """Return what a sweep back goes by: rows and edges, chances, and from which step on nothing is done."""
    return mdp.arrays, mdp.ranges(robust=robust), mdp.late


def sweep_back(
    mdp: MDP, ends: Reals, aim: Backward, *, by_step: bool = False, progress: Progress | None = None
) -> Reals:
    """V of each state at step 0, or `by_step` [step, state], from what it is at the `ends`: see `core.sweeps`."""
    values = np.repeat(ends[None], mdp.horizon + 1 if by_step else 2, axis=0)
    last = mdp.horizon if mdp.n_rows else 0
    stages = [(0, last)] if progress is None else [(step, step + 1) for step in reversed(range(last))]
    for begin, end in stages:
        sweeps.sweep_back(aim, values, begin, end)
        if progress is not None:
            progress(mdp.horizon - begin, mdp.horizon)
    return values if by_step else values[0]


def list_final_costs(mdp: MDP) -> Reals:
    """Return what runs cost that are over in each state, besides what was spent, in quanta."""
    return np.where(mdp.goal, 0.0, float(mdp.failure_cost))


def sweep_lanes(
    mdp: MDP, objective: Stepwise, goal: NDArray[np.bool_], *, needed: NDArray[np.int16] | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Return the choices [step, state, lane] and the values [state, lane] at step 0, in quanta.

    `goal` [state, lane] says where goals are in each lane, and `needed`, if it is known, how many steps they are away;
    those of the MDP are not looked at.
    """
    aims = np.ascontiguousarray(goal).view(np.uint8)
    if not mdp.stops:
        needed = np.zeros(goal.shape, dtype=np.int16)
    elif needed is None:
        needed = sweeps.count_steps(mdp.arrays, aims, mdp.horizon)
    needed = np.where(goal, np.int16(mdp.horizon + 1), needed)  # nothing is done at goals
    choices = np.empty((mdp.horizon, *goal.shape), dtype=np.uint8)
    how, (rise, fall) = (aversion_of(objective), isinstance(objective, MeanLowerStd)), np.empty((2, mdp.n_rows))
    sweeps.weigh_two_outcomes(mdp.arrays, mdp.n_rows, *how, rise, fall)
    deviation = sweeps.Deviation(*how, rise, fall)
    kernel, shape = sweeps.sweep_arrays, goal.shape
    if goal.shape[1] == 1:
        kernel, shape = sweeps.sweep_single, goal.shape[:1]
    failing, filled = float(mdp.failure_cost), choices.reshape(mdp.horizon, *shape)
    values = kernel(mdp.arrays, deviation, aims.reshape(shape), needed.reshape(shape), failing, TIE, filled)
    return choices, values.reshape(goal.shape)


def aversion_of(objective: Stepwise) -> float:
    """The weight of the deviation."""
    return 0.0 if isinstance(objective, Mean) else float(objective.risk_aversion)
