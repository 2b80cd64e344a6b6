"""Which plans make a menu, what they are called, and what each gains and gives up."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.forward import follow
from safear.recourse.failure import HOPELESS, gives_up
from safear.recourse.frontier import SAME_SUCCESS, Frontier
from safear.recourse.offer import TAIL, Offer, OfferFigures, TradeOff, make_offer
from safear.recourse.simplest import FEW_RULES
from safear.solvers.solution import Solution

SAME_FIGURES = 0.05  # figures that differ by less, relatively, are the same to a person
SAME_ADVICE = 0.05  # and plans that say different things with a smaller probability
MOST_PLANS = 3
TRIED = 3  # plans between the first ones, of which one that is short is offered
PARTED = -2  # in place of a row: two plans say different things


Simplify = Callable[[Offer], Offer]


def choose_offers(frontier: Frontier, most: int = MOST_PLANS, *, simplify: Simplify | None = None) -> list[Offer]:
    """The plans of a menu, safest first, thinned out, made simple if that is asked for, and named.

    Plans that give up are left out; only the cheapest may do so for some, if it is not hopeless.
    """
    best = frontier.best_success
    hopeful = [offer for offer in frontier.offers if offer.judged.success >= HOPELESS * best]
    likely = [offer for offer in hopeful if not gives_up(offer.judged.success, best)]
    cheapest = [offer for offer in hopeful[:1] if offer not in likely]  # the frontier begins with the least mean
    offers = [*cheapest, *likely]
    kept = thin_out(offers, most) if simplify is None else _thin_out_simply(offers, most, simplify)
    named = name_offers(kept, best, least_tail=min((offer.judged.tail for offer in likely), default=0.0))
    if len(named) == 1 and any(_adds_to(kept, offer) for offer in likely):  # only because so few were asked for
        return [replace(named[0], trade_off=None)]
    if len(named) == 1 and min(offer.judged.mean for offer in frontier.offers) < named[0].judged.mean * (
        1 - SAME_FIGURES
    ):
        # What is cheaper gives up, so "cheapest" would not be true.
        return [replace(named[0], kind="likeliest", trade_off=TradeOff("others_give_up"))]
    return named


def thin_out(offers: Sequence[Offer], most: int) -> list[Offer]:
    """At most `most` plans: the cheapest, the safest, the likeliest, then repeatedly the one least like those kept.

    What a person would not tell from a plan that is kept, or what such a plan noticeably beats, is left out.
    """
    kept = _find_corners(offers)
    while len(kept) < most:
        left = _rank_others(offers, kept)
        if not left:
            break
        kept.append(left[0])
    return kept[:most]


def _thin_out_simply(offers: Sequence[Offer], most: int, simplify: Simplify) -> list[Offer]:
    """The same with plans made simple, without those that nobody would then tell from another.

    What lies between the cheapest, the safest and the likeliest is one of many, so only a short plan joins them.
    """
    corners = _find_corners(offers)[:most]
    kept, tried = thin_out([simplify(offer) for offer in corners], most), list(corners)
    while len(kept) < most:
        left = _rank_others([offer for offer in offers if offer not in tried], kept)[:TRIED]
        tried += left
        simple = (simplify(offer) for offer in left)
        short = next((offer for offer in simple if offer.rules <= FEW_RULES and _adds_to(kept, offer)), None)
        if short is None:
            break
        kept.append(short)
    return kept


def _find_corners(offers: Sequence[Offer]) -> list[Offer]:
    """The cheapest, the safest and the likeliest, unless a person would not tell them from one before."""
    if not offers:
        return []
    kept = [min(offers, key=lambda offer: offer.judged.mean)]
    for offer in (
        min(offers, key=lambda offer: offer.judged.tail),
        max(offers, key=lambda offer: offer.judged.success),
    ):
        if _adds_to(kept, offer):
            kept.append(offer)
    return kept


def _rank_others(offers: Sequence[Offer], kept: Sequence[Offer]) -> list[Offer]:
    """The plans that a person would notice beside those kept, the one least like them first."""
    left = [offer for offer in offers if _adds_to(kept, offer)]
    return sorted(left, key=lambda offer: -min(difference(offer, other) for other in kept))


def _adds_to(kept: Sequence[Offer], offer: Offer) -> bool:
    """Whether a person would notice a plan beside those kept, and none of them is noticeably better in its stead."""
    return all(difference(offer, other) > 1 and not dominates(other, offer) for other in kept)


def keep_unbeaten(offers: Sequence[Offer]) -> list[Offer]:
    """The plans that succeed at times and that no other noticeably beats; all if none succeeds."""
    hopeful = [offer for offer in offers if offer.cost.success > 0] or list(offers)
    return [offer for offer in hopeful if not any(dominates(other, offer) for other in hopeful)]


def difference(one: Offer, other: Offer) -> float:
    """How far two plans are apart in success, mean or tail; 1 is what a person just notices. Robust: in the worst."""
    return max(abs(gain) for gain in _gains(one.judged, other.judged))


def dominates(one: Offer, other: Offer) -> bool:
    """Whether a plan is noticeably better in success, mean or tail, and noticeably worse in none of them."""
    gains = _gains(one.judged, other.judged)
    return min(gains) > -1 and max(gains) > 1


def _gains(one: OfferFigures, other: OfferFigures) -> list[float]:
    """By how much figures are better in success, mean and tail; 1 is what a person just notices."""
    success, mean, tail = one.gains_over(other)
    return [success / SAME_SUCCESS, mean / SAME_FIGURES, tail / SAME_FIGURES]


def _relative(one: float, other: float) -> float:
    """The difference of two costs in relation to the larger one."""
    larger = max(one, other)
    return (one - other) / larger if larger > 0 else 0.0


def merge_alike(solutions: Sequence[Solution], *, level: float = TAIL) -> list[Offer]:
    """One offer per plan that a person would tell from the others."""
    offers: list[Offer] = []
    for solution in solutions:
        candidate = make_offer(solution, level=level)
        for number, offer in enumerate(offers):
            if alike(offer, candidate):
                offers[number] = replace(offer, objectives=(*offer.objectives, solution.objective))
                break
        else:
            offers.append(candidate)
    return offers


def alike(one: Offer, other: Offer) -> bool:
    """Whether two plans hardly ever say different things and hardly differ in what they lead to."""
    std, other_std = one.cost.all_runs.std, other.cost.all_runs.std
    return (
        difference(one, other) < 1
        and math.isclose(std, other_std, rel_tol=SAME_FIGURES, abs_tol=1e-9)
        and chance_to_part(one.solution, other.solution) < SAME_ADVICE
    )


def chance_to_part(one: Solution, other: Solution) -> float:
    """The probability that two plans for the same person ever say different things; 0 if they are equal."""
    origin, policies = one.mdp.locate(), (one.policy, other.policy)

    def agree(step: int, states: NDArray[np.int64], spent: NDArray[np.int64]) -> NDArray[np.int64]:
        rows, others = (policy.rows(step, states, policy.accounts[origin] - spent) for policy in policies)
        return np.where(rows == others, rows, PARTED)

    cells = follow(one.mdp, agree, origin).cells
    return float(np.asarray(cells.chance)[np.asarray(cells.row) == PARTED].sum())


def name_offers(offers: Sequence[Offer], best_success: float, least_tail: float | None = None) -> list[Offer]:
    """Say what plans are beside each other, safest first, and what each gains and gives up.

    "cheapest" has the least mean over all runs; "safest" the least tail among those that succeed about as often as
    anything can, unless one that was left out has a noticeably lower one (`least_tail`); "likeliest" noticeably more
    success than these two. The others are "balanced", with a number if there are several.
    """
    if not offers:
        return []
    likely = [offer for offer in offers if not gives_up(offer.judged.success, best_success)]
    cheapest = min(offers, key=lambda offer: offer.judged.mean)
    safest = min(likely, key=lambda offer: offer.judged.tail, default=None)
    if safest is not None and _relative(safest.judged.tail, cheapest.judged.tail) > SAME_FIGURES:
        safest = None  # the cheapest, which gives up, is noticeably safer
    if safest is not None and least_tail is not None and _relative(safest.judged.tail, least_tail) > SAME_FIGURES:
        safest = None
    likeliest: Offer | None = max(offers, key=lambda offer: offer.judged.success)
    others = [offer.judged.success for offer in (cheapest, safest) if offer is not None]
    if likeliest is not None and likeliest.judged.success - max(others) <= SAME_SUCCESS:
        likeliest = None
    named = {id(offer) for offer in (cheapest, safest, likeliest) if offer is not None}
    between = sorted((offer for offer in offers if id(offer) not in named), key=lambda offer: offer.judged.tail)
    ordered = [] if likeliest is None else [replace(likeliest, kind="likeliest")]
    if safest is not None:
        ordered.append(replace(safest, kind="cheapest_and_safest" if safest is cheapest else "safest"))
    numbers = [None] if len(between) == 1 else range(1, len(between) + 1)
    ordered += [replace(offer, kind="balanced", number=number) for offer, number in zip(between, numbers, strict=True)]
    if safest is not cheapest:
        ordered.append(replace(cheapest, kind="cheapest"))
    return [replace(offer, trade_off=find_trade_off(offer, ordered)) for offer in ordered]


def find_trade_off(offer: Offer, menu: Sequence[Offer]) -> TradeOff:
    """A plan beside the cheapest of the menu, or the cheapest beside the first of the others; robust ones at worst."""
    others = [other for other in menu if other is not offer]
    if not others:
        return TradeOff("none_worst" if offer.is_guarded else "none")
    cheapest = min(menu, key=lambda other: other.judged.mean)
    other = cheapest if offer is not cheapest else others[0]
    found = compare_figures(offer.judged, other.judged, other)
    return replace(found, code="beside_worst") if offer.is_guarded else found


def compare_figures(mine: OfferFigures, its: OfferFigures, other: Offer) -> TradeOff:
    """What figures gain and give up beside those of another plan, as far as a person would notice."""
    success, mean, tail = (abs(gain) > 1 for gain in _gains(mine, its))
    return TradeOff(
        "beside",
        other,
        (mine.success, its.success) if success else None,
        mine.mean - its.mean if mean else None,
        mine.tail - its.tail if tail else None,
    )
