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
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.policy import Pieces
from safear.loading import numba_pays
from safear.mdp.arrays import MDP, once_per_mdp
from safear.mdp.hope import may_act
from safear.memory import MAX_BYTES, require_room
from safear.progress import Progress
from safear.solvers.plain_targets import Aim, plain_target_step, plain_variance_step
from safear.solvers.sweep import TIE, Allowed

if TYPE_CHECKING:
    from safear.solvers.target_kernels import Bands, Course

PLAIN_STEP, PLAIN_CELL = 7e-5, 2e-8  # seconds of NumPy for each step, and for each of its edges and columns
Table = NDArray[np.float64]  # [state, column]
NOWHERE = np.empty((0, 0), dtype=np.int64)
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
    score is what was made small. The variance is only computed for SQUARE. `pieces` are the choices of all steps; the
    account of column j is j - 1.
    """

    score: Table
    mean: Table
    variance: Table
    pieces: Pieces


def sweep_targets(
    mdp: MDP,
    loss: Loss,
    *,
    targets: tuple[float, int],
    weights: tuple[float, float] = (1.0, 0.0),
    allowed: Allowed | None = None,
    last: int | None = None,
    chances: Chances = "nominal",
    progress: Progress | None = None,
) -> TargetSweep:
    """Sweep for `targets` (the lowest, in quanta, and how many); `weights` are those of the loss and of the mean.

    With `last`, nothing but so many of the last targets, from step 0 on, need be computed. The worst `chances` are
    those within their intervals (see `robust`).
    """
    low, count = targets
    require_columns(mdp, count, tables=6 if loss.power == 2 else 4)
    columns = low + np.arange(-1, count, dtype=np.float64)
    ends = np.stack([loss.at_end(mdp.failure_cost - columns, goal=False), loss.at_end(-columns, goal=True)])
    aim = Aim(float(low), loss.below, loss.below_slope, float(weights[0]), float(weights[1]))
    firsts = np.zeros(mdp.horizon, dtype=np.int64)
    if last is not None and loss.power == 2:  # other losses have few columns that matter anyway
        # What can have been spent by now says which columns matter.
        firsts = np.maximum(count + 1 - last - np.arange(mdp.horizon) * int(mdp.edge_cost.max(initial=0)), 0)
    given = _Given(ends, aim, firsts, is_square=loss.power == 2)
    rows = np.ones((1, mdp.n_rows), dtype=bool) if allowed is None else allowed
    edges = mdp.edge_chance[None, :] if isinstance(chances, str) else chances
    if isinstance(chances, str) and chances == "worst":
        return _sweep_by_steps(mdp, given, rows, edges, _load_robust_step(mdp), progress)
    if not numba_pays(estimate_plain(mdp, count + 1)):
        return _sweep_by_steps(mdp, given, rows, edges, plain_target_step, progress)
    return _sweep_at_once(mdp, given, rows, edges, progress)


def estimate_plain(mdp: MDP, columns: int) -> float:
    """About how many seconds a sweep over so many columns takes without compiled code."""
    return mdp.horizon * (PLAIN_STEP + PLAIN_CELL * mdp.n_edges * columns)


class _Given(NamedTuple):
    """What is swept for: the loss of runs that are over [goal, column], the aim, and from which column on, by step."""

    ends: Table
    aim: Aim
    firsts: NDArray[np.int64]
    is_square: bool


def _sweep_at_once(
    mdp: MDP, given: _Given, allowed: Allowed, chances: NDArray[np.float64], progress: Progress | None
) -> TargetSweep:
    """In compiled code; step by step only if somebody wants to know how far it is."""
    from safear.solvers import target_kernels  # noqa: PLC0415  # Numba takes a moment to load

    ends, aim, firsts, is_square = given
    course, bands = set_course(mdp), target_kernels.Bands(NOWHERE, NOWHERE) if is_square else find_bands(mdp)
    rules = target_kernels.SweepRules(allowed, chances, firsts, TIE, is_square)
    tables = target_kernels.make_tables(course, ends, aim, rules)
    parts = []
    stages = [(0, mdp.horizon)] if progress is None else [(step, step + 1) for step in reversed(range(mdp.horizon))]
    for stage in stages:
        parts.append(Pieces(*target_kernels.sweep_columns(course, bands, rules, aim, stage, tables)))
        if progress is not None:
            progress(mdp.horizon - stage[0], mdp.horizon)
    score, mean = (table[0, :, tables.pad :] for table in (tables.score, tables.mean))
    mean[:, 0] = tables.least[0]
    variance = tables.variance[0] if is_square else np.empty((0, 0))
    return TargetSweep(score, mean, variance, _join_pieces(parts))


def _sweep_by_steps(
    mdp: MDP,
    given: _Given,
    allowed: Allowed,
    chances: NDArray[np.float64],
    take_step: Callable[..., None],
    progress: Progress | None,
) -> TargetSweep:
    """Step by step, all columns: before compiled code is loaded, or against the worst chances."""
    ends, aim, firsts, is_square = given
    losses = [ends[mdp.goal.astype(np.int64)] for _ in range(2)]  # what is read and what is written take turns
    final_mean = np.where(mdp.goal, 0.0, float(mdp.failure_cost))
    means = [np.repeat(final_mean[:, None], ends.shape[1], axis=1) for _ in range(2)]
    variances = [np.zeros_like(means[0]) for _ in range(2)] if is_square else [np.empty((0, 0))] * 2
    choices = np.empty((mdp.n_states, ends.shape[1]), dtype=np.uint8)
    parts, now = [], 0
    for step in reversed(range(mdp.horizon)):
        later, now = now, 1 - now
        states, first = acting_states(mdp, step), int(firsts[step])
        arrays = mdp.arrays._replace(edge_chance=chances[min(step, len(chances) - 1)])
        read, written = (losses[later], means[later], aim, TIE, first), (losses[now], means[now], choices)
        take_step(states, arrays, allowed[min(step, len(allowed) - 1)], *read, *written)
        if is_square:
            ahead = means[later], variances[later], first
            plain_variance_step(states, arrays, choices, *ahead, means[now], variances[now])
        parts.append(_find_pieces(step * mdp.n_states + states, first, choices[states, first:]))
        if progress is not None:
            progress(mdp.horizon - step, mdp.horizon)
    weights = aim.loss_weight, aim.mean_weight
    score = weights[0] * losses[now] + (weights[1] * means[now] if weights[1] else 0.0)
    return TargetSweep(score, means[now], variances[now], _join_pieces(parts))


def _load_robust_step(mdp: MDP) -> Callable[..., None]:
    """The step against the worst chances."""
    from safear.solvers.robust_kernels import robust_step  # noqa: PLC0415  # Numba takes a moment to load

    return partial(robust_step, mdp.edge_low, mdp.edge_high)


def _join_pieces(parts: list[Pieces]) -> Pieces:
    return parts[0] if len(parts) == 1 else Pieces(*(np.concatenate(column) for column in zip(*parts, strict=True)))


@once_per_mdp
def set_course(mdp: MDP) -> Course:
    """The MDP as compiled sweeps take it."""
    from safear.solvers.target_kernels import Course  # noqa: PLC0415  # Numba takes a moment to load

    late = np.where(np.diff(mdp.row_start) > 0, mdp.horizon, 0)
    if mdp.stops:
        late = np.minimum(late, mdp.horizon + 1 - mdp.steps_to_goal)
    return Course(mdp.arrays, mdp.goal, mdp.depth.astype(np.int64), late, mdp.horizon, mdp.failure_cost)


@once_per_mdp
def find_bands(mdp: MDP) -> Bands:
    """What runs can cost at least and at most, from each state at each step on."""
    from safear.solvers import target_kernels  # noqa: PLC0415  # Numba takes a moment to load

    found: Bands = target_kernels.bound_costs(set_course(mdp))
    return found


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
    return _count_places(mdp, columns) * _bytes_per_place(mdp, tables) + _bytes_of_bands(mdp) <= max_bytes


def _count_places(mdp: MDP, columns: int) -> int:
    """How many numbers a state has in a table: column 0, and as many below as the dearest step is long."""
    return columns + 1 + min(int(mdp.edge_cost.max(initial=0)), columns + 1)


def _bytes_per_place(mdp: MDP, tables: int) -> int:
    return mdp.n_states * (8 * tables + 3)  # the tables, and the choices of a step, thrice


def _bytes_of_bands(mdp: MDP) -> int:
    return 16 * (mdp.horizon + 1) * mdp.n_states  # the least and the most that runs cost


def require_columns(mdp: MDP, columns: int, *, tables: int, max_bytes: int = MAX_BYTES) -> None:
    """Refuse a sweep that does not fit, before anything is allocated."""
    per_place, bands = _bytes_per_place(mdp, tables), _bytes_of_bands(mdp)
    # Rounding may add half a unit to each step and to the failure cost, and column 0 and the cost 0 are always there.
    room = (max_bytes - bands) / max(2 * per_place, 1) - (mdp.horizon + 1) / 2 - 2
    remedy = "shorten the horizon, or solve for one person: compile with start=person"
    if room > 0:
        resolution = mdp.quantum * 10 ** math.ceil(math.log10(max((columns - 1) / room, 2)))
        remedy = f"round costs: 'cost: {{resolution: {float(resolution):g}}}' would fit"
    what = f"the sweep over {mdp.n_states:,} states with {columns:,} possible costs"
    require_room(_count_places(mdp, columns) * per_place + bands, what, max_bytes=max_bytes, remedy=remedy)
