"""Exact optima: which sweep solves which objective, and which target each person starts with.

Every solution carries the value of its plan and a bound that no plan is below. For all objectives but `MeanStd` and
`MeanVariance` they are equal; robust (see `robust`), those of CVaR may differ, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.core.arrays import PolicyArrays, join_spans
from safear.evaluation.extremes import evaluate_worst
from safear.evaluation.policy import Policy, SpentPolicy
from safear.mdp.arrays import MDP
from safear.mdp.spending import largest_spent
from safear.progress import Progress
from safear.risk.distribution import EPSILON, units_within
from safear.risk.objectives import (
    Budget,
    CostObjective,
    CVaR,
    Entropic,
    Mean,
    MeanCVaR,
    MeanLowerStd,
    MeanStd,
    MeanVariance,
    Objective,
    VaR,
)
from safear.solvers.deviation import find_deviation
from safear.solvers.hull import Scale, sweep_least_mean
from safear.solvers.robust import bound_between, find_worst_chances, find_worst_means
from safear.solvers.success import allowed_rows
from safear.solvers.sweep import Allowed, sweep
from safear.solvers.targets import CERTAIN, EXCEEDED, EXCESS, MISSED, Chances, Loss, sweep_targets

Reals = NDArray[np.float64]
NEAR = 1e-12  # values this close, relatively, are equal
FEW = 2_000  # columns that a robust sweep may take without thinking about which


@dataclass(frozen=True, slots=True)
class Certified:
    """A policy with the value of each state at step 0, and what no policy is below."""

    policy: Policy
    values: Reals
    bounds: Reals


class Among(NamedTuple):
    """Which plans there are, and how they are judged.

    Each step may give away the share `slack` of the highest success; None is everything. With `robust`, chances are the
    worst within their intervals.
    """

    slack: float | None = None
    robust: bool = False

    @classmethod
    def of(cls, mdp: MDP, objective: Objective, *, robust: bool = False) -> Among:
        """For an objective. Without intervals nothing is robust."""
        return cls(objective.slack, robust and mdp.has_intervals)

    @property
    def chances(self) -> Chances:
        """Those of the sweeps."""
        return "worst" if self.robust else "nominal"

    def rows(self, mdp: MDP) -> Allowed | None:
        """What a plan may do."""
        return allowed_rows(mdp, self.slack, robust=self.robust)


def find_optimal(
    mdp: MDP, objective: Objective, *, tolerance: float, robust: bool = False, progress: Progress | None = None
) -> Certified:
    """The best of all policies, those that look at what was spent included."""
    found = _find_in_quanta(mdp, objective, tolerance, Among.of(mdp, objective, robust=robust), progress)
    unit = 1.0 if isinstance(simplify(objective), Budget) else float(mdp.quantum)
    return Certified(found.policy, found.values * unit, found.bounds * unit)


def _find_in_quanta(
    mdp: MDP, objective: Objective, tolerance: float, among: Among, progress: Progress | None
) -> Certified:
    """The same, with costs in quanta."""
    match simplify(objective):
        case Mean() | Entropic() as recursive:
            policy, values = sweep(mdp, recursive, allowed=among.rows(mdp), robust=among.robust, progress=progress)
            return Certified(policy, values, values)
        case MeanStd(aversion):
            scale = Scale(aversion, of_deviation=True)
            return Certified(*find_deviation(mdp, scale, tolerance=tolerance, slack=among.slack, progress=progress))
        case MeanVariance(aversion):
            scale = Scale(aversion * float(mdp.quantum))
            return Certified(*find_deviation(mdp, scale, tolerance=tolerance, slack=among.slack, progress=progress))
        case Budget(limit):
            return _find_budget(mdp, limit, among, progress)
        case VaR(level):
            return _find_var(mdp, level, among, progress)
        case CVaR(level):
            return _find_cvar(mdp, 1.0, level, among, progress)
        case MeanCVaR(weight, level):
            return _find_cvar(mdp, weight, level, among, progress)
        case MeanLowerStd():
            raise TypeError(objective)  # `solve.choose_method` refuses it


def simplify(objective: Objective) -> CostObjective:
    """The objective among the plans that are allowed, as the mean where that is what it is."""
    match objective.cost_objective:
        case MeanStd(0) | MeanVariance(0) | Entropic(0) | CVaR(0) | MeanCVaR(0, _) | MeanCVaR(_, 0):
            return Mean()
        case other:
            return other


def needs_targets(objective: Objective) -> bool:
    """Whether the optimum is found by sweeping over targets, which takes a column per possible total cost."""
    return not isinstance(simplify(objective), Mean | Entropic | MeanLowerStd)


def _find_cvar(mdp: MDP, weight: float, level: float, among: Among, progress: Progress | None) -> Certified:
    """The least over w of (1 - weight) * E[C] + weight * (w + E[max(C - w, 0)] / (1 - level)).

    Of anybody, at any chances. For several weights of one person `weighed` finds the same plans in half the time: 0.23
    instead of 0.48 ms each, for people of Adult.
    """
    certain = level > 1 - EPSILON
    factor = weight if certain else weight / (1 - level)
    loss, weights, spans = CERTAIN if certain else EXCESS, (factor, 1 - weight), find_spans(mdp, level, among)
    allowed = among.rows(mdp)
    found = _sweep_totals(mdp, loss, spans, weights=weights, allowed=allowed, chances=among.chances, progress=progress)
    values = weight * found.targets + found.score
    least = values.min(axis=1)
    # Of the targets that are equally good, that whose plan has the least mean.
    best = np.where(values <= least[:, None] * (1 + NEAR), found.mean, np.inf).argmin(axis=1)
    bounds = least
    if among.robust and not certain:
        between = bound_between(found.targets, found.score, of_target=weight, of_loss=factor)
        chances = find_worst_chances(mdp, among.slack)
        against = _sweep_totals(mdp, loss, spans, weights=weights, allowed=allowed, chances=chances)
        committed = (weight * against.targets + against.score).min(axis=1)
        bounds = np.minimum(np.maximum(between, committed), least)
    policy = SpentPolicy.of(mdp, found.accounts[best], found.policy)
    if among.robust and len(mdp.starts) == 1 and bounds[mdp.start] < least[mdp.start] * (1 - NEAR):
        exact = evaluate_worst(policy, MeanCVaR(weight, level)) / float(mdp.quantum)
        least = np.where(mdp.depth == 0, np.clip(exact, bounds, least), least)
    return Certified(policy, least, bounds)


def _find_var(mdp: MDP, level: float, among: Among, progress: Progress | None) -> Certified:
    """The smallest cost that is exceeded with a probability of at most 1 - level."""
    spans = find_spans(mdp, level, among)
    found = _sweep_totals(
        mdp, EXCEEDED, spans, weights=(1.0, 0.0), allowed=among.rows(mdp), chances=among.chances, progress=progress
    )
    limit = 0.0 if level > 1 - EPSILON else min(1 - level + EPSILON, 1 - EPSILON)
    best = (found.score <= limit).argmax(axis=1)
    values = found.targets[best]
    return Certified(SpentPolicy.of(mdp, found.accounts[best], found.policy), values, values)


def _find_budget(mdp: MDP, limit: float, among: Among, progress: Progress | None) -> Certified:
    """The least chance not to succeed within a limit.

    Where costs are rounded by up to e, the plan is that for limit - e, which keeps its chance whatever the rounding
    did, and the bound that for limit + e.
    """
    error = float(mdp.cost_error)
    budget, bound = (min(units_within(limit + shift, mdp.quantum), _most(mdp)) for shift in (-error, error))
    targets, allowed = (0.0, bound + 1), among.rows(mdp)
    found = sweep_targets(mdp, MISSED, targets=targets, allowed=allowed, chances=among.chances, progress=progress)
    opening = np.full(mdp.n_states, max(budget, -1))
    values = found.score[:, budget + 1] if budget >= 0 else np.where(mdp.goal, 0.0, 1.0)
    return Certified(SpentPolicy.of(mdp, opening, found.policy), values, found.score[:, bound + 1])


class _Totals(NamedTuple):
    """A sweep for all total costs: `targets` [column], their score and mean [state, column], and how accounts open."""

    targets: Reals
    score: Reals
    mean: Reals
    accounts: NDArray[np.int64]
    policy: PolicyArrays


def _sweep_totals(
    mdp: MDP,
    loss: Loss,
    spans: list[Span],
    *,
    weights: tuple[float, float],
    **options: Any,
) -> _Totals:
    """A sweep for every total cost that may be the best target (see `find_spans`)."""
    sweeps = [sweep_targets(mdp, loss, targets=(span.low, span.columns), weights=weights, **options) for span in spans]
    known = [slice(span.first + 1, span.columns + 1) for span in spans]
    parts = [(found.policy, span.moved) for found, span in zip(sweeps, spans, strict=True)]
    return _Totals(
        np.concatenate([span.low + np.arange(span.first, span.columns) for span in spans]),
        _beside([found.score[:, columns] for found, columns in zip(sweeps, known, strict=True)]),
        _beside([found.mean[:, columns] for found, columns in zip(sweeps, known, strict=True)]),
        np.concatenate([span.moved + np.arange(span.first, span.columns) for span in spans]),
        join_spans(parts, mdp.horizon, mdp.n_states),
    )


def _beside(tables: list[Reals]) -> Reals:
    """Tables with the same states as one; a single one is not copied."""
    return tables[0] if len(tables) == 1 else np.hstack(tables)


class Span(NamedTuple):
    """The targets of a sweep: the lowest, in quanta, and how many; those from the `first` on may be the best.

    Its accounts are `moved` by so much, so that they lie above those of the span before.
    """

    low: float
    columns: int
    first: int = 0
    moved: int = 0


def find_spans(mdp: MDP, level: float, among: Among, *, cheapest: tuple[float, float] | None = None) -> list[Span]:
    """The sweeps that hold a best target of VaR, CVaR or mean and CVaR at a level, for any person: one or two.

    With m the most that can be spent and f the failure cost, totals lie within [0, m] and [f, f + m]. Nothing between
    m and f need be tried: there, for a given plan, the chance to exceed w does not change and the mean excess is linear
    in w, so the least over plans is concave and one of the ends is as good. A second sweep begins at f - m, as low as
    an account that opens at f or above can fall; if f is not far above m, one sweep over everything is less work. No
    target above h = `_highest` is tried: with h below f, that leaves those up to m.

    Robust, the least may lie between m and f, as between any two totals: the bound allows for it, and where it takes
    few columns, everything is tried. With h below f, no plan that fails more often than 1 - level at any chances is the
    best, so that for all others everything rises with w beyond m.

    Mean and variance of the `cheapest` plan are those of the only person, if they are known.
    """
    most, failure, highest = _most(mdp), mdp.failure_cost, _highest(mdp, level, among, cheapest)
    if among.robust and min(failure + most, highest) <= FEW:
        return [Span(0.0, min(failure + most, highest) + 1)]
    if most < failure and highest < failure:
        return [Span(0.0, min(most, highest) + 1)]
    if failure <= 2 * most:
        return [Span(0.0, min(failure + most, highest) + 1)]
    columns = min(2 * most, highest - failure + most) + 1
    return [Span(0.0, most + 1), Span(float(failure - most), columns, first=most, moved=most + 2)]


def _highest(mdp: MDP, level: float, among: Among, cheapest: tuple[float, float] | None) -> int:
    """A target that no optimum of VaR, CVaR or mean and CVaR at a level lies above, for any person.

    The best target is the VaR of the best plan, and for all of these that is at most the CVaR of the plan with the
    least mean, which is at most mean + sqrt(level / (1 - level)) * deviation. Robust, the same holds for the worst
    cases of this plan; no cost is below 0, so its CVaR is at most mean / (1 - level).
    """
    largest = _most(mdp) + mdp.failure_cost
    if level > 1 - EPSILON:
        return largest
    if among.robust:
        worst = float(find_worst_means(mdp, among.slack)[mdp.starts].max(initial=0.0))
        return min(largest, math.ceil(worst / (1 - level) * (1 + NEAR)))
    if cheapest is None:
        found = sweep_least_mean(mdp, among.slack)
        mean, variance = found.mean[mdp.starts, 0], found.variance[mdp.starts, 0]
    else:
        mean, variance = (np.array([figure]) for figure in cheapest)
    bound = mean + math.sqrt(level / (1 - level)) * np.sqrt(variance)
    highest = float(bound.max(initial=0.0))
    return min(largest, math.ceil(highest * (1 + NEAR)))


def count_columns(mdp: MDP, objective: Objective, *, robust: bool = False) -> int:
    """About how many columns the sweeps for an objective take; the failure cost adds none to speak of."""
    match simplify(objective):
        case VaR(level) | CVaR(level) | MeanCVaR(_, level):
            return sum(span.columns for span in find_spans(mdp, level, Among.of(mdp, objective, robust=robust)))
        case Budget(limit):
            return min(_most(mdp), max(units_within(limit, mdp.quantum), 0)) + 1
        case _:
            return _most(mdp) + 1


def _most(mdp: MDP) -> int:
    """The most that can be spent in a run, in quanta."""
    return int(largest_spent(mdp)[mdp.starts].max(initial=0))
