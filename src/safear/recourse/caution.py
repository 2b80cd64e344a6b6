"""The price of caution: what a plan against the worst chances costs if the estimates are right, and saves if not."""

from __future__ import annotations

from dataclasses import dataclass

from safear.recourse.offer import Offer, TradeOff, make_offer
from safear.recourse.selection import compare_figures
from safear.recourse.teller import Teller
from safear.solvers.solve import solve


@dataclass(frozen=True, slots=True, repr=False)
class Caution:
    """A robust plan (`offer`) beside the best one for the same objective at the nominal chances (`other`)."""

    offer: Offer
    other: Offer

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return self.tell(Teller.of(glossary=self.offer.glossary))

    @property
    def right(self) -> TradeOff:
        """What the robust plan gives up, or happens to gain, if the nominal chances are right."""
        return compare_figures(self.offer.figures, self.other.figures, self.other)

    @property
    def off(self) -> TradeOff:
        """What it gains if each of the two plans meets its own worst chances."""
        return compare_figures(self.offer.worst_figures, self.other.worst_figures, self.other)

    def tell(self, tell: Teller) -> str:
        """Both in words."""
        right, off = (
            [part for part in tell.differences(found) if part.mark] for found in (self.right, self.off)
        )  # what is about the same goes without saying
        if not right and not off:
            return tell("caution.none")
        said = {name: "; ".join(part.words for part in found) for name, found in (("right", right), ("off", off))}
        none = tell("caution.same")
        return tell("caution.said", right=said["right"] or none, off=said["off"] or none)


def find_caution(offer: Offer) -> Caution | None:
    """What being careful costs; None for a plan that is not robust, or where no chance is an interval."""
    solution = offer.solution
    if not offer.is_guarded:
        return None
    return Caution(offer, make_offer(solve(solution.mdp, solution.objective), level=offer.level))
