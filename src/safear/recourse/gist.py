"""The gist of a plan, to be told to others: what to do if all goes well, how many are done when, what can go wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safear.evaluation.extremes import evaluate_worst
from safear.evaluation.forward import Runs
from safear.evaluation.policy import Policy
from safear.recourse.traces import Trace, find_fallback, find_main_way
from safear.recourse.troubles import Trouble, find_troubles
from safear.risk.distribution import EPSILON, CostDistribution
from safear.risk.objectives import Budget
from safear.texts.numbers import count_at_least

MOST_PEOPLE = 0.8  # so many, if so many get there at all, are to be done within what is told


@dataclass(frozen=True, slots=True)
class DoneWithin:
    """A share of all people who reach the goal within a cost.

    `share_if_off` is the least that it can be if chances lie anywhere in their intervals. `at_once`: nobody gets there
    for less.
    """

    share: float
    cost: float
    share_if_off: float
    at_once: bool


@dataclass(frozen=True, slots=True)
class Gist:
    """What can be repeated of a plan.

    `chain` is how it goes if every step works, `fallback` if the first fails and all others work; None if it cannot, if
    that depends on how it fails, or if it does not lead to the goal.
    `done` is None if nobody gets there; `missed` is the chance not to get there in time.
    """

    chain: Trace
    fallback: Trace | None
    done: DoneWithin | None
    missed: float
    troubles: tuple[Trouble, ...]


def find_gist(policy: Policy, runs: Runs, *, is_sure: bool) -> Gist:
    """The gist of a plan for a person; `is_sure` if it meets no interval."""
    cost = runs.distribution
    done = find_done(cost)
    if done is not None and not is_sure:
        worst = 1.0 - evaluate_worst(policy, Budget(done.cost), runs.start)
        done = DoneWithin(done.share, done.cost, min(max(worst, 0.0), done.share), done.at_once)
    chain, fallback = find_main_way(policy, runs.start), find_fallback(policy, runs.start)
    return Gist(chain, fallback, done, 1.0 - cost.success, find_troubles(policy, runs.start))


def find_done(cost: CostDistribution) -> DoneWithin | None:
    """The least cost within which 8 of 10 people are done or, where fewer get there, as many as can be told of.

    The share is that of all people who are done within this cost: at least what was wanted.
    """
    if cost.success <= 0:
        return None
    total = float(cost.succeeded_chances.sum() + cost.failed_chances.sum())
    reached = np.cumsum(cost.succeeded_chances) / total
    kind, count, base = count_at_least(cost.success)
    possible = cost.success if kind == "below" else count / base
    place = int(np.searchsorted(reached, min(MOST_PEOPLE, possible) - EPSILON))
    place = min(place, len(reached) - 1)
    share = cost.success if place == len(reached) - 1 else float(reached[place])
    units = cost.succeeded_units[place]
    limit = float(units) * cost.quantum.numerator / cost.quantum.denominator
    return DoneWithin(share, limit, share, place == 0)
