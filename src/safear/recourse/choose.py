"""Which plans make a menu, and what they are called."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from safear.recourse.offer import TAIL, Offer, make_offer
from safear.solvers.solution import Solution

GIVES_UP = 0.05  # a plan whose success is so far below the best possible one gives up too early
SAME_SUCCESS = 0.005  # chances of success that differ by less are the same to a person
SAME_FIGURES = 0.03  # figures that differ by less, relatively, are the same to a person
SAME_ADVICE = 0.05  # and plans that say different things with a smaller probability


def choose_offers(solutions: Sequence[Solution], surest: Solution) -> list[Offer]:
    """The plans of a menu, safest first: alike ones merged, hopeless and dominated ones left out, the rest named.

    If all that is left succeeds far less often than it could, `surest`, the plan that is most likely to succeed, is
    added.
    """
    offers = [offer for offer in merge_alike(solutions) if offer.cost.success > 0]
    offers = [offer for offer in offers if not any(dominates(other, offer) for other in offers)]
    sure = make_offer(surest)
    if not offers or max(offer.cost.success for offer in offers) < sure.cost.success - GIVES_UP:
        return [replace(sure, name="most likely to succeed"), *name_offers(offers, sure.cost.success)]
    return name_offers(offers, sure.cost.success)


def dominates(one: Offer, other: Offer) -> bool:
    """Whether a plan is noticeably better in success, average or worst 5%, and noticeably worse in none of them."""
    ours, theirs = one.cost.all_runs, other.cost.all_runs
    gains = [
        (one.cost.success - other.cost.success) / SAME_SUCCESS,
        (theirs.mean / max(ours.mean, 1e-12) - 1) / SAME_FIGURES,
        (theirs.cvar(TAIL) / max(ours.cvar(TAIL), 1e-12) - 1) / SAME_FIGURES,
    ]
    return min(gains) > -1 and max(gains) > 1


def merge_alike(solutions: Sequence[Solution]) -> list[Offer]:
    """One offer per plan that a person would tell from the others."""
    offers: list[Offer] = []
    for solution in solutions:
        candidate = make_offer(solution)
        for number, offer in enumerate(offers):
            if alike(offer, candidate):
                offers[number] = replace(offer, objectives=(*offer.objectives, solution.objective))
                break
        else:
            offers.append(candidate)
    return offers


def alike(one: Offer, other: Offer) -> bool:
    """Whether two plans hardly ever say different things and hardly differ in what they lead to."""
    ours, theirs = one.cost.all_runs, other.cost.all_runs
    pairs = ((ours.mean, theirs.mean), (ours.std, theirs.std), (ours.cvar(TAIL), theirs.cvar(TAIL)))
    return (
        abs(one.cost.success - other.cost.success) < SAME_SUCCESS
        and all(math.isclose(a, b, rel_tol=SAME_FIGURES, abs_tol=1e-9) for a, b in pairs)
        and chance_to_part(one.solution, other.solution) < SAME_ADVICE
    )


def chance_to_part(one: Solution, other: Solution) -> float:
    """The probability that two plans for the same person ever say different things; 0 if they are equal."""
    mdp = one.mdp
    here = {mdp.locate(): 1.0}
    parted = 0.0
    for step in range(mdp.horizon):
        there: dict[int, float] = {}
        states = np.array(list(here), dtype=np.int64)
        rows, other_rows = one.policy.rows(step, states), other.policy.rows(step, states)
        for chance, row, other_row in zip(here.values(), rows.tolist(), other_rows.tolist(), strict=True):
            if row != other_row:
                parted += chance
            elif row >= 0:
                for edge in range(mdp.edge_start[row], mdp.edge_start[row + 1]):
                    target = int(mdp.edge_next[edge])
                    there[target] = there.get(target, 0.0) + chance * float(mdp.edge_chance[edge])
        here = there
    return parted


def name_offers(offers: Sequence[Offer], best_success: float) -> list[Offer]:
    """Give plans plain names by what they are, safest first.

    "cheapest on average" has the least mean over all runs. "safest" has the least cost in the worst 5% of all runs
    among those that succeed about as often as anything can. The others are "balanced", with a number if there are
    several.
    """
    likely = [offer for offer in offers if offer.cost.success >= best_success - GIVES_UP]
    safest = min(likely, key=lambda offer: offer.cost.all_runs.cvar(TAIL), default=None)
    cheapest = min(offers, key=lambda offer: offer.cost.all_runs.mean, default=None)
    between = [offer for offer in offers if offer is not cheapest and offer is not safest]
    between.sort(key=lambda offer: offer.cost.all_runs.cvar(TAIL))
    names = ["balanced"] if len(between) == 1 else [f"balanced {number + 1}" for number in range(len(between))]
    middle = [replace(offer, name=name) for offer, name in zip(between, names, strict=True)]
    if cheapest is None:
        return middle
    if cheapest is safest:
        return [replace(cheapest, name="cheapest and safest"), *middle]
    first = [] if safest is None else [replace(safest, name="safest")]
    return [*first, *middle, replace(cheapest, name="cheapest on average")]
