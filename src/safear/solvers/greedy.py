"""One backward sweep: exact for the mean, greedy (G-RSVI, Algorithm 1 of the paper) for mean and deviation.

With V the values of the next step, and for each row (state s, action a) the outcomes s' with chance p and cost c:

    m(s, a) = sum p (c + V(s'))
    d(s, a) = sqrt(sum p (c + V(s') - m)^2)                      MeanStd
    d(s, a) = the same over the outcomes with c + V(s') > m      MeanLowerStd  (LPSD)
    Q(s, a) = m + risk_aversion * d,    V(s) = min over a of Q(s, a)

V is 0 at goals, and the failure cost at other states after the last step and at dead ends. Ties go to the first action.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from safear.mdp.model import MDP
from safear.risk.objectives import Mean, MeanLowerStd, MeanStd
from safear.solvers.policy import NOTHING, Policy

TIE = 1e-13  # values this close, relatively, are equal up to rounding
Progress = Callable[[int, int], None]  # (done, total)
Recursive = Mean | MeanStd | MeanLowerStd  # objectives that the sweep can do


def sweep(mdp: MDP, objective: Recursive, progress: Progress | None = None) -> tuple[Policy, NDArray[np.float64]]:
    """The policy, and the value of each state at step 0 in quanta."""
    values = np.where(mdp.goal, 0.0, float(mdp.failure_cost))
    choices = np.full((mdp.horizon, mdp.n_states), NOTHING, dtype=np.uint8)
    active = np.flatnonzero(np.diff(mdp.row_start))
    for step in reversed(range(mdp.horizon)):
        if len(active):
            scores = score_rows(mdp, values, objective)
            rows = first_best(scores, mdp.row_start[active])
            choices[step, active] = rows - mdp.row_start[active]
            values[active] = scores[rows]
        if progress is not None:
            progress(mdp.horizon - step, mdp.horizon)
    return Policy(mdp, choices), values


def score_rows(mdp: MDP, values: NDArray[np.float64], objective: Recursive) -> NDArray[np.float64]:
    """Q of each row, given the values of the next step."""
    first, row, chance = mdp.edge_start[:-1], mdp.edge_row, mdp.edge_chance
    cost_to_go = mdp.edge_cost + values[mdp.edge_next]
    mean = np.add.reduceat(chance * cost_to_go, first)
    match objective:
        case Mean():
            return mean
        case MeanStd(risk_aversion):
            distance = cost_to_go - mean[row]
        case MeanLowerStd(risk_aversion):
            distance = np.maximum(cost_to_go - mean[row], 0.0)
    return mean + risk_aversion * np.sqrt(np.add.reduceat(chance * distance**2, first))


def first_best(scores: NDArray[np.float64], first_rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each state, the first of its rows whose score is the least, up to rounding.

    `first_rows` are where the rows of the states that have any begin.
    """
    least = np.minimum.reduceat(scores, first_rows)
    counts = np.diff(np.append(first_rows, len(scores)))
    limit = least * (1 + TIE)  # scores are not below 0
    good = np.flatnonzero(scores <= np.repeat(limit, counts))
    return good[np.searchsorted(good, first_rows)]
