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
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.policy import Pieces
from safear.loading import is_numba_loaded, numba_pays
from safear.mdp.arrays import MDP, once_per_mdp
from safear.mdp.hope import may_act
from safear.mdp.rounding import advise_resolution
from safear.memory import MAX_BYTES, require_room
from safear.progress import Progress
from safear.solvers.plain_targets import (
    Aim,
    Bands,
    Course,
    SweepRules,
    Tables,
    bound_plainly,
    lay_tables,
    sweep_plainly,
)
from safear.solvers.sweep import TIE, Allowed

PLAIN_STEP, PLAIN_CELL = 7e-5, 2e-8  # seconds of NumPy for each step, and for each of its edges and columns
Table = NDArray[np.float64]  # [state, column]
NOWHERE = np.empty((0, 0), dtype=np.int64)
NO_TABLE: Table = np.empty((0, 0))
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
    given = _Given(ends, aim, firsts)
    rows = np.ones((1, mdp.n_rows), dtype=bool) if allowed is None else allowed
    edges = mdp.edge_chance[None, :] if isinstance(chances, str) else chances
    if isinstance(chances, str) and chances == "worst":
        return _sweep_robustly(mdp, given, rows, edges, progress)
    rules = SweepRules(rows, edges, firsts, TIE, is_square=loss.power == 2)
    if numba_pays(estimate_plain(mdp, count + 1)):
        return _sweep_at_once(mdp, ends, aim, rules, progress)
    return _sweep_plainly(mdp, ends, aim, rules, progress)


def estimate_plain(mdp: MDP, columns: int) -> float:
    """About how many seconds a sweep over so many columns takes without compiled code."""
    return mdp.horizon * (PLAIN_STEP + PLAIN_CELL * mdp.n_edges * columns)


class _Given(NamedTuple):
    """What is swept for: the loss of runs that are over [goal, column], the aim, and from which column on, by step."""

    ends: Table
    aim: Aim
    firsts: NDArray[np.int64]


def _sweep_at_once(mdp: MDP, ends: Table, aim: Aim, rules: SweepRules, progress: Progress | None) -> TargetSweep:
    """In compiled code; step by step only if somebody wants to know how far it is."""
    from safear.solvers import target_kernels  # noqa: PLC0415  # Numba takes a moment to load

    course, bands = set_course(mdp), Bands(NOWHERE, NOWHERE) if rules.is_square else find_bands(mdp)
    tables = target_kernels.make_tables(course, ends, aim, rules)
    parts = []
    stages = [(0, mdp.horizon)] if progress is None else [(step, step + 1) for step in reversed(range(mdp.horizon))]
    for stage in stages:
        parts.append(Pieces(*target_kernels.sweep_columns(course, bands, rules, aim, stage, tables)))
        if progress is not None:
            progress(mdp.horizon - stage[0], mdp.horizon)
    return _read_tables(tables, parts)


def _sweep_plainly(mdp: MDP, ends: Table, aim: Aim, rules: SweepRules, progress: Progress | None) -> TargetSweep:
    """The same, bit for bit, before compiled code is loaded."""
    course, bands = set_course(mdp), Bands(NOWHERE, NOWHERE) if rules.is_square else find_bands(mdp)
    tables = lay_tables(course, ends, aim, rules)
    parts = []
    for step in reversed(range(mdp.horizon)):
        states, choices = sweep_plainly(course, bands, rules, aim, step, tables)
        parts.append(_find_pieces(step * mdp.n_states + states, int(rules.firsts[step]), choices))
        if progress is not None:
            progress(mdp.horizon - step, mdp.horizon)
    return _read_tables(tables, parts)


def _read_tables(tables: Tables, parts: list[Pieces]) -> TargetSweep:
    """What stands in the tables after the first step."""
    score, mean = (table[0, :, tables.pad :] for table in (tables.score, tables.mean))
    mean[:, 0] = tables.least[0]
    return TargetSweep(score, mean, tables.variance[0] if len(tables.variance) else NO_TABLE, _join_pieces(parts))


