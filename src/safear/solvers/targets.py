"""The target sweep: the least expected loss of the total cost against every target at once.

With C the total cost, t a target, and w = t - (what is spent) what is left of it:

    U_h(s, w) = min over a of sum p U_{h+1}(s', w - c),    U_H = loss(-w) at a goal, loss(failure cost - w) elsewhere

so that U_0(s, t) is the least E[loss(C - t)] for a run from s, and the policy looks at (state, step, w). The loss
chooses the objective:

    EXCESS     max(x, 0)     CVaR at level a is min over t of t + U_0(s, t) / (1 - a)
    EXCEEDED   [x > 0]       the least chance to exceed every cost; VaR at a level is the smallest that is rare enough
    MISSED     [x > 0], 1 at every failure: the least chance not to succeed within every budget
    CERTAIN    infinite where x > 0: the least mean of the plans that never exceed t
    SQUARE     x^2           the mean-variance hull (see `hull`)

What is made small is loss_weight * E[loss] + mean_weight * E[C]; both are carried along, and ties go to the smaller
mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.policy import Pieces
from safear.mdp.arrays import MDP
from safear.mdp.hope import may_act
from safear.memory import MAX_BYTES, require_room
from safear.progress import Progress
from safear.solvers.sweep import TIE, Allowed

Table = NDArray[np.float64]  # [state, column]
Chances = Literal["nominal", "worst"] | NDArray[np.float64]  # or those of each step and edge


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss of x = C - t: how it rises, and what it is below the lowest target, where x > 0 is certain."""

    power: int  # max(x, 0)^1, [x > 0] = max(x, 0)^0, or x^2
    below: float  # below the lowest target it is below + below_slope * (E[C] - t)
    below_slope: float = 0.0
    exceeded: float = 1.0  # the factor of [x > 0]
    failed: float | None = None  # the loss of every failure, if that is not a matter of cost

    def at_end(self, excess: NDArray[np.float64], *, goal: bool) -> NDArray[np.float64]:
        """The loss of runs that end with the total cost `excess` above the target."""
        if self.failed is not None and not goal:
            return np.full(len(excess), self.failed)
        if self.power == 2:
            return excess**2
        return np.maximum(excess, 0.0) if self.power == 1 else np.where(excess > 0, self.exceeded, 0.0)


EXCESS = Loss(power=1, below=0.0, below_slope=1.0)
EXCEEDED = Loss(power=0, below=1.0)
MISSED = Loss(power=0, below=1.0, failed=1.0)
CERTAIN = Loss(power=0, below=math.inf, exceeded=math.inf)
SQUARE = Loss(power=2, below=math.inf)  # targets below the lowest are not asked for


@dataclass(frozen=True, eq=False)
class TargetSweep:
    """What a sweep has found for each state at step 0, all in quanta.

    Column j > 0 is for the target low + j - 1; column 0 for all below, where the plan is that of the least mean. The
    variance is only computed for SQUARE. `pieces` are the choices of each step; the account of column j is j - 1.
    """

    loss: Table
    mean: Table
    variance: Table
    pieces: list[Pieces]


