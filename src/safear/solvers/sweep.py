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
from safear.evaluation.policy import NOTHING, StatePolicy
from safear.mdp.arrays import MDP
from safear.mdp.hope import list_acting
from safear.mdp.intervals import worst_edge_chances
from safear.progress import Progress
from safear.risk.objectives import Entropic, Mean, MeanLowerStd, MeanStd
from safear.steady import NEAR_ONE, add_rows, steady_exp, steady_expm1, steady_log, steady_log1p

TIE = 1e-13  # values this close, relatively, are equal up to rounding
Stepwise = Mean | MeanStd | MeanLowerStd  # what Algorithm 1 is made for
Recursive = Stepwise | Entropic  # objectives that the sweep can do
Allowed = NDArray[np.bool_]  # [step, row]: what a plan may do at all


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
    values = np.where(mdp.goal, 0.0, float(mdp.failure_cost))
    choices = np.full((mdp.horizon, mdp.n_states), NOTHING, dtype=np.uint8)
    for step in reversed(range(mdp.horizon if mdp.n_rows else 0)):
        allows = None if allowed is None else allowed[step]
        scores = score_rows(mdp, values, objective, robust=robust)
        values = _step_back(mdp, values, scores, choices[step], acting=list_acting(mdp)[step], allowed=allows)
        if progress is not None:
            progress(mdp.horizon - step, mdp.horizon)
    return StatePolicy(mdp, choices), values


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


def _step_back(
    mdp: MDP,
    later: NDArray[np.float64],
    scores: NDArray[np.float64],
    choices: NDArray[np.uint8],
    *,
    acting: NDArray[np.bool_],
    allowed: NDArray[np.bool_] | None,
) -> NDArray[np.float64]:
    """V of one step from that of the next and from Q of each row; writes the choices of `acting` states."""
    active = np.flatnonzero(np.diff(mdp.row_start))
    if allowed is not None:
        scores = np.where(allowed, scores, np.inf)
    rows = first_best(scores, mdp.row_start[active])
    acts = acting[active]
    active, rows = active[acts], rows[acts]
    choices[active] = rows - mdp.row_start[active]
    values = later.copy()
    values[active] = scores[rows]
    return values


def score_rows(
    mdp: MDP, values: NDArray[np.float64], objective: Mean | Entropic, *, robust: bool = False
) -> NDArray[np.float64]:
    """Q of each row, given the values of the next step."""
    cost_to_go = mdp.edge_cost + values[mdp.edge_next]
    chance = worst_edge_chances(mdp, cost_to_go) if robust else mdp.edge_chance
    aversion = 0.0 if isinstance(objective, Mean) else objective.risk_aversion
    per_quantum, first = aversion * float(mdp.quantum), mdp.edge_start[:-1]
    if per_quantum == 0:
        return add_rows(chance * cost_to_go, mdp.edge_start)
    cost_to_go = np.where(chance > 0, cost_to_go, 0.0)  # what never happens takes no part
    largest = np.maximum.reduceat(cost_to_go, first)  # taken out of the sum, as in `Costs.entropic`
    exponents = per_quantum * (cost_to_go - largest[mdp.edge_row])
    mass, below = (add_rows(chance * part(exponents), mdp.edge_start) for part in (steady_exp, steady_expm1))
    near = below > -NEAR_ONE
    logarithm = np.where(near, steady_log1p(np.where(near, below, 0.0)), steady_log(mass))
    return largest + logarithm / per_quantum


def first_best(scores: NDArray[np.float64], first_rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each state, the first of its rows whose score is the least, up to rounding.

    `first_rows` are where the rows of the states that have any begin.
    """
    least = np.minimum.reduceat(scores, first_rows)
    counts = np.diff(np.append(first_rows, len(scores)))
    limit = least * (1 + TIE)  # scores are not below 0
    good = np.flatnonzero(scores <= np.repeat(limit, counts))
    return good[np.searchsorted(good, first_rows)]
