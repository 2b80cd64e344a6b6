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

from safear.core.arrays import PolicyArrays, finish_policy, make_policy_room
from safear.core.robust import LossTables, robust_step
from safear.core.targets import Aim, Bands, Course, SweepRules, make_tables, sweep_columns
from safear.mdp.arrays import MDP, once_per_mdp
from safear.mdp.lattice import advise_resolution
from safear.mdp.spending import bound_spent
from safear.memory import MAX_BYTES, require_room
from safear.progress import Progress
from safear.solvers.sweep import TIE, Allowed

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
    score is what was made small. The variance is only computed for SQUARE. In the `policy`, the account of column j is
    j - 1.
    """

    score: Table
    mean: Table
    variance: Table
    policy: PolicyArrays


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
    if isinstance(chances, str) and chances == "worst":
        return _sweep_robustly(mdp, ends, aim, allowed, progress)
    given, firsts = None if isinstance(chances, str) else chances, None
    if last is not None and loss.power == 2:  # other losses have few columns that matter anyway
        # What can have been spent by now says which columns matter.
        spent = np.arange(mdp.horizon, dtype=np.int64) * int(mdp.edge_cost.max(initial=0))
        firsts = np.maximum(count + 1 - last - spent, 0)
    rules = set_rules(mdp, allowed, chances=given, firsts=firsts, is_square=loss.power == 2)
    return _sweep(mdp, ends, aim, rules, progress)


def _sweep(mdp: MDP, ends: Table, aim: Aim, rules: SweepRules, progress: Progress | None) -> TargetSweep:
    """Sweep in one call, or step by step if somebody wants to know how far it is."""
    course, bands = set_course(mdp), Bands(NOWHERE, NOWHERE) if rules.is_square else find_bands(mdp)
    tables, room = make_tables(course, ends, aim, rules), make_policy_room(mdp.horizon, mdp.n_states)
    stages = [(0, mdp.horizon)] if progress is None else [(step, step + 1) for step in reversed(range(mdp.horizon))]
    for begin, end in stages:
        sweep_columns(course, bands, rules, aim, begin, end, tables, room)
        if progress is not None:
            progress(mdp.horizon - begin, mdp.horizon)
    score, mean = (np.asarray(table)[0, :, tables.pad :] for table in (tables.score, tables.mean))
    mean[:, 0] = np.asarray(tables.least)[0]
    variance = np.asarray(tables.variance)[0] if rules.is_square else NO_TABLE
    return TargetSweep(score, mean, variance, finish_policy(room))


def _sweep_robustly(mdp: MDP, ends: Table, aim: Aim, allowed: Allowed | None, progress: Progress | None) -> TargetSweep:
    """Sweep against the worst chances: step by step, all columns."""
    course, rows, room = set_course(mdp), _list_allowed(mdp, allowed), make_policy_room(mdp.horizon, mdp.n_states)
    ranges = mdp.ranges()
    loss, mean = np.stack([ends[mdp.goal.astype(np.int64)]] * 2), np.empty((2, mdp.n_states, ends.shape[1]))
    mean[:] = np.where(mdp.goal, 0.0, float(mdp.failure_cost))[:, None]
    tables = LossTables(loss, mean)
    for step in reversed(range(mdp.horizon)):
        robust_step(course, ranges, step, rows[min(step, len(rows) - 1)], aim, TIE, tables, room)
        if progress is not None:
            progress(mdp.horizon - step, mdp.horizon)
    score = aim.loss_weight * loss[0] + (aim.mean_weight * mean[0] if aim.mean_weight else 0.0)
    return TargetSweep(score, mean[0], NO_TABLE, finish_policy(room))


def set_rules(
    mdp: MDP,
    allowed: Allowed | None,
    *,
    chances: NDArray[np.float64] | None = None,
    firsts: NDArray[np.int64] | None = None,
    is_square: bool = False,
) -> SweepRules:
    """Return what a sweep may do: by default everything, with the nominal chances, and for all columns."""
    edges = mdp.edge_chance[None, :] if chances is None else chances
    asked = np.zeros(mdp.horizon, dtype=np.int64) if firsts is None else firsts
    rows = _list_allowed(mdp, allowed)
    return SweepRules(rows, np.ascontiguousarray(edges, np.float64), asked, TIE, is_square)


def _list_allowed(mdp: MDP, allowed: Allowed | None) -> NDArray[np.uint8]:
    """Return which rows are allowed [step, row], in one step if that never changes."""
    rows = np.ones((1, mdp.n_rows), dtype=bool) if allowed is None else np.ascontiguousarray(allowed)
    return rows.view(np.uint8)


@once_per_mdp
def set_course(mdp: MDP) -> Course:
    """Return the MDP as sweeps take it."""
    goal, depth = mdp.goal.view(np.uint8), mdp.depth.astype(np.int64)
    return Course(mdp.arrays, goal, depth, mdp.late, mdp.horizon, mdp.failure_cost)


@once_per_mdp
def find_bands(mdp: MDP) -> Bands:
    """Find what runs can cost at least and at most, from each state at each step on.

    floor_h(s) = min over the edges that leave s of c + floor_{h+1}(s'), ceiling_h(s) = max of c + ceiling_{h+1}(s').
    """
    end, depth = np.where(mdp.goal, 0, mdp.failure_cost), mdp.depth.astype(np.int64)
    return Bands(*(bound_spent(mdp, end, depth, mdp.late, is_most=is_most) for is_most in (False, True)))


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