def _sweep_robustly(
    mdp: MDP, given: _Given, allowed: Allowed, chances: NDArray[np.float64], progress: Progress | None
) -> TargetSweep:
    """Against the worst chances: step by step, all columns, in compiled code."""
    ends, aim, firsts = given
    take_step = _load_robust_step(mdp)
    losses = [ends[mdp.goal.astype(np.int64)] for _ in range(2)]  # what is read and what is written take turns
    final_mean = np.where(mdp.goal, 0.0, float(mdp.failure_cost))
    means = [np.repeat(final_mean[:, None], ends.shape[1], axis=1) for _ in range(2)]
    choices = np.empty((mdp.n_states, ends.shape[1]), dtype=np.uint8)
    parts, now = [], 0
    for step in reversed(range(mdp.horizon)):
        later, now = now, 1 - now
        states, first = acting_states(mdp, step), int(firsts[step])
        arrays = mdp.arrays._replace(edge_chance=chances[min(step, len(chances) - 1)])
        read, written = (losses[later], means[later], aim, TIE, first), (losses[now], means[now], choices)
        take_step(states, arrays, allowed[min(step, len(allowed) - 1)], *read, *written)
        parts.append(_find_pieces(step * mdp.n_states + states, first, choices[states, first:]))
        if progress is not None:
            progress(mdp.horizon - step, mdp.horizon)
    weights = aim.loss_weight, aim.mean_weight
    score = weights[0] * losses[now] + (weights[1] * means[now] if weights[1] else 0.0)
    return TargetSweep(score, means[now], NO_TABLE, _join_pieces(parts))


def _load_robust_step(mdp: MDP) -> Callable[..., None]:
    """The step against the worst chances."""
    from safear.solvers.robust_kernels import robust_step  # noqa: PLC0415  # Numba takes a moment to load

    return partial(robust_step, mdp.edge_low, mdp.edge_high)


def _join_pieces(parts: list[Pieces]) -> Pieces:
    return parts[0] if len(parts) == 1 else Pieces(*(np.concatenate(column) for column in zip(*parts, strict=True)))


@once_per_mdp
def set_course(mdp: MDP) -> Course:
    """The MDP as sweeps take it."""
    late = np.where(np.diff(mdp.row_start) > 0, mdp.horizon, 0)
    if mdp.stops:
        late = np.minimum(late, mdp.horizon + 1 - mdp.steps_to_goal)
    return Course(mdp.arrays, mdp.goal, mdp.depth.astype(np.int64), late, mdp.horizon, mdp.failure_cost)


@once_per_mdp
def find_bands(mdp: MDP) -> Bands:
    """What runs can cost at least and at most, from each state at each step on."""
    if not is_numba_loaded():
        return bound_plainly(set_course(mdp))
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
    # The tables, and the choices of a step, thrice; once for all states: losses at the end, values, means, openings.
    return mdp.n_states * (8 * tables + 3) + 48


def _bytes_of_bands(mdp: MDP) -> int:
    return 16 * (mdp.horizon + 1) * mdp.n_states  # the least and the most that runs cost


def require_columns(mdp: MDP, columns: int, *, tables: int, max_bytes: int = MAX_BYTES) -> None:
    """Refuse a sweep that does not fit, before anything is allocated."""
    per_place, bands = _bytes_per_place(mdp, tables), _bytes_of_bands(mdp)
    # Rounding may add half a unit to each step and to the failure cost, and column 0 and the cost 0 are always there.
    room = (max_bytes - bands) / max(2 * per_place, 1) - (mdp.horizon + 1) / 2 - 2
    remedy = "shorten the horizon, or solve for one person: compile with start=person"
    if room > 0:
        remedy = advise_resolution(mdp, (columns - 1) / room, remedy)
    what = f"the sweep over {mdp.n_states:,} states with {columns:,} possible costs"
    require_room(_count_places(mdp, columns) * per_place + bands, what, max_bytes=max_bytes, remedy=remedy)
