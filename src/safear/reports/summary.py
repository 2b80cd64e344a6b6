"""A plan in a few sentences: who is done when, how often it leads to the goal, what it costs, and what can go wrong."""

from __future__ import annotations

from safear.recourse.card import make_card
from safear.recourse.card_teller import CardTeller
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.teller import Teller


def tell_summary(offer: Offer, menu: Menu, teller: Teller) -> tuple[str, ...]:
    """The sentences that stand above the steps of a plan."""
    say, spans, card = (
        teller.texts.part("report.summary"),
        teller.spans(offer),
        CardTeller(make_card(offer, menu), teller),
    )
    goal, within = teller.quoted_goal(menu.problem), teller.within(menu.problem)
    success = say("success", share=teller.percent(offer.cost.success), goal=goal, within=within)
    mean = say("mean", cost=teller.cost(offer.mean, offer.unit))
    tail = say("tail", worst=teller.worst(offer.level), cost=teller.cost(offer.tail, offer.unit))
    costs = f"{_add_span(mean, spans.mean, teller)} {_add_span(tail, spans.tail, teller)}"
    done = " ".join(filter(None, (card.done(), card.missed())))
    return done, _add_span(success, spans.success, teller), costs, card.wrong()


def _add_span(words: str, span: str, teller: Teller) -> str:
    return f"{words} ({teller.if_off(span)})." if span else f"{words}."