def sweep_targets(
    mdp: MDP,
    loss: Loss,
    *,
    targets: tuple[float, int],
    weights: tuple[float, float] = (1.0, 0.0),
    allowed: Allowed | None = None,
    last_only: bool = False,
    chances: Chances = "nominal",
    progress: Progress | None = None,
) -> TargetSweep:
    """Sweep for `targets` (the lowest, in quanta, and how many); `weights` are those of the loss and of the mean.

    With `last_only` nothing but the last target, from step 0 on, is computed. The worst `chances` are those within
    their intervals (see `robust`).
    """
    from safear.solvers import robust_kernels, sweep_kernels  # noqa: PLC0415  # Numba takes a moment to load

    low, count = targets
    require_columns(mdp, count, tables=6 if loss.power == 2 else 4)
    columns = low + np.arange(-1, count, dtype=np.float64)
    ends = np.stack([loss.at_end(mdp.failure_cost - columns, goal=False), loss.at_end(-columns, goal=True)])
    losses = [ends[mdp.goal.astype(np.int64)] for _ in range(2)]  # what is read and what is written take turns
    final_mean = np.where(mdp.goal, 0.0, float(mdp.failure_cost))
    means = [np.repeat(final_mean[:, None], count + 1, axis=1) for _ in range(2)]
    variances = [np.zeros_like(means[0]) for _ in range(2)] if loss.power == 2 else [np.empty((0, 0))] * 2
    choices = np.empty((mdp.n_states, count + 1), dtype=np.uint8)
    everything = np.ones(mdp.n_rows, dtype=bool)
    aim = sweep_kernels.Aim(float(low), loss.below, loss.below_slope, float(weights[0]), float(weights[1]))
    pieces = []
    dearest = int(mdp.edge_cost.max(initial=0))
    now = 0
    for step in reversed(range(mdp.horizon)):
        later, now = now, 1 - now
        states = acting_states(mdp, step)
        # With only the last target asked for, what can have been spent by now says which columns matter.
        first = max(0, count - step * dearest) if last_only else 0
        rows = everything if allowed is None else allowed[step]
        given, written = (rows, losses[later], means[later], aim, TIE), (losses[now], means[now], choices)
        arrays = mdp.arrays if isinstance(chances, str) else mdp.arrays._replace(edge_chance=chances[step])
        if isinstance(chances, str) and chances == "worst":
            robust_kernels.robust_step(states, mdp.arrays, mdp.edge_low, mdp.edge_high, *given, *written)
        else:
            sweep_kernels.target_step(states, arrays, *given, first, *written)
        if loss.power == 2:
            sweep_kernels.variance_step(
                states, mdp.arrays, choices, means[later], variances[later], first, means[now], variances[now]
            )
        pieces.append(_find_pieces(step * mdp.n_states + states, first, choices[states, first:]))
        if progress is not None:
            progress(mdp.horizon - step, mdp.horizon)
    return TargetSweep(losses[now], means[now], variances[now], pieces)


def acting_states(mdp: MDP, step: int) -> NDArray[np.int64]:
    """The states that have something to do and that a run can be in at a step."""
    return np.flatnonzero(may_act(mdp, step) & (mdp.depth <= step))


def _find_pieces(places: NDArray[np.int64], first: int, choices: NDArray[np.uint8]) -> Pieces:
    """Where the choices of each row of the table change; its first column has the account first - 1."""
    changes = np.ones(choices.shape, dtype=bool)
    changes[:, 1:] = choices[:, 1:] != choices[:, :-1]
    row, column = np.nonzero(changes)
    return Pieces(places[row], column + first - 1, choices[row, column])


def fits(mdp: MDP, columns: int, *, tables: int = 4, max_bytes: int = MAX_BYTES) -> bool:
    """Whether a sweep is not refused for what it would need."""
    return (columns + 1) * _bytes_per_column(mdp, tables) <= max_bytes


def _bytes_per_column(mdp: MDP, tables: int) -> int:
    return mdp.n_states * (8 * tables + 3)  # the tables, and the choices of a step, thrice


def require_columns(mdp: MDP, columns: int, *, tables: int, max_bytes: int = MAX_BYTES) -> None:
    """Refuse a sweep that does not fit, before anything is allocated."""
    per_column = _bytes_per_column(mdp, tables)
    # Rounding may add half a unit to each step and to the failure cost, and column 0 and the cost 0 are always there.
    room = max_bytes / max(per_column, 1) - (mdp.horizon + 1) / 2 - 2
    remedy = "shorten the horizon, or solve for one person: compile with start=person"
    if room > 0:
        resolution = mdp.quantum * 10 ** math.ceil(math.log10(max((columns - 1) / room, 2)))
        remedy = f"round costs: 'cost: {{resolution: {float(resolution):g}}}' would fit"
    what = f"the sweep over {mdp.n_states:,} states with {columns:,} possible costs"
    require_room((columns + 1) * per_column, what, max_bytes=max_bytes, remedy=remedy)
