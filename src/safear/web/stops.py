"""The slider: its stops are the plans of the frontier, from the safest to the cheapest on average."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from safear.recourse.failure import gives_up
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.risk.objectives import MeanCVaR, SuccessFirst


@dataclass(frozen=True, eq=False)
class Stop:
    """A plan that the slider can be set to, and whether the menu offers it."""

    offer: Offer
    is_offered: bool

    @property
    def weight(self) -> float:
        """How much the worst runs weigh beside the mean where this plan is best."""
        match self.offer.objective:
            case MeanCVaR(weight) | SuccessFirst(MeanCVaR(weight)):
                return weight
            case _:
                return 0.0


def find_stops(menu: Menu) -> tuple[Stop, ...]:
    """The plans of the frontier between those that the menu offers, the dearest on average first.

    What gives up is left out, and so is what lies beyond them: it costs noticeably more and gains hardly anything.
    """
    offered = {id(offer.best.solution): offer for offer in menu}
    means = [offer.best.mean for offer in menu]
    best = max((offer.cost.success for offer in menu.frontier), default=0.0)
    stops = []
    for offer in reversed(menu.frontier):
        known = offered.get(id(offer.solution))
        if known is not None:
            stops.append(Stop(known, is_offered=True))
        elif min(means) < offer.mean < max(means) and not gives_up(offer.cost.success, best):
            stops.append(Stop(offer, is_offered=False))
    return tuple(stops)


def stop_at(stops: Sequence[Stop], weight: float | None) -> int:
    """Where the slider stands for somebody to whom the worst runs weigh so much: at the plan that is best for them.

    Who has not said so looks at the first plan of the menu.
    """
    if weight is None:
        return next(number for number, stop in enumerate(stops) if stop.is_offered)
    best = [stop.offer.best for stop in stops]
    values = [(1 - weight) * offer.mean + weight * offer.tail for offer in best]
    return values.index(min(values))


def neighbours(stops: Sequence[Stop], position: int) -> tuple[Offer, Offer]:
    """The nearest plans of the menu on both sides of one that it does not offer."""
    before = next(stop.offer for stop in reversed(stops[:position]) if stop.is_offered)
    after = next(stop.offer for stop in stops[position + 1 :] if stop.is_offered)
    return before, after
