"""The simplest plan that is nearly as good as the best one: as few rules as can be found.

A rule is one or several steps of the contingent plan as it is told (`count_rules`). Looked through are the plans that
begin as the best one does and, in each state that at least one run in a thousand comes to in time, do

    one thing always;  one thing up to some step and another from then on;  what the best plan does there.

Elsewhere they do what the best plan does. The search (see `core.search`) decides one state after the other, the one
that most runs come to first. What is decided so far is a *sketch*; all other states are open. A sketch is given up as
soon as no plan that it can become is good enough: in a run that has come to an open state with x spent, let V be the
least mean that is left there. Then for every plan that the sketch can become

    E[C] >= E[x + V],    CVaR(C) >= CVaR(x + V)

as both rise with the cost and, by Jensen's inequality, fall if the rest is replaced by its mean; and the success is at
most what it is with the highest success from there on. It has at least as many rules as there are rows and open states
that runs come to often enough and that do not merely repeat an action that has worked.

The search goes deep first, with the sketch that is decided in most states, until none with fewer rules is left. Then it
looks for a lower value with as few rules, with the sketch of the least value (A*). It ends early if there are too many
sketches. And it counts a step that no longer leads to the goal, though another would, as a rule, which the plan does
not: a plan that gives up early to save costs can have a rule less than the search believes, and can be missed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.core.search import CVAR, ENTROPIC, MEAN, MEAN_CVAR, OTHER, Aim, SketchSearch
from safear.core.sketches import SearchGround, settle_rows
from safear.evaluation.forward import often_if_off, run_exactly, way_to_go
from safear.evaluation.policy import Policy, SpentPolicy, StatePolicy, require_arrays
from safear.recourse.nearly import Limits, aim_of
from safear.recourse.plan_graph import RARE_STEP
from safear.recourse.rules import count_rules
from safear.risk.objectives import CVaR, Entropic, Mean, MeanCVaR
from safear.solvers.success import look_ahead

FEW_RULES = 5  # a plan with no more is short already
MOST_CELLS = 40_000  # that one search may go through: some hundredths of a second
MOST_CELLS_SHORT = 5_000  # the same for plans that are short already
FINISH = 3_000  # cells that take as long as making a plan of a sketch
LOOK = 100  # cells that take as long as the overhead of a look
FEW = 256  # sketches that there is room for at first; a power of 2
MOST = 2**19  # sketches that one search may have


class Simple(NamedTuple):
    """A plan, the number of its rules, and its value."""

    rules: int
    value: float
    policy: Policy


def find_simplest(
    base: Policy, start: int, limits: Limits, rules: int, *, most_cells: int | None = None
) -> Simple | None:
    """Return the plan with the fewest rules, fewer than given; None if there is none, or none was found in time.

    It begins as `base` does, which must be of a kind that the core knows (it has `arrays`), and is within limits.
    """
    sketches = _begin(base, start, limits)

    def to_grains(value: float) -> float:
        return float(math.floor(value / limits.grain + 0.5))

    def improve(rules: int, grains: float, most_cells: int, *, deep: bool) -> Simple | None:
        """Return the best plan found in time with fewer rules or, unless the search goes deep, a lower value."""
        best = None
        sketches.begin(deep)
        while sketches.go_on(rules, grains, most_cells, LOOK):
            found = _finish(base, start, limits, *sketches.list_decided())
            sketches.cells += FINISH
            if found is not None and (found.rules, to_grains(found.value)) < (rules, grains):
                best, rules, grains = found, found.rules, to_grains(found.value)
        return best

    if most_cells is None:
        most_cells = MOST_CELLS if rules > FEW_RULES else MOST_CELLS_SHORT
    found = improve(rules, -math.inf, most_cells, deep=True)
    if found is None:
        return None
    return improve(found.rules, to_grains(found.value), sketches.cells + most_cells // 2, deep=False) or found


def _begin(base: Policy, start: int, limits: Limits) -> SketchSearch:
    """Return the search of the core."""
    mdp, often, ahead = base.mdp, often_if_off(base.mdp), look_ahead(base.mdp)
    ground = SearchGround(
        arrays=mdp.arrays,
        row_state=mdp.row_state,
        often=often,
        differs=often is not mdp.edge_chance,
        goal=mdp.goal.view(np.uint8),
        acts=mdp.acting.view(np.uint8),
        needed=mdp.steps_to_goal,
        works=mdp.working.view(np.uint8),
        ahead_mean=ahead.mean,
        ahead_success=ahead.success,
        base=require_arrays(base),
        account=int(base.accounts[start]),
        start=start,
        horizon=mdp.horizon,
        stops=mdp.stops,
        failure=float(mdp.failure_cost),
        quantum=float(mdp.quantum),
    )
    return SketchSearch(ground, make_aim(limits), way_to_go(mdp, often=often, possible=True), FEW, MOST)


def _finish(
    base: Policy, start: int, limits: Limits, states: NDArray[np.int64], rows: NDArray[np.int64]
) -> Simple | None:
    """Return the plan of a sketch; None if it is not good enough."""
    policy = settle(base, start, states, rows)
    cost = run_exactly(policy, start).distribution
    if not limits.allow(cost):
        return None
    return Simple(count_rules(policy, start), limits.objective.of(cost), policy)


def make_aim(limits: Limits) -> Aim:
    """Return the limits as loops of the core take them."""
    match aim_of(limits.objective):
        case Mean():
            kind, parameter = MEAN, 0.0
        case CVaR():
            kind, parameter = CVAR, 0.0
        case MeanCVaR(weight):
            kind, parameter = MEAN_CVAR, weight
        case Entropic(aversion):
            kind, parameter = ENTROPIC, aversion
        case _:  # neither monotone nor convex: nothing is known of its value beforehand
            kind, parameter = OTHER, 0.0
    return Aim(
        kind=kind,
        parameter=float(parameter),
        level=float(limits.level),
        value=float(limits.value),
        mean=float(limits.mean),
        tail=float(limits.tail),
        success=float(limits.success),
        grain=float(limits.grain),
        rare=RARE_STEP,
    )


def settle(base: Policy, start: int, states: NDArray[np.int64], rows: NDArray[np.int64]) -> Policy:
    """Return the policy of a sketch: it does `rows` [state, step] in some states, and elsewhere what the base does.

    It looks at what was spent in those states and at those steps alone where runs with different accounts do different
    things; where no run comes, it does what the base does with nothing spent.
    """
    mdp, account, going = base.mdp, int(base.accounts[start]), way_to_go(base.mdp, possible=True)
    arrays = mdp.arrays, require_arrays(base)
    found = settle_rows(*arrays, going, states, rows, start, account)
    if found.table.shape[0]:
        return StatePolicy(mdp, np.asarray(found.table))
    return SpentPolicy.of(mdp, np.asarray(base.accounts), found)
