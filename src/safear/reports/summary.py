"""A plan in a few sentences: how often it leads to the goal, what it costs on average, and what if things go badly."""

from __future__ import annotations

from safear.problem.model import Problem
from safear.recourse.offer import Offer
from safear.recourse.teller import Teller


def tell_summary(offer: Offer, problem: Problem, teller: Teller) -> tuple[str, ...]:
    """The sentences that stand above the steps of a plan."""
    say, spans = teller.texts.part("report.summary"), teller.spans(offer)
    goal, within = teller.quoted_goal(problem), teller.within(problem)
    sentences = (
        (say("success", share=teller.percent(offer.cost.success), goal=goal, within=within), spans.success),
        (say("mean", cost=teller.cost(offer.mean, offer.unit)), spans.mean),
        (say("tail", worst=teller.worst(offer.level), cost=teller.cost(offer.tail, offer.unit)), spans.tail),
    )
    return tuple(f"{words} ({teller.if_off(span)})." if span else f"{words}." for words, span in sentences)
