"""A plan as a card that somebody can read in seconds and repeat: its gist, and its risk in marks from 1 to 5.

The marks say how bad the worst cases are. Measured is what they cost on average (the tail), as a multiple of what the
safest plan of the menu, the one with the least tail, costs on average:

    marks    1       2       3      4      5
    up to    1.25    1.75    2.5    3.5    more

Not getting there in time counts too, whatever it costs: two marks from 1 of 100 people on, three from 1 of 20, four
from 1 of 10, five from 1 of 4. No plan has fewer marks than another of the menu whose tail is no larger. Robust plans
are judged by the worst that each of their figures can be.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from safear.recourse.card_teller import CardTeller
from safear.recourse.gist import Gist
from safear.recourse.offer import Offer
from safear.recourse.teller import Teller

MULTIPLES = (1.25, 1.75, 2.5, 3.5)
MISSED = (0.01, 0.05, 0.1, 0.25)
ROUNDING = 1e-9  # a relative difference below this is none


@dataclass(frozen=True, slots=True, repr=False)
class Card:
    """A plan beside others, in short; `marks` are from 1 to 5."""

    offer: Offer
    marks: int

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(CardTeller(self, Teller.of(glossary=self.offer.glossary)).lines())

    @property
    def gist(self) -> Gist:
        """What can be repeated of it."""
        return self.offer.gist


def make_card(offer: Offer, beside: Iterable[Offer] = ()) -> Card:
    """The card of a plan beside those of its menu."""
    plans = [offer, *beside]
    safest = min(plans, key=lambda plan: (plan.judged.tail, plan.judged.mean)).judged.mean
    limit = offer.judged.tail * (1 + ROUNDING)
    return Card(offer, max(_count_marks(plan, safest) for plan in plans if plan.judged.tail <= limit))


def _count_marks(offer: Offer, safest: float) -> int:
    """The marks of a plan on its own, where the safest costs so much on average."""
    figures = offer.judged
    by_tail = bisect_left(MULTIPLES, figures.tail / safest * (1 - ROUNDING)) if safest > 0 else 4 * (figures.tail > 0)
    return 1 + max(by_tail, bisect_right(MISSED, (1 - figures.success) * (1 + ROUNDING)))
