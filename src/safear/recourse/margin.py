"""What a margin costs: a plan beside the one for the same objective that counts on the model in force alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from safear.mdp.arrays import MDP
from safear.mdp.compiled import CompiledMDP
from safear.recourse.case import Case
from safear.recourse.offer import Offer, TradeOff, make_offer
from safear.recourse.selection import compare_figures
from safear.risk.objectives import Objective
from safear.solvers.solution import Solution
from safear.solvers.solve import Method, solve


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
