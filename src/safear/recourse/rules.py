"""The rules that a plan is told in: a step each, or several that repeat an action until it has worked so often."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from safear.core.nodes import Outline
from safear.evaluation.policy import Policy, policy_of
from safear.mdp.arrays import MDP, once_per_mdp
from safear.problem.model import Record
from safear.recourse.level_changes import find_changes
from safear.recourse.plan_graph import draw

if TYPE_CHECKING:
    from safear.recourse.plan import Plan, PlanStep
    from safear.solvers.solution import Solution

Rule = tuple["PlanStep", ...]  # the steps that it tells, in order


def group_rules(plan: Plan) -> list[Rule]:
    """Return the steps of a plan, those that repeat an action together."""
    rules: list[Rule] = []
    for step in plan.steps:
        if step.number in plan.repeating:
            rules[-1] = (*rules[-1], step)
        else:
            rules.append((step,))
    return rules


def count_rules(plan: Solution | Policy, start: Record | int | None = None) -> int:
    """Return the number of rules that a plan would be told in if there were no limit: steps that are not too rare."""
    policy = policy_of(plan)
    outline = draw(policy, policy.mdp.locate_start(start))
    order, repeating = order_steps(policy.mdp, outline, outline.told)
    return len(order) - len(repeating)


def order_steps(mdp: MDP, outline: Outline, told: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """Return the nodes that are told, in walking order, and the places of those that are one rule with the one before.

    They do again what it did, once that has worked, and both are tried until they do, however they fail.
    """
    order, repeating = outline.walk(told)
    return order, [place for place, one, other in repeating if _fail_alike(mdp, one, other)]


@once_per_mdp
def _fail_alike(mdp: MDP, one: int, other: int) -> bool:
    """Return whether the same is said of all outcomes of two rows that do not work."""
    edges = [edge for row in (one, other) for edge in range(mdp.edge_start[row], mdp.edge_start[row + 1])]
    return len({_describe(mdp, edge) for edge in edges if not mdp.working[edge]}) <= 1


def _describe(mdp: MDP, edge: int) -> tuple[object, ...]:
    """Return what is said of an outcome: what it costs, what it is called and what it changes (see `Branch`)."""
    state, after = int(mdp.row_state[mdp.edge_row[edge]]), int(mdp.edge_next[edge])
    outcome = mdp.outcome(edge)
    changes = (
        () if state == after else find_changes(mdp.shown_person(state), mdp.shown_person(after), first=outcome.change)
    )
    return int(mdp.edge_cost[edge]), outcome.label, changes
