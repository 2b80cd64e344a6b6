"""The price of caution: what a plan costs beside the best one for the same objective without it.

A plan against the worst chances has a price if the estimates are right, and saves if they are not. One with a margin
stands beside the one that counts on the model in force alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from safear.mdp.arrays import MDP
from safear.mdp.compiled import CompiledMDP
from safear.recourse.case import Case
from safear.recourse.offer import Offer, TradeOff, make_offer
from safear.recourse.selection import compare_figures
from safear.recourse.teller import Teller
from safear.risk.objectives import Objective
from safear.solvers.solution import Solution
from safear.solvers.solve import Method, solve


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


# --------------------------------------------------------------------------------------------------------------- margin


def find_margin_costs(case: Case, offers: Sequence[Offer]) -> tuple[TradeOff, ...]:
    """For each offer, what it gains and gives up beside the plan without the margin; none if there is no margin.

    That plan exists, since every goal is accepted by the model in force. It is found by the same method; robust plans
    are compared by the worst of their figures. Of plans that were learnt from random episodes nothing is said.
    """
    if not offers or not isinstance(case.mdp, CompiledMDP) or not case.has_margin:
        return ()
    if any(offer.solution.method == "episodic" for offer in offers):
        return ()  # chance would tell the two plans apart, and not the margin alone
    bare = case.desk.compile(case.problem, case.decision, case.mdp.goals.in_force)
    # The best plans are compared: what being simple costs is no price of the margin.
    found = [(offer.best, _solve_bare(bare, offer)) for offer in offers]
    return tuple(replace(compare_figures(mine.judged, its.judged, its), code="margin") for mine, its in found)


def _solve_bare(mdp: CompiledMDP, offer: Offer) -> Offer:
    solution = solve_alike(mdp, offer.objective, method=offer.solution.method, robust=offer.solution.robust)
    return make_offer(solution, level=offer.level)


def solve_alike(mdp: MDP, objective: Objective, *, method: str, robust: bool) -> Solution:
    """The plan for the same objective, greedy where the other was; where that was drawn at random, the optimum."""
    again: Method | None = "greedy" if method == "greedy" else None
    return solve(mdp, objective, method=again, robust=robust)
